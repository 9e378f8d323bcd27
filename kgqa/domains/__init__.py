"""Domains: built in or the user's own, each a TOML file and the Cypher files that it names.

``extends = "wikidata"`` (or the path of another TOML file) takes that domain's settings, and the file overrides some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from kgqa.domains.files import Files, built_in, merged, parse, read_files
from kgqa.errors import BrokenInput, SettingsError, suggestion
from kgqa.recipes.registry import CHOSEN, COMMANDS, RECIPES
from kgqa.resources import resource
from kgqa.runs.domain import Domain
from kgqa.settings.base import setting_fault
from kgqa.settings.cluster import AUTO, IN_FILES, ChosenCluster
from kgqa.settings.defaults import RECIPE
from kgqa.settings.domain import UNREAD, DomainSettings, with_sections
from kgqa.settings.kinds import toml
from kgqa.settings.source import QUESTIONS, ImportSettings
from kgqa.sources.imported import read_manifest
from kgqa.sources.registry import find_format
from kgqa.store.cypher import check_own_query
from kgqa.store.queries import PLURALS, Query, read_queries

DESCRIPTION = frozenset({"title", "licence", "limits", "attribution"})
"""Settings that are about the texts and facts of one domain, and not about how a dataset is made."""

__all__ = ["built_in", "built_in_variant", "chain_columns", "chosen_cluster", "load_domain"]


def load_domain(
    domain: str | Path,
    *,
    source: Path | None = None,
    imported: Path | None = None,
    recipe: str | None = None,
    made_by: str | None = None,
    change: Mapping[str, Any] = MappingProxyType({}),
    default: Mapping[str, Any] = MappingProxyType({}),
) -> Domain:
    """The domain with this name or in this TOML file, with its source folder.

    ``recipe`` is the name of one of its ``variants``, or one of ``CHOSEN``, whose dataset then has that name at its end. ``made_by``
    is the recipe of the calling command and overrides the domain's. ``change`` overrides all files, and ``default`` overrides only the
    built-in ones.

    Without ``source``, a domain whose file names ``imports`` reads the folder ``imported``, which the caller makes of them. Otherwise a
    built-in domain reads its seed domain with the settings in the seed's ``domain.toml``. A user's domain does so only if one of its own
    files sets ``seed_domain``, and its settings override the seed's. Raises SettingsError.
    """
    files = read_files(str(domain))
    if recipe in CHOSEN and recipe not in _variants(merged(files.built_in, files.own)):
        made = load_domain(domain, source=source, imported=imported, made_by=recipe, change=change, default=default)
        named = {} if _named_recipe(files) == recipe else {"dataset": f"{made.settings.dataset}-{recipe}"}
        return replace(made, settings=made.settings.model_copy(update=named))
    changes = {**change, **({"recipe": made_by} if made_by else {})}
    own_settings = merged(dict(default), files.own)
    built_in_settings = _described(files)
    raw = merged(built_in_settings, own_settings)
    layout = raw.get("source", {}).get("layout") if isinstance(raw.get("source"), dict) else None
    if source is not None and (manifest := read_manifest(source)) is not None:
        changes = merged(changes, {"source": {"layout": "import"}})
        try:
            described = {"title": source.resolve().name, **_origins(manifest["sources"])}
        except (KeyError, TypeError):
            raise BrokenInput(f"{source}: the manifest of this import is damaged; import the files again.") from None
        raw = merged(raw, {key: value for key, value in described.items() if key not in own_settings})
    if source is not None or (layout == QUESTIONS and not own_settings.get("imports")):
        return _checked(files, merged(_varied(files, raw, recipe), changes), source=Path(source or ""), is_seed=False)
    if own_settings.get("imports"):
        return _reading_imports(files, _varied(files, raw, recipe), changes, explicit=own_settings, at=files.imports_in, imported=imported)
    folder = resource("seeds") / _seed_domain(files)
    ours = {key: value for key, value in built_in_settings.items() if key != "attribution"}  # the seed domains need no attribution
    seed = parse(folder / "domain.toml")
    raw = _varied(files, merged(merged(ours, seed), own_settings), recipe)
    if seed.get("imports"):
        explicit = merged(seed, own_settings)
        return _reading_imports(files, raw, changes, explicit=explicit, at=folder / "domain.toml", imported=imported, is_seed=True)
    return _checked(files, merged(raw, changes), source=folder, is_seed=True)


def _reading_imports(
    files: Files, raw: dict[str, Any], changes: dict[str, Any], *, explicit: Mapping[str, Any], at: Path | None, imported: Path | None,
    is_seed: bool = False,
) -> Domain:  # fmt: skip
    """The domain that reads the ``imports`` named in the file ``at``. Their licences count where no setting is ``explicit``."""
    assert at is not None
    changes = merged(changes, {"source": {"layout": "import"}})
    domain = _checked(files, merged(raw, changes), source=imported or at.parent, is_seed=is_seed, imports_in=at)
    entries = []
    for number, entry in enumerate(domain.settings.imports, start=1):
        try:
            import_format = find_format(entry.format)
        except SettingsError as error:
            raise SettingsError(f"{at}: entry {number} of imports: {error}") from None
        licence, attribution = (
            getattr(import_format if getattr(entry, name) is None else entry, name) for name in ("licence", "attribution")
        )
        entries.append({"licence": licence, "attribution": attribution})
    origins = {key: value for key, value in _origins(entries).items() if key not in explicit}
    return replace(domain, settings=domain.settings.model_copy(update=origins))


def _origins(sources: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Licence and attribution of imported files, for the card."""
    licences = list(dict.fromkeys(entry["licence"] for entry in sources))
    sentences = list(dict.fromkeys(entry["attribution"] for entry in sources if entry["attribution"]))
    return {
        "licence": licences[0] if len(licences) == 1 else "other",
        "attribution": (*sentences, f"Licences: {', '.join(licences)}.") if len(licences) > 1 else tuple(sentences),
        "limits": UNREAD,
    }


def chosen_cluster(domain: str | Path, cluster: str | None) -> ChosenCluster:
    """The option ``cluster`` if it is given, else ``auto`` if the domain's file has it. Raises SettingsError."""
    if cluster is not None:
        return ChosenCluster.by_option(cluster)
    files = read_files(str(domain))
    named = merged(files.built_in, files.own).get("cluster")
    if named not in (None, AUTO):
        raise SettingsError(f"{files.path}: the setting 'cluster' cannot be {toml(named)}: {IN_FILES}.")
    return ChosenCluster(address=named, where=f'{files.path}: cluster = "{named}"')


def built_in_variant(domain: str | Path, name: str) -> dict[str, Any]:
    """The settings of variant ``name`` in the built-in file that this domain extends; empty if there are none."""
    variants = read_files(str(domain)).built_in.get("variants", {})
    return variants.get(name, {})


def _described(files: Files) -> dict[str, Any]:
    """The settings of the built-in file. For a user's domain, without those that describe the built-in texts and facts."""
    if not files.is_own or not files.built_in:
        return files.built_in
    settings = {key: value for key, value in files.built_in.items() if key not in DESCRIPTION}
    return {**settings, "title": str(files.own.get("dataset") or files.own.get("name") or files.path.stem)}


def _varied(files: Files, raw: dict[str, Any], recipe: str | None) -> dict[str, Any]:
    """``raw`` without its variants, overridden by the variant ``recipe`` if one is given."""
    settings, variants = {key: value for key, value in raw.items() if key != "variants"}, raw.get("variants", {})
    if not isinstance(variants, dict) or not all(isinstance(variant, dict) for variant in variants.values()):
        raise SettingsError(f"{files.path}: 'variants' must contain a table for each name, such as [variants.paper]; fix the file.")
    for key, use in (("imports", "read the same files"), ("cluster", "use the same cluster")):
        if names := sorted(name for name, variant in variants.items() if key in variant):
            raise SettingsError(f"{files.path}: the variant {names[0]} has {key}, but all variants {use}; move them out of the variant.")
    if recipe is None:
        return settings
    if recipe not in variants:
        raise SettingsError(f"{files.path}: the domain has no recipe {recipe!r}; {suggestion(recipe, sorted({*variants, *CHOSEN}))}")
    return merged(settings, variants[recipe])


def _variants(raw: dict[str, Any]) -> dict[str, Any]:
    variants = raw.get("variants", {})
    return variants if isinstance(variants, dict) else {}  # validation of the settings reports the fault


def _seed_domain(files: Files) -> str:
    """The small domain that is to be read."""
    name = (files.own if files.is_own else files.built_in).get("seed_domain", "")
    if name in seed_domains():
        return str(name)
    if name != "":
        _settings(files, _varied(files, merged(files.built_in, files.own), None))  # which says what is wrong with it
    example = files.built_in.get("seed_domain", seed_domains()[-1])
    raise SettingsError(
        f"{files.path}: nothing says which files to read; pass the folder with your files as --source, or name them under [[imports]] "
        f'(to try the domain on a small one that kgqa ships, write seed_domain = "{example}" into the file).'
    )


def seed_domains() -> list[str]:
    """The names of the small domains that kgqa ships."""
    return sorted(path.parent.name for path in resource("seeds").glob("*/domain.toml"))


def model() -> type[DomainSettings]:
    """The settings model of a domain, with one section for each registered recipe."""
    return with_sections({name: settings for name, (settings, _) in RECIPES.items()})


def _named_recipe(files: Files) -> str:
    """The recipe that the files name, if any, whatever a command makes."""
    return str(merged(files.built_in, files.own).get("recipe", RECIPE))


def _settings(files: Files, raw: dict[str, Any]) -> DomainSettings:
    try:
        settings = model().model_validate(raw)
    except ValidationError as error:
        raise SettingsError(f"{files.path}: {_sentence(error)}") from None
    if unused := sorted((files.own.keys() & RECIPES.keys()) - {settings.recipe, _named_recipe(files), *COMMANDS, *CHOSEN}):
        raise SettingsError(
            f"{files.path}: the recipe is {settings.recipe}, so [{unused[0]}] has no effect, here or in a file that it extends; "
            f'leave it out, or write recipe = "{unused[0]}".'
        )
    if settings.seed_domain and settings.seed_domain not in seed_domains():
        raise SettingsError(
            f"{files.path}: there is no small domain {settings.seed_domain!r}; {suggestion(settings.seed_domain, seed_domains())}"
        )
    return settings


def _checked(files: Files, raw: dict[str, Any], *, source: Path, is_seed: bool, imports_in: Path | None = None) -> Domain:
    settings, path = _settings(files, raw), files.path
    if imports_in is None and settings.imports:
        settings = settings.model_copy(update={"imports": ()})  # a source is given instead
    queries = read_queries([path.parent / name for name in settings.projection.files])
    for name in queries.keys() - read_queries().keys():
        check_own_query(queries[name])
    _check_projection(path, settings, queries)
    return Domain(settings=settings, own=files.own, source=source, imports_in=imports_in, is_seed=is_seed, queries=queries)


def _check_projection(path: Path, settings: DomainSettings, queries: dict[str, Query]) -> None:
    for role in ("document_to_entity", "entity_to_document"):
        for name in getattr(settings.projection, role):
            if name not in queries:
                raise SettingsError(f"{path}: projection.{role}: there is no query {name!r}; {suggestion(name, list(queries))}")
            returns = queries[name].returns
            columns = {PLURALS.get(column, column) if kind == "strings" else column: column for column, kind in returns.items()}
            missing = {"document", "entity"} - columns.keys()
            if missing:
                raise SettingsError(
                    f"{path}: projection.{role}: the query {name!r} does not return {' and '.join(sorted(missing))}; name one that does."
                )
            for meaning, column in columns.items():
                if meaning not in {"document", "entity"} or (meaning == column and returns[column] != "string"):
                    raise SettingsError(
                        f"{path}: projection.{role}: the query {name!r} returns {column}: {returns[column]}; a projection returns "
                        "document: string (or documents: strings), entity: string (or entities: strings) and nothing else."
                    )
            if queries[name].params:
                raise SettingsError(f"{path}: projection.{role}: the query {name!r} has parameters; a projection query must have none.")
    for role, takes in (("candidates", {"entity": "string"}), ("chains", {"candidates": "strings", "entity": "string"})):
        for documents, name in enumerate(getattr(settings.projection, role), start=1):
            if name not in queries:
                raise SettingsError(f"{path}: projection.{role}: there is no query {name!r}; {suggestion(name, list(queries))}")
            names = ["candidate"] if role == "candidates" else chain_columns(documents)
            # Users may give an entity's name for its id; the traversal passes ids.
            parameter_kinds = {
                parameter.name: "string" if parameter.kind == "entity" else parameter.kind for parameter in queries[name].params
            }
            if parameter_kinds != takes or list(queries[name].returns.items()) != [(column, "string") for column in names]:
                parameters = " and ".join(f"{parameter} ({kind})" for parameter, kind in takes.items())
                requirement = f"take {parameters} and return {', '.join(names)}, all strings"
                raise SettingsError(f"{path}: projection.{role}: the query {name!r} must {requirement}.")


def chain_columns(documents: int) -> list[str]:
    """Columns of a query for chains of this many documents: the candidate, and the nodes between the subject and it."""
    between = [name for number in range(1, documents + 1) for name in (f"entity_{number - 1}", f"document_{number}")]
    return ["candidate", *between[1:]]


def _sentence(error: ValidationError) -> str:
    """The first fault as one sentence: the setting, the fault, and the value."""
    first: Mapping[str, Any] = error.errors(include_url=False)[0]
    if first["loc"][:1] == ("imports",) and len(first["loc"]) > 1:
        return f"entry {first['loc'][1] + 1} of imports: {setting_fault({**first, 'loc': first['loc'][2:]}, ImportSettings)}"
    return setting_fault(first, model(), missing='add it, or begin with extends = "wikidata" to take that domain\'s')

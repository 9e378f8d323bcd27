"""``kgqa init``: a new domain of one's own as a folder with commented settings, a projection and a page of commands."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.domains import built_in, load_domain
from kgqa.errors import SettingsError, StorageError, storage_errors, suggestion
from kgqa.runs.files import new_folder
from kgqa.settings.defaults import LANGUAGE
from kgqa.settings.source import QUESTIONS
from kgqa.sources.registry import FORMATS, find_format
from kgqa.sources.streams import require_files

TEMPLATES = Path(__file__).resolve().parents[1] / "domains" / "new"
KINDS = {"wikidata": "articles", "medline": "abstracts", "companies": "articles"}
"""Built-in domain → the templates of a domain that extends it."""
RULES = {
    "wikidata": "the rules for articles of an encyclopedia: a text is about an entity and names others",
    "medline": "the rules for abstracts about substances: a text is about no entity, and names several",
    "companies": "the rules for a graph with kinds of entity whose texts state its facts",
}
"""Built-in domain → what its rules are for, for the comment on ``extends``."""
SOURCES = "sources"
"""Folder of a domain's files in its folder, as a domain may read only what is there."""
_PLACE = re.compile(r"<([a-z_.]+)(:text)?>")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
TABLES = frozenset({"edges", "nodes", "relations"})
"""Formats whose options name columns; a column with an option's own name is taken for it."""
MOST_HEADER = 1 << 16
"""Bytes of a header that are looked at."""
LONGEST = 200
"""Characters of a title or a licence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDomain:
    """The files that :func:`init` created."""

    folder: Path
    """The new folder."""
    settings: Path
    """The domain's TOML file."""
    commands: tuple[str, ...]
    """The commands of its README, to be run in the folder."""
    copied: tuple[Path, ...]
    """Files that were copied, because no link could be made from another disk."""


def init(
    name: str,
    *,
    directory: str | Path = Path(),
    from_: Sequence[str] = (),
    extends: str | None = None,
    language: str | None = None,
    title: str | None = None,
    licence: str | None = None,
) -> NewDomain:
    """Write the folder ``name`` into ``directory`` with a domain of one's own: settings, projection and README.

    ``from_`` names the files to import, each as ``FORMAT:FILE`` with a format of :func:`kgqa.list_formats`; they are linked into the
    folder, or copied from another disk. Without any, the domain reads the small one that kgqa ships. ``extends`` is the built-in domain
    whose rules apply, by default the one that fits the first format. ``language`` is that of the texts, by default ``en``. ``licence`` is
    for the dataset card, by default that of the files. Raises SettingsError, StorageError and InputError; then nothing is written.
    """
    _check_name(name)
    language = LANGUAGE if language is None else language
    title = name if title is None else title
    for noun, text in (("title", title), ("licence", licence)):
        if text is not None and (not text.strip() or not text.isprintable() or len(text) > LONGEST):
            raise SettingsError(f"the {noun} {text!r} is not one line of 1 to {LONGEST} printable characters; choose another one.")
    if not _LANGUAGE.fullmatch(language):
        raise SettingsError(
            f"the language {language!r} is not a language code such as en, de or zh-hant; give the code of the texts' language."
        )
    files = _read_sources(from_)
    if extends is None:
        extends = find_format(next(iter(files))).domain if files else next(iter(KINDS))
    if extends not in KINDS:
        raise SettingsError(f"there is no built-in domain {extends!r} to extend; {suggestion(extends, list(KINDS))}")
    folder = Path(directory) / name
    with storage_errors(folder):
        if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
            raise StorageError(f"{folder}: this already exists; choose another name or --dir, or remove it.")
    copied_files: list[Path] = []
    commands = _commands(name, dataset=name)
    place = _places(name, extends=extends, language=language, title=title, licence=licence, files=files, commands=commands)
    with new_folder(folder) as partial:
        partial.mkdir()
        kind = KINDS[extends]
        for template, file in ((f"{kind}.toml", f"{name}.toml"), (f"{kind}.cypher", f"{name}.cypher"), ("README.md", "README.md")):
            text = (TEMPLATES / template).read_text("utf-8")
            (partial / file).write_text(text if template.endswith(".cypher") else _PLACE.sub(place, text), "utf-8")
        for path in (path for paths in files.values() for path in paths):
            (partial / SOURCES).mkdir(exist_ok=True)
            if not _link(path, partial / SOURCES / path.name):
                copied_files.append(path)
    return NewDomain(folder=folder, settings=folder / f"{name}.toml", commands=commands, copied=tuple(copied_files))


def suggested_base(from_: Sequence[str]) -> str:
    """The built-in domain whose rules fit the first of these ``FORMAT:FILE``. Raises SettingsError."""
    return find_format(from_[0].partition(":")[0]).domain if from_ else next(iter(KINDS))


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"the name {name!r} is not 1 to 64 lower-case letters, digits, - and _, with a letter or digit first; choose another one."
        )
    if name in {*built_in(), QUESTIONS}:
        raise SettingsError(f"{name} is a built-in domain; choose another name for yours, and --extends {name} to take its settings.")


def _read_sources(from_: Sequence[str]) -> dict[str, list[Path]]:
    """Format → its files, from ``FORMAT:FILE`` texts, in their order."""
    files: dict[str, list[Path]] = {}
    paths_by_name: dict[str, Path] = {}
    for text in from_:
        format_, colon, file = text.partition(":")
        if not colon or not file or "\0" in file:
            raise SettingsError(f"{text!r} is not FORMAT:FILE; give it as edges:facts.csv (kgqa import --list shows the formats).")
        path = Path(file)
        required_options = [name for name, field in find_format(format_).model().model_fields.items() if field.is_required()]
        if required_options:
            raise SettingsError(
                f"{text}: the format {format_} needs the option {required_options[0]}; leave it out here, and add "
                "its [[imports]] to the TOML file."
            )
        if not path.name.isprintable():
            raise SettingsError(f"{path.name!r}: the file name contains characters that cannot be printed; rename it.")
        if path.name in paths_by_name:
            raise SettingsError(
                f"{path} and {paths_by_name[path.name]} have the same name, but are put into one folder; rename one of them."
            )
        require_files([path])
        paths_by_name[path.name] = path
        files.setdefault(format_, []).append(path)
    return files


def _link(file: Path, place: Path) -> bool:
    """Whether ``place`` became a second name of ``file``, which takes no space; if not, ``file`` is copied."""
    try:
        os.link(os.path.realpath(file), place)
    except OSError:
        with storage_errors(file):
            shutil.copyfile(file, place)
        return False
    return True


def _commands(name: str, *, dataset: str) -> tuple[str, ...]:
    return (
        f"kgqa validate {name}.toml --workspace workspace",
        f"kgqa estimate {name}.toml --workspace workspace",
        f"kgqa generate --domain {name}.toml --workspace workspace",
        f"kgqa show workspace/datasets/{dataset}",
    )


def _places(
    name: str, *, extends: str, language: str, title: str, licence: str | None, files: Mapping[str, list[Path]], commands: Sequence[str]
) -> Callable[[re.Match[str]], str]:
    """The function that fills a place of a template: a text of the domain, or a setting as it is in ``extends``."""
    resolved = load_domain(extends, source=Path()).settings.model_dump(mode="json")
    texts = {
        "extends": f"{_toml(extends)} # {RULES[extends]}",
        "name": name, "name.toml": f"{name}.toml", "name.cypher": f"{name}.cypher", "title": title, "commands": "\n".join(commands),
        "language": "en" if _is_english(language) else "",
        "articles": "" if _is_english(language) else ARTICLES,
        "licence": f"licence = {_toml(licence)} # of the texts and facts, on the card\n" if licence is not None else LICENCE,
        "imports": "".join(["\n", *_imports(files, language)]) if files else SEED.format(_toml(extends)),
        "files": _file_list(files),
    }  # fmt: skip

    def fill(match: re.Match[str]) -> str:
        if match[1] in texts:
            return _toml(texts[match[1]]) if match[2] else texts[match[1]]
        value: Any = resolved
        for part in match[1].split("."):
            value = value[part]
        return _toml(value)

    return fill


ARTICLES = """\
articles = "" # a regular expression for the definite article, if names may have one: "der|die|das"
# Also find names with the endings that the texts put on many of them.
#inflections = false
"""
LICENCE = '# licence = "cc-by-4.0" # of the texts and facts, on the card; by default that of the imported files\n'
SEED = """
# Until you have files of your own, the small domain that kgqa ships is read. Then remove this line, and name them as in:
#   [[imports]]
#   format = "edges" # kgqa import --list shows the formats and their options
#   files = ["sources/facts.csv"] # in the folder of this file or below
#   options = {{ head = "subject" }}
seed_domain = {}
"""


def _is_english(language: str) -> bool:
    return language.partition("-")[0] == LANGUAGE


def _imports(files: Mapping[str, list[Path]], language: str) -> Iterator[str]:
    """The ``[[imports]]`` of a settings file."""
    yield "# The files that are read, in this folder or below. kgqa imports them by itself, and again when they change.\n\n"
    for format_, paths in files.items():
        fields = find_format(format_).model().model_fields
        in_languages = [option for option, field in fields.items() if field.default == (LANGUAGE,)]
        options: dict[str, object] = {}
        if language != LANGUAGE:
            options |= {option: list(dict.fromkeys([language, LANGUAGE])) for option in in_languages}
        if format_ in TABLES:
            columns = set.intersection(*(_columns(path) for path in paths))
            options |= {option: option for option, field in fields.items() if field.default == "" and option in columns}
        yield f"[[imports]]\nformat = {_toml(format_)} # {FORMATS[format_].files}\n"
        yield f"files = {_toml([f'{SOURCES}/{glob.escape(path.name)}' for path in paths])}\n"
        if options:
            yield f"options = {_toml(options)}\n"
        if further := [name for name in fields if name not in options]:
            yield f"# options: {', '.join(further)} (kgqa import --list says what they mean)\n"
        yield "\n"


def _columns(path: Path) -> set[str]:
    """The columns that the first line of a table names; none of a packed one, or one without names."""
    try:
        with path.open("rb") as file:
            line = file.readline(MOST_HEADER).decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        return set()
    separator = "," if path.suffix == ".csv" else "\t"
    return {column.strip().strip('"') for column in line.split(separator)}


def _file_list(files: Mapping[str, list[Path]]) -> str:
    """The paragraph of the README about the files that are read."""
    if not files:
        return "Until you name files of your own in the settings, it reads the small domain that kgqa ships.\n"
    names = [f"{format_}: {', '.join(f'`{path.name}`' for path in paths)}" for format_, paths in files.items()]
    return f"It reads these files in `{SOURCES}/`, by format: {'; '.join(names)}.\n"


def _toml(value: object) -> str:
    """A value as TOML writes it; its texts and lists look like those of JSON.

    >>> _toml({"a": 0.5, "b": ["x"]}), _toml({})
    ('{ a = 0.5, b = ["x"] }', '{}')
    """
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)

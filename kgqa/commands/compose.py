"""``kgqa compose``: compose multi-hop questions from single-hop questions, from question sets or a graph's facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgqa.chat.connection import Connection
from kgqa.chat.endpoint import NO_KEY, Endpoint
from kgqa.checks.verdict import examine
from kgqa.cluster.opening import opened_engine
from kgqa.commands.generate import TRAVERSALS, check_neo4j, checked_server, input_files
from kgqa.commands.imports import entries, import_entries
from kgqa.domains import chosen_cluster, load_domain
from kgqa.errors import MissingInput, SettingsError, check_known, check_seed, storage_errors
from kgqa.formats import native
from kgqa.formats.fetching import fetched
from kgqa.formats.huggingface import hub
from kgqa.formats.question_set import open_dataset
from kgqa.object_store.address import recorded
from kgqa.object_store.mirror import local_copy
from kgqa.object_store.workspace import workspace_at
from kgqa.progress import Progress, Silent
from kgqa.readers.llm.endpoint_reader import check_connection
from kgqa.readers.portable import nodes_for
from kgqa.readers.pretrained import pretrained_files
from kgqa.readers.registry import find_reader
from kgqa.readers.trained import reader_name
from kgqa.recipes.musique.card import FACTS_LIMITS
from kgqa.recipes.musique.composers.model import check_run
from kgqa.recipes.musique.composing import RECORDING, write_tasks
from kgqa.recipes.musique.disconnection import FILTER_RECORDING, readers_of
from kgqa.recipes.musique.languages import in_its_language
from kgqa.recipes.musique.pipeline import UNWRITTEN
from kgqa.recipes.musique.recipe import RECIPE, SETS
from kgqa.recipes.musique.tags import check_pipeline
from kgqa.recipes.preparation import READING
from kgqa.runs.domain import Domain
from kgqa.runs.files import Watch, files_below, hashes_of
from kgqa.runs.runner import Outcome, Runner
from kgqa.runs.stage import Run
from kgqa.settings.defaults import COMPOSED, SEED, STORE, TRAVERSAL, WORKSPACE
from kgqa.settings.llm import NO_PRICES
from kgqa.settings.musique import COMPOSERS, CompositionSettings, MusiqueSettings
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.settings.source import QUESTIONS
from kgqa.settings.workers import worker_count
from kgqa.store.neo4j.questions import check_can_put
from kgqa.training.extra import NETWORKS, require_readers

FILTERS = ("readers", "lexical", "none")
SAYS_TO = dict.fromkeys(("head_reader", "tail_reader", "llm", "settings", "training"), ("readers",))
"""Setting of the filter → the filters that use it, if not both."""
OF_GRAPHS = frozenset({"templates", "languages", "neutral", "unasked"})
SINGLE_HOP_OF_GRAPHS = frozenset({"max_objects", "functional", "by_chance", "documents", "clauses", "min_both"})
"""Settings of single-hop questions that are made from facts."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition(Outcome):
    """Result of :func:`compose`: the dataset, its counts and timings. With ``tasks``, ``dataset`` is the folder of the later dataset."""

    tasks: Path | None
    """File of tasks for annotators, if no question is composed before they answer."""
    shapes: dict[str, dict[str, int]]
    """Split → shape → questions."""
    filter: str
    """The disconnection filter, a key of ``FILTERS``."""
    empty: list[str]
    """Splits with a share but without questions."""


def compose(
    sets: str | Path | Sequence[str | Path] = (),
    *,
    domain: str | Path | None = None,
    source: str | Path | None = None,
    name: str | None = None,
    filter: str | None = None,  # noqa: A002 - what it is called on the command line
    composer: str | None = None,
    workspace: str | Path = WORKSPACE,
    seed: int = SEED,
    workers: int | None = None,
    cluster: str | None = None,
    limit: int | None = None,
    readers: Sequence[str | Path] = (),
    model: str | Path | None = None,
    endpoint: str | None = None,
    max_cost: float | None = None,
    answers: str | Path | None = None,
    by: str = TRAVERSAL,
    store: str = STORE,
    neo4j: Neo4jSettings | None = None,
    progress: Progress | None = None,
) -> Composition:
    """Compose multi-hop questions as in MuSiQue (Trivedi et al. 2022).

    ``sets`` are single-hop question sets in any format and order. Without them the questions come from the facts of a ``domain``, with
    ``source`` as for :func:`kgqa.generate`. With sets, ``domain`` can be a TOML file that extends ``questions``. ``name`` is the dataset's,
    by default ``musique``. ``filter`` finds disconnected pairs: ``lexical`` (the default) trains log-linear readers, in a minute;
    ``readers`` are networks and take hours on a CPU; ``none`` is for comparison. ``limit`` is a maximum of pairs. With ``readers``, folders
    of :func:`kgqa.train`, a single-hop question is kept only if one of them answers it.

    ``composer`` writes the questions: ``rules``; ``model``, from the run folder ``model``; ``llm``, the ``model`` of a chat-completions
    ``endpoint`` (by default ``OPENAI_BASE_URL``; the key is ``OPENAI_API_KEY``), whose recorded responses may cost ``max_cost`` in total;
    ``people``, who get tasks and return ``answers``. Pairs and reasoning graphs are searched ``by`` the compiled ``kernel``, or by
    ``cypher`` queries in the ``embedded`` store or a ``neo4j`` server (``neo4j``, by default from the environment). The same input,
    settings and seed give the same bytes for any ``workers``, ``by`` and ``store``, and on CPUs for any ``cluster``. Raises KgqaError.
    """
    check_seed(seed)
    worker_count(workers)
    _check_search(by, store, neo4j)
    if limit is not None and limit < 1:
        raise SettingsError(f"limit {limit} is not at least 1; leave it out to take all pairs.")
    set_paths = tuple(str(path) for path in ([sets] if isinstance(sets, (str, Path)) else sets))
    if set_paths and source is not None:
        raise SettingsError("--source is the folder of a domain's graph, but question sets are given; leave out one of the two.")
    if not set_paths and domain is None:
        raise SettingsError("nothing to compose: give question sets, or --domain with --source for a graph.")
    place = workspace_at(workspace, progress)
    opened_domain = load_domain(
        domain or QUESTIONS,
        source=None if source is None else local_copy(source, deep=False, progress=progress),
        imported=place.imported,
        made_by="musique",
        change=_changes(name, filter, composer, readers, model, max_cost),
        default={
            "dataset": COMPOSED,
            "title": f"{name or COMPOSED}: multi-hop questions composed by kgqa",
            **({} if set_paths else {"limits": FACTS_LIMITS}),
        },
    )
    if name is None and not set_paths and opened_domain.settings.dataset != COMPOSED and opened_domain.own.get("recipe") != COMPOSED:
        # The file's name is that of the dataset of kgqa generate; both must fit in one workspace.
        opened_domain = replace(
            opened_domain, settings=opened_domain.settings.model_copy(update={"dataset": f"{opened_domain.settings.dataset}-{COMPOSED}"})
        )
    if not set_paths:
        opened_domain = in_its_language(opened_domain)
    settings = opened_domain.settings.section(MusiqueSettings)
    filter_asks = _check_readers(settings, Connection(path=place.path / FILTER_RECORDING, address=endpoint), _file(domain))
    if settings.pairs.spacy:
        check_pipeline(settings.pairs.spacy)
    people = None if answers is None else Path(answers)
    _check_composer(
        settings.composition, model=model, endpoint=endpoint, max_cost=max_cost, answers=people, workspace=place.path,
        filter_asks=filter_asks,
    )  # fmt: skip
    if (opened_domain.settings.source.layout == QUESTIONS) != bool(set_paths):
        fault = "holds no graph; give question sets too" if not set_paths else "has a graph; leave out the question sets"
        raise SettingsError(f"the domain {opened_domain.settings.name} {fault}.")
    if set_paths:
        _refuse_graph_settings(settings)
    neo4j = checked_server(store, neo4j, check_can_put)
    with opened_engine(workers, chosen_cluster(domain or QUESTIONS, cluster), progress) as engine:
        import_entries(opened_domain, entries(opened_domain), place, engine=engine, progress=progress or Silent())
        set_names = [Path(path).name if hub.address(path) else recorded(path) for path in set_paths]
        set_paths = tuple(path if hub.address(path) else str(fetched(path, progress=progress)) for path in set_paths)
        for reader in readers_of(settings.disconnection).values():
            nodes_for(engine, reader)  # nodes that cannot run networks are noticed before any work
        watches = _watches(opened_domain, set_paths, settings, people)
        set_order, inputs = _in_order(set_paths) if set_paths else ((), _source_hashes(opened_domain))
        run = Run(
            domain=opened_domain,
            workspace=place,
            seed=seed,
            engine=engine,
            limit=limit,
            progress=progress or Silent(),
            sets=set_order,
            store=store,
            traversal=by,
            neo4j=neo4j,
            endpoint=endpoint,
            answers=people,
        )
        runner = Runner(recipe=SETS if set_paths else RECIPE, run=run, inputs=inputs, examine=examine, watches=watches)
        with runner.claimed():
            runner.refuse_strangers()
            if settings.composition.composer == "people" and people is None:
                runner.perform(last=UNWRITTEN)
                return _composition(runner, settings, tasks=write_tasks(run))
            runner.perform()
            options: dict[str, Any] = {
                "sets": set_names,
                "domain": None if domain is None else str(domain),
                "source": recorded(source),
                "name": name, "filter": filter, "composer": composer, "seed": seed, "workers": workers,
                "engine": engine.name, "limit": limit,
                "readers": [Path(path).name for path in readers],
                "model": None if model is None else Path(model).name if settings.composition.composer == "model" else str(model),
                "max_cost": max_cost, "answers": None if people is None else people.name, "by": by, "store": store,
            }  # fmt: skip
            counts, replaced = runner.write(options)
    return _composition(runner, settings, counts=counts, replaced=replaced)


def _composition(
    runner: Runner, settings: MusiqueSettings, *, tasks: Path | None = None, counts: Mapping[str, int] = MappingProxyType({}),
    replaced: bool = False,
) -> Composition:  # fmt: skip
    return Composition(
        tasks=tasks,
        shapes=native.manifest_of(runner.folder)["shapes"] if tasks is None else {},
        filter=settings.disconnection.use,
        empty=[split for split, count in counts.items() if not count and getattr(settings.split, split)],
        **runner.outcome(dict(counts), replaced=replaced),
    )


def _check_search(by: str, store: str, neo4j: Neo4jSettings | None) -> None:
    check_known("--by", by, TRAVERSALS)
    check_neo4j(store, neo4j)
    if store == "neo4j" and by == "kernel":
        raise SettingsError("--store neo4j is where cypher searches, but the kernel does; add --by cypher, or leave out --store.")


def _changes(
    name: str | None,
    filter: str | None,  # noqa: A002
    composer: str | None,
    readers: Sequence[str | Path],
    model: str | Path | None,
    max_cost: float | None,
) -> Mapping[str, Any]:
    """The arguments in the form of a domain's file."""
    reader_paths = [readers] if isinstance(readers, (str, Path)) else list(readers)
    if name is not None and not _NAME.fullmatch(name):
        raise SettingsError(f"--name {name!r}: a dataset's name consists of lower-case letters, digits, - and _; choose another one.")
    if filter is not None:
        check_known("--filter", filter, FILTERS)
    if composer is not None:
        check_known("--composer", composer, COMPOSERS)
    for option, value in (("--model", model), *(("--reader", path) for path in reader_paths)):
        if value is not None and not str(value):
            raise SettingsError(f"{option} is empty; give a value, or leave it out.")
    if max_cost is not None and composer not in {None, "llm"}:
        raise SettingsError(f"--max-cost is for --composer llm, but the composer is {composer}; leave out one of the two.")
    if max_cost is not None and not 0 < max_cost < float("inf"):
        raise SettingsError(f"--max-cost {max_cost:g} is not an amount above 0; give another.")
    overrides: dict[str, Any] = {}
    if filter is not None:
        overrides["disconnection"] = {"use": filter}
    if reader_paths:
        overrides["single_hop"] = {"readers": [str(path) for path in reader_paths]}
    if composer is not None or model is not None or max_cost is not None:
        composer_options = {"composer": composer, "model": None if model is None else str(model)}
        overrides["composition"] = {key: value for key, value in composer_options.items() if value is not None}
    if max_cost is not None:
        overrides["composition"]["llm"] = {"max_cost": max_cost}
    return {"musique": overrides} | ({} if name is None else {"dataset": name})


def _refuse_graph_settings(settings: MusiqueSettings) -> None:
    """Raise SettingsError for settings of facts if question sets are given."""
    names = [f"musique.{name}" for name in sorted(settings.model_fields_set & OF_GRAPHS)]
    names += [f"musique.single_hop.{name}" for name in sorted(settings.single_hop.model_fields_set & SINGLE_HOP_OF_GRAPHS)]
    if names:
        raise SettingsError(f"{names[0]} sets how questions are made from a graph, but question sets are given; leave out one of the two.")


def _check_composer(
    settings: CompositionSettings,
    *,
    model: str | Path | None,
    endpoint: str | None,
    max_cost: float | None,
    answers: Path | None,
    workspace: Path,
    filter_asks: bool,
) -> None:
    """Check all options of the composer before anything is read."""
    composer = settings.composer
    places = {
        "--model": (model, ("model", "llm")), "--endpoint": (endpoint, ("llm",)), "--max-cost": (max_cost, ("llm",)),
        "--answers": (answers, ("people",)),
    }  # fmt: skip
    for option, (value, users) in places.items():
        if value is not None and composer not in users and not (option == "--endpoint" and filter_asks):
            raise SettingsError(
                f"{option} is for --composer {' or '.join(users)}, but the composer is {composer}; leave out one of the two."
            )
    if settings.model is not None and composer not in {"model", "llm"}:
        raise SettingsError(
            f"musique.composition.model is for the composers model and llm, but the composer is {composer}; leave out one of the two."
        )
    if settings.llm.model_fields_set and composer != "llm":
        name = min(settings.llm.model_fields_set)
        raise SettingsError(
            f"musique.composition.llm.{name} is for the composer llm, but the composer is {composer}; leave out one of the two."
        )
    if composer in {"model", "llm"} and settings.model is None:
        noun = "the folder of a run of kgqa train composer" if composer == "model" else "what the endpoint calls its model"
        raise SettingsError(f"--composer {composer} needs --model, {noun}.")
    if composer == "model":
        check_run(str(settings.model))
        require_readers("--composer model", needed=NETWORKS)
    if composer == "llm":
        if settings.llm.lacks_prices:
            raise SettingsError(f"{NO_PRICES}, under [musique.composition.llm] of a domain's file, and name the file with --domain.")
        llm = Endpoint(endpoint, str(settings.model), settings.llm, what="--composer llm")
        if llm.is_without_key and not (workspace / RECORDING).is_file():
            raise SettingsError(NO_KEY)
    if answers is not None and not answers.is_file():
        noun = "this is no file" if answers.exists() else "there is no such file"
        raise MissingInput(f"{answers}: {noun}; give the tasks that people have filled in.")


def _check_readers(settings: MusiqueSettings, connection: Connection, file: str) -> bool:
    """Check all options of the filter's readers before anything is read. Returns whether one of them asks an endpoint.

    ``file`` has the settings, for messages.
    """
    for run in settings.single_hop.readers:
        if not find_reader(reader_name(run)).answers:
            raise SettingsError(f"{run}: this run trained the reader {reader_name(run)}, which answers nothing; give one that does.")
    disconnection = settings.disconnection
    idle = sorted(name for name in disconnection.model_fields_set - {"use"} if disconnection.use not in SAYS_TO.get(name, FILTERS[:2]))
    if idle:
        where = f"{file}: " if file else ""
        raise SettingsError(
            f"{where}musique.disconnection.{idle[0]} has no effect with the filter {disconnection.use}; leave out one of the two."
        )
    if disconnection.use == "none":
        return False
    readers = readers_of(disconnection, file).values()
    check_connection(readers, connection)
    if any(reader.steps for reader in readers):
        require_readers("The filter by trained readers, for which --filter lexical is a quick stand-in,")
    return any(reader.kind.asks for reader in readers)


def _file(domain: str | Path | None) -> str:
    """The domain's file, if it is one of the user's."""
    return str(domain) if str(domain).endswith(".toml") else ""


def _in_order(sets: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The sets by name and content, so that their order does not matter, and the hashes: set and file → SHA-256.

    Raises InputError if one is missing or of no known format.
    """
    sources = [(source.name, sorted(source.hashes().items()), path) for path, source in ((path, open_dataset(path)) for path in sets)]
    sources.sort(key=lambda entry: entry[:2])
    hashes = {f"{number}/{name}": digest for number, (_, files, _) in enumerate(sources, start=1) for name, digest in files}
    return tuple(path for *_, path in sources), hashes


def _watches(domain: Domain, sets: Sequence[str], settings: MusiqueSettings, answers: Path | None) -> dict[str, Watch]:
    """Stage → its additional inputs, before any is hashed. Raises InputError."""
    files = [file for question_set in map(open_dataset, sets) for file in question_set.inputs]
    composed = [] if answers is None else [answers]
    if settings.composition.composer == "model":
        composed += files_below(Path(str(settings.composition.model)))
    disconnection = settings.disconnection
    readers = readers_of(disconnection).values() if disconnection.use != "none" else ()
    with storage_errors(domain.source):
        return {
            READING: Watch([] if sets else input_files(domain)),
            "single_hop": Watch([*files, *(file for run in settings.single_hop.readers for file in files_below(Path(run)))]),
            "find_pairs": Watch(files_below(Path(settings.pairs.spacy)) if settings.pairs.spacy else ()),
            "filter_pairs": Watch(file for reader in readers for file in pretrained_files(reader.settings)),
            "compose_questions": Watch(composed),
        }


def _source_hashes(domain: Domain) -> dict[str, str]:
    with storage_errors(domain.source):
        return hashes_of(input_files(domain))

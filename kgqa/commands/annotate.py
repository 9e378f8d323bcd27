"""``kgqa annotate``: people validate, answer, compose and collect on local pages; their answers are kept in a journal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from pydantic import ValidationError

from kgqa.collection.project import Project, ProjectSettings, read_project
from kgqa.database import database_at
from kgqa.errors import InputError, SettingsError, require_packages
from kgqa.formats import native
from kgqa.runs.files import lies_within
from kgqa.runs.manifest import MANIFEST
from kgqa.settings.base import plain_fault
from kgqa.settings.defaults import ANNOTATE_PORT, ANNOTATE_SAMPLE, ANNOTATE_SPLIT, ANNOTATOR, DRAWS_SEED, LINK_DAYS
from kgqa.web.serving import ADDRESS, check_installed, listening, serve

if TYPE_CHECKING:
    from kgqa.collection.exports import Export
    from kgqa.collection.journal import Journal
    from kgqa.collection.seat import SeatReport
    from kgqa.collection.status import Status
    from kgqa.database import Database
    from kgqa.progress import Progress
    from kgqa.settings.llm import LlmSettings

VARIABLE = "KGQA_JOURNAL"
MOST_NAME = 80
"""Characters of a dataset's name in the name of its project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A person's link to the pages of a project."""

    person: str
    role: str
    address: str


def annotate(
    project: str | Path,
    *,
    journal: str | Path | None = None,
    port: int = ANNOTATE_PORT,
    person: str = ANNOTATOR,
    sample: int = ANNOTATE_SAMPLE,
    seed: int = DRAWS_SEED,
    split: str = ANNOTATE_SPLIT,
    ready: Callable[[list[Link]], object] = lambda links: None,
) -> None:
    """Serve the pages of ``project`` at http://127.0.0.1:PORT until the user stops it; ``port`` 0 takes a free one.

    ``project`` is a project file, or a dataset folder: then ``person`` validates ``sample`` samples of ``split``, drawn with ``seed``.
    ``journal`` is an SQLite file or the address of a PostgreSQL database, by default the variable ``KGQA_JOURNAL``, else NAME.sqlite
    beside the project file, or in the current folder for a dataset. ``ready`` gets the links of the people. Returns after a
    KeyboardInterrupt. Raises SettingsError for an unusable port or missing packages, InputError for a journal of another project, and the
    errors of reading the data.
    """
    check_installed("annotate")
    from kgqa.web.annotate.app import create_app

    opened_project = _project(project, person=person, sample=sample, seed=seed, split=split)
    with ExitStack() as stack:
        listener = stack.enter_context(listening(port))
        book = stack.enter_context(_journal(opened_project, journal, begin=True))
        links = _links(book, days=LINK_DAYS, port=listener.getsockname()[1])
        solving = stack.enter_context(_solving(book))
        Thread(target=book.task.prepare, name="kgqa prepare", daemon=True).start()  # pages do not wait for it
        serve(create_app(book, submitted=solving), listener, ready=lambda _: ready(links))


def annotate_links(
    project: str | Path, *, journal: str | Path | None = None, days: int = LINK_DAYS, port: int = ANNOTATE_PORT, renew: bool = False
) -> list[Link]:
    """The links of the people of a project, valid for ``days``. ``renew`` makes all earlier links invalid. Raises as :func:`annotate`."""
    if not 1 <= port <= 65535:
        raise SettingsError(f"port {port} is not between 1 and 65535; choose another --port.")
    if not 1 <= days <= 3650:
        raise SettingsError(f"days is {days}, which is not between 1 and 3,650; choose another --days.")
    with _journal(_running(project, journal), journal) as book:
        if renew:
            book.renew_secret()
        return _links(book, days=days, port=port)


def annotate_status(project: str | Path, *, journal: str | Path | None = None) -> Status:
    """Progress, agreement, time and drift of a project, recomputed from its journal. Raises as :func:`annotate`."""
    from kgqa.collection.status import status_of

    with _journal(_running(project, journal), journal) as book:
        return status_of(book)


def annotate_export(project: str | Path, *, to: str, out: str | Path | None = None, journal: str | Path | None = None) -> Export:
    """Write the answers of a project: ``native`` (a dataset), ``parquet`` (tables), ``label-studio``. Raises as :func:`annotate`."""
    from kgqa.collection.exports import export
    from kgqa.collection.state import replay, rows_table

    opened_project = _running(project, journal)
    with _journal(opened_project, journal) as book:
        state = replay(rows_table(book.event_rows()))
    return export(opened_project, state, to=to, out=None if out is None else Path(out))


def annotate_import(
    project: str | Path, annotations: str | Path, *, person: str, annotator: str | None = None, journal: str | Path | None = None
) -> int:
    """Take the annotations of one annotator from an export of Label Studio, as answers of ``person``; returns their number.

    All of them, or none. Raises as :func:`annotate`, and the errors of :func:`kgqa.collection.label_studio.read_annotations`.
    """
    from kgqa.collection.label_studio import read_annotations

    with _journal(_running(project, journal), journal) as book:
        submissions = list(read_annotations(Path(annotations), book.items(), book.task.steps, person=person, annotator=annotator))
        book.take(submissions)
    return len(submissions)


def annotate_withdraw(project: str | Path, person: str, *, reason: str, journal: str | Path | None = None) -> int:
    """Leave the answers of ``person`` out from now on; returns their number. Raises as :func:`annotate`, UnknownId."""
    if not reason.strip():
        raise SettingsError("a person is withdrawn with a reason; give --reason.")
    with _journal(_running(project, journal), journal) as book:
        return book.withdraw(person, reason.strip())


def annotate_seat(
    project: str | Path,
    *,
    model: str,
    endpoint: str | None = None,
    person: str | None = None,
    limit: int | None = None,
    settings: LlmSettings | None = None,
    journal: str | Path | None = None,
    progress: Progress | None = None,
) -> SeatReport:
    """Let the model ``model`` of a chat-completions endpoint answer the items under a name of its own, never counted as a person.

    Its answers are recorded beside the journal, so that a repeated call asks nothing twice. Raises as :func:`annotate` and
    :func:`kgqa.collection.seat.fill_seats`.
    """
    from kgqa.collection.seat import fill_seats

    opened_project = _running(project, journal)
    with _journal(opened_project, journal) as book:
        recording = opened_project.folder / f"{opened_project.settings.name}-model.jsonl"
        return fill_seats(
            book, model=model, recording=recording, endpoint=endpoint, settings=settings, person=person, limit=limit, progress=progress
        )  # fmt: skip


def _project(
    project: str | Path, *, person: str = ANNOTATOR, sample: int = ANNOTATE_SAMPLE, seed: int = DRAWS_SEED, split: str = ANNOTATE_SPLIT
) -> Project:
    """The project of a file, or one for a dataset folder."""
    place = Path(project)
    if not place.is_dir():
        return read_project(place)
    native.split_files(place)
    name = Path(os.path.realpath(place)).name
    if not person.strip() or not person.isprintable():
        raise SettingsError(f"{person!r} is not a valid name; choose another --person.")
    values = {"data": os.path.realpath(place), "split": split, "sample": sample, "seed": seed, "people": (person,)}
    try:
        settings = ProjectSettings.model_validate({"name": f"{name[:MOST_NAME]}-annotation", "task": "validate", **values})
    except ValidationError as error:
        first = error.errors()[0]
        option = {"people": "person"}.get(key := str(first["loc"][0]), key)
        raise SettingsError(f"--{option}: {plain_fault(first)}; choose another one.") from None
    return Project(path=Path(f"{name}-annotation.toml"), settings=settings)


def _running(project: str | Path, journal: str | Path | None) -> Project:
    """The project of a file; for a dataset folder, the project that its journal has, whatever samples were drawn."""
    opened_project = _project(project)
    if not Path(project).is_dir():
        return opened_project
    database = _database(opened_project, journal)
    from kgqa.collection.journal import kept_settings

    journal_settings = kept_settings(database, opened_project.settings.name)
    return (
        opened_project
        if journal_settings is None
        else replace(opened_project, settings=ProjectSettings.model_validate_json(journal_settings))
    )


def _database(project: Project, where: str | Path | None) -> Database:
    """The database at ``where``, by default at the place that :func:`annotate` says. Raises SettingsError without SQLAlchemy."""
    require_packages("kgqa annotate", "annotate", "sqlalchemy")
    default = project.folder / f"{project.settings.name}.sqlite"
    location = where if where is not None else os.environ.get(VARIABLE) or default
    return database_at(location, option="--journal", file=default.name)


@contextmanager
def _journal(project: Project, where: str | Path | None, *, begin: bool = False) -> Iterator[Journal]:
    database = _database(project, where)
    from kgqa.collection.journal import Journal

    if database.path is not None and (project.data / MANIFEST).is_file() and lies_within(database.path, project.data):
        raise SettingsError(
            f"{database.path}: this is in the folder of the data, where new data would overwrite it; choose another --journal."
        )
    journal = Journal(database, project, begin=begin)
    try:
        yield journal
    finally:
        journal.close()


def _links(journal: Journal, *, days: int, port: int) -> list[Link]:
    from kgqa.collection.links import Access, sign

    until = int(time.time()) + days * 86400
    secret, name = journal.secret, journal.project.settings.name
    return [
        Link(
            person=member.person,
            role=member.role,
            address=f"http://{ADDRESS}:{port}/enter?key={sign(secret, Access(project=name, person=member.person, until=until))}",
        )
        for member in journal.members()
        if member.role != "model" and member.state != "removed"
    ]


@contextmanager
def _solving(journal: Journal) -> Iterator[Callable[[str, int], object]]:
    """What the server calls after each submission: the solvers of the project get its question, if it has solvers and asks one."""
    if journal.project.settings.solvers is None:
        yield lambda item, event: None
        return
    from kgqa.collection.solvers import Solvers, SolverThread

    if not any(step.asks for step in journal.task.steps.values()):
        raise InputError(
            f"{journal.project.path}: solvers: in the task {journal.project.settings.task} people do not write questions; leave them out."
        )
    place = journal.project.folder / f"{journal.project.settings.name}-solvers"
    questions, waiting = journal.questions()
    thread = SolverThread(
        Solvers(journal.project, place), lambda result: journal.solve(result.id, result.body(), refusal=result.refusal), accepted=questions
    )
    for instance in waiting:
        thread.put(instance)

    def submitted(item: str, event: int) -> None:
        instance = journal.question(item, event)
        if instance is not None:
            thread.put(instance)

    try:
        yield submitted
    finally:
        thread.close()

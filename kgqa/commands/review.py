"""``kgqa review``: annotate samples on a local page, and compute figures from the judgements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kgqa.collection.draw import ALL, DrawnSamples, content_of, draw, name_of
from kgqa.collection.reading import Reading, readings
from kgqa.collection.tables.book import Book, check_origin, check_samples
from kgqa.collection.tables.card import write_section
from kgqa.collection.tables.figures import ReviewFigures, agreement, figures
from kgqa.collection.tables.table import Judgement, Table, read_table
from kgqa.errors import InputError, SettingsError
from kgqa.runs.files import lies_within
from kgqa.settings.defaults import DRAWS_SEED, READER, REVIEW_PORT, REVIEW_SAMPLE, REVIEW_SPLIT
from kgqa.web.serving import check_installed, listening, serve


def review(
    dataset: str | Path,
    *,
    sample: int = REVIEW_SAMPLE,
    seed: int = DRAWS_SEED,
    split: str = REVIEW_SPLIT,
    reader: str = READER,
    table: str | Path | None = None,
    port: int = REVIEW_PORT,
    ready: Callable[[str, str], object] = lambda address, what: None,
) -> None:
    """Serve ``sample`` samples of ``dataset`` for annotation at http://127.0.0.1:PORT until the user stops it; ``port`` 0 takes a free one.

    The judgements of ``reader`` go into ``table``, by default ``NAME-review.tsv`` in the current folder. A table of the same draw is
    continued, with the larger number of samples. ``ready`` gets the address and a sentence about the samples. Returns after a
    KeyboardInterrupt. Raises SettingsError for an unusable port or missing packages, InputError for a table of other samples, StorageError
    if it cannot be written, and the errors of reading the dataset.
    """
    check_installed("review")
    from kgqa.web.review.app import create_app
    from kgqa.web.review.session import Session

    folder = Path(dataset)
    with listening(port) as listener:
        place = Path(f"{name_of(folder)}-review.tsv" if table is None else table)
        _check_place(place, folder)
        # Continue a table of a larger draw as a whole: its first samples are those of the smaller draw.
        most = max(sample, read_table(place).origin.sample) if sample > 0 and place.exists() else sample
        samples = draw(folder, sample=most, seed=seed, split=split)
        book = Book(place, samples, reader=reader)
        session = Session(readings=readings(folder, samples), book=book, origin=samples.origin)
        serve(create_app(session), listener, ready=lambda address: ready(address, _description(samples, sample, book)))


def review_samples(
    dataset: str | Path, *, sample: int = REVIEW_SAMPLE, seed: int = DRAWS_SEED, split: str = REVIEW_SPLIT
) -> tuple[Reading, ...]:
    """The samples that :func:`review` would show, in order, with the names and facts of their chains. Raises KgqaError."""
    return readings(Path(dataset), draw(Path(dataset), sample=sample, seed=seed, split=split))


def review_figures(dataset: str | Path, *tables: str | Path, card: bool = False) -> ReviewFigures:
    """Shares with intervals, and agreement, from one table of up to two annotators or from two tables of one draw of ``dataset``.

    ``card`` adds them to the dataset's card under "Read by people", replacing an earlier section. Raises KgqaError: InputError for tables
    of other samples, of more annotators or without a verdict.
    """
    folder, paths = Path(dataset), [Path(path) for path in tables]
    if not 1 <= len(paths) <= 2:
        raise SettingsError(f"{len(paths)} tables are given; give one, or two to compare.")
    read_tables = [read_table(path) for path in paths]
    samples = _draw_again(folder, paths, read_tables)
    readers = [reader for path, judged in zip(paths, read_tables, strict=True) for reader in _readers(path, judged)]
    if len(readers) > 2:
        raise InputError(f"{len(readers)} readers are in these tables ({', '.join(name for _, name, _ in readers)}); two can be compared.")
    result = ReviewFigures(
        origin=samples.origin,
        available=samples.available,
        readers=tuple(figures(judgements, reader=name, table=table, drawn=len(samples.splits)) for table, name, judgements in readers),
        agreed=agreement(readers[0][2], readers[1][2]) if len(readers) > 1 else (),
    )
    if card:
        write_section(folder, result)
    return result


def _check_place(table: Path, dataset: Path) -> None:
    """Raise SettingsError for a table inside the dataset's folder, which a new dataset replaces."""
    if lies_within(table, dataset):
        raise SettingsError(f"{table}: this lies in the dataset's folder, where a new dataset would take its place; give another --table.")


def _draw_again(folder: Path, paths: list[Path], tables: list[Table]) -> DrawnSamples:
    """The draw of the tables; of two tables, the larger draw."""
    if len(paths) > 1 and paths[0].resolve() == paths[1].resolve():
        raise SettingsError(f"{paths[1]}: this is the same table twice; give that of another reader.")
    largest = max((judged.origin for judged in tables), key=lambda origin: origin.sample)
    expected = replace(largest, dataset=name_of(folder), content=content_of(folder))
    for path, judged in zip(paths, tables, strict=True):
        check_origin(path, judged.origin, expected)
    samples = draw(folder, sample=largest.sample, seed=largest.seed, split=largest.split)
    for path, judged in zip(paths, tables, strict=True):
        check_samples(path, judged, samples.splits)
    return samples


def _readers(path: Path, table: Table) -> list[tuple[str, str, list[Judgement]]]:
    """Name of the table, and each annotator with their judgements."""
    names = sorted({judgement.reader for judgement in table.judgements})
    if not names:
        raise InputError(f"{path}: nobody has said anything in this table yet; read some samples with kgqa review.")
    return [(path.name, name, [judgement for judgement in table.judgements if judgement.reader == name]) for name in names]


def _description(samples: DrawnSamples, requested: int, book: Book) -> str:
    """A sentence about the drawn samples."""
    count, judged = len(samples.splits), sum(bool(judgement.verdict) for judgement in book.judgements().values())
    splits = "" if samples.origin.split == ALL else f" in {samples.origin.split}"
    text = f"{count:,} of {samples.available:,} samples{splits}, of which {judged:,} have a verdict by {book.reader} in {book.path}"
    return text if requested <= count else f"{text}; there are no more than {count:,}, although {requested:,} were asked for"

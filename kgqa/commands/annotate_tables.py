"""``kgqa annotate --print`` and ``kgqa annotate figures``: drawn samples as records, and the figures of tables of verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kgqa.collection.draw import DrawnSamples, content_of, draw, name_of
from kgqa.collection.reading import Reading, readings
from kgqa.collection.verdict_tables.card import write_section
from kgqa.collection.verdict_tables.figures import TableFigures, agreement, figures
from kgqa.collection.verdict_tables.table import Judgement, Table, check_origin, check_samples, read_table
from kgqa.errors import InputError, SettingsError
from kgqa.settings.defaults import ANNOTATE_SAMPLE, ANNOTATE_SPLIT, DRAWS_SEED


def annotate_samples(
    dataset: str | Path, *, sample: int = ANNOTATE_SAMPLE, seed: int = DRAWS_SEED, split: str = ANNOTATE_SPLIT
) -> tuple[Reading, ...]:
    """The samples that :func:`annotate` would show, in order, with the names and facts of their chains. Raises KgqaError."""
    return readings(Path(dataset), draw(Path(dataset), sample=sample, seed=seed, split=split))


def annotate_figures(dataset: str | Path, *tables: str | Path, card: bool = False) -> TableFigures:
    """Shares with intervals, and agreement, from one table of up to two annotators or from two tables of one draw of ``dataset``.

    ``card`` adds them to the dataset's card under "Read by people", replacing an earlier section. Raises KgqaError: InputError for tables
    of other samples, of more annotators or without a verdict.
    """
    folder, paths = Path(dataset), [Path(path) for path in tables]
    if not 1 <= len(paths) <= 2:
        raise SettingsError(f"{len(paths)} tables are given; give one, or two to compare.")
    read_tables = [read_table(path) for path in paths]
    samples = _draw_again(folder, paths, read_tables)
    readers = [reader for path, table in zip(paths, read_tables, strict=True) for reader in _readers(path, table)]
    if len(readers) > 2:
        raise InputError(f"{len(readers)} readers are in these tables ({', '.join(name for _, name, _ in readers)}); two can be compared.")
    result = TableFigures(
        origin=samples.origin,
        available=samples.available,
        readers=tuple(figures(judgements, reader=name, table=table, drawn=len(samples.splits)) for table, name, judgements in readers),
        agreed=agreement(readers[0][2], readers[1][2]) if len(readers) > 1 else (),
    )
    if card:
        write_section(folder, result)
    return result


def _draw_again(folder: Path, paths: list[Path], tables: list[Table]) -> DrawnSamples:
    """The draw of the tables; of two tables, the larger draw."""
    if len(paths) > 1 and paths[0].resolve() == paths[1].resolve():
        raise SettingsError(f"{paths[1]}: this is the same table twice; give that of another reader.")
    largest = max((table.origin for table in tables), key=lambda origin: origin.sample)
    expected_origin = replace(largest, dataset=name_of(folder), content=content_of(folder))
    for path, table in zip(paths, tables, strict=True):
        check_origin(path, table.origin, expected_origin)
    samples = draw(folder, sample=largest.sample, seed=largest.seed, split=largest.split)
    for path, table in zip(paths, tables, strict=True):
        check_samples(path, table, samples.splits)
    return samples


def _readers(path: Path, table: Table) -> list[tuple[str, str, list[Judgement]]]:
    """Name of the table, and each annotator with their judgements."""
    names = sorted({judgement.reader for judgement in table.judgements})
    if not names:
        raise InputError(f"{path}: this table has no judgements; choose one that has.")
    return [(path.name, name, [judgement for judgement in table.judgements if judgement.reader == name]) for name in names]

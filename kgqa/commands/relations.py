"""``kgqa relations``: measures of a domain's relations, and why a relation is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from kgqa.cluster.opening import opened_engine
from kgqa.commands.generate import prepared
from kgqa.domains import chosen_cluster
from kgqa.errors import EmptyResult, SettingsError, suggestion
from kgqa.progress import Progress
from kgqa.recipes.qangaroo.relation_figures import RelationFigures, relation_figures
from kgqa.runs.domain import Domain
from kgqa.runs.files import check_new_file, write_whole
from kgqa.runs.runner import locked
from kgqa.settings.defaults import RECIPE, RELATIONS_SORT, SEED, WORKSPACE
from kgqa.settings.qangaroo import QangarooSettings

COLUMNS = tuple(field.name for field in fields(RelationFigures))
"""Columns to sort by: figures in descending order, others alphabetically."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """Result of :func:`relations`: the measured relations."""

    domain: str
    relations: tuple[RelationFigures, ...]
    """Relations in the requested order."""
    remark: str
    """Reason if no sample is left; then the figures of samples are missing."""
    is_seed: bool
    """Whether kgqa's seed domain was used."""


def relations(
    domain: str | Path,
    *,
    source: str | Path | None = None,
    workspace: str | Path = WORKSPACE,
    seed: int = SEED,
    recipe: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    sort: str = RELATIONS_SORT,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Relations:
    """Measure all relations of a domain, and count what becomes of their questions.

    Runs the unfinished stages of :func:`kgqa.generate` in ``workspace``, but writes no dataset. ``sort`` is a field of
    ``kgqa.RelationFigures``. ``out`` is a new tab-separated file with a header. Raises KgqaError, including SettingsError if the domain's
    recipe uses no grades.
    """
    if sort not in COLUMNS:
        raise SettingsError(f"there is no column {sort!r} to sort by; {suggestion(sort, COLUMNS)}")
    if out is not None:
        check_new_file(Path(out))
    with opened_engine(workers, chosen_cluster(domain, cluster), progress) as engine:
        runner = prepared(domain, source=source, workspace=workspace, seed=seed, engine=engine, progress=progress, recipe=recipe)
        opened_domain, place, remark = runner.run.domain, runner.run.workspace, ""
        _check_evidence(opened_domain)
        with locked(place):
            place.claim(domain=opened_domain.settings.name, inputs=runner.inputs)
            try:
                runner.perform()
            except EmptyResult as error:
                # If the measures exclude every relation, the user wants to see them. There are none before the rules are mined.
                if "mine_rules" not in (record.stage for record in runner.records):
                    raise
                remark = str(error)
            place.bring(runner.records)
            rows = relation_figures(runner.run, [record.stage for record in runner.records])
    rows = _in_order(rows, sort)
    if out is not None:
        write_whole(Path(out), _tab_separated(rows))
    return Relations(domain=opened_domain.settings.name, relations=rows, remark=remark, is_seed=opened_domain.is_seed)


def _check_evidence(domain: Domain) -> None:
    name, recipe = domain.settings.name, domain.settings.recipe
    section = getattr(domain.settings, recipe)
    if not isinstance(section, QangarooSettings):
        raise SettingsError(f"domain {name}: its recipe {recipe} does not measure relations; choose a domain with the recipe {RECIPE}.")
    if section.queries == "paths":
        raise SettingsError(
            f"domain {name}: this command measures relations that queries ask about, but this domain asks about paths; give --recipe "
            'entailed, or set qangaroo.queries = "relations".'
        )
    if not section.evidence.use:
        raise SettingsError(
            f"domain {name}: relations are measured where chains must imply their answer, which these settings do not ask for; give "
            "--recipe entailed, or set qangaroo.evidence.use to true."
        )


def _in_order(rows: Sequence[RelationFigures], sort: str) -> tuple[RelationFigures, ...]:
    """Sort by ``sort``, missing figures last. Ties stay in the order of ids."""

    def key(row: RelationFigures) -> tuple[bool, float | str]:
        value = getattr(row, sort)
        return (value is None, 0.0 if value is None else value if isinstance(value, str) else -value)

    return tuple(sorted(rows, key=key))


def _tab_separated(figures: Sequence[RelationFigures]) -> str:
    rows = [COLUMNS, *([getattr(relation, name) for name in COLUMNS] for relation in figures)]
    return "".join("\t".join(_cell(value) for value in row) + "\n" for row in rows)


def _cell(value: float | str | None) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())

"""The dataset card of WikiHop and MedHop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgqa.formats.columns import MEANINGS, OF_RECIPES
from kgqa.recipes import papers
from kgqa.recipes.qangaroo.evidence_card import GRADES, PAPERS_RECIPE, beside_the_paper, relations_section
from kgqa.recipes.qangaroo.instances import Hidden
from kgqa.recipes.qangaroo.relation_figures import RelationFigures
from kgqa.runs.card import SEED_WARNING, baseline_table, domain_settings, escaped, funnel_table, readme, table
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.domain import DomainSettings


def dataset_card(
    settings: DomainSettings, *, seed: int, counts: dict[str, int], funnel: Iterable[FunnelRow], baselines: dict[str, list[dict[str, Any]]],
    hidden_counts: Hidden, digest: str, is_seed: bool, paths: Sequence[tuple[str, int, int]] = (),
    relations: Sequence[RelationFigures] = (), recipe_counts: Mapping[str, int] | None = None, example: str = "", rejected: int = 0,
) -> str:  # fmt: skip
    """The text of README.md; it depends only on data and settings, never on the clock.

    ``paths``: label, number of samples and number of distinct answers of each path that questions use. Only for graded sets: ``relations``,
    and ``recipe_counts``, the number of samples of the paper's recipe by split.
    """
    has_grades = PAPERS_RECIPE in baselines
    filters = {stage: scores for stage, scores in baselines.items() if stage != PAPERS_RECIPE}
    sections = [
        "## What was dropped, and why\n\n" + funnel_table(funnel),
        *([_paths(paths)] if paths else []),
        *([relations_section(relations)] if relations else []),
        "## Shortcut baselines\n\n" + _BASELINES + "\n\n" + baseline_table(filters),
        *([f"## Grades\n\n{GRADES}"] if has_grades else []),
        *([beside_the_paper(counts, recipe_counts, baselines)] if has_grades and recipe_counts else []),
        f"## What the masked twin hides\n\n{_masking_note(hidden_counts)}",
    ]
    return readme(
        about=_about(is_seed=is_seed),
        counts=counts,
        size=table(["split", "samples"], [[split, f"{count:,}"] for split, count in counts.items()]),
        digest=digest,
        schema=OF_RECIPES,
        meanings=MEANINGS,
        example=example,
        sections=sections,
        made=f"Recipe `qangaroo` with seed {seed}; content hash `{digest}`. "
        "All settings, inputs and versions are in [manifest.json](manifest.json).",
        tasks=("question-answering", "multiple-choice"),
        twins=("masked",),
        rejected=rejected,
        paper=papers.WIKIHOP,
        **domain_settings(settings),
    )


SHOWN_PATHS = 20
_BASELINES = (
    "Accuracy in per cent with 95% bootstrap intervals over samples. No baseline reads: whatever they score can be had without reading. "
    "Majority and document-cue are fitted on train. The filters are applied one after the other, from left to right."
)


def _paths(paths: Sequence[tuple[str, int, int]]) -> str:
    rows = [[escaped(label), f"{samples:,}", f"{answers:,}"] for label, samples, answers in paths[:SHOWN_PATHS]]
    return (
        "## Paths\n\nA query asks for the object at the end of two relations in a row, each stated by one document. "
        f"There are {len(paths):,} paths; these have most samples.\n\n" + table(["path", "samples", "different answers"], rows)
    )


def _masking_note(hidden_counts: Hidden) -> str:
    places = hidden_counts.places + hidden_counts.readable
    return (
        f"Names left readable in the masked twin: {hidden_counts.readable:,} of {places:,}. "
        "The check searches all masked texts and titles, "
        "on token boundaries, for labels and all other names of a sample's candidates, their plurals and possessives, and adjectives that "
        "English endings derive from proper nouns. It ignores numbers, single characters, and function words that never link to the entity."
    )


def _about(*, is_seed: bool) -> str:
    text = (
        "Multiple-choice questions over several documents: a query (subject, relation, ?), candidates of the right type, and the documents "
        "on the chains to them. Made by kgqa with the recipe of WikiHop and MedHop (Welbl, Stenetorp and Riedel 2018). "
        "The folder `masked/` holds the masked twin, with placeholders for candidates in texts, titles, candidates and answers; its ids, "
        "chains and mentions still name the entities, so readers must not use them. `rejected.parquet` lists the rejected questions."
    )
    return text + (SEED_WARNING if is_seed else "")

"""The dataset card of WikiHop and MedHop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgqa.recipes import papers
from kgqa.recipes.card import write_recipe_card
from kgqa.recipes.qangaroo.evidence_card import GRADES, PAPERS_RECIPE, beside_the_paper, relations_section
from kgqa.recipes.qangaroo.instances import Hidden
from kgqa.recipes.qangaroo.relation_figures import RelationFigures
from kgqa.runs.card import baseline_table, escaped, funnel_table, table
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run


def write_dataset_card(
    folder: Path, run: Run, *, counts: dict[str, int], funnel: Iterable[FunnelRow], baselines: dict[str, list[dict[str, Any]]],
    hidden_counts: Hidden, paths: Sequence[tuple[str, int, int]] = (), relations: Sequence[RelationFigures] = (),
    recipe_counts: Mapping[str, int] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Write the card (:func:`write_recipe_card`).

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
    return write_recipe_card(
        folder,
        run,
        "qangaroo",
        about=_ABOUT,
        counts=counts,
        size=table(["split", "samples"], [[split, f"{count:,}"] for split, count in counts.items()]),
        sections=sections,
        paper=papers.WIKIHOP,
        tasks=("question-answering", "multiple-choice"),
        twins=("masked",),
    )


SHOWN_PATHS = 20
_ABOUT = (
    "Multiple-choice questions over several documents: a query (subject, relation, ?), candidates of the right type, and the documents "
    "on the chains to them. Made by kgqa with the recipe of WikiHop and MedHop (Welbl, Stenetorp and Riedel 2018). "
    "The folder `masked/` holds the masked twin, with placeholders for candidates in texts, titles, candidates and answers; its ids, "
    "chains and mentions still name the entities, so readers must not use them. `rejected.parquet` lists the rejected questions."
)
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

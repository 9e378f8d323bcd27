"""The sections of a dataset card about evidence: the relations of its questions, and a comparison with the paper's recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.recipes.qangaroo.relation_figures import ASKED, RelationFigures, figure_text
from kgqa.records import SPLITS
from kgqa.runs.card import escaped, shown_accuracy, table

PAPERS_RECIPE = "the paper's recipe"
"""Name of the column of baselines on the samples of the paper's recipe, with only its own filters."""
BESIDE = ("random", "majority per query type", "document-cue", "rule")
"""Baselines in the comparison."""
NAMED = 10
"""Number of excluded relations to name for each reason: those with the most questions."""
GRADES = (
    "The grade of a chain is the confidence with which the facts on its hops, and the texts that mention two entities together, imply that "
    "its end is an object of the relation. It is the lower end of the 95% interval of a rule's confidence, mined from the training facts, "
    "and uses no names. The `grades` of a candidate hold the grade of its best chain, the path of the rule, and how closely the texts "
    "mention the entities of each hop. Candidates that are implied as strongly as the answer are removed, so the grades alone identify the "
    "answer by construction: that is the baseline *rule*."
)
RELATIONS = (
    "Relations are selected by measures over the training facts: objects per subject, subjects per object, and lift, which is how many "
    "times more likely a pair mentioned together in some text is to be a fact than a random pair. *Implied* counts the samples whose "
    "answer is implied by its chain; the share is of the graded samples. `kgqa relations` prints this table for all relations."
)
PLAIN = (
    "The same questions and the same search, without grades and only with the filters of Welbl et al. (2018). `kgqa generate --recipe "
    "paper` makes that dataset, with the paper's own edges if the domain's differ. Accuracy is in per cent on dev, with 95% intervals."
)


def relations_section(relations: Sequence[RelationFigures]) -> str:
    """The section about relations: the measures of those with samples, and the excluded ones by reason."""
    asked_relations = sorted((figures for figures in relations if figures.kept), key=lambda figures: (-(figures.kept or 0), figures.id))
    names = ("kept", "reached", "implied", "share_implied", "objects_per_subject", "subjects_per_object", "text_lift")
    rows = [[escaped(figures.label), *(figure_text(getattr(figures, name)) for name in names)] for figures in asked_relations]
    out = [figures for figures in relations if figures.verdict != ASKED]
    reasons = [[f"{count:,}", reason, _largest(out, reason)] for reason, count in Counter(figures.verdict for figures in out).most_common()]
    parts = [
        "## Relations", RELATIONS,
        table(["relation", "samples", "reached", "implied", "share", "objects", "subjects", "lift"], rows),
    ]  # fmt: skip
    if out:
        parts += [f"{len(out):,} of {len(relations):,} relations have no questions:", table(["relations", "because", "largest"], reasons)]
    return "\n\n".join(parts)


def _largest(out: Sequence[RelationFigures], reason: str) -> str:
    members = sorted((figures for figures in out if figures.verdict == reason), key=lambda figures: (-figures.questions, figures.id))
    return "; ".join(escaped(figures.label) for figures in members[:NAMED]) + (" …" if len(members) > NAMED else "")


def beside_the_paper(
    counts: Mapping[str, int], recipe_counts: Mapping[str, int], baselines: Mapping[str, Sequence[Mapping[str, Any]]]
) -> str:
    """The section that compares this dataset with one without evidence: samples per split, and baselines on dev."""
    last_stage = list(baselines)[-1]
    rows = [
        [name, *(f"{samples[split]:,}" for split in SPLITS), *(_accuracy(baselines[stage], baseline) for baseline in BESIDE)]
        for name, samples, stage in (("this set", counts, last_stage), (PAPERS_RECIPE, recipe_counts, PAPERS_RECIPE))
    ]
    return f"## Comparison with the paper's recipe\n\n{PLAIN}\n\n" + table(["set", *SPLITS, *BESIDE], rows)


def _accuracy(scores: Sequence[Mapping[str, Any]], baseline: str) -> str:
    return next((shown_accuracy(score) for score in scores if (score["baseline"], score["split"]) == (baseline, "dev")), "–")

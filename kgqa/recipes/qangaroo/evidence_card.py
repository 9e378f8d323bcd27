"""The sections of a dataset's card about evidence: which relations are asked about, and what the paper's recipe makes of the same data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.recipes.qangaroo.relation_figures import ASKED, RelationFigures, figure_text
from kgqa.records import SPLITS
from kgqa.runs.card import escaped, shown_accuracy, table

PAPERS_RECIPE = "the paper's recipe"
"""The point of measurement of the baselines at which nothing but the paper's own filters was applied."""
BESIDE = ("random", "majority per query type", "document-cue", "rule")
"""Baselines that are compared."""
NAMED = 10
"""Relations that are left out are named, so many with the most questions, of each reason."""
GRADES = (
    "A chain has a grade: how surely the facts on its hops, and the texts that put two names side by side, imply that its end is an object "
    "of the relation. It is the confidence of a rule that was mined from the training facts, a lower end of a 95% interval, and reads no "
    "names. The `grades` of a candidate are that of its best chain, the path of the rule, and how the texts bring the entities of its hops "
    "together. Candidates that are implied as surely as the answer leave, so who knows the grades alone is right by construction: that is "
    "the baseline *rule*."
)
RELATIONS = (
    "Relations are chosen by measure, over the training facts: objects of a subject, subjects of an object, and how many times oftener a "
    "pair that some text names together is a fact than a pair drawn by chance (lift). *Implied* are the samples whose answer its chain "
    "implies surely enough; their share is of the samples that were graded. `kgqa relations` prints this for all relations."
)
PLAIN = (
    "The same questions, searched in the same way, without grades and with no filters but those of Welbl et al. (2018). `kgqa generate "
    "--recipe paper` makes that set, with the paper's own edges where the domain's differ. Accuracy is in per cent on dev, with 95% "
    "intervals."
)


def relations_section(relations: Sequence[RelationFigures]) -> str:
    """The relations that are kept with their measures, and the others by reason."""
    asked_relations = sorted((figures for figures in relations if figures.kept), key=lambda figures: (-(figures.kept or 0), figures.id))
    names = ("kept", "reached", "implied", "share_implied", "objects_per_subject", "subjects_per_object", "text_lift")
    rows = [[escaped(figures.label), *(figure_text(getattr(figures, name)) for name in names)] for figures in asked_relations]
    out = [figures for figures in relations if figures.verdict != ASKED]
    reasons = [[f"{count:,}", reason, _largest(out, reason)] for reason, count in Counter(figures.verdict for figures in out).most_common()]
    parts = [
        "## Which relations are asked about", RELATIONS,
        table(["relation", "samples", "reached", "implied", "share", "objects", "subjects", "lift"], rows),
    ]  # fmt: skip
    if out:
        parts += [f"{len(out):,} of {len(relations):,} relations are not asked about:", table(["relations", "because", "largest"], reasons)]
    return "\n\n".join(parts)


def _largest(out: Sequence[RelationFigures], reason: str) -> str:
    members = sorted((figures for figures in out if figures.verdict == reason), key=lambda figures: (-figures.questions, figures.id))
    return "; ".join(escaped(figures.label) for figures in members[:NAMED]) + (" …" if len(members) > NAMED else "")


def beside_the_paper(counts: Mapping[str, int], plain: Mapping[str, int], baselines: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """This set and what comes of the same data without evidence: samples of each split, and baselines on dev."""
    last = list(baselines)[-1]
    rows = [
        [name, *(f"{samples[split]:,}" for split in SPLITS), *(_accuracy(baselines[when], baseline) for baseline in BESIDE)]
        for name, samples, when in (("this set", counts, last), (PAPERS_RECIPE, plain, PAPERS_RECIPE))
    ]
    return f"## Beside the paper's recipe\n\n{PLAIN}\n\n" + table(["set", *SPLITS, *BESIDE], rows)


def _accuracy(scores: Sequence[Mapping[str, Any]], baseline: str) -> str:
    return next((shown_accuracy(score) for score in scores if (score["baseline"], score["split"]) == (baseline, "dev")), "–")

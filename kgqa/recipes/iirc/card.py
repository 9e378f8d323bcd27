"""The dataset card of generated IIRC questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgqa.formats.provenance import noted
from kgqa.recipes import papers
from kgqa.recipes.card import SAMPLES, write_recipe_card
from kgqa.recipes.iirc.instances import NAME
from kgqa.records import ANSWER_TYPES, SPLITS, Instance
from kgqa.runs.card import escaped, funnel_table, table
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run
from kgqa.settings.iirc import IircSettings
from kgqa.splits.certificate import Certificate

ABOUT = (
    "Questions on a passage that tells only part of what they need; the rest is in articles to which it links. Made by kgqa from a graph, "
    "in the form of IIRC (Ferguson et al. 2020), whose questions people wrote. The first paragraph is the passage, the others are some of "
    "the linked articles. Unanswerable questions need an article that is withheld from the whole set. Each question's provenance has its "
    "pattern, the arithmetic as a program over its steps, and the typed values."
)
LIMITS = (
    "Questions are made from facts by templates; people ask more freely. That a text states a fact is what a model says that is learned "
    "from the facts. Numbers and dates are read by rules. That nothing else states what a withheld article says is checked by names, not "
    "by meaning. `docs/iirc.md` has the readings."
)
LINKS = (1, 2, 3)
"""Numbers of needed articles in the table of sizes; the last one stands for more, too."""


def write_dataset_card(
    folder: Path, run: Run, *, funnel: Iterable[FunnelRow], splits: Mapping[str, Sequence[Instance]], proof: Certificate
) -> dict[str, Any]:
    """Write the card (:func:`write_recipe_card`)."""
    split = run.section(IircSettings).split
    random = "" if split.leak_free else "\n\n**Split at random, for comparison only: splits share passages and articles.**"
    instances = [instance for split_instances in splits.values() for instance in split_instances]
    sections = [
        "## Answers and links\n\n" + _answers(instances),
        "## Patterns\n\n" + _patterns(instances),
        "## What was dropped, and why\n\n" + funnel_table(funnel),
        "## Splits\n\n" + proof.to_markdown().strip(),
        "## Samples\n\n" + "\n".join(_samples(instances)),
    ]
    counts = {name: len(instances_of_split) for name, instances_of_split in splits.items()}
    size = table(["split", "questions", "passages"], [_size(name, splits[name]) for name in SPLITS])
    return write_recipe_card(
        folder, run, "iirc", about=ABOUT + random, counts=counts, size=size, sections=sections, paper=papers.IIRC, limits=LIMITS
    )


def _size(name: str, instances: Sequence[Instance]) -> list[str]:
    return [name, f"{len(instances):,}", f"{len({instance.paragraphs[0].title for instance in instances}):,}"]


def _answers(instances: Sequence[Instance]) -> str:
    counts = Counter((instance.answer_type, min(LINKS[-1], links_of(instance))) for instance in instances)
    rows = [
        [
            ANSWER_TYPES[kind],
            *(f"{counts[kind, number]:,}" for number in LINKS),
            _share(sum(counts[kind, number] for number in LINKS), len(instances)),
        ]
        for kind in dict.fromkeys(("span", "number", "boolean", "none"))
    ]
    return table(["answer", "one article", "two articles", "three or more", "share"], rows)


def links_of(instance: Instance) -> int:
    """The number of linked articles that the question needs, withheld ones included."""
    return len(noted(instance, "iirc").get("question_links", ()))


def _patterns(instances: Sequence[Instance]) -> str:
    counts = Counter(noted(instance, NAME)["pattern"] for instance in instances)
    unanswerable = Counter(noted(instance, NAME)["pattern"] for instance in instances if not instance.answerable)
    rows = [[escaped(name), f"{count:,}", _share(count, len(instances)), f"{unanswerable[name]:,}"] for name, count in counts.most_common()]
    return table(["pattern", "questions", "share", "unanswerable"], rows)


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f}%" if total else "–"


def _samples(instances: Sequence[Instance]) -> list[str]:
    lines = []
    for instance in instances[:SAMPLES]:
        note = noted(instance, NAME)
        answer = f"{', '.join(instance.answers)} {note['unit']}".strip() if instance.answerable else "none"
        lines.append(f"- {escaped(instance.question)} **{escaped(answer)}** (passage: {escaped(instance.paragraphs[0].title or '')})")
    return lines

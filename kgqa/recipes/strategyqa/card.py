"""The dataset card of generated strategy questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import polars as pl

from kgqa.recipes import papers
from kgqa.recipes.card import SAMPLES, percent, with_steps, write_recipe_card
from kgqa.records import SPLITS, Instance
from kgqa.runs.card import escaped, funnel_table, table
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run
from kgqa.settings.strategyqa import TESTS, PatternSettings
from kgqa.splits.certificate import Certificate

ABOUT = (
    "Yes/no questions about two entities whose steps the question does not spell out, made by kgqa from dates, quantities and facts that "
    "articles state, in the manner of StrategyQA (Geva et al. 2021). Each has a decomposition with references (`#1`), the answer to each "
    "step, and the paragraph that states it. Half of the answers of each pattern and split are yes. An entity is about as likely in a "
    "question with yes as in one with no: pairs are drawn close to the border between both answers."
)
LIMITS = (
    "People wrote the questions of the published StrategyQA; these are composed by patterns and have the strategies of these alone. "
    '"Could" means that dates allow it. Dates and quantities are read out of articles by patterns, of which a small part is wrong; '
    "docs/strategyqa.md has the shares that a language model found."
)


def write_dataset_card(
    folder: Path, run: Run, *, funnel: Iterable[FunnelRow], splits: Mapping[str, Sequence[Instance]], questions: pl.DataFrame,
    patterns: Mapping[str, PatternSettings], proof: Certificate,
) -> dict[str, Any]:  # fmt: skip
    """Write the card (:func:`write_recipe_card`)."""
    counts = {split: len(instances) for split, instances in splits.items()}
    figures = (
        questions.group_by("pattern").agg(pl.len(), pl.col("yes").mean().alias("yes")).sort("len", "pattern", descending=[True, False])
    )
    size = table(
        ["split", "questions", "yes"], [[split, f"{counts[split]:,}", _yes(questions, number)] for number, split in enumerate(SPLITS)]
    )
    pattern_rows = [
        [
            name,
            escaped(patterns[name].question[0]),
            _test(patterns[name]),
            f"{count:,}",
            percent(count / questions.height),
            percent(yes),
        ]
        for name, count, yes in figures.iter_rows()
    ]
    idle = sorted(patterns.keys() - set(figures["pattern"]))
    sections = [
        "## What was dropped, and why\n\n" + funnel_table(funnel),
        "## Patterns\n\nIn per cent of all questions.\n\n"
        + table(["pattern", "a form of the question", "yes if", "questions", "share", "yes"], pattern_rows)
        + (f"\n\nPatterns without a question: {', '.join(map(escaped, idle))}." if idle else ""),
        "## Splits\n\nNo entity that a step is about is in two splits.\n\n" + proof.to_markdown().strip(),
        "## Samples\n\n" + "\n".join(map(with_steps, islice(chain.from_iterable(splits.values()), SAMPLES))),
    ]
    defaults = {"title": f"Strategy questions made by kgqa from {run.domain.settings.name}", "limits": LIMITS}
    own = {name: text for name, text in defaults.items() if name not in run.domain.own}
    return write_recipe_card(
        folder, run, "strategyqa", about=ABOUT, counts=counts, size=size, sections=sections, paper=papers.STRATEGYQA, **own
    )


def _test(pattern: PatternSettings) -> str:
    return f"{'not: ' if pattern.negated else ''}{TESTS[pattern.test]}"


def _yes(questions: pl.DataFrame, split: int) -> str:
    answers = questions.filter(pl.col("split") == split)["yes"]
    return percent(int(answers.sum()) / len(answers)) + "%" if len(answers) else "–"

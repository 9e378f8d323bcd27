"""The dataset card of generated strategy questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from kgqa.formats.columns import MEANINGS, OF_RECIPES
from kgqa.recipes import papers
from kgqa.records import SPLITS, Instance
from kgqa.runs.card import SEED_WARNING, domain_settings, escaped, funnel_table, readme, table
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow
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


def dataset_card(
    domain: Domain, *, seed: int, counts: Mapping[str, int], funnel: Iterable[FunnelRow], samples: Sequence[Instance], digest: str,
    example: str, questions: pl.DataFrame, patterns: Mapping[str, PatternSettings], proof: Certificate,
) -> str:  # fmt: skip
    """The text of README.md; it depends on data and settings only, not on the time."""
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
            _percent(count / questions.height),
            _percent(yes),
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
        "## Samples\n\n" + "\n".join(_sample(instance) for instance in samples),
    ]
    own = {
        name: value
        for name, value in {"title": f"Strategy questions made by kgqa from {domain.settings.name}", "limits": LIMITS}.items()
        if name not in domain.own
    }
    return readme(
        about=f"{ABOUT}{SEED_WARNING if domain.is_seed else ''}",
        counts=counts,
        size=size,
        digest=digest,
        schema=OF_RECIPES,
        meanings=MEANINGS,
        example=example,
        sections=sections,
        made=f"Recipe `strategyqa` with seed {seed}; content hash `{digest}`. "
        "All settings, inputs and versions are in [manifest.json](manifest.json).",
        paper=papers.STRATEGYQA,
        **{**domain_settings(domain.settings), **own},
    )


def _test(pattern: PatternSettings) -> str:
    return f"{'not: ' if pattern.negated else ''}{TESTS[pattern.test]}"


def _yes(questions: pl.DataFrame, split: int) -> str:
    answers = questions.filter(pl.col("split") == split)["yes"]
    return _percent(int(answers.sum()) / len(answers)) + "%" if len(answers) else "–"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _sample(instance: Instance) -> str:
    """A question, its steps and its answer on one line, escaped for a Markdown list."""
    steps = "; ".join(f"{number}. {step.question} {step.answer}" for number, step in enumerate(instance.decomposition or (), start=1))
    return f"- {escaped(instance.question)} **{escaped(instance.answers[0])}** ({escaped(steps)})"

"""Settings of the recipe of StrategyQA (Geva et al. 2021): patterns of questions, limits, splits."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kgqa.settings.base import Name, Positive, RecipeSettings, Settings, Share, SplitShare, SplitShares
from kgqa.settings.values import ValuesSettings

TESTS = {
    "within": "the second's date is in the time between the two dates of the first",
    "before": "the first's date is before the second's",
    "near": "the two dates lie close together",
    "more": "the first's quantity is larger than the second's",
    "same": "both have the same object of a relation",
    "chain": "a fact about the object of the first's fact has the second as its object",
}
"""Test of a pattern → when its answer is yes; otherwise it is no."""
_REFERENCE = re.compile(r"#(\d+)")
_NAME = re.compile(r"\{[^{}]*\}")


class PatternSettings(Settings):
    """A pattern of questions about two entities, ``{a}`` and ``{b}``."""

    question: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=300)], ...], Field(min_length=1)]
    """Forms of the question; one is drawn."""
    steps: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=300)], ...], Field(min_length=2, max_length=9)]
    """The decomposition: the retrieval steps in the order of the test, then the operation; ``#k`` refers to step k."""
    test: Literal["within", "before", "near", "more", "same", "chain"]
    """Test that decides the answer, one of ``TESTS``."""
    a: Annotated[tuple[str, ...], Field(min_length=1)]
    """Relations of the first entity. ``within``: the dates on which its time begins and ends. Other tests of values: one relation. ``same``
    and ``chain``: ids of relations of one meaning."""
    b: tuple[str, ...] = ()
    """Relations of the second entity: one date or quantity; for ``chain`` the relations of the second fact; for ``same`` none."""
    a_kind: tuple[str, ...] = ()
    """Kinds of the first entity as its article names them, such as ``film`` or ``school``; empty: any."""
    b_kind: tuple[str, ...] = ()
    """Kinds of the second entity; empty: any."""
    since: Annotated[float, Field(ge=0)] = 0
    """For ``within``: the answer is yes only from this number of years after the first date."""
    early: bool = False
    """For ``within``: also ask about dates before the first one; the answer is then no."""
    margin: Annotated[float, Field(ge=0)] = 2
    """Minimum difference between the two values, in years, or for ``more`` as a share; closer pairs have no definite answer. For ``near``:
    the maximum difference for yes."""
    reach: Annotated[float, Field(gt=0)] = 80
    """Maximum difference between the two values, in years, or for ``more`` as a share. Pairs further apart are too easy."""
    beyond: Annotated[float, Field(gt=0)] = 10
    """For ``near``: the minimum difference for no, in years."""
    negated: bool = False
    """Invert the answer of the test, for negated questions."""

    @model_validator(mode="after")
    def _is_a_strategy(self) -> PatternSettings:
        for form in self.question:
            if not form.endswith("?"):
                raise ValueError(f"the question {form!r} must end with a question mark")
            if {"{a}", "{b}"} - set(_NAME.findall(form)) or set(_NAME.findall(form)) - {"{a}", "{b}"}:
                raise ValueError(f"the question {form!r} must name {{a}} and {{b}}, and nothing else in braces")
        referenced_steps: set[int] = set()
        for place, step in enumerate(self.steps, start=1):
            numbers = {int(number) for number in _REFERENCE.findall(step)}
            if wrong := sorted(number for number in numbers if not 1 <= number < place):
                raise ValueError(f"step {place} refers to #{wrong[0]}, but a step can refer only to earlier ones")
            if set(_NAME.findall(step)) - {"{a}", "{b}"}:
                raise ValueError(f"step {place} may name {{a}} and {{b}}, and nothing else in braces")
            referenced_steps |= numbers
        if unused := sorted(set(range(1, len(self.steps))) - referenced_steps):
            raise ValueError(f"no later step refers to #{unused[0]}, so it is not needed")
        arity = {"within": (2, 1), "before": (1, 1), "near": (1, 1), "more": (1, 1)}
        if self.test in arity and (len(self.a), len(self.b)) != arity[self.test]:
            first, second = arity[self.test]
            raise ValueError(f"the test {self.test!r} takes {first} relation{'s' * (first > 1)} in a and {second} in b")
        if (self.test == "same" and self.b) or (self.test == "chain" and not self.b):
            raise ValueError("the test 'same' takes relations in a only, and the test 'chain' in both a and b")
        if len(self.steps) != 3:
            raise ValueError("it must have three steps: one for each of the two facts, and the operation")
        return self


class SplitsSettings(SplitShares):
    """Shares of the entities per split; they add up to 1. Splits share no entity that a step is about."""

    train: Share = 0.6
    """Share of the entities in the train split. Splits share no entity that a step is about."""
    dev: SplitShare = 0.2
    """Share of the entities in the dev split."""
    test: SplitShare = 0.2
    """Share of the entities in the test split."""


class StrategyqaSettings(RecipeSettings):
    """The section ``strategyqa`` of a domain."""

    values: ValuesSettings = ValuesSettings()
    english: bool = True
    """Use the built-in question patterns for English (``kgqa/recipes/strategyqa/patterns.toml``)."""
    patterns: dict[Annotated[Name, Field(max_length=61)], PatternSettings] = Field(default_factory=dict)
    """Additional question patterns; a pattern with the name of a built-in one replaces it."""
    leave_out: tuple[str, ...] = ()
    """Names of patterns that are not used."""
    most: Positive = 200
    """Maximum questions with the same pattern."""
    share: Share = 0.15
    """Maximum share of the questions with the same pattern; raised to equal shares if there are too few patterns."""
    per_entity: Positive = 3
    """Maximum questions that name the same entity."""
    min_links: Annotated[int, Field(ge=0)] = 1
    """Minimum documents, besides its own article, that name an entity. Larger values restrict questions to better-known entities (Geva et
    al. 2021, section 3.1)."""
    splits: SplitsSettings = SplitsSettings()

"""Facts with dates and quantities: which relations have them, how texts state them, and units."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field, model_validator

from kgqa.settings.base import Settings, matching

SLOTS = ("{date}", "{number}", "{quantity}")
"""What a pattern reads: a date, a number without a unit, or a number with a unit of the relation's measure."""
Pattern = Annotated[str, Field(min_length=1, max_length=500)]
Relation = Annotated[str, matching(r"[^\s{}#?][^{}#?\n]{0,60}", "a name of at most 61 characters, without {, }, # and ?")]


class UnitSettings(Settings):
    """A unit of measure, such as the metre."""

    measure: Annotated[str, Field(min_length=1)]
    """Measured quantity. Only units of the same measure can be compared."""
    factor: Annotated[float, Field(gt=0)]
    """Number of base units in this unit; each measure has one unit with factor 1."""
    words: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    """Spellings in texts, each of one or more words."""
    ids: tuple[str, ...] = ()
    """Ids in the graph, such as Wikidata's."""


class ValueSettings(Settings):
    """A relation whose objects are dates or quantities."""

    kind: Literal["time", "quantity"]
    """Type of the values: dates (``time``) or quantities."""
    ids: tuple[str, ...] = ()
    """Ids of the relation in the graph."""
    measure: str = ""
    """Measure of a quantity; empty: a plain number, such as a population."""
    of: tuple[str, ...] = ()
    """Kinds of subject, such as ``person`` or ``mountain``; empty: any."""
    opening: tuple[Pattern, ...] = ()
    """Regular expressions for the first line of the article about the subject, each with one slot of ``SLOTS``."""
    subject: tuple[Pattern, ...] = ()
    """Regular expressions for the text after the subject's name, or after a pronoun at the beginning of a sentence, in its article."""
    sentence: tuple[Pattern, ...] = ()
    """Regular expressions for whole sentences of its article."""

    @model_validator(mode="after")
    def _patterns_are_right(self) -> ValueSettings:
        slot_name = "{date}" if self.kind == "time" else "{quantity}" if self.measure else "{number}"
        for pattern in (*self.opening, *self.subject, *self.sentence):
            if sum(pattern.count(slot) for slot in SLOTS) != 1 or slot_name not in pattern:
                raise ValueError(f"the pattern {pattern!r} must contain {slot_name} once and no other slot")
            before, _, after = pattern.partition(slot_name)
            try:  # Polars applies the pattern, so polars must check it; its syntax differs from Python's.
                pl.Series([""]).str.contains(f"^(?:{before})(?:0)(?:{after})")
            except pl.exceptions.ComputeError:
                raise ValueError(
                    f"{pattern!r} is not a regular expression that polars understands, with the slot outside of brackets"
                ) from None
        return self


class ValuesSettings(Settings):
    """How facts with dates and quantities enter the tables (``docs/strategyqa.md``)."""

    english: bool = True
    """Use the built-in relations, patterns and units for English texts (``kgqa/recipes/values/english.toml``)."""
    sentences: Annotated[int, Field(ge=1, le=1000)] = 12
    """Number of sentences at the beginning of an article that kgqa searches for dates and quantities."""
    relations: dict[Relation, ValueSettings] = Field(default_factory=dict)
    """Additional relations with dates or quantities: their ids in the graph and regular expressions for how texts state them; one with the
    name of a built-in relation replaces it."""
    units: dict[Relation, UnitSettings] = Field(default_factory=dict)
    """Additional units by their symbols, with ``measure``, ``factor``, ``words`` and ``ids``."""

"""Facts with dates and quantities: which relations have them, how texts state them, and units."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field, model_validator

from kgqa.settings.base import Settings

SLOTS = ("{date}", "{number}", "{quantity}")
"""What a pattern reads: a date, a number without a unit, or a number with a unit of the relation's measure."""
Pattern = Annotated[str, Field(min_length=1, max_length=500)]
Relation = Annotated[str, Field(pattern=r"^[^\s{}#?][^{}#?\n]{0,60}$")]


class UnitSettings(Settings):
    """A unit of measure."""

    measure: Annotated[str, Field(min_length=1)]
    """What it measures. Only units of one measure can be compared."""
    factor: Annotated[float, Field(gt=0)]
    """How many base units it is; each measure has one unit with factor 1."""
    words: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    """How texts spell it, in any number of words."""
    ids: tuple[str, ...] = ()
    """How the graph calls it, as Wikidata's ids."""


class ValueSettings(Settings):
    """A relation whose objects are dates or quantities."""

    kind: Literal["time", "quantity"]
    ids: tuple[str, ...] = ()
    """The relation's ids in the graph."""
    measure: str = ""
    """Measure of a quantity; empty: a plain number, as of inhabitants."""
    of: tuple[str, ...] = ()
    """Kinds of subject, as ``person`` or ``mountain``; empty: any."""
    opening: tuple[Pattern, ...] = ()
    """Regular expressions for the opening line of the article about the subject, each with one slot of ``SLOTS``."""
    subject: tuple[Pattern, ...] = ()
    """The same for what comes after the subject's name or a pronoun that begins a sentence of its article."""
    sentence: tuple[Pattern, ...] = ()
    """The same for whole sentences of its article."""

    @model_validator(mode="after")
    def _patterns_are_right(self) -> ValueSettings:
        wanted = "{date}" if self.kind == "time" else "{quantity}" if self.measure else "{number}"
        for pattern in (*self.opening, *self.subject, *self.sentence):
            if sum(pattern.count(slot) for slot in SLOTS) != 1 or wanted not in pattern:
                raise ValueError(f"the pattern {pattern!r} must have {wanted} once, and no other slot")
            before, _, after = pattern.partition(wanted)
            try:  # Polars applies the pattern, so polars must check it; its syntax differs from Python's.
                pl.Series([""]).str.contains(f"^(?:{before})(?:0)(?:{after})")
            except pl.exceptions.ComputeError:
                raise ValueError(f"{pattern!r} is not a regular expression that polars understands, with the slot in no brackets") from None
        return self


class ValuesSettings(Settings):
    """How facts with dates and quantities enter the tables (``docs/strategyqa.md``)."""

    english: bool = True
    """Use the relations, patterns and units that kgqa ships for English texts (``kgqa/recipes/values/english.toml``)."""
    sentences: Annotated[int, Field(ge=1, le=1000)] = 12
    """Sentences of an article that are read, from its beginning."""
    relations: dict[Relation, ValueSettings] = Field(default_factory=dict)
    """Further relations; one of an English relation's name replaces it."""
    units: dict[Relation, UnitSettings] = Field(default_factory=dict)
    """Further units by their symbols."""

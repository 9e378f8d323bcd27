"""How names become mentions."""

from __future__ import annotations

from typing import Literal

import polars as pl
from pydantic import Field, field_validator

from kgqa.settings.base import Positive, Settings, Share


class PlainWordSettings(Settings):
    """Names that are everyday English words, as the drug synonyms Care, Body and Same."""

    zipf: float = Field(default=4.0, ge=0, le=8)
    """A word at or above this Zipf frequency is everyday (4 = ten times in a million words)."""
    words: tuple[str, ...] = ()
    """Rarer words that the texts use in another sense (lower case)."""
    sources: tuple[str, ...] = ()
    """The kinds of name to which the rule applies; main names are usually exempt."""
    kinds: tuple[str, ...] = ()
    """The kinds of entity to which it applies; empty: all."""
    spare_candidates: bool = False
    """Whether it spares entities that can be an answer."""
    keep: tuple[str, ...] = ()
    """Words that are names all the same (lower case)."""


class SharedNameSettings(Settings):
    """Names of several entities are left out, unless a preference leaves one winner."""

    prefer_kinds: tuple[str, ...] = ()
    """Entity kinds, best first: whose name it is when a drug and a protein share one."""
    prefer_sources: tuple[str, ...] = ()
    """Kinds of name, best first: an article's title beats another entity's alias."""
    others: tuple[str, ...] = ()
    """Names that belong to something outside the tables too: never linked, but stated and masked where they occur."""


class SupportSettings(Settings):
    """Short names count only in documents that also have a longer name of the same entity."""

    letters: dict[str, Positive] = Field(default={})
    """Kind of name → names without a digit of at most so many letters need support."""
    with_digit: dict[str, Positive] = Field(default={})
    """The same for names with a digit."""
    keep: tuple[str, ...] = ()
    """Short names that need none."""


class LinkingSettings(Settings):
    """How names become mentions (docs/linking.md shows what each rule removes)."""

    minimum_letters: dict[str, Positive] = Field(default={})
    """Kind of name → letters and digits that it must have."""
    keep_numbers: bool = False
    """Whether names without a letter take part."""
    exact_letters: int = Field(default=3, ge=0)
    """Names of at most so many letters and digits match in exact case only."""
    case: dict[str, Literal["free", "initial", "exact", "as_written"]] = Field(default={})
    """Kind of name → how longer ones match: any case, any case of the first letter only, exactly, or (as_written) exactly unless another
    name of the entity, or the article of what is no possible answer, has the name with a small first letter."""
    before_number: bool = True
    """Whether a name may be followed by a hyphen and a digit ("IL" in "IL-2")."""
    undescribed_words: bool = False
    """Whether single words are left out that are names of entities with neither an article nor a description."""
    shortened_titles: str = ""
    """What a title adds to an ambiguous name, as a regular expression: a single word that lacks it counts as shared; empty: none."""
    list_pages: str = ""
    """How an article begins that only lists what its title may mean, as a regular expression: what it is about has no name; empty: none."""
    plain_words: tuple[PlainWordSettings, ...] = ()
    small_share: Share = 1.0
    """Capitalised words of which the texts write more than this share with a small letter are left out; 1: none."""
    whole_names: bool = False
    """Whether a capitalised word directly beside another is taken for a part of a longer name that the tables lack."""
    support: SupportSettings = SupportSettings()
    shared: SharedNameSettings = SharedNameSettings()
    exclude_names: tuple[str, ...] = ()
    """Names that never match, in any case."""

    @field_validator("shortened_titles", "list_pages")
    @classmethod
    def _is_a_regular_expression(cls, value: str) -> str:
        # Polars applies it, so polars says whether it is one; its syntax differs from Python's.
        try:
            pl.Series([""]).str.contains(f"^(?:{value})$")
        except pl.exceptions.ComputeError:
            raise ValueError("it is not a regular expression that polars understands") from None
        return value

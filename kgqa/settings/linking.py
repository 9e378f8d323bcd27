"""How names become mentions."""

from __future__ import annotations

from typing import Literal

import polars as pl
from pydantic import Field, field_validator

from kgqa.settings.base import Positive, Settings, Share


class SharedNameSettings(Settings):
    """Which of several entities has the better claim to a name before anything else is known."""

    prefer_kinds: tuple[str, ...] = ()
    """Entity kinds, best first: whose name it is when a drug and a protein share one."""
    prefer_sources: tuple[str, ...] = ()
    """Kinds of name, best first: an article's title beats another entity's alias."""


class LinkingSettings(Settings):
    """How names become mentions (docs/linking.md shows what each rule removes)."""

    language: Literal["en", ""] = "en"
    """The language of the texts. What is known of English (frequent words, plurals, adjectives of names) helps there; empty: another
    language."""
    articles: str = "the"
    """The definite article, as a regular expression: a name with it is compared with the same name without it; empty: none."""
    belief: float = Field(default=0.4, ge=0, lt=1)
    """How probable it must be that a place means the entity; more makes fewer mentions, of which more are right; 0: all places link."""
    hubs: Share = 0.002
    """An everyday word that is written small and stands in more than this share of the documents never links, nor does what stands in ten
    times as many and hardly ever has to do with their subjects (months), unless it has a capital and a fact joins it to the document's;
    1: all link."""
    head_nouns: bool = True
    """Whether a name makes no mention before a word that ends other entities' names ("insulin receptor") or after "anti-" and the like."""
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
    list_pages: str = ""
    """How an article begins that only lists what its title may mean, as a regular expression: what it is about has no name; empty: none."""
    spellings: bool = False
    """Whether names are also found as the texts spell them otherwise, with other hyphens, spaces, brackets or Greek letters ("5-HT(1A)" for
    5HT1A)."""
    shared: SharedNameSettings = SharedNameSettings()
    exclude_names: tuple[str, ...] = ()
    """Names that never match, in any case."""

    @field_validator("articles", "list_pages")
    @classmethod
    def _is_a_regular_expression(cls, value: str) -> str:
        # Polars applies it, so polars says whether it is one; its syntax differs from Python's.
        try:
            pl.Series([""]).str.contains(f"^(?:{value})$")
        except pl.exceptions.ComputeError:
            raise ValueError("it is not a regular expression that polars understands") from None
        return value

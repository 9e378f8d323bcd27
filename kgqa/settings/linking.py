"""Settings of entity linking."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field, field_validator

from kgqa.settings.base import Positive, Settings, Share

CODE = r"^([A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*)?$"
"""A language's code of BCP 47 (RFC 5646, section 2.1) without extensions and private use, or nothing."""


def is_english(language: str) -> bool:
    """Whether a code of BCP 47 means English, of whatever region.

    >>> is_english("en-GB"), is_english("enm"), is_english("")
    (True, False, False)
    """
    return language.partition("-")[0].lower() == "en"


class SharedNameSettings(Settings):
    """Prior preference among entities that share a name."""

    prefer_kinds: tuple[str, ...] = ()
    """Entity kinds, best first: which entity gets a name that a drug and a protein share."""
    prefer_sources: tuple[str, ...] = ()
    """Kinds of name, best first: an article's title goes before another entity's alias."""


class LinkingSettings(Settings):
    """Entity linking (docs/linking.md shows what each rule removes)."""

    language: Annotated[str, Field(pattern=CODE)] = "en"
    """Language of the texts, a code of BCP 47 such as ``en``, ``de`` or ``pt-BR``; also on the card. English adds frequent words, plurals
    and adjectives of names; empty: another language, which is not named."""
    articles: str = "the"
    """The definite article, as a regular expression. A name with it is compared with the same name without it; empty: none."""
    belief: float = Field(default=0.4, ge=0, lt=1)
    """Minimum probability that a mention means the entity. Higher values give fewer and more precise mentions. At 0 any probability is
    enough, but one of several entities must be clearly the best."""
    hubs: Share = 0.002
    """An everyday word in lower case never links if it occurs in more than this share of the documents. A name that is rarely related to
    the documents' subjects, such as a month, never links above ten times this share. A capitalised name that a fact joins to the document's
    subject still links; 1: all link."""
    head_nouns: bool = True
    """Do not link a name before a word that ends other entities' names ("insulin receptor"), or after a prefix such as "anti-"."""
    minimum_letters: dict[str, Positive] = Field(default={})
    """Kind of name → minimum letters and digits."""
    keep_numbers: bool = False
    """Keep names without a letter."""
    exact_letters: int = Field(default=3, ge=0)
    """Names of at most this many letters and digits match only in exact case."""
    case: dict[str, Literal["free", "initial", "exact", "as_written"]] = Field(default={})
    """Kind of name → how longer names match: ``free`` (any case), ``initial`` (any case of the first letter), ``exact``, or
    ``as_written``. The last means ``initial`` if another name of the entity, or the article of an entity that cannot be an answer, has a
    small first letter; otherwise ``exact``."""
    inflections: bool = False
    """In other languages than English: also find names with the endings that the texts put on many names ("Berlins", "Silvanyada"). The
    endings are learned. The mention is the name without the ending, so the audit may report it (``wrong-spans``, ``absent-answers``)."""
    annotations: Literal["with", "only", "without"] = "with"
    """Use of mentions that the source marks, such as hyperlinks: together ``with`` mentions found by name, as the ``only`` mentions, or
    not at all (``without``). Where both kinds overlap, the marked mention wins."""
    before_number: bool = True
    """Allow a hyphen and a digit after a name ("IL" in "IL-2")."""
    list_pages: str = ""
    """How a disambiguation page begins, as a regular expression. Its entity gets no name; empty: none."""
    spellings: bool = False
    """Also find names with a number in other spellings: hyphens, spaces, brackets, Greek letters ("5-HT(1A)" for 5HT1A)."""
    shared: SharedNameSettings = SharedNameSettings()
    exclude_names: tuple[str, ...] = ()
    """Names that never match, in any case."""

    @field_validator("articles", "list_pages")
    @classmethod
    def _is_a_regular_expression(cls, value: str) -> str:
        # Polars applies the pattern, so polars must check it; its syntax differs from Python's.
        try:
            pl.Series([""]).str.contains(f"^(?:{value})$")
        except pl.exceptions.ComputeError:
            raise ValueError("it is not a regular expression that polars understands") from None
        return value

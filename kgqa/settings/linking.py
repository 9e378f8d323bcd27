"""Settings of entity linking."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field, field_validator

from kgqa.settings.base import Positive, Settings, Share, matching

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
    """Entity kinds, best first. A name that entities of several kinds share goes to the best kind."""
    prefer_sources: tuple[str, ...] = ()
    """Kinds of name, best first. A name that several entities share goes to the entity that has it as the best kind of name, such as a
    title rather than an alias."""


class LinkingSettings(Settings):
    """Entity linking (docs/linking.md shows what each rule removes)."""

    language: Annotated[str, matching(CODE, "a language code, such as en or pt-BR")] = "en"
    """Language of the texts as a BCP 47 code, such as ``en``, ``de`` or ``pt-BR``; also shown on the card. English enables rules for
    frequent words, plurals and adjectives of names. Empty: some other language that the card does not name."""
    articles: str = "the"
    """Regular expression for the definite article. An entity named "United Kingdom" also competes for the name "the United Kingdom"; empty:
    no article."""
    belief: float = Field(default=0.4, ge=0, lt=1)
    """Minimum probability that a mention refers to the entity. Larger values give fewer and more precise mentions. At 0 any probability is
    enough, but one of several entities must be clearly the best."""
    hubs: Share = 0.002
    """Maximum share of the documents with an everyday lower-case word; a more frequent word is not linked. For names that are rarely
    related to the documents' subjects, such as months, the limit is ten times this share. A capitalised name that a fact connects to the
    document's subject has no limit. Larger values link more frequent words; 1: no limit."""
    head_nouns: bool = True
    """Do not link a name before a head noun or after a prefix such as "anti-". A head noun is a word that ends the names of other entities
    ("insulin receptor")."""
    minimum_letters: dict[str, Positive] = Field(default={})
    """Kind of name → minimum number of letters and digits; 1 for kinds without an entry. Larger values remove more short, ambiguous
    names."""
    keep_numbers: bool = False
    """Keep names without letters."""
    exact_letters: int = Field(default=3, ge=0)
    """Names with at most this many letters and digits match case-sensitively. Larger values make more short names case-sensitive."""
    case: dict[str, Literal["free", "initial", "exact", "as_written"]] = Field(default={})
    """Kind of name → matching of names longer than ``exact_letters``: ``free`` (case-insensitive), ``initial`` (only the first letter may
    differ in case), ``exact`` (case-sensitive), or ``as_written``. The last means ``initial`` if another name of the entity, or the article
    of an entity that cannot be an answer, begins in lower case; otherwise ``exact``."""
    inflections: bool = False
    """For languages other than English: also match names with an ending that the texts attach to many names ("Berlins", "Silvanyada"). The
    endings are learned from the texts. The mention covers the name without the ending, so the audit may report it (``wrong-spans``,
    ``absent-answers``)."""
    annotations: Literal["with", "only", "without"] = "with"
    """Use of the mentions that the source marks, such as hyperlinks: ``with`` mentions found by name, as the ``only`` mentions, or not at
    all (``without``). Where both kinds overlap, the marked mention wins."""
    before_number: bool = True
    """Link a name in front of a hyphen and a digit ("IL" in "IL-2")."""
    list_pages: str = ""
    """Regular expression for the first words of a disambiguation page. The page's entity gets no names; empty: no such pages."""
    spellings: bool = False
    """Also match other spellings of names with a number: hyphens, spaces, brackets, Greek letters ("5-HT(1A)" for 5HT1A)."""
    shared: SharedNameSettings = SharedNameSettings()
    exclude_names: tuple[str, ...] = ()
    """Names that are never linked, case-insensitive."""

    @field_validator("articles", "list_pages")
    @classmethod
    def _is_a_regular_expression(cls, value: str) -> str:
        # Polars applies the pattern, so polars must check it; its syntax differs from Python's.
        try:
            pl.Series([""]).str.contains(f"^(?:{value})$")
        except pl.exceptions.ComputeError:
            raise ValueError("it is not a regular expression that polars understands") from None
        return value

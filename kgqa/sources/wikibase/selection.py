"""What to take from a Wikibase repository, and how it becomes rows, whatever form it comes in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from pydantic import Field, field_validator

from kgqa.settings.base import Settings
from kgqa.sources.rows import Rows

INSTANCE_OF = "P31"
CONSTRAINT, SYMMETRIC = "P2302", "Q21510862"
"""A property with this constraint says the same in both directions."""
ANY_LANGUAGE = "mul"
"""Code of names that are the same in many languages."""
ID = re.compile(r"[A-Z][1-9]\d*")
PROPERTY = re.compile(r"P[1-9]\d*")
ITEM = re.compile(r"Q[1-9]\d*")

NO_VALUE = "no value"
SOME_VALUE = "unknown value"
DEPRECATED = "deprecated statement"
LESSER_RANK = "statement of normal rank"
TEXT_VALUE = "text value"
OTHER_VALUE = "other value"
OTHER_OBJECT = "object is no item"
UNREADABLE_VALUE = "unreadable value"
OTHER_CLASS = "entity of another class"
OTHER_PROPERTY = "property not chosen"
LEXEME = "lexeme"
REDIRECT = "redirected entity"
MISSING = "missing entity"
OTHER_RECORD = "other record"
UNREADABLE = "unreadable record"
BLANK = "nameless entity"
REASONS = {
    NO_VALUE: "the statement says that there is no value",
    SOME_VALUE: "the statement says that the value is unknown",
    DEPRECATED: "the statement has the lowest rank, since it is known to be wrong",
    LESSER_RANK: "another statement of the property is preferred (option all_ranks)",
    TEXT_VALUE: "the value is a text, string or external identifier (option texts)",
    OTHER_VALUE: "the value is a media file, web address, formula or of another kind that no table has",
    OTHER_OBJECT: "the object is a property, lexeme, form or sense",
    UNREADABLE_VALUE: "the value is not written as its kind demands",
    OTHER_CLASS: "the entity is an instance of none of the chosen classes (option classes)",
    OTHER_PROPERTY: "the record describes a property that is not chosen (options properties and property_classes)",
    LEXEME: "the record describes a word and not an entity",
    REDIRECT: "the record says that the entity has been merged into another",
    MISSING: "the record says that there is no such entity",
    OTHER_RECORD: "the record describes neither an item nor a property",
    UNREADABLE: "the record is damaged",
    BLANK: "the head, relation or entity has no id: it is a blank node, a literal, or outside the prefixes",
}
"""Reason → the sentence for records and statements that are left out."""


class Selection(Settings):
    """What to take from a Wikibase repository."""

    language: tuple[str, ...] = Field(default=("en",), min_length=1)
    """Languages of labels, aliases and descriptions, best first, as BCP 47 or wiki codes: ``en``, ``pt-BR``, ``zh-hant``. ``mul``, for
    names that are the same in all languages, always comes last."""
    site: str | None = None
    """Site whose page titles are kept, such as ``enwiki``; empty: none; by default the Wikipedia of the first language."""
    properties: tuple[str, ...] = ()
    """Ids of the properties whose statements are kept; empty: all."""
    classes: tuple[str, ...] = ()
    """Keep only entities that are a direct instance of (P31) one of these classes; empty: all."""
    texts: bool = False
    """Also keep monolingual texts, strings and external identifiers, as values."""

    @field_validator("language")
    @classmethod
    def _codes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        codes = tuple(code.strip().lower().replace("_", "-") for code in value)
        if bad := [code for code in codes if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)]:
            raise ValueError(f"{bad[0]!r} is not a language code; write for instance en, pt-br or zh-hant")
        return codes

    @field_validator("properties", "classes", "property_classes", check_fields=False)
    @classmethod
    def _ids(cls, value: tuple[str, ...], info: object) -> tuple[str, ...]:
        kind, pattern = ("property", PROPERTY) if getattr(info, "field_name", "") == "properties" else ("item", ITEM)
        if bad := [id_ for id_ in value if not pattern.fullmatch(id_)]:
            raise ValueError(f"{bad[0]!r} is no {kind}'s id; write for instance {'P31' if kind == 'property' else 'Q5'}")
        return value

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of names, best first, each once."""
        return tuple(dict.fromkeys((*self.language, ANY_LANGUAGE)))

    @cached_property
    def chosen_site(self) -> str:
        """The site whose pages are kept, empty for none."""
        return self.language[0].split("-")[0] + "wiki" if self.site is None else self.site

    def label(self, labels: Mapping[str, str]) -> str:
        """The first of the chosen languages' labels, or nothing."""
        return next((labels[language] for language in self.languages if labels.get(language)), "")

    def names(self, rows: Rows, id_: str, labels: Mapping[str, str], aliases: Mapping[str, Iterable[str]]) -> str:
        """Give the entity its names; the label.

        Languages after that of the label give nothing, as their names belong in other texts, except ``mul``.
        """
        label = ""
        for language in self.languages:
            if label and language != ANY_LANGUAGE:
                continue
            if name := labels.get(language, ""):
                rows.name(id_, name, "alias" if label else "label")
                label = label or name
            for alias in aliases.get(language, ()):
                rows.name(id_, alias, "alias")
        return label

    def entity(
        self, rows: Rows, id_: str, *, labels: Mapping[str, str], aliases: Mapping[str, Iterable[str]], descriptions: Mapping[str, str]
    ) -> None:
        """An item with its names."""
        rows.entity(id_, self.names(rows, id_, labels, aliases), description=self.label(descriptions))

    def page(self, rows: Rows, id_: str, title: str) -> None:
        """The item's page on the chosen site."""
        rows.page(self.chosen_site, title, id_)
        rows.name(id_, title, "title")

    def relation(self, rows: Rows, id_: str, labels: Mapping[str, str], constraints: Sequence[str]) -> None:
        """A property with its label; ``constraints`` are the items that it has as property constraints."""
        if self.properties and id_ not in self.properties:
            rows.skip(OTHER_PROPERTY, id_)
        else:
            rows.relation(id_, self.label(labels), symmetric=SYMMETRIC in constraints)


class RankedSelection(Selection):
    """A selection from a form that says the rank of each statement."""

    all_ranks: bool = Field(default=False)
    """Also keep statements of normal rank where there are preferred ones. Deprecated statements are never kept."""


def last_part(uri: str) -> str:
    """Id of an entity from its URI; the id itself for an id; nothing for ``1``, the unit of plain numbers."""
    id_ = uri.rsplit("/", 1)[-1]
    return id_ if ID.fullmatch(id_) else ""

"""The recipe of IIRC (Ferguson et al. 2020): questions on a passage whose answers need the articles that it links to."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kgqa.settings.base import Positive, RecipeSettings, Settings, Share, SplitShares
from kgqa.settings.musique import forms
from kgqa.settings.values import ValuesSettings

KINDS = {
    "ask": "span",
    "is": "boolean",
    "same": "boolean",
    "shared": "span",
    "value": "span",
    "difference": "number",
    "total": "number",
    "least": "span",
    "most": "span",
    "less": "boolean",
    "more": "boolean",
    "every": "boolean",
    "count": "number",
    "range": "number",
}
"""Kind of pattern → type of its answers. A ``value`` that is a quantity is a number."""
PLACES = frozenset({"a", "b", "the a", "the b", "that b", "both", "ask a", "value", "as value", "year", "subject", "group"})
"""What the places of a pattern's questions can be."""
OF_VALUES = frozenset({"value", "difference", "total", "least", "most", "less", "more", "every", "range"})
"""Kinds of pattern that need ``values``."""
OVER: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("ask", "is", "value"), frozenset({"link"})),
    **dict.fromkeys(("same", "shared"), frozenset({"links"})),
    "difference": frozenset({"link", "links", "subject"}),
    **dict.fromkeys(("total", "least", "most"), frozenset({"links", "subject", "group"})),
    **dict.fromkeys(("less", "more"), frozenset({"link", "links", "subject"})),
    **dict.fromkeys(("every", "count", "range"), frozenset({"group"})),
}
"""Kind of pattern → what it can be over."""
Answers = Literal["span", "number", "boolean", "none"]


class PatternSettings(Settings):
    """A kind of question, and its wording. docs/iirc.md explains the places in braces."""

    kind: Literal[
        "ask", "is", "same", "shared", "value", "difference", "total", "least", "most", "less", "more", "every", "count", "range"
    ]  # fmt: skip
    """Operation that gives the answer."""
    over: Literal["link", "links", "subject", "group"] = "link"
    """Its operands: one linked entity, two, a linked entity and the subject of the passage, or all members of a group."""
    values: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Relation of dates or quantities that it computes with. A difference can have two: of one linked entity, or of the linked
    entity and of the subject."""
    templates: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Templates of ``musique.templates`` that it asks for; empty: all. For patterns without ``values``."""
    question: str | tuple[str, ...] = ""
    """How it is asked; with several forms one is drawn."""
    unit: str = ""
    """Unit of a number."""
    calendar: bool = False
    """Subtract years without months and days, for questions about the difference between two years."""
    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Maximum share of all questions; 0: leave the pattern out. ``iirc.max_pattern`` limits it too."""

    @field_validator("question")
    @classmethod
    def _has_known_places(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for form in forms(value):
            try:
                places = [name for _, name, spec, conversion in Formatter().parse(form) if name is not None or spec or conversion]
            except ValueError as error:
                raise ValueError(f"braces are for places only: {error}") from None
            if "{{" in form or "}}" in form:
                raise ValueError("a doubled brace would appear in every question; braces are for places only")
            if unknown := [place for place in places if place not in PLACES]:
                raise ValueError(f"there is no place {{{unknown[0]}}}; known are {', '.join(sorted(PLACES))}")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> PatternSettings:
        if not forms(self.question):
            raise ValueError("question is missing")
        needs_values = self.kind in OF_VALUES
        if needs_values != bool(self.values) and self.kind != "count":
            raise ValueError(f"a pattern of the kind {self.kind} {'needs values' if needs_values else 'has no values'}")
        if self.values and self.templates:
            raise ValueError("values and templates exclude each other; leave out one of the two")
        if self.over not in OVER[self.kind]:
            raise ValueError(
                f"a pattern of the kind {self.kind} cannot be over {self.over}, but over {' or '.join(sorted(OVER[self.kind]))}"
            )
        most = 2 if self.kind == "difference" and self.over in {"link", "subject"} else 1
        if len(self.values) > most or (self.kind == "difference" and self.over == "link" and len(self.values) < most):
            raise ValueError("values has one relation; the difference over one link has two, and over link and subject one or two")
        return self


class GroupSettings(Settings):
    """Linked entities of one kind, or in one relation with the subject of the passage."""

    templates: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Templates of ``musique.templates``: what the passage states in this relation."""
    kinds: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Classes of things, as ``person`` or ``film``: what the passage links to."""
    text: Annotated[str, Field(min_length=1)]
    """How a question calls them, in the plural, with ``{head}`` for the subject."""

    @model_validator(mode="after")
    def _is_whole(self) -> GroupSettings:
        if bool(self.templates) == bool(self.kinds):
            raise ValueError("give either templates or kinds")
        if self.text.count("{head}") != 1 or self.text.count("{") != 1 or self.text.count("}") != 1:
            raise ValueError("text must have one place for a name, {head}")
        return self


class SplitSettings(SplitShares):
    """Splits of the questions."""

    leak_free: bool = True
    """Splits share no passage, no needed article and no fact; false: a random split, for comparison."""


class IircSettings(RecipeSettings):
    """Questions on passages with links. ``musique.templates`` has the wording of facts."""

    min_links: Positive = 10
    """Minimum links of a passage to different articles (section 2.1)."""
    max_links: Positive = 100
    """Maximum links; a passage with more is a list."""
    evidence: float = 2.5
    """Minimum score of the words around a name, as a logarithm of how much more frequent they are where the relation is stated."""
    articles: Positive = 8
    """Maximum linked articles that a question shows."""
    size: Positive = 10_000
    """Maximum questions."""
    answers: Mapping[Answers, Annotated[float, Field(ge=0, le=1)]] = {"span": 0.46, "number": 0.3, "boolean": 0.2, "none": 0.33}
    """Answer type → its maximum share of the questions."""
    max_pattern: Share = 0.15
    """Maximum share of one pattern."""
    max_relations: Share = 0.05
    """Maximum share of the questions of one pattern over the same relations; five are always allowed."""
    max_group: Annotated[int, Field(ge=2)] = 5
    """Maximum members of a group."""
    max_answer: Share = 0.02
    """Maximum share of the questions with one answer other than yes, no and none; five are always allowed."""
    max_per_passage: Positive = 4
    """Maximum questions on one passage."""
    max_per_article: Positive = 8
    """Maximum questions that need one article."""
    patterns: Mapping[str, PatternSettings] = {}
    """Further patterns; one of a shipped pattern's name (``kgqa/recipes/iirc/patterns.toml``) replaces it."""
    groups: Mapping[str, GroupSettings] = {}
    """Groups that patterns over a group ask about."""
    values: ValuesSettings = ValuesSettings()
    split: SplitSettings = SplitSettings()

    @field_validator("answers")
    @classmethod
    def _are_all_there(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        if missing := {"span", "number", "boolean", "none"} - value.keys():
            raise ValueError(f"the share of {min(missing)} is missing; write 0 to leave these answers out")
        return value

    @model_validator(mode="after")
    def _links_leave_room(self) -> IircSettings:
        if self.min_links > self.max_links:
            raise ValueError(f"min_links {self.min_links} is above max_links {self.max_links}, so that no passage is good")
        return self

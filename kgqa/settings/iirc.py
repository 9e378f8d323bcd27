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
"""Placeholders that the questions of a pattern can have."""
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
    """A kind of question, and its wording. docs/iirc.md explains the placeholders in braces."""

    kind: Literal[
        "ask", "is", "same", "shared", "value", "difference", "total", "least", "most", "less", "more", "every", "count", "range"
    ]  # fmt: skip
    """Operation that computes the answer."""
    over: Literal["link", "links", "subject", "group"] = "link"
    """Operands: one linked entity (``link``), two of them (``links``), a linked entity and the ``subject`` of the passage, or all members
    of a ``group``."""
    values: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Relations of the dates or quantities to compute with. A difference may have two: of one linked entity, or of the linked entity and of
    the subject."""
    templates: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Templates of ``musique.templates`` to use; empty: all. For patterns without ``values``."""
    question: str | tuple[str, ...] = ""
    """Wording of the question. If there are several forms, one is drawn at random."""
    unit: str = ""
    """Unit of a numeric answer."""
    calendar: bool = False
    """Subtract years without months and days, for questions about the difference between two years."""
    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Maximum share of all questions with this pattern, in addition to the limit ``iirc.max_pattern``; 0: do not use the pattern."""

    @field_validator("question")
    @classmethod
    def _has_known_places(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for form in forms(value):
            try:
                places = [name for _, name, spec, conversion in Formatter().parse(form) if name is not None or spec or conversion]
            except ValueError as error:
                raise ValueError(f"braces are only for placeholders: {error}") from None
            if "{{" in form or "}}" in form:
                raise ValueError("a doubled brace would appear in every question; braces are only for placeholders")
            if unknown := [place for place in places if place not in PLACES]:
                raise ValueError(f"there is no placeholder {{{unknown[0]}}}; choose one of {', '.join(sorted(PLACES))}")
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
            raise ValueError("values must have one relation; a difference over link has two, and a difference over subject has one or two")
        return self


class GroupSettings(Settings):
    """Linked entities of one kind, or in one relation with the subject of the passage."""

    templates: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Templates of ``musique.templates``; the members are the entities that the passage states in these relations."""
    kinds: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Kinds of entity, such as ``person`` or ``film``; the members are the linked entities of these kinds."""
    text: Annotated[str, Field(min_length=1)]
    """Name of the group in a question, in the plural, with ``{head}`` for the subject."""

    @model_validator(mode="after")
    def _is_whole(self) -> GroupSettings:
        if bool(self.templates) == bool(self.kinds):
            raise ValueError("give either templates or kinds")
        if self.text.count("{head}") != 1 or self.text.count("{") != 1 or self.text.count("}") != 1:
            raise ValueError("text must have one place for a name, {head}")
        return self


class SplitSettings(SplitShares):
    """Shares of the splits, and what they may share."""

    leak_free: bool = True
    """Keep passages and needed articles, and with them facts, from occurring in two splits; false: a random split, for comparison."""


class IircSettings(RecipeSettings):
    """Questions on passages with links. ``musique.templates`` has the wording of facts."""

    min_links: Positive = 10
    """Minimum links of a passage to different articles (section 2.1)."""
    max_links: Positive = 100
    """Maximum links of a passage; one with more is probably a list and is excluded."""
    evidence: float = 2.5
    """Minimum score of the words around a name: the natural logarithm of how much more frequent they are where the relation is stated.
    Larger values give fewer and more reliable facts."""
    articles: Positive = 8
    """Maximum linked articles that are shown with a question."""
    size: Positive = 10_000
    """Maximum questions of the whole dataset."""
    answers: Mapping[Answers, Annotated[float, Field(ge=0, le=1)]] = {"span": 0.46, "number": 0.3, "boolean": 0.2, "none": 0.33}
    """Answer type → maximum share of the questions."""
    max_pattern: Share = 0.15
    """Maximum share of the questions with the same pattern; raised if there are too few patterns."""
    max_relations: Share = 0.05
    """Maximum share of the questions with the same pattern and the same relations; five questions are always allowed."""
    max_group: Annotated[int, Field(ge=2)] = 5
    """Maximum members of a group that a question asks about."""
    max_answer: Share = 0.02
    """Maximum share of the questions with the same answer, other than yes, no and none; five questions are always allowed."""
    max_per_passage: Positive = 4
    """Maximum questions on the same passage."""
    max_per_article: Positive = 8
    """Maximum questions that need the same article."""
    patterns: Mapping[str, PatternSettings] = {}
    """Additional question patterns; a pattern with the name of a built-in one (``kgqa/recipes/iirc/patterns.toml``) replaces it."""
    groups: Mapping[str, GroupSettings] = {}
    """Additional groups that patterns over a group ask about."""
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
            raise ValueError(f"min_links {self.min_links} is above max_links {self.max_links}, so no passage qualifies")
        return self

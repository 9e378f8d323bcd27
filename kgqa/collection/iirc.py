"""What people submit for IIRC (Ferguson et al. 2020): questions about a passage with links, and answers to them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from kgqa.collection.task import Answer

MOST_OFFSET = 10_000_000


class Mark(BaseModel):
    """A span that a person marked in a text of the item's page."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_max_length=Answer.model_config["str_max_length"])

    document: str
    """Which text of the page."""
    start: int = Field(ge=0, le=MOST_OFFSET)
    """In characters (Unicode code points); so is ``end``, which is exclusive."""
    end: int = Field(ge=0, le=MOST_OFFSET)
    text: str
    """The span's text, by which wrong offsets are found."""

    def is_in(self, text: str | None) -> bool:
        """Whether the span of ``text`` is not blank and has the mark's text."""
        return text is not None and bool(self.text.strip()) and text[self.start : self.end] == self.text


PASSAGE = "passage"
"""The document of marks in the passage."""
QUESTION = "question"
"""The document of marks in the question."""
ARTICLE = "article:"
"""Prefix of the documents of marks in linked articles, before the title."""
TYPES = MappingProxyType(
    {
        "span": "a part of the question, the passage or an article, or several parts together",
        "number": "a number, with its unit",
        "yes": "yes",
        "no": "no",
        "none": "neither the passage nor the articles say it",
        "bad": "the question is bad",
    }
)
"""Kind of answer → the sentence that the page shows."""
REASONS = MappingProxyType(
    {
        "senseless": "It makes no sense, or nobody can tell what it asks for.",
        "misread": "It misreads the passage.",
        "passage": "The passage alone answers it.",
        "apart": "It needs nothing of the passage.",
        "other": "Something else is wrong; say what.",
    }
)
"""What is wrong with a bad question → the sentence that the page shows."""


def plain(value: Any) -> Any:
    """A text on one line without spaces around it: what is pasted may have line breaks; other values as they are."""
    return " ".join(value.split()) if isinstance(value, str) else value


class WrittenQuestion(BaseModel):
    """A question about a passage."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Annotated[str, BeforeValidator(plain), Field(max_length=1_000)] = ""
    links: Annotated[tuple[str, ...], Field(max_length=1_000)] = ()
    """Titles of the linked articles that are needed."""
    context: Annotated[tuple[Mark, ...], Field(max_length=100)] = ()
    """What of the passage is needed."""

    @property
    def is_begun(self) -> bool:
        """Whether there is anything of it."""
        return bool(self.question or self.links or self.context)


class QuestionsAnswer(Answer):
    """The questions that a person writes about a passage."""

    questions: Annotated[tuple[WrittenQuestion, ...], Field(max_length=20)] = ()


class IircAnswer(Answer):
    """An answer; fields that its type does not need are empty."""

    type: Literal["", "span", "number", "yes", "no", "none", "bad"] = ""
    """A key of ``TYPES``; empty in a draft."""
    spans: Annotated[tuple[Mark, ...], Field(max_length=100)] = ()
    """The parts of the answer, in the order of marking."""
    value: Annotated[str, BeforeValidator(plain), Field(max_length=100)] = ""
    unit: Annotated[str, BeforeValidator(plain), Field(max_length=100)] = ""
    context: Annotated[tuple[Mark, ...], Field(max_length=200)] = ()
    """The least of passage and articles that is needed to answer."""
    reason: Literal["", "senseless", "misread", "passage", "apart", "other"] = ""
    """A key of ``REASONS``."""
    note: Annotated[str, Field(max_length=2_000)] = ""

    @property
    def is_answered(self) -> bool:
        """Whether the texts answer the question."""
        return self.type in {"span", "number", "yes", "no"}

"""Marked spans of texts in an answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

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

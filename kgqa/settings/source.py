"""Source tables: the layouts, their kinds of name and entity, and the selection of documents."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgqa.settings.base import Settings

QUESTIONS = "questions"
"""The layout of what has no files: question sets that a command is given."""
NAME_SOURCES = {"wikidata": ("title", "label", "alias"), "medline": ("name", "gene", "synonym"), QUESTIONS: ()}
"""Layout → the kinds of name that its reader makes, from the most to the least telling."""


KINDS = {"wikidata": ("entity",), "medline": ("drug", "protein"), QUESTIONS: ()}
"""Layout → the kinds of entity that its reader makes."""


class SourceSettings(Settings):
    """Source of the tables."""

    layout: Literal["wikidata", "medline", "questions"]
    """Layout of the source files (``kgqa/sources``). ``questions`` means question sets, without a graph: those that ``kgqa compose`` gets
    as arguments."""


class DocumentSettings(Settings):
    """Selection of documents."""

    exclude_about: tuple[str, ...] = ()
    """Entities whose own article is left out of the graph (WikiHop: the United States, section 3.2)."""
    max_tokens: int = Field(default=0, ge=0)
    """Leave out texts with more tokens than this beyond their title; 0: no limit (MedHop: 300, section 4)."""

"""Source tables: the layouts, their kinds of name and entity, and the selection of documents."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgqa.settings.base import Settings

QUESTIONS = "questions"
"""Layout without files: question sets that a command gets as arguments."""
NAME_SOURCES = {
    "wikidata": ("title", "label", "alias"),
    "medline": ("name", "gene", "synonym"),
    "import": ("title", "label", "name", "gene", "alias", "synonym"),
    QUESTIONS: (),
}
"""Layout → kinds of name that its parser makes, most specific first."""


KINDS = {"wikidata": ("entity",), "medline": ("drug", "protein"), "import": None, QUESTIONS: ()}
"""Layout → kinds of entity that its parser makes; None: those that the files have."""


class SourceSettings(Settings):
    """Source of the tables."""

    layout: Literal["wikidata", "medline", "import", "questions"]
    """Layout of the source files (``kgqa/sources``). ``import`` means a folder that ``kgqa import`` wrote; such a folder is recognised
    whatever this says. ``questions`` means question sets, without a graph: those that ``kgqa compose`` gets as arguments."""


class DocumentSettings(Settings):
    """Selection of documents."""

    exclude_about: tuple[str, ...] = ()
    """Entities whose own article is left out of the graph (WikiHop: the United States, section 3.2)."""
    max_tokens: int = Field(default=0, ge=0)
    """Leave out texts with more tokens than this beyond their title; 0: no limit (MedHop: 300, section 4)."""

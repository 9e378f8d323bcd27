"""Where the tables come from, which names and kinds of entity each layout has, and which documents take part."""

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
    """Where the tables come from."""

    layout: Literal["wikidata", "medline", "questions"]
    """Which reader; see ``kgqa/sources``. What is made of ``questions`` has no graph: they are the sets that ``kgqa compose`` is given."""


class DocumentSettings(Settings):
    """Which documents take part."""

    exclude_about: tuple[str, ...] = ()
    """Entities whose own article is left out of the graph (WikiHop: the United States, section 3.2)."""
    max_tokens: int = Field(default=0, ge=0)
    """Texts with more tokens than this beyond their title are left out; 0: no limit (MedHop: 300, section 4)."""

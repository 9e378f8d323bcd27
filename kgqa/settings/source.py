"""Source tables: the layouts, their kinds of name and entity, and the selection of documents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

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
    """Where the tables of entities, facts and documents come from."""

    layout: Literal["wikidata", "medline", "import", "questions"]
    """Layout of the source files (``kgqa/sources``). ``import``: a folder written by ``kgqa import``; kgqa recognises such a folder
    even if this setting has another value. ``questions``: no graph, only the question sets that ``kgqa compose`` gets as arguments."""


class DocumentSettings(Settings):
    """Selection of the documents that become part of the graph."""

    exclude_about: tuple[str, ...] = ()
    """Ids of entities whose own article is removed from the graph (WikiHop: the United States, section 3.2)."""
    max_tokens: int = Field(default=0, ge=0)
    """Maximum tokens of a text, not counting its title; longer texts are removed. 0: no limit (MedHop: 300, section 4)."""


class ImportSettings(Settings):
    """One entry of ``imports``: files of one public format, as ``kgqa import`` reads them."""

    format: str
    """Name of the format, one of ``kgqa import --list``."""
    files: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    """Files in the folder of the TOML file or below, in reading order. A pattern with ``*``, ``?`` or ``[…]`` stands for all files that
    match it, sorted by name."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the format. A string or number is parsed as after ``--option``."""
    licence: str | None = None
    """Licence of the files; null: the publisher's."""
    attribution: str | None = None
    """Sentence about the files for the dataset card; null: the publisher's."""
    partial: bool = False
    """Read a truncated file up to its last complete record."""

    @field_validator("files", mode="before")
    @classmethod
    def _one_file(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

"""The card of a dataset whose questions another set brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kgqa.formats.columns import MEANINGS, SCHEMA
from kgqa.formats.question_set import QuestionSet
from kgqa.runs.card import example, readme, table


def derived_card(folder: Path, source: QuestionSet, about: str, counts: Mapping[str, int], digest: str) -> str:
    """The text of README.md for the questions of ``source`` that ``folder`` holds; ``about`` is Markdown."""
    origin = f"Inputs and versions are in [manifest.json](manifest.json); content hash `{digest}`."
    return question_card(folder, title=source.name, about=about, counts=counts, digest=digest, made=origin)


def question_card(
    folder: Path, *, title: str, about: str, counts: Mapping[str, int], digest: str, made: str, sections: Sequence[str] = (),
    licence: str = "unknown",
) -> str:  # fmt: skip
    """The text of README.md for the questions in ``folder``; arguments as of :func:`kgqa.runs.card.readme`."""
    return readme(
        title=title,
        about=about,
        counts=counts,
        size=table(["split", "questions"], [[split, f"{count:,}"] for split, count in counts.items()]),
        digest=digest,
        schema=SCHEMA,
        meanings=MEANINGS,
        example=example(folder, counts),
        sections=sections,
        made=made,
        licence=licence,
    )

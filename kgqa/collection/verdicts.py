"""Verdicts and marks: one verdict per sample, as in the validation of WikiHop (Welbl et al. 2018, section 5), and any marks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A verdict or a mark."""

    name: str
    """Its name in the table."""
    key: str
    """Key on the page."""
    label: str
    sentence: str
    """Meaning, for reports and the page."""


def _by_name(*categories: Category) -> dict[str, Category]:
    return {category.name: category for category in categories}


ANOTHER = "another"
"""The mark that can name a candidate."""
TRIVIAL = "trivial"
VERDICTS = _by_name(
    Category(name="follows", key="1", label="follows", sentence="The documents state the answer, or leave no doubt of it."),
    Category(name="likely", key="2", label="likely", sentence="The documents make the answer likely, but a reader could doubt it."),
    Category(
        name="does-not-follow", key="3", label="does not follow", sentence="The documents say nothing that leads to the answer, or deny it."
    ),
    Category(name="unreadable", key="6", label="not readable", sentence="The question or its documents cannot be understood or judged."),
)
"""One of them for each sample."""
MARKS = _by_name(
    Category(
        name=ANOTHER,
        key="4",
        label="another is as true",
        sentence="By the documents another candidate answers the question as well as the answer does.",
    ),
    Category(
        name="wrong-link", key="5", label="wrong link", sentence="A place on the chain is linked to something that the text does not mean."
    ),
    Category(
        name=TRIVIAL,
        key="7",
        label="trivial",
        sentence="The subject's own article, or the type of the answer, is enough to find it.",
    ),
)
"""Marks, any number per sample."""
TABLE_MARKS = {name: mark for name, mark in MARKS.items() if name != TRIVIAL}
"""The marks of tables, which are older than the last mark."""
VALID = ("follows", "likely")
"""Verdicts that support the answer; the paper counts them together."""

"""One thing that is wrong with a domain."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

ERROR, WARNING = "error", "warning"
EXAMPLES = 3
MOST_COMPARED = 5_000
"""Names that are compared letter by letter with a misspelled one; in longer lists only other case is recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, where, and what to do."""

    check: str
    """Name of the check."""
    severity: str
    """``error``: no dataset can be made, or not what the settings say; ``warning``: it loses samples or makes doubtful ones."""
    what: str
    """A sentence without its full stop."""
    where: str
    """The setting, file, table or query."""
    advice: str
    """What to do, without a full stop."""
    count: int = 1
    """Number of rows, entities or the like that it concerns."""


def near(name: str, known: Iterable[tuple[str, str]]) -> str:
    """``did you mean 'director' (P57)?`` for the entries (id, label) that are nearly called ``name``, or an empty text.

    >>> near("directer", [("P57", "director"), ("P19", "place of birth")]), near("P75", [("P57", "director")]), near("x", [])
    ("did you mean 'director' (P57)?", "did you mean 'director' (P57)?", '')
    """
    entries = list(known)
    by_text: dict[str, tuple[str, str]] = {}
    for id_, label in entries:
        by_text.setdefault(label.casefold(), (id_, label))
    by_text |= {id_.casefold(): (id_, label) for id_, label in entries}
    target = name.casefold().replace("_", " ")
    texts = [text for text in (target, name.casefold()) if text in by_text]
    for text in (target, name.casefold()) if len(by_text) <= MOST_COMPARED else ():
        texts = texts or get_close_matches(text, by_text, n=EXAMPLES, cutoff=0.6)
    names = list(dict.fromkeys(by_text[text] for text in texts))
    return f"did you mean {' or '.join(named(id_, label) for id_, label in names)}?" if names else ""


def named(id_: str, label: str) -> str:
    """A relation or entity for a sentence."""
    return f"{label!r} ({id_})" if label and label != id_ else repr(id_)


def some(texts: Collection[str]) -> str:
    """The first few of ``texts``, and the number of the others.

    >>> some(["a", "b"]), some(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    names = list(texts)
    return ", ".join(names[:EXAMPLES]) + (f" and {len(names) - EXAMPLES:,} more" if len(names) > EXAMPLES else "")

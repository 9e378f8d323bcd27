"""What words between the subject and a name state is learned from known facts, and read where the graph has none."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest

from kgqa.recipes.musique.read_facts import read_facts
from kgqa.settings.musique import ReadingSettings

KNOWN = 30
"""Persons whose birthplace the graph knows."""


def tables(more: dict[str, str]) -> tuple[dict[str, pa.Table], pl.DataFrame, pl.DataFrame]:
    """Articles of persons who were born in a town and sang in another one, and ``more`` of whom the graph knows nothing."""
    texts = {f"P{n}": f"Mr P{n} is a singer. He was born in Town{n}. He sang in Town{n + 1} and went to Town{n + 2}." for n in range(KNOWN)}
    texts |= more
    mentions = []
    for name, text in texts.items():
        for number in range(KNOWN + 3):
            start = text.find(f"Town{number}")
            if start >= 0 and not text[start + len(f"Town{number}") :][:1].isdigit():
                mentions.append({"document": name, "entity": f"T{number}", "start": start, "end": start + len(f"Town{number}")})
    documents = pa.Table.from_pylist([{"id": name, "title": f"Mr {name}", "about": name, "text": text} for name, text in texts.items()])
    facts = pl.DataFrame({"head": [f"P{n}" for n in range(KNOWN)], "template": "born", "tail": [f"T{n}" for n in range(KNOWN)]})
    good = pl.DataFrame({"document": list(texts), "about": list(texts)})
    return {"documents": documents, "mentions": pa.Table.from_pylist(mentions)}, facts, good


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Mr X is a singer. He was born in Town3.", True),
        ("Mr X is a singer. He sang in Town3.", False),
        ("Mr X is a singer. His father was born in Town3.", False),  # the sentence is about somebody else
        ("Mr X is a singer, who was born in Town3.", True),
    ],
)
def test_what_is_read(text: str, read: bool) -> None:
    given, facts, good = tables({"X": text})
    found = read_facts(facts, given, good, ReadingSettings(least=6))
    assert found.rows() == ([("X", "born", "T3")] if read else [])


def test_of_whom_the_graph_has_a_fact_none_is_read() -> None:
    given, facts, good = tables({"X": "Mr X is a singer. He was born in Town3."})
    known = pl.concat([facts, pl.DataFrame({"head": ["X"], "template": ["born"], "tail": ["T9"]})])
    assert not read_facts(known, given, good, ReadingSettings(least=6)).height


def test_what_was_seen_too_seldom_shows_nothing() -> None:
    given, facts, good = tables({"X": "Mr X is a singer. He was born in Town3."})
    assert not read_facts(facts, given, good, ReadingSettings(least=KNOWN + 1)).height
    assert not read_facts(facts.clear(), given, good, ReadingSettings()).height


def test_another_kind_of_thing_has_no_such_fact() -> None:
    given, facts, good = tables({"X": "X is a river in Asia. It was born in Town3."})
    assert not read_facts(facts, given, good, ReadingSettings(least=6)).height

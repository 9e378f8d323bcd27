"""What texts state is learned from known facts: of those of the graph, and where it has none."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from kgqa.recipes.musique.read_facts import of_kinds, read_texts

KNOWN = 2800
"""Persons whose birthplace the graph knows."""
TOWNS = 40


def tables(more: dict[str, str]) -> tuple[dict[str, pa.Table], pl.DataFrame, pl.DataFrame]:
    """Articles of persons who were born in a town and sang in another one, and ``more`` of whom the graph knows nothing."""
    texts = {
        f"P{n}": f"Mr P{n} is a singer. He was born in Town{n % TOWNS}. He sang in Town{(n + 1) % TOWNS} and went to Town{(n + 7) % TOWNS}."
        for n in range(KNOWN)
    }
    texts |= more
    mentions = []
    for name, text in texts.items():
        for number in range(TOWNS):
            start = text.find(f"Town{number}")
            if start >= 0 and not text[start + len(f"Town{number}") :][:1].isdigit():
                mentions.append({"document": name, "entity": f"T{number}", "start": start, "end": start + len(f"Town{number}")})
    documents = pa.Table.from_pylist([{"id": name, "title": f"Mr {name}", "about": name, "text": text} for name, text in texts.items()])
    facts = pl.DataFrame({"head": [f"P{n}" for n in range(KNOWN)], "template": "born", "tail": [f"T{n % TOWNS}" for n in range(KNOWN)]})
    good = pl.DataFrame({"document": list(texts), "about": list(texts)})
    return {"documents": documents, "mentions": pa.Table.from_pylist(mentions)}, facts, good


def test_what_is_read() -> None:
    given, facts, good = tables({"X": "Mr X is a singer. He was born in Town3."})
    result, calibration = read_texts(facts, given, good, everywhere=False, precision=0.8, seed=0)
    assert calibration
    sure = result.filter(~pl.col("fact") & pl.col("sure") & (pl.col("probability") > 0.6))
    assert sure.select("head", "template", "tail").rows() == [("X", "born", "T3")]
    stated = result.filter("fact")
    assert stated.height == KNOWN
    assert stated["probability"].min() > 0.6  # type: ignore[operator]


def test_too_little_to_learn_from_says_nothing() -> None:
    given, facts, good = tables({})
    few = facts.head(20)
    result, calibration = read_texts(few, given, good, everywhere=False, precision=0.8, seed=0)
    assert not result.height
    assert not calibration


def test_another_kind_of_thing_has_no_such_fact() -> None:
    _, facts, _ = tables({})
    kinds = pl.DataFrame({"entity": [*facts["head"], "X", "Y"], "kind": [*["person"] * KNOWN, "water", "person"]})
    result = pl.DataFrame({"head": ["X", "Y", "Z"], "template": "born", "tail": "T3"})
    assert of_kinds(result, facts, kinds)["head"].to_list() == ["Y"]

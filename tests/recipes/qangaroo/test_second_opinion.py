"""A pretrained encoder grades what texts state, beside the text model."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import kgqa
from benchmarks.usefulness import area
from kgqa.errors import EmptyResult, MissingInput
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.second_opinion import Asked, Wording, second_opinion, weighed

PEOPLE, CITIES = 2400, 24
OWN = """
extends = "wikidata"
name = "births"
dataset = "births"
[qangaroo]
queries = "paths"
"""
WITH_ENCODER = OWN + '[qangaroo.paths]\nencoder = "{encoder}"\n'


def asked(*rows: tuple[int, int, int, int]) -> Asked:
    document, before, after, role = np.array(rows, np.int32).T
    return Asked(document=document, before=before, after=after, role=role)


def test_the_encoder_reads_the_names_and_the_sentence_with_both_mentions() -> None:
    text = "Ann is a poet. She left Bo. Bo was the town where Ann wrote. It rained."
    tables = {
        "documents": pa.table({"text": pa.chunked_array([[text]])}),
        "entities": pa.table({"label": ["Ann", "Bo"]}),
        "relations": pa.table({"label": ["born in"]}),
    }
    mentions = Places(
        offsets=np.array([0, 4]), entity=np.array([0, 1, 1, 0], np.int32), start=np.array([0, 24, 28, 50], np.int32),
        end=np.array([3, 26, 30, 53], np.int32),
    )  # fmt: skip
    wording = Wording(tables, mentions, np.zeros(1, np.int32))
    names, texts = wording.of(asked((0, 0, 1, 0), (0, 1, 0, 1)))
    assert names == ["Ann ; born in ; Bo"] * 2
    assert texts == ["Ann is a poet. | # Bo # was the town where * Ann * wrote."] * 2
    about = Places(offsets=np.array([0, 2]), entity=mentions.entity[:2], start=mentions.start[:2], end=mentions.end[:2])
    assert Wording(tables, about, np.zeros(1, np.int32)).of(asked((0, 0, 1, 0)))[1] == ["Ann is a poet. | She left # Bo # ."]


def test_the_better_opinion_weighs_more() -> None:
    rng = np.random.default_rng(3)
    true = rng.random(4000) < 0.4
    opinions = np.column_stack([true + rng.normal(0, 2, 4000), true + rng.normal(0, 0.7, 4000)])
    is_fitted = rng.random(4000) < 0.5
    probability = weighed(opinions, true, is_fitted=is_fitted)[~is_fitted]
    alone = [area(column[~is_fitted], true[~is_fitted].astype(float)) for column in opinions.T]
    assert area(probability.astype(float), true[~is_fitted].astype(float)) > max(alone)
    assert abs(probability.mean() - true[~is_fitted].mean()) < 0.03
    for low in (0.0, 0.5):
        rows = (probability >= low) & (probability < low + 0.5)
        assert abs(probability[rows].mean() - true[~is_fitted][rows].mean()) < 0.05


def births(folder: Path) -> None:
    """Persons who were born in one city and wrote a letter from another, and cities with their countries; an article about each."""
    rng = np.random.default_rng(5)
    city = rng.integers(0, CITIES, (PEOPLE, 2))
    entities, facts, documents = [], [], []
    for number in range(CITIES):
        entities += [f"C{number}\tCity{number}\t\tcity\tCity{number}\tc{number}\ttest\t", f"K{number}\tLand{number}\t\tcountry\t\t\ttest\t"]
        facts.append(f"C{number}\tP17\tK{number}")
        documents.append(
            {"id": f"c{number}", "title": f"City{number}", "entity": f"C{number}", "text": f"City{number} is in Land{number}."}
        )
    for number, (born, other) in enumerate(city.tolist()):
        entities.append(f"H{number}\tPerson{number}\t\tperson\tPerson{number}\th{number}\ttest\t")
        facts.append(f"H{number}\tP19\tC{born}")
        said = [f"Person{number} was born in City{born}.", f"Person{number} wrote a book in City{other}."]
        text = " ".join(said if rng.integers(2) else said[::-1])
        documents.append({"id": f"h{number}", "title": f"Person{number}", "entity": f"H{number}", "text": text})
    folder.mkdir()
    head = "id\tlabel\taliases\tdescription\twikipedia_title\tdoc_id\tlabel_source\tlink"
    (folder / "entities.tsv").write_text("\n".join([head, *entities]) + "\n", "utf-8")
    (folder / "relations.tsv").write_text(
        "id\tlabel\tdetail\tsource\nP17\tcountry\tcountry\ttest\nP19\tplace of birth\tplace\ttest\n", "utf-8"
    )
    (folder / "triples.tsv").write_text("\n".join(facts) + "\n", "utf-8")
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents), "utf-8")


def statements(folder: Path, encoder: str, source: Path, *, workers: int | None = None) -> pl.DataFrame:
    folder.mkdir()
    (folder / "births.toml").write_text(WITH_ENCODER.format(encoder=encoder) if encoder else OWN, "utf-8")
    with suppress(EmptyResult):  # the limits on shortcuts may leave no sample of so few paths
        kgqa.generate(folder / "births.toml", source=source, workspace=folder / "w", workers=workers)
    return pl.read_parquet(folder / "w/tables/statements.parquet")


@pytest.mark.slow
def test_only_probable_statements_get_a_second_opinion(tmp_path: Path, tiny_encoder: str) -> None:
    births(tmp_path / "source")
    alone = statements(tmp_path / "alone", "", tmp_path / "source")
    one, other = (statements(tmp_path / f"w{n}", tiny_encoder, tmp_path / "source", workers=n) for n in (1, 3))
    assert one.equals(other)
    keys = ["document", "before", "after", "role"]
    assert one.select(keys).equals(alone.select(keys))
    changed = (one["probability"] != alone["probability"]).to_numpy()
    assert changed.any()
    assert not changed[(alone["probability"] < 0.3).to_numpy()].any()


def test_a_network_learns_what_a_text_states(monkeypatch: pytest.MonkeyPatch, tiny_encoder: str) -> None:
    """The network is random, so it needs more and larger steps than a pretrained one."""
    for name, value in (("RATE", 3e-3), ("HEAD_RATE", 1e-2), ("BATCH", 4)):
        monkeypatch.setattr(f"kgqa.recipes.qangaroo.second_opinion.{name}", value)
    rng = np.random.default_rng(2)
    stated = rng.random(1200) < 0.5
    texts = [f"Ann {'was born in' if true else 'wrote a book in'} Bo." for true in stated]
    mentions = Places(
        offsets=np.arange(0, 2401, 2), entity=np.tile(np.array([0, 1], np.int32), 1200),
        start=np.array([place for text in texts for place in (0, text.index("Bo"))], np.int32),
        end=np.array([place for text in texts for place in (3, len(text) - 1)], np.int32),
    )  # fmt: skip
    tables = {
        "documents": pa.table({"text": pa.chunked_array([texts])}), "entities": pa.table({"label": ["Ann", "Bo"]}),
        "relations": pa.table({"label": ["born in"]}),
    }  # fmt: skip
    rows = asked(*((number, 0, 1, 0) for number in range(1200)))
    is_asked = np.arange(1200) >= 900
    logits = second_opinion(
        tiny_encoder, Wording(tables, mentions, np.zeros(1200, np.int32)), rows, stated, is_example=~is_asked, is_asked=is_asked, seed=0,
        advance=lambda _: None,
    )  # fmt: skip
    assert logits.shape == (300,)
    assert area(logits, stated[is_asked].astype(float)) > 0.95


def test_an_encoder_that_is_not_there_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "births.toml").write_text(WITH_ENCODER.format(encoder="./nowhere"), "utf-8")
    births(tmp_path / "source")
    with pytest.raises(MissingInput, match="no folder with an encoder"):
        kgqa.generate(tmp_path / "births.toml", source=tmp_path / "source", workspace=tmp_path / "w")

"""The disconnection filter: who is asked what, who stays at which scores, and that a filter which was stopped goes on."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import kgqa
from kgqa.arrays.parallel import Threads
from kgqa.domains import load_domain
from kgqa.progress import Silent
from kgqa.recipes.musique import disconnection
from kgqa.recipes.musique.disconnection import MASK, Judged, chance, connected, head_questions, tail_questions
from kgqa.recipes.musique.pairs import PAIRS
from kgqa.recipes.musique.pipeline import COMPOSITION
from kgqa.recipes.musique.shortcut_baselines import hop_figures, unlearned
from kgqa.records import Instance, Paragraph
from kgqa.runs.stage import Run
from kgqa.runs.workspace import Workspace
from kgqa.settings.musique import DisconnectionSettings
from tests import contents
from tests.small_single_hops import single_hop

HEADS = {0: 0.0, 1: 0.49, 2: 0.5, 3: 1.0}
TAILS = {4: (0.25, 1.0), 5: (0.26, 1.0), 6: (0.75, 0.99), 7: (0.76, 0.0)}


def _pairs() -> pa.Table:
    rows = [(head, tail, 0, 3, 6, -1) for head in HEADS for tail in TAILS]
    return pa.table([pa.array(column, pa.int32()) for column in zip(*rows, strict=True)], schema=PAIRS)


def _judged(*, supports: float = 0.1) -> Judged:
    return Judged(
        heads=pl.DataFrame({"head": list(HEADS), "answer": list(HEADS.values())}, schema_overrides={"head": pl.Int32}),
        tails=pl.DataFrame(
            {"tail": list(TAILS), "start": [3] * 4, "answer": [a for a, _ in TAILS.values()], "support": [s for _, s in TAILS.values()]},
            schema_overrides={"tail": pl.Int32, "start": pl.Int32},
        ),
        chance={"heads": 0.1, "tails": 0.2, "supports": supports},
    )


def test_who_stays_at_which_scores() -> None:
    pairs, judged = _pairs(), _judged()
    remaining, funnel = connected(pairs, judged, DisconnectionSettings())
    assert {(row["head"], row["tail"]) for row in remaining.to_pylist()} == {(head, tail) for head in (0, 1) for tail in (4, 6)}
    assert [(row.what, row.removed, row.left) for row in funnel] == [("heads", 2, 2), ("tails", 2, 2), ("pairs", 8, 8), ("pairs", 4, 4)]
    strict = DisconnectionSettings(head_below=0.4, tail_at_most=0.2, tail_without_support=0.2)
    assert not connected(pairs, judged, strict)[0].num_rows


def test_support_decides_nothing_where_readers_do_not_know_it() -> None:
    """The mean support F1 of the tails is 0.7475."""
    for guessed, tails in ((0.74, {4, 6}), (0.75, {4})):
        remaining, _ = connected(_pairs(), _judged(supports=guessed), DisconnectionSettings())
        assert set(remaining["tail"].to_pylist()) == tails


def test_guesses_are_what_readers_must_beat() -> None:
    remaining = pl.DataFrame(
        {"head": [0, 1], "tail": [4, 4], "start": [3, 3]}, schema_overrides={"head": pl.Int32, "tail": pl.Int32, "start": pl.Int32}
    )
    judged = _judged()
    sure = pl.DataFrame({"head": list(range(40)), "answer": [0.5, 0.7] * 20}, schema_overrides={"head": pl.Int32})
    result = hop_figures(replace(judged, heads=sure), remaining, seed=0)
    assert result["heads"]["chance"] == 0.1
    assert unlearned(result) == []
    assert unlearned(hop_figures(replace(judged, heads=sure, chance={**judged.chance, "heads": 0.6}), remaining, seed=0)) == ["heads"]
    dropped = judged.tails.with_columns(answer=pl.lit(0.0))
    assert unlearned(hop_figures(replace(judged, heads=sure, tails=dropped), remaining, seed=0)) == ["tails"]


def test_chance_is_that_of_other_answers_and_of_any_name() -> None:
    paragraph = Paragraph(id="p", title=None, text="Riga lies by the sea.", supporting=True)
    heads = [_asked(str(number), "Riga" if number else "Oslo") for number in range(4)]
    tails = [_asked("t", "Riga", paragraph), _asked("u", "Oslo", paragraph)]
    result = chance(heads, tails, DisconnectionSettings(distractors=3), seed=0)
    # Four in a circle: of three Rigas one has Oslo behind it, and Oslo has Riga.
    assert result == {"heads": 0.5, "tails": 0.5, "supports": 0.25}


def _asked(id: str, answer: str, *paragraphs: Paragraph) -> Instance:  # noqa: A002
    return Instance(
        id=id, question="Where?", paragraphs=paragraphs, answers=(answer,), answer_type="span", answerable=True, group=id, provenance=None
    )


def test_what_readers_are_asked(tmp_path: Path) -> None:
    kgqa.compose(single_hop(tmp_path / "set"), filter="none", workspace=tmp_path / "w")
    tables = {name: Workspace(tmp_path / "w").read_table(name) for name in ("pairs", "single_hop", "paragraphs")}
    pairs = pl.from_arrow(tables["pairs"])
    assert isinstance(pairs, pl.DataFrame)
    heads = head_questions(pairs["head"].unique().sort().to_numpy().astype(np.int32), tables["single_hop"])
    assert heads
    assert not any(instance.paragraphs for instance in heads)
    tails = tail_questions(
        pairs.select("tail", "start", "end").unique().sort("tail", "start"), tables["single_hop"], tables["paragraphs"],
        DisconnectionSettings(), seed=0, engine=Threads(1),
    )  # fmt: skip
    assert {instance.question for instance in tails} == {f"What country is {MASK} the capital of?", f"What is exported by {MASK}?"}
    for instance in tails:
        assert len({paragraph.id for paragraph in instance.paragraphs}) == 10
        [subject] = [paragraph for paragraph in instance.paragraphs if paragraph.supporting]
        assert instance.answers[0] in subject.text


def test_the_filter_knows_its_readers_by_their_files(tmp_path: Path, tiny_encoder: str) -> None:
    place = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    toml = tmp_path / "own.toml"
    [stage] = [stage for stage in COMPOSITION if stage.name == "filter_pairs"]

    def told(stride: int = 64) -> object:
        reader = tmp_path / "reader.toml"
        reader.write_text(f'reader = "ee"\n[settings]\nencoder = "{place}"\nstride = {stride}\n', "utf-8")
        toml.write_text(
            f'extends = "questions"\n[musique.disconnection]\nuse = "readers"\ntail_reader = "{reader}"\n'
            f'settings = {{ encoder = "{place}" }}\n'
        )
        domain, place_of_run = load_domain(toml, made_by="musique"), Workspace(tmp_path / "w")
        return stage.depends_on(Run(domain=domain, workspace=place_of_run, seed=0, engine=Threads(1), limit=None, progress=Silent()))

    once = told()
    assert told() == once
    assert told(stride=32) != once
    weights = place / "model.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert told() != once
    weights.write_bytes(data)
    assert told() == once


@pytest.mark.slow
def test_trained_readers_filter_and_go_on_where_they_were_stopped(
    tmp_path: Path, tiny_encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = tmp_path / "own.toml"
    toml.write_text(
        f'extends = "questions"\n[musique.disconnection]\nuse = "readers"\nfolds = 3\nseeds = 1\ndistractors = 2\n'
        f'settings = {{ encoder = "{tiny_encoder}" }}\n'
        'training = { epochs = 1, batch = 4, device = "cpu", checkpoint_seconds = 0 }\n',
        "utf-8",
    )
    whole = kgqa.compose(single_hop(tmp_path / "set"), domain=toml, workspace=tmp_path / "whole")
    manifest = json.loads((whole.dataset / "manifest.json").read_text("utf-8"))
    assert [row["what"] for row in manifest["funnel"] if row["stage"] == "disconnection"] == ["heads", "tails", "pairs", "pairs"]
    card = (whole.dataset / "README.md").read_text("utf-8")
    assert "trained readers, cross-fitted (the paper's disconnection filter)" in card
    # One epoch of a network of two layers that was never trained.
    assert "no better than guesses: they have learned nothing" in card
    assert "tails were filtered by their answers alone" in card

    fit, calls = vars(disconnection)["cross_fit"], itertools.count(1)

    def stopping(*args: Any, **told: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return fit(*args, **told)

    monkeypatch.setattr(disconnection, "cross_fit", stopping)
    with pytest.raises(kgqa.KgqaError, match="run the same command again"):
        kgqa.compose(tmp_path / "set", domain=toml, workspace=tmp_path / "stopped")
    assert [path.name.partition("-")[0] for path in (tmp_path / "stopped" / "readers").iterdir()] == ["head"]
    monkeypatch.setattr(disconnection, "cross_fit", fit)
    again = kgqa.compose(tmp_path / "set", domain=toml, workspace=tmp_path / "stopped")
    ones, neighbours = contents.files(whole.dataset), contents.files(again.dataset)
    assert {**ones, "manifest.json": b""} == {**neighbours, "manifest.json": b""}

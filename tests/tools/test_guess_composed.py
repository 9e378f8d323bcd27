"""What readers guess of composed pairs: the readers learn what can be learned, and the tables say what was found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import kgqa
from kgqa.recipes.musique.pool import PARAGRAPHS, SINGLE_HOP
from kgqa.records import Instance, Paragraph
from tests.small_single_hops import single_hop
from tools.guess_composed import PARTS, SCHEMA, main, report
from tools.log_linear import LogLinear, Places, QuestionOnly, f1

NAMES = ("Riga", "Oslo", "Bern", "Rome", "Lima", "Doha", "Baku", "Kyiv", "Bonn", "Cork")


def _pool() -> tuple[list[Instance], Places]:
    """Each paragraph names where somebody was born and where they died, in any order."""
    texts, rows, asked = [], [], []
    for number, name in enumerate(NAMES):
        other = NAMES[(number + 3) % len(NAMES)]
        born, died = f"She was born in {name}", f"she died in {other}"
        texts.append(f"{born}, and {died}, älter." if number % 2 else f"Älter, {died}, but {born.lower().replace(name.lower(), name)}.")
        rows.append({"id": str(number), "question": "Where was she born?", "answer": name, "paragraph": number})
        paragraph = Paragraph(id=str(number), title=None, text=texts[-1], supporting=True)
        for verb, answer in (("was she born", name), ("did she die", other)):
            asked.append(
                Instance(
                    id=f"{number}{verb}", question=f"Where {verb}?", paragraphs=(paragraph,), answers=(answer,), answer_type="span",
                    answerable=True, group=str(number), provenance=None,
                )
            )  # fmt: skip
    whole = [{**dict.fromkeys(SINGLE_HOP.names), "aliases": [], "start": 0, "kind": "asked", **row} for row in rows]
    shown = [{"id": str(number), "title": "", "text": text} for number, text in enumerate(texts)]
    return asked, Places.of(pa.Table.from_pylist(whole, schema=SINGLE_HOP), pa.Table.from_pylist(shown, schema=PARAGRAPHS))


def test_a_reader_learns_what_stands_around_answers_and_needs_the_question() -> None:
    asked, places = _pool()
    assert len(places.said) == 2 * len(NAMES)
    train, judged = asked[:14], asked[14:]
    reader = LogLinear(places).train(train)
    assert f1(judged, reader.answers(judged)).tolist() == [1.0] * len(judged)
    alone = LogLinear(places, context_only=True).train(train)
    assert f1(judged, alone.answers(judged)).mean() == 0.5


def test_a_reader_that_may_decline_learns_when() -> None:
    asked, places = _pool()
    born = asked[::2]
    nowhere = [
        Instance(
            id=f"{each.id}#", question="Where did she marry?", paragraphs=each.paragraphs, answers=(), answer_type="none", answerable=False,
            group=each.group, provenance=None,
        )
        for each in born
    ]  # fmt: skip
    found = LogLinear(places, declines=True, epochs=30).train([*born[:7], *nowhere[:7]]).answers([*born[7:], *nowhere[7:]])
    assert [each.answerable for each in found] == [True] * 3 + [False] * 3


def test_the_question_alone_tells_common_answers() -> None:
    asked, _ = _pool()
    some = [
        Instance(
            id=each.id, question=each.question, paragraphs=(), answers=("Riga" if "born" in each.question else "Oslo",), answer_type="span",
            answerable=True, group=each.group, provenance=None,
        )
        for each in asked
    ]  # fmt: skip
    assert [each.answer for each in QuestionOnly().train(some[:10]).answers(some[10:12])] == ["Riga", "Oslo"]


def test_tables_say_means_intervals_and_seeds() -> None:
    rows = [
        *(
            ("within", "no filter", "nothing shared", "1-Para", str(k), score, True, None, seed)
            for seed in (0, 1)
            for k, score in enumerate((0.0, 1.0))
        ),
        ("twins", "filtered", "nothing shared", "1-Para", "a", 1.0, None, True, 0),
        ("twins", "filtered", "nothing shared", "1-Para", "b", 1.0, None, False, 0),
    ]
    found = dict(report(pl.DataFrame(rows, schema=SCHEMA, orient="row")))
    assert (
        "| 1-Para | True | 2, 2 | 50.0 (0.0 to 100.0): 50.0, 50.0 |"
        in found["One reader of all pairs: answer F1 of what the filter drops and keeps"]
    )
    assert (
        "| filtered | 1-Para | 2 | 100.0 (100.0 to 100.0): 100.0 | 50.0 (0.0 to 100.0): 50.0 | 50.0 (0.0 to 100.0): 50.0 |"
        in found["With twins"]
    )


def test_a_workspace_is_judged_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kgqa.compose(single_hop(tmp_path / "set"), filter="none", workspace=tmp_path / "w")
    main([str(tmp_path / "w"), "--seeds", "0", "--runs", str(tmp_path / "runs")])
    printed = capsys.readouterr().out
    scores = pl.concat([pl.read_parquet(tmp_path / "runs" / "seed-0" / f"{part}.parquet") for part in PARTS])
    assert set(scores["part"]) == set(PARTS)
    assert set(scores.filter(part="questions")["split"]) == {"nothing shared", "random"}
    # Nobody can know where a ruler was born without a paragraph, so every head stays.
    assert np.all(scores.filter(part="filter", reader="heads")["kept"].to_numpy())
    before = (tmp_path / "runs" / "seed-0" / "twins.parquet").stat().st_mtime_ns
    main([str(tmp_path / "w"), "--seeds", "0", "--runs", str(tmp_path / "runs")])
    assert capsys.readouterr().out == printed
    assert (tmp_path / "runs" / "seed-0" / "twins.parquet").stat().st_mtime_ns == before

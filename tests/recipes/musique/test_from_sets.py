"""Good single-hop questions of a set are kept, all others are counted by reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kgqa.formats.question_set import open_dataset
from kgqa.recipes.musique.from_sets import set_questions
from kgqa.records import Instance, Paragraph
from kgqa.settings.musique import SingleHopSettings
from tests.small_questions import write_set

TEXT = "Riga is the capital of Latvia and " + "lies by the sea " * 6


def asked(number: int, **other: object) -> Instance:
    shown = Paragraph(id="p", title="Riga", text=TEXT + str(number), supporting=True)
    instance = Instance(
        id=f"q{number}", question=f"What is the capital of Latvia, {number}?", paragraphs=(shown,), answers=("Riga",), answer_type="span",
        answerable=True, group=f"g{number}", provenance=None,
    )  # fmt: skip
    return replace(instance, **other)  # type: ignore[arg-type]


def test_every_question_is_kept_or_counted(tmp_path: Path) -> None:
    good = asked(0)
    short = Paragraph(id="p", title="", text="Riga is small", supporting=True)
    long = Paragraph(id="p", title="", text="Riga " * 301, supporting=True)
    some = [
        good,
        replace(good, id="again"),
        asked(1, paragraphs=(short,)),
        asked(2, paragraphs=(long,)),
        asked(3, answers=("Oslo",)),
        asked(4, question="Is Riga Riga?"),
        asked(5, answers=(), answerable=False, answer_type="none"),
        asked(6, paragraphs=()),
        asked(7, paragraphs=tuple(replace(good.paragraphs[0], id=f"p{n}") for n in range(2))),
        asked(8),
    ]
    source = open_dataset(write_set(tmp_path / "set", train=some))
    single_hop, paragraphs, refused, funnel = set_questions([source], SingleHopSettings())
    assert sorted(single_hop["question"].to_pylist()) == [some[0].question, some[9].question]
    assert paragraphs.num_rows == 2
    assert funnel[0].left == len(some)
    assert [row.removed for row in funnel[1:]] == [2, 1, 1, 1, 1, 1, 1]
    assert funnel[-1].left == single_hop.num_rows
    assert sorted(refused["id"].to_pylist()) == sorted(f"set/{each.id}" for each in some if each.id not in {"q0", "q8"})
    for row in single_hop.to_pylist():
        text = paragraphs["text"][row["paragraph"]].as_py()
        assert text[row["start"] :].startswith(row["answer"])


def test_the_same_set_twice_is_there_once(tmp_path: Path) -> None:
    source = open_dataset(write_set(tmp_path / "set", train=[asked(0), asked(1)]))
    once, twice = set_questions([source], SingleHopSettings()), set_questions([source, source], SingleHopSettings())
    assert once[0].drop_columns(["source"]) == twice[0].drop_columns(["source"])
    assert once[1] == twice[1]

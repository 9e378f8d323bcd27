"""Good single-hop questions of a set are kept, all others are counted by reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.formats.question_set import open_dataset
from kgqa.recipes.musique.from_sets import set_questions
from kgqa.records import Instance, Paragraph
from kgqa.settings.musique import SingleHopSettings
from tests.small_questions import write_set

TEXT = "Riga is the capital of Latvia and " + "lies by the sea " * 6


def asked(number: int, **other: object) -> Instance:
    context = Paragraph(id="p", title="Riga", text=TEXT + str(number), supporting=True)
    instance = Instance(
        id=f"q{number}", question=f"What is the capital of Latvia, {number}?", paragraphs=(context,), answers=("Riga",), answer_type="span",
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
        asked(9, question="Who was the #2 pick of Latvia?"),
    ]
    source = open_dataset(write_set(tmp_path / "set", train=some))
    single_hop, paragraphs, refused, funnel = set_questions([source], SingleHopSettings())
    assert sorted(single_hop["question"].to_pylist()) == [some[0].question, some[9].question]
    assert paragraphs.num_rows == 2
    assert funnel[0].left == len(some)
    assert [row.removed for row in funnel[1:]] == [2, 1, 1, 1, 1, 1, 1, 1]
    assert funnel[-1].left == single_hop.num_rows
    assert sorted(refused["id"].to_pylist()) == sorted(f"set/{item.id}" for item in some if item.id not in {"q0", "q8"})
    for row in single_hop.to_pylist():
        text = paragraphs["text"][row["paragraph"]].as_py()
        assert text[row["start"] :].startswith(row["answer"])


def test_what_is_set_in_other_lines_is_the_same_paragraph(tmp_path: Path) -> None:
    second = Paragraph(id="x", title="Riga", text=TEXT.replace(" is ", "\n  is ") + "0", supporting=True)
    some = [asked(0), asked(0, id="lines", paragraphs=(second,)), asked(1, paragraphs=(second,), answers=("Riga", " ", "Riga ", "Rīga"))]
    single_hop, paragraphs, _, funnel = set_questions([open_dataset(write_set(tmp_path / "set", train=some))], SingleHopSettings())
    assert paragraphs.num_rows == 1
    assert single_hop.num_rows == 2
    assert sorted(single_hop["aliases"].to_pylist()) == [[], ["Rīga"]]
    assert sum(row.removed or 0 for row in funnel) == 1


@pytest.mark.parametrize(
    ("question", "named"),
    [("Why is Rigas a name?", False), ("Is it riga-like?", True), ("Who saw (Riga)?", True), ("Who rigas it in 1900?", False)],
)
def test_an_answer_stands_in_a_question_as_words(tmp_path: Path, question: str, named: bool) -> None:
    source = open_dataset(write_set(tmp_path / "set", train=[asked(0, question=question)]))
    assert set_questions([source], SingleHopSettings())[0].num_rows == (not named)


@pytest.mark.parametrize(
    ("question", "good"),
    [("Which team received the opening kickoff?", False), ("Which team received the kickoff of 1999?", True), ("who won the cup", True)],
)
def test_a_question_that_names_nothing_is_bound_to_its_paragraph(tmp_path: Path, question: str, good: bool) -> None:
    """In one that is written without capitals nobody knows."""
    source = open_dataset(write_set(tmp_path / "set", train=[asked(0, question=question)]))
    assert set_questions([source], SingleHopSettings())[0].num_rows == good


def test_an_answer_stands_in_the_paragraph_as_words(tmp_path: Path) -> None:
    """ "capita" is in "capital" alone, and "5" first in "105"; kana and ideographs have no blanks around them."""
    context = Paragraph(id="p", title="", text=f"105 ships of 5 lands come to 東京都. {TEXT}", supporting=True)
    some = [asked(number, paragraphs=(context,), answers=(answer,)) for number, answer in enumerate(("capita", "5", "東京"))]
    single_hop, paragraphs, _, _ = set_questions([open_dataset(write_set(tmp_path / "set", train=some))], SingleHopSettings())
    text = paragraphs["text"][0].as_py()
    assert sorted(text[start : start + 7] for start in single_hop["start"].to_pylist()) == ["5 lands", "東京都. Rig"[:7]]
    assert all(name.startswith("q") for name in single_hop["id"].to_pylist())


def test_the_same_set_twice_is_there_once(tmp_path: Path) -> None:
    source = open_dataset(write_set(tmp_path / "set", train=[asked(0), asked(1)]))
    once, twice = set_questions([source], SingleHopSettings()), set_questions([source, source], SingleHopSettings())
    assert once[0].drop_columns(["source"]) == twice[0].drop_columns(["source"])
    assert once[1] == twice[1]

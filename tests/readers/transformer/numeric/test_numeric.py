"""The numeric reader: derivations, the loss beside a plain sum over all of them, and what it learns, keeps and says."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any, cast

import pytest

from kgqa.records import Instance, Paragraph
from kgqa.scoring.prediction_files import write_predictions
from kgqa.training.predictions import read_table, write_table
from tests.small_questions import questions
from tests.small_typed import KINDS, typed_question, typed_questions

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

import pyarrow as pa  # noqa: E402

from kgqa.errors import EmptyResult  # noqa: E402
from kgqa.readers.numbers.sums import is_sound  # noqa: E402
from kgqa.readers.transformer.encoder import load_encoder  # noqa: E402
from kgqa.readers.transformer.examples import HIDDEN, Targets  # noqa: E402
from kgqa.readers.transformer.numeric.batch import NumericBatch  # noqa: E402
from kgqa.readers.transformer.numeric.examples import (  # noqa: E402
    MOST_NUMBERS,
    NOT_DERIVED,
    NOT_OF_TYPE,
    numbers_of,
    right_numbers,
    right_sums,
    with_question,
)
from kgqa.readers.transformer.numeric.heads import HEADS, OF_TYPE  # noqa: E402
from kgqa.readers.transformer.numeric.task import TypedSupervision, TypedTask  # noqa: E402
from kgqa.records import ANSWER_TYPES  # noqa: E402
from kgqa.settings.reader import EncoderSettings  # noqa: E402
from tests.readers.transformer.test_readers import again, fitted, said  # noqa: E402


def _task(encoder: str, heads: tuple[str, ...] = tuple(HEADS)) -> TypedTask:
    torch.manual_seed(5)
    supervision = TypedSupervision(options=False, support=True, sentences=False, sufficiency=False, heads=heads)
    return TypedTask(load_encoder(encoder), EncoderSettings(encoder=encoder), supervision, Targets())


def _faults(task: TypedTask, *some: Instance) -> list[str | None]:
    found: list[str | None] = task.encode([with_question(each) for each in some]).column("fault").to_pylist()
    return found


def test_each_type_has_heads() -> None:
    assert OF_TYPE.keys() == ANSWER_TYPES.keys()
    assert {head for heads in OF_TYPE.values() for head in heads} == HEADS.keys()


def test_the_loss_is_that_of_a_plain_sum_over_all_derivations(tiny_encoder: str) -> None:
    task = _task(tiny_encoder)
    alias = replace(typed_question(1, "difference"), id="alias", answers=("60", "58"), question="how old in 2 or 60 years?")
    some = [with_question(each) for each in [*typed_questions(2), alias]]
    task.network.eval()
    batch = NumericBatch(**task.collate(pa.Table.from_batches([task.encode(some)])))
    with torch.inference_mode():
        hidden = task._net.hidden(batch)
        found = task._answer_losses(batch, hidden)
        features = task._features(batch, hidden)
        heads, choices = cast("Any", task._net.named_heads()), task._choice(features)
        signs = heads["sum"]._log_probabilities(batch, features)
        counts = heads["count"].count(features.pooled).softmax(1)
        words = heads["boolean"].choice(features.pooled).softmax(1)
        tags = heads["spans"].tag(hidden).softmax(1)
    for row, instance in enumerate(some):
        likelihood = dict.fromkeys(HEADS, 0.0)
        spans = [place for place in range(len(batch.span_first)) if batch.span_example[place] == row]
        if instance.answer_type in {"span", "number"}:
            likelihood["span"] = sum(
                float((features.starts[batch.span_first[place]] + features.ends[batch.span_last[place]]).exp()) for place in spans
            )
        if instance.answer_type == "number":
            targets = {float(answer) for answer in instance.answers}
            numbers, own = numbers_of(instance), [place for place in range(len(batch.number)) if batch.number_example[place] == row]
            likelihood["sum"] = sum(
                math.exp(sum(float(signs[place, used.get(number, 0)]) for number, place in enumerate(own)))
                for used in _sums([mention for _, mention in numbers], targets)
            )
            small = [int(target) for target in right_numbers(instance) if target < 10]
            likelihood["count"] = float(counts[row, small[0]]) if small else 0.0
        if instance.answer_type == "boolean":
            likelihood["boolean"] = float(words[row, 0 if instance.answers == ("yes",) else 1])
        if instance.answer_type == "none":
            likelihood["none"] = 1.0
        if instance.answer_type == "spans":
            inside: list[float] = []
            outside: list[float] = []
            for token in range(len(batch.ids)):
                if batch.token_example[token] == row and batch.paragraph[token] >= 0:
                    tag = 0
                    for place in spans:
                        if batch.span_first[place] <= token <= batch.span_last[place]:
                            tag = 1 if token == batch.span_first[place] else 2
                    (inside if tag else outside).append(math.log(float(tags[token, tag])))
            assert inside
            likelihood["spans"] = math.exp(sum(inside) / len(inside) + sum(outside) / len(outside))
        wanted = -math.log(sum(math.exp(float(choices[row, place])) * likelihood[head] for place, head in enumerate(HEADS)))
        assert float(found[row]) == pytest.approx(wanted, rel=1e-4), instance.id


def _sums(mentions: Any, targets: set[float]) -> list[dict[int, int]]:
    """Number → sign (1 added, 2 subtracted), for each sum; three numbers only where fewer do not give the answer."""
    found: dict[int, list[dict[int, int]]] = {2: [], 3: []}
    for size in (1, 2, 3):
        for places in combinations(range(len(mentions)), size):
            for own in product((1, -1), repeat=size):
                chosen = [mentions[place] for place in places]
                if sum(sign * each.value for sign, each in zip(own, chosen, strict=True)) in targets and is_sound(chosen, own):
                    found[max(size, 2)].append({place: 1 if sign > 0 else 2 for place, sign in zip(places, own, strict=True)})
    return found[2] or found[3]


def _asked(text: str, answer: str, question: str = "how many?", **more: Any) -> Instance:
    return replace(typed_question(0, "difference"), paragraphs=(Paragraph(id="p", title=None, text=text, supporting=True),),
                   answers=(answer,), question=question, **more)  # fmt: skip


def test_what_cannot_be_derived_is_said(tiny_encoder: str) -> None:
    task = _task(tiny_encoder)
    assert _faults(task, *typed_questions(1)) == [None] * len(KINDS)
    assert _faults(
        task,
        _asked("born in 1951, died in 2005", "54"),
        _asked("5 km and 12 kg", "17"),
        _asked("in 1990, 12 km away", "2002"),
        _asked("no numbers here", "54"),
        _asked("no numbers here", "4"),
        _asked("", "54"),
        _asked("ana", "54", answer_type="span"),
        _asked("vax", "-", answer_type="spans"),
        replace(_asked("5", "5"), answers=()),
        _asked("ana", "maybe", answer_type="boolean"),
    ) == [None, NOT_DERIVED, NOT_DERIVED, NOT_DERIVED, None, NOT_DERIVED, NOT_DERIVED, NOT_DERIVED, HIDDEN, NOT_DERIVED]
    assert _faults(_task(tiny_encoder, ("boolean",)), *typed_questions(1)) == [None if kind == "boolean" else NOT_OF_TYPE for kind in KINDS]


def test_numbers_of_the_question_count_and_the_first_ones_of_many() -> None:
    instance = with_question(_asked(" ".join(str(number) for number in range(100, 300)), "7", question="how many of 3 and 4?"))
    numbers = numbers_of(instance)
    assert len(numbers) == MOST_NUMBERS
    assert [mention.value for _, mention in numbers[:3]] == [3, 4, 100]
    assert right_sums(instance, [mention for _, mention in numbers])[0].places == (0, 1)
    assert right_numbers(replace(instance, answer_type="span")) == []


def test_what_is_left_of_a_percentage_is_a_difference(tiny_encoder: str) -> None:
    shares = _asked("1.8% are of vax and 5 percent of wim", "98.2")
    assert _faults(_task(tiny_encoder), shares, replace(shares, answers=("93.2",)), _asked("5 are of vax", "95")) == [
        None,
        None,
        NOT_DERIVED,
    ]


@pytest.mark.slow
def test_answers_of_every_type_are_learned_and_kept(tiny_encoder: str, tmp_path: Path) -> None:
    some = typed_questions(4)
    reader = fitted("numeric", tiny_encoder, tmp_path / "fit", some, epochs=150, learning_rate=0.005)
    found = said(reader, some)
    right = [
        (one.parts == each.answers if each.answer_type == "spans" else one.answer == "".join(each.answers)) and one.type == each.answer_type
        for one, each in zip(found, some, strict=True)
    ]
    assert sum(right) >= len(some) - 2
    for one, each in zip(found, some, strict=True):
        assert one.answerable == (one.type != "none")
        assert 0 <= one.confidence <= 1 + 1e-6
        assert (one.value is not None) == (one.type == "number")
        assert {key for key, _ in one.paragraph_scores} <= {paragraph.id for paragraph in each.paragraphs}
    of_age = [one for one in found if one.id.startswith("difference")]
    assert sum(one.unit == "years" for one in of_age) >= 3
    assert said(again(reader, "numeric", tiny_encoder, tmp_path / "saved"), some) == found
    assert [said(reader, [each])[0].answer for each in some] == [one.answer for one in found]
    write_table(found, tmp_path / "p.parquet")
    assert list(read_table(tmp_path / "p.parquet")) == found
    write_predictions("iirc", some, found, tmp_path / "iirc.json")
    assert '"vax", "wim"' in (tmp_path / "iirc.json").read_text("utf-8")


def test_the_same_seed_gives_the_same_predictions(tiny_encoder: str, tmp_path: Path) -> None:
    some = typed_questions(2)
    first, second = (said(fitted("numeric", tiny_encoder, tmp_path / name, some, epochs=2), some) for name in "ab")
    assert first == second


def test_a_head_that_nothing_trains_answers_nothing(tiny_encoder: str, tmp_path: Path) -> None:
    some = [typed_question(number, "boolean") for number in range(4)]
    reader = fitted("numeric", tiny_encoder, tmp_path / "fit", some)
    assert {one.type for one in said(reader, typed_questions(2))} == {"boolean"}
    hidden = [replace(each, answers=()) for each in some]
    with pytest.raises(EmptyResult, match="no head for the answers of the train split"):
        fitted("numeric", tiny_encoder, tmp_path / "other", hidden)


def test_odd_questions_are_answered(tiny_encoder: str, tmp_path: Path) -> None:
    reader = fitted("numeric", tiny_encoder, tmp_path / "fit", typed_questions(2))
    odd = [
        replace(typed_question(0, "span"), question="", paragraphs=()),
        replace(typed_question(1, "span"), paragraphs=(Paragraph(id="p", title=None, text="", supporting=None),)),
        replace(typed_question(2, "span"), paragraphs=(Paragraph(id="p", title="7 " * 300, text="8 km " * 900, supporting=None),)),
        replace(typed_question(3, "span"), question="中文🙂 12?", paragraphs=()),
        *questions(2, candidates=True),
    ]
    found = said(reader, odd)
    assert [one.id for one in found] == [each.id for each in odd]
    assert all(one.candidate is None for one in found)

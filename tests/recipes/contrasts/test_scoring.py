"""What is made can be scored: systems that do the right thing get everything, those that cheat get what the paper says they get."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given

from kgqa.metrics.dire import DiRePrediction, dire_probe, dire_probe_of_sufficiency, dire_sufficiency
from kgqa.metrics.scores import Scores
from kgqa.recipes.contrasts.facts import FactQuestion
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.probe_of_sufficiency import probe_of_sufficiency
from kgqa.recipes.contrasts.sufficiency import sufficiency
from kgqa.records import Instance
from kgqa.scoring.dire_gold import dire_label, whole_numbers
from tests.recipes.contrasts.drawing import ANSWER, any_question, seeds

System = Callable[[Instance], DiRePrediction]
Scorer = Callable[..., Scores]


def says(instance: Instance, *, answer: str, shown: Instance, sufficiency: int | None, confidence: float = 0.5) -> DiRePrediction:
    """A prediction with the marks of ``shown`` as its support, sentences numbered as they are shown."""
    label = dire_label(instance).instance
    supporting = [entry for entry in shown.paragraphs if entry.supporting]
    return DiRePrediction(
        question_id=label.question_id,
        answer=answer,
        paragraphs=frozenset(entry.title or "" for entry in supporting),
        sentences=frozenset((entry.title or "", number) for entry in supporting for number in entry.supporting_sentences or ()),
        confidence=confidence,
        sufficiency=sufficiency,
        sub_idx=label.sub_idx,
    )


def reads_all(instance: Instance) -> DiRePrediction:
    """Knows whether the context suffices, and answers if it does."""
    return says(instance, answer=ANSWER if instance.answers else "", shown=instance, sufficiency=dire_label(instance).instance.sufficiency)


def one_fact_at_a_time(instance: Instance) -> DiRePrediction:
    """Finds each supporting fact that is there, and the answer where one of them states it, without looking at two together."""
    supporting = [entry for entry in instance.paragraphs if entry.supporting]
    stated = bool(instance.answers)
    return says(
        instance,
        answer=ANSWER if stated else "no idea",
        shown=instance,
        sufficiency=0 if supporting else -1,
        confidence=0.9 if stated else 0.1,
    )


def score(scorer: Scorer, made: Sequence[Instance], system: System, **more: object) -> set[float]:
    labels = [dire_label(instance) for instance in made]
    predictions = whole_numbers([system(instance) for instance in made], labels)
    return set(scorer([label.instance for label in labels], predictions, **more).official.values())


@given(any_question, seeds)
def test_who_reads_all_gets_everything_on_the_transform(question: FactQuestion, seed: int) -> None:
    assert score(dire_sufficiency, sufficiency(question, seed=seed), reads_all) == {100.0}


@given(any_question, seeds)
def test_who_reads_one_fact_at_a_time_gets_all_that_a_probe_can_give_and_nothing_on_the_transform(
    question: FactQuestion, seed: int
) -> None:
    stated = bool(question.facts_with_answer())
    made = probe(question)
    # Support is always put together; the answer too, unless no supporting fact states it and it cannot be looked up.
    assert score(dire_probe, made, one_fact_at_a_time) == ({100.0} if stated else {0.0, 100.0})
    assert score(dire_probe_of_sufficiency, probe_of_sufficiency(question, seed=seed), one_fact_at_a_time) == (
        {100.0} if stated else {0.0, 100.0}
    )
    assert score(dire_sufficiency, sufficiency(question, seed=seed), one_fact_at_a_time) == {0.0}


@given(any_question, seeds)
def test_one_answer_for_every_context_gets_nothing_where_labels_count(question: FactQuestion, seed: int) -> None:
    def always(label: int) -> System:
        return lambda instance: says(instance, answer=ANSWER, shown=question.instance, sufficiency=label)

    for label in (0, 1):
        assert score(dire_sufficiency, sufficiency(question, seed=seed), always(label)) == {0.0}
    for label in (-1, 0, 1):
        assert score(dire_probe_of_sufficiency, probe_of_sufficiency(question, seed=seed), always(label)) == {0.0}


@given(any_question)
def test_a_probe_gives_no_more_than_the_system_got_on_the_whole_question(question: FactQuestion) -> None:
    nothing = DiRePrediction(question_id="q", answer="no idea", paragraphs=frozenset(), sentences=frozenset())
    assert score(dire_probe, probe(question), one_fact_at_a_time, original=[nothing]) == {0.0}

"""What is counted of a set without a reader, on questions of which the count is known."""

from __future__ import annotations

from kgqa.recipes.musique.measures import MEASURES, evenness, least_seen, majority, set_measures, without_names
from kgqa.records import Instance, Paragraph, Step


def asked(name: str, bridge: str, answer: str, *, last: str = "Where was #1 born?", shown: tuple[tuple[str, str], ...] = ()) -> Instance:
    """A question of two hops; ``shown``: ids and texts of distractors."""
    subject = (("one", f"{name} was led by {bridge}."), ("two", f"{bridge} was born in {answer}."))
    paragraphs = [Paragraph(id=f"{name} {key}", title="", text=text, supporting=True) for key, text in subject]
    paragraphs += [Paragraph(id=key, title="", text=text, supporting=False) for key, text in shown]
    steps = (
        Step(id=f"{name}1", question=f"Who led {name}?", answer=bridge, paragraph_id=f"{name} one", depends_on=()),
        Step(id=f"{name}2", question=last, answer=answer, paragraph_id=f"{name} two", depends_on=(f"{name}1",)),
    )
    return Instance(
        id=name, question=f"Where was the leader of {name} born?", paragraphs=tuple(paragraphs), answers=(answer,), answer_type="span",
        answerable=True, group=name, provenance=None, decomposition=steps,
    )  # fmt: skip


def test_the_last_hop_alone() -> None:
    """Three of four have one answer: without itself each of the three has two others, and the fourth has three against it."""
    some = [asked("A", "Ada", "Riga"), asked("B", "Bob", "Riga"), asked("C", "Cid", "Riga"), asked("D", "Dan", "Oslo")]
    result = set_measures({"train": some, "dev": [], "test": []})
    assert result["last hop"] == [1.0, 1.0, 1.0, 0.0]
    assert majority(some, lambda instance: instance.id) == [0.0] * 4
    second = [*some, asked("E", "Eve", "Riga", last="Where did #1 die?")]
    assert set_measures({"train": second, "dev": [], "test": []})["last hop"][-1] == 0.0


def test_distractors_and_early_answers() -> None:
    bridge = asked("A", "Ada", "Riga", shown=(("x", "Ada had a cat."),))
    rival = asked("B", "Bob", "Oslo", shown=(("A two", "Ada was born in Riga."),))
    early = asked("C", "Cid of Rome", "Rome")
    result = set_measures({"train": [bridge, rival, early], "dev": [], "test": []})
    assert result["bridge distractor"] == [1.0, 0.0, 0.0]
    assert result["rival"] == [0.0, 1.0, 0.0]
    assert result["early answer"] == [0.0, 0.0, 1.0]
    assert set(result) == set(MEASURES)


def test_paragraphs_that_train_did_not_show() -> None:
    context = (("x", "Rain falls."), ("y", "Snow falls."))
    train, dev = asked("A", "Ada", "Riga", shown=context), asked("B", "Bob", "Oslo", shown=context)
    assert set_measures({"train": [train], "dev": [dev], "test": []})["unseen support"] == [1.0]
    assert least_seen(dev, {}) == 0.5  # all are alike, and half of them support
    assert set_measures({"train": [train], "dev": [], "test": []})["chance"] == [0.5]


def test_evenness() -> None:
    result = evenness([asked("A", "Ada", "Riga"), asked("B", "Bob", "Riga"), asked("C", "Cid", "Oslo")])
    assert (result.questions, result.answers, result.hops) == (3, 2, {2: 1.0})
    assert result.answer == 2 / 3
    assert result.template == 1.0
    assert result.relation == 0.0


def test_names_are_left_out() -> None:
    assert without_names("Where was the leader of New York born in 1900?") == "where was the leader of _ born in _"

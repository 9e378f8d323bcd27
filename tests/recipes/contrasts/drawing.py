"""Questions with any number of supporting facts, in our own sentences; texts differ from each other unless they are to be ``alike``."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from kgqa.recipes.contrasts.facts import FactQuestion
from kgqa.recipes.contrasts.questions import MOST_FACTS, question_of
from kgqa.records import Instance, Mention, Paragraph, Step

ANSWER, ENTITY = "Avalon", "E7"


def paragraph(name: str, sentences: Sequence[str], *, supporting: Sequence[int] = ()) -> Paragraph:
    """A paragraph of these sentences, each mention of the answer marked."""
    text = "".join(sentences)
    starts = [len("".join(sentences[:number])) for number in range(len(sentences))]
    at = text.find(ANSWER)
    return Paragraph(
        id=name,
        title=f"Page {name}",
        text=text,
        supporting=bool(supporting),
        mentions=() if at < 0 else (Mention(entity=ENTITY, start=at, end=at + len(ANSWER)),),
        sentences=tuple(starts),
        supporting_sentences=tuple(supporting),
    )


def asked(paragraphs: Sequence[Paragraph], **changes: object) -> Instance:
    """A question on these paragraphs, with a step for each supporting one."""
    supporting = [entry for entry in paragraphs if entry.supporting]
    steps = tuple(
        Step(id=f"s{i}", question=f"Step {i}?", answer=f"stop {i}", paragraph_id=p.id, depends_on=()) for i, p in enumerate(supporting)
    )
    fields: dict[str, object] = {
        "id": "q", "question": "Where did the king sleep?", "paragraphs": tuple(paragraphs), "answers": (ANSWER, "Isle of Apples"),
        "answer_id": None, "answer_type": "span", "candidates": None, "chains": None, "decomposition": steps, "answerable": True,
        "group": "g", "provenance": '{"ours": {"kind": "bridge"}}', **changes,
    }  # fmt: skip
    return Instance(**fields)  # type: ignore[arg-type]


@st.composite
def instances(draw: st.DrawFn, *, level: str = "paragraph", most: int = 5, alike: bool = False) -> Instance:
    """A question with two to ``most`` supporting facts and enough distractors; one or more of the facts state the answer, or none.

    ``alike``: some facts may say the same, but for space around it.
    """
    count = draw(st.integers(2, most))
    facts = [True] * count + [False] * draw(st.integers(count - 1, count + 4))
    facts = draw(st.permutations(facts))
    stating = draw(st.sets(st.integers(0, len(facts) - 1)))
    said = [f"Fact {i} of the tale{' names Avalon' if i in stating else ''}. " for i in range(len(facts))]
    if alike:
        for place in draw(st.sets(st.integers(0, len(facts) - 1), max_size=3)):
            said[place] = said[draw(st.integers(0, len(facts) - 1))] + draw(st.sampled_from(["", " "]))
    if level == "paragraph":
        made = [paragraph(f"p{i}", [said[i], "More follows."], supporting=(0,) if is_support else ()) for i, is_support in enumerate(facts)]
        return asked(made)
    made, at = [], 0
    while at < len(facts):
        size = min(draw(st.integers(1, 4)), len(facts) - at)
        marks = [number for number in range(size) if facts[at + number]]
        made.append(paragraph(f"p{at}", said[at : at + size], supporting=marks))
        at += size
    return asked(made)


def questions(*, level: str = "paragraph", most: int = 5) -> st.SearchStrategy[FactQuestion]:
    """The same with their facts."""
    return instances(level=level, most=most).map(lambda instance: faced(instance, level=level))


def faced(instance: Instance, *, level: str = "paragraph") -> FactQuestion:
    """A question that can be transformed, with its facts."""
    question = question_of(instance, level=level, max_facts=MOST_FACTS)
    assert isinstance(question, FactQuestion), question
    return question


any_question = st.sampled_from(["paragraph", "sentence"]).flatmap(lambda level: questions(level=level))
seeds = st.integers(0, 2**31 - 1)

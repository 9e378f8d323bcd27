"""Small questions, with candidates and without, whose words come from a short list so that they meet."""

from __future__ import annotations

from hypothesis import strategies as st

from kgqa.records import Candidate, Instance, Mention, Paragraph

WORDS = ("Ely", "York", "New York", "the", "river", "of", "1066", "Éire", "born", ".", "where")
NAMES = ("Ely", "York", "New York", "river", "Éire", "Ely.")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@st.composite
def paragraphs(draw: st.DrawFn, name: str, *, marked: bool) -> Paragraph:
    """A paragraph; its mentions, where they are marked, need not be what the text says."""
    entities = draw(st.lists(st.sampled_from(["c0", "c1", "c2", "other"]), max_size=4))
    mentions = tuple(Mention(entity=entity, start=place, end=place + 1) for place, entity in enumerate(entities))
    return Paragraph(id=name, title=None, text=draw(TEXTS), supporting=None, mentions=mentions if marked else None)


@st.composite
def instances(draw: st.DrawFn, *, candidates: bool | None = None, marked: bool | None = None) -> Instance:
    """A question on up to four paragraphs."""
    marked = draw(st.booleans()) if marked is None else marked
    chosen = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    answer, free = draw(st.sampled_from(chosen)), not (draw(st.booleans()) if candidates is None else candidates)
    return Instance(
        id=f"q{draw(st.integers(0, 10**6))}",
        question=draw(st.sampled_from(["where is York", "who", "in which river", "How many of the", "", "Is it", "located_in Ely"])),
        paragraphs=tuple(draw(paragraphs(f"p{place}", marked=marked)) for place in range(draw(st.integers(0, 4)))),
        answers=(answer,) if draw(st.integers(0, 5)) else (),
        answer_id=None if free else f"c{chosen.index(answer)}",
        answer_type="span" if free else "candidate",
        candidates=None if free else tuple(Candidate(id=f"c{place}", text=text) for place, text in enumerate(chosen)),
        answerable=True,
        group="g",
        provenance=draw(st.sampled_from([None, '{"relation": "P17"}', '{"relation": "P19"}'])),
    )


def sets(*, candidates: bool | None = None, marked: bool | None = None) -> st.SearchStrategy[list[Instance]]:
    """Questions, each with an id of its own."""
    return st.lists(instances(candidates=candidates, marked=marked), max_size=8, unique_by=lambda instance: instance.id)

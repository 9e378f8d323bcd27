"""Questions as in WikiHop: candidates, chains to them, and paragraphs that mention them or only lead to one."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from kgqa.records import Candidate, Instance, Mention, Paragraph
from tests.recipes.contrasts.drawing import asked

PLACES = ("Avalon", "Lyonesse", "Camelot", "Ys")
CANDIDATES = tuple(Candidate(id=f"E{number}", text=place) for number, place in enumerate(PLACES))
PLACEHOLDERS = tuple(Candidate(id=f"E{number}", text=f"___MASK{40 + number}___") for number in range(len(PLACES)))


def document(name: str, mentioned: Sequence[Candidate], *, supporting: bool, marked: bool = True) -> Paragraph:
    """A paragraph that mentions these candidates; ``marked``: and says where."""
    text, mentions = f"Document {name} tells of", []
    for candidate in mentioned:
        mentions.append(Mention(entity=candidate.id, start=len(text) + 1, end=len(text) + 1 + len(candidate.text)))
        text += f" {candidate.text}"
    return Paragraph(
        id=name, title=f"Tale {name}", text=text + ".", supporting=supporting, mentions=tuple(mentions) if marked else None,
        sentences=None, supporting_sentences=None,
    )  # fmt: skip


def chosen(paragraphs: Sequence[Paragraph], candidates: Sequence[Candidate] = CANDIDATES, **changes: object) -> Instance:
    """A question whose answer is the first candidate; a chain leads to it through all that supports it."""
    along = [part for each in paragraphs if each.supporting for part in (each.id, f"after {each.id}")]
    chains = ((("S", *along[:-1], "E0"),) if along else (), *(() for _ in candidates[1:]))
    fields: dict[str, object] = {
        "candidates": tuple(candidates), "chains": chains, "answer_id": "E0", "answers": (candidates[0].text,),
        "answer_type": "candidate", "decomposition": None, **changes,
    }  # fmt: skip
    return asked(paragraphs, **fields)


@st.composite
def multiple_choice(draw: st.DrawFn) -> Instance:
    """Any such question: some have no support, name no candidate, are masked, or have no marked mentions."""
    candidates = draw(st.sampled_from([CANDIDATES, PLACEHOLDERS]))
    marked = draw(st.booleans())
    paragraphs = [
        document(f"d{number}", draw(st.lists(st.sampled_from(candidates), max_size=2)), supporting=draw(st.booleans()), marked=marked)
        for number in range(draw(st.integers(0, 6)))
    ]
    return chosen(paragraphs, candidates, answerable=draw(st.integers(0, 9)) > 0)

"""A small dataset of composed questions, as ``kgqa compose`` writes it: rulers, the towns where they were born, and lands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgqa.formats.provenance import note
from kgqa.records import Instance, Paragraph, Step
from tests.small_questions import write_set
from tests.small_single_hops import LANDS, RULERS, TOWNS


def composed(number: int) -> Instance:
    """Which land's capital a ruler was born in, with two supporting paragraphs and a distractor."""
    ruler, town, land = RULERS[number], TOWNS[number], LANDS[number]
    texts = (f"{ruler} was born in {town}.", f"{town} is the capital of {land}.", f"{LANDS[number - 1]} lies by the sea.")
    paragraphs = tuple(
        Paragraph(id=f"p{place}", title=title, text=text, supporting=place < 2)
        for place, (title, text) in enumerate(zip((ruler, town, LANDS[number - 1]), texts, strict=True))
    )
    steps = (
        Step(id="a", question=f"Where was {ruler} born?", answer=town, paragraph_id="p0", depends_on=()),
        Step(id="b", question="What country is #1 the capital of?", answer=land, paragraph_id="p1", depends_on=("a",)),
    )
    return Instance(
        id=f"c{number}", question=f"What country is the place where {ruler} was born the capital of?", paragraphs=paragraphs,
        answers=(land,), answer_type="span", decomposition=steps, answerable=True, group=f"c{number}",
        provenance=note("compose", {"composer": "rules", "shape": "2hop", "sources": ["small", "small"]}),
    )  # fmt: skip


def composed_set(folder: Path, numbers: Sequence[int] = range(6)) -> Path:
    """A dataset folder: the last question is in dev, the others in train."""
    return write_set(folder, train=[composed(number) for number in numbers[:-1]], dev=[composed(numbers[-1])])

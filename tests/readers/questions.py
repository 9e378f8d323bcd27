"""Questions of two hops about a small made-up world."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kgqa.progress import Silent
from kgqa.records import Instance, Paragraph, Step
from kgqa.settings.training import TrainingSettings
from kgqa.training.reader import Fitting

FILMS = ("zora", "milo", "tarn", "kelp", "vega", "onyx", "pike", "lumo")


def two_hops(count: int = 8) -> list[Instance]:
    """``Who married the director of zora?``: director of zora ; spouse of #1, each with its paragraph, and a third one."""
    return [_two_hops(number, film) for number, film in enumerate(FILMS[:count])]


def _two_hops(number: int, film: str) -> Instance:
    director, spouse = f"{film}an", f"{film}ette"
    texts = (f"{film} is a film by {director}.", f"{director} married {spouse}.", "the river is in the city.")
    paragraphs = tuple(Paragraph(id=str(place), title=None, text=text, supporting=place < 2) for place, text in enumerate(texts))
    steps = (
        Step(id="a", question=f"director of {film}", answer=director, paragraph_id="0", depends_on=()),
        Step(id="b", question="spouse of #1", answer=spouse, paragraph_id="1", depends_on=("a",)),
    )
    return Instance(
        id=f"q{number}", question=f"who married the director of {film}?", paragraphs=paragraphs, answers=(spouse,), answer_type="span",
        decomposition=steps, answerable=True, group=f"q{number}", provenance=None,
    )  # fmt: skip


def fitting(place: Path, settings: TrainingSettings, record: Callable[[dict[str, object]], None] = lambda point: None) -> Fitting:
    """A fit in ``place``, seed 1."""
    return Fitting(place=place, settings=settings, seed=1, progress=Silent(), record=record)

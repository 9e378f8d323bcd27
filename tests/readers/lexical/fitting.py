"""A reader fitted on what is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from kgqa.progress import Silent
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.records import Instance
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting

R = TypeVar("R", bound=LexicalReader)
FITTING = Fitting(place=Path("unused"), settings=TrainingSettings(), seed=0, progress=Silent(), record=lambda _: None)


def fitted(reader: R, train: Sequence[Instance], *, seed: int = 0) -> R:
    """The ``reader``, having learned from ``train``."""
    reader.fit(of_list(train), None, replace(FITTING, seed=seed))
    return reader

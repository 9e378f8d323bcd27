"""A choice at random: what any other reader must beat. The number of candidates differs between questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgqa.readers.lexical.choices import Choices
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.records import Instance
from kgqa.training.reader import Prediction


class RandomChoice(LexicalReader):
    """All choices are equal, so that the draw among ties decides."""

    name = "random"
    learns = False

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """Any of the choices."""
        choices = Choices.of(instances)
        return choices.predictions(np.zeros(len(choices.texts)), seed=self.seed)

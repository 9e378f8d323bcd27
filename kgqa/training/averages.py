"""The exponential moving average of the weights, as BiDAF's authors evaluate it (Seo et al. 2017, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgqa.training.checkpoints import AVERAGE

if TYPE_CHECKING:
    import torch


class Averages:
    """The averages of all weights that an optimiser changes. They are part of its state, and so of every checkpoint."""

    def __init__(self, optimiser: torch.optim.Optimizer, decay: float) -> None:
        """``decay``: share of the old average in the new one; 0: there are no averages, and nothing happens."""
        self._optimiser, self._decay = optimiser, decay

    def __bool__(self) -> bool:
        """Whether there are averages."""
        return self._decay > 0

    def update(self, step: int) -> None:
        """Take the weights after ``step`` (from 0) into the averages. The first steps count more, so that initial weights are forgotten."""
        import torch

        if not self._decay:
            return
        states = self._optimiser.state
        for weight, state in states.items():
            state.setdefault(AVERAGE, weight.detach().clone())
        weights = [weight.detach() for weight in states]
        torch._foreach_lerp_([state[AVERAGE] for state in states.values()], weights, 1 - min(self._decay, (1 + step) / (10 + step)))

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Within it the network has the averages as its weights."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def keep(self) -> None:
        """Give the network the averages as its weights, for good."""
        self._swap()

    def _swap(self) -> None:
        for weight, state in self._optimiser.state.items():
            if AVERAGE in state:
                weight.data, state[AVERAGE] = state[AVERAGE], weight.data

"""How a reader is trained; the same for all that learn by steps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgqa.settings.base import Positive, Settings

DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("auto", "fp32", "bf16")
OF_TIME_AND_MEMORY = frozenset({"device", "checkpoint_seconds", "batch_tokens"})
"""Settings that may be others when a run goes on; with another ``batch_tokens`` the dropout of parts is drawn otherwise from there on."""


class TrainingSettings(Settings):
    """What the loop is told."""

    epochs: Positive = 3
    """How often the whole training split is read, at most."""
    max_steps: Positive | None = None
    """Stop after so many steps, whatever the epoch."""
    batch: Positive = 16
    """Questions a step."""
    batch_tokens: Positive = 8192
    """Tokens, padding included, that are in the network at once: memory depends on it, the result only in the dropout of each part."""
    learning_rate: Annotated[float, Field(gt=0, le=10)] = 5e-5
    warm_up: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """The share of the steps in which the rate rises; it falls to 0 in the others."""
    weight_decay: Annotated[float, Field(ge=0, lt=1)] = 0.01
    clip: Annotated[float, Field(gt=0)] = 1.0
    """The largest norm of a gradient."""
    evaluations: Positive = 1
    """How often in an epoch the dev split is read."""
    patience: Positive = 3
    """Stop after so many evaluations in a row without a better one."""
    dev_questions: Positive = 1000
    """Of so many at most; the first of the split by a draw."""
    checkpoint_seconds: Annotated[float, Field(ge=0)] = 120.0
    """A run that is killed loses at most so much; 0: nothing but a step."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """auto: a GPU where there is one."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """auto: bf16 on a GPU that has it."""

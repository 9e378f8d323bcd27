"""Settings of the training loop, shared by all readers that learn by steps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgqa.settings.base import Positive, Settings

OF_TIME_AND_MEMORY = frozenset({"device", "checkpoint_seconds", "batch_tokens", "workers", "gradient_checkpointing"})
"""Settings that can change when a run resumes; another ``batch_tokens`` changes the dropout of parts from there on."""


class TrainingSettings(Settings):
    """Training loop of a reader."""

    epochs: Positive = 3
    """Maximum passes over the train split."""
    max_steps: Positive | None = None
    """Maximum optimiser steps, over all epochs; null: no limit."""
    batch: Positive = 16
    """Questions per optimiser step."""
    batch_tokens: Positive = 8192
    """Maximum tokens in the network at once, including padding. Larger values take more memory and are faster; the result changes only
    through the dropout of each part of a batch."""
    learning_rate: Annotated[float, Field(gt=0, le=10)] = 5e-5
    """Peak learning rate."""
    warm_up: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Share of the steps with a rising learning rate."""
    schedule: Literal["linear", "halving"] = "linear"
    """Learning rate after the warm-up. ``linear``: it falls to 0; ``halving``: it is halved after each dev evaluation without improvement
    (as by Weissenborn et al. 2017)."""
    averaging: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Decay of the moving average of the weights, such as 0.999 (Seo et al. 2017). Dev evaluations and the finished reader use this
    average. Larger values average over more steps; 0: no average."""
    weight_decay: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """Weight decay of the optimiser."""
    clip: Annotated[float, Field(gt=0)] = 1.0
    """Maximum gradient norm; larger gradients are scaled down to it."""
    evaluations: Positive = 1
    """Dev evaluations per epoch."""
    patience: Positive = 3
    """Stop after this many dev evaluations in a row without improvement."""
    dev_questions: Positive = 1000
    """Maximum dev questions per evaluation; the same ones each time. Larger values give more precise scores and take more time."""
    checkpoint_seconds: Annotated[float, Field(ge=0)] = 120.0
    """Seconds between checkpoints, the most work that a killed run loses; 0: a checkpoint after each step."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """``auto`` (a GPU if there is one), ``cpu`` or ``cuda``."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """``auto`` (bf16 on a GPU that supports it), ``fp32`` or ``bf16``."""
    tf32: bool = False
    """Let a GPU round the factors of float32 products to 10 bits, which is faster; without effect on bf16."""
    deterministic: bool = False
    """Make a GPU compute the same bytes in each run, which is slower."""
    workers: Annotated[int, Field(ge=0, le=64)] = 0
    """Processes that prepare batches in advance; 0: the training process prepares them. They do not change the result."""
    compile: bool = False
    """Compile training steps with ``torch.compile``, for batches of any shape: slow at first, then faster where most of a step is a network
    without recurrent layers. The result is the same except for rounding and dropout, which is drawn differently."""
    gradient_checkpointing: bool = False
    """Recompute the layers of a pretrained encoder in the backward pass, which takes less memory and more time."""

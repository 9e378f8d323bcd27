"""Compiled training steps (the setting ``compile``): torch traces the losses of a batch and compiles what it can.

Only steps are compiled. The network itself stays as it is, so that its weights have their plain names, and predictions are computed as
without the setting.
"""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kgqa.errors import SettingsError
from kgqa.training.device import Device

if TYPE_CHECKING:
    import torch

COMPILERS = ("g++", "clang++")
"""The programs with which torch compiles code for the CPU, unless the variable ``CXX`` names another."""

LOGGERS = ("torch._dynamo", "torch._inductor")


def compile_steps(objective: torch.nn.Module, device: Device) -> None:
    """Let torch compile the module when it is first called, for batches of any shape. Raises SettingsError if a compiler is missing."""
    if device.name == "cpu" and not any(map(shutil.which, (os.environ.get("CXX") or "", *COMPILERS))):
        raise SettingsError(f"compile: torch found no C++ compiler ({COMPILERS[0]}); install one, or leave out compile.")
    if device.name == "cuda" and find_spec("triton") is None:
        raise SettingsError("compile: torch needs triton on a GPU, but it is not installed; run pip install triton, or leave out compile.")
    objective.compile(dynamic=True)


@contextmanager
def quietly(is_compiled: bool) -> Iterator[None]:
    """Within it torch does not tell which operations it cannot compile, nor warn of what its own tracing does, if ``is_compiled``."""
    if not is_compiled:
        yield
        return
    loggers = {logger: logger.level for logger in map(logging.getLogger, LOGGERS)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in loggers.items():
                logger.setLevel(level)


def compilation_fault(error: BaseException) -> str | None:
    """The reason in a line if torch could not compile, else None."""
    if not type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
        return None
    # Torch's first line is "backend='inductor' raised:", and the next one says what.
    lines = (line.strip().rstrip(".") for line in str(error).splitlines())
    return next((line for line in lines if line and not line.endswith(":")), type(error).__name__)[:300]

"""Checkpoints: weights and the optimiser's state as safetensors, the position in the data as JSON.

Frozen weights are not saved: a run that goes on loads them again, and has their hash.

The random state is not saved: every step draws from the run's seed and its own number.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.runs.scratch import TEMPORARY
from kgqa.settings.small_files import read_small

if TYPE_CHECKING:
    import torch

WEIGHTS, OPTIMISER, STATE = "model.safetensors", "optimiser.safetensors", "state.json"
UPDATED = {"step", "exp_avg", "exp_avg_sq"}
"""Keys of AdamW's state of a parameter."""
AVERAGE = "average"
"""A further key, if a run averages weights: the average of the parameter."""
_OS_CODE = re.compile(r"(?:code: |os error )(\d+)")
"""How safetensors reports errors of the operating system."""


@dataclass(slots=True, kw_only=True)
class State:
    """The progress of a run."""

    key: str
    """Hash of everything that the run depends on."""
    step: int = 0
    """Number of finished steps."""
    best: float = -1.0
    best_step: int = 0
    worse: int = 0
    """Evaluations since the best one."""
    halvings: int = 0
    """How often the learning rate was halved."""
    batch_tokens: int = 0
    """Tokens per forward pass that fit into memory; at most ``asked_tokens``."""
    asked_tokens: int = 0
    loss: float = 0.0
    """Sum over the ``questions`` since the last point of the curve."""
    questions: int = 0
    unscored: bool = False
    """Whether the run was stopped during the evaluation after this step, which it then repeats first."""
    finished: bool = False


def save_weights(network: torch.nn.Module, path: Path, *, trained_only: bool = False) -> None:
    """Save the network's weights; tied weights once, under the first of their names. ``trained_only``: without frozen ones.

    Raises StorageError.
    """
    frozen = frozen_names(network) if trained_only else frozenset()
    # Not safetensors' save_model, which notes the other names beside, in an order that is another one each time.
    tensors: dict[object, tuple[str, torch.Tensor]] = {}
    for name, value in sorted(item for item in network.state_dict().items() if item[0] not in frozen):
        storage = (value.device, value.data_ptr(), value.shape) if value.numel() else name
        tensors.setdefault(storage, (name, value))
    with storage_errors(path):
        _save_tensors(dict(tensors.values()), path)


def frozen_names(network: torch.nn.Module) -> frozenset[str]:
    """Names of the weights that training does not change."""
    return frozenset(name for name, weight in network.named_parameters(remove_duplicate=False) if not weight.requires_grad)


def replace_weights(network: torch.nn.Module, path: Path) -> None:
    """Replace the trained weights in ``path``; after any failure the old or the new file is there as a whole. Raises StorageError."""
    partial = path.with_name(f".{path.name}{TEMPORARY}")
    with storage_errors(path):
        try:
            save_weights(network, partial, trained_only=True)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def load_weights(network: torch.nn.Module, path: Path, *, trained_only: bool = False) -> None:
    """Load the weights that :func:`save_weights` saved; ``trained_only``: frozen ones stay as they are.

    Raises MissingInput, and BrokenInput if the file belongs to another network or is not safetensors.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_model

    _check_file(path)
    try:
        with storage_errors(path):
            missing, unexpected = load_model(network, str(path), strict=False)
    except (SafetensorError, RuntimeError) as error:
        raise BrokenInput(f"{path}: the weights of this reader are incomplete; train it again.") from error
    wrong = {*missing, *unexpected} - (frozen_names(network) if trained_only else frozenset())
    if wrong:
        raise BrokenInput(f"{path}: these are weights of another network ({min(wrong)}); train the reader again.")


def save(folder: Path, state: State, network: torch.nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """Write a checkpoint into ``folder``, then remove the earlier ones. On StorageError the earlier ones are kept."""
    # The last step's may be there already, and stays until this one is whole.
    folder_of_step = folder / f"step-{state.step:09d}{'-finished' if state.finished else ''}"
    partial = folder_of_step.with_name(f".{folder_of_step.name}{TEMPORARY}")
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            save_weights(network, partial / WEIGHTS, trained_only=True)
            _save_tensors(_optimiser_tensors(network, optimiser), partial / OPTIMISER)
            (partial / STATE).write_text(json.dumps(asdict(state)), "utf-8")
            partial.replace(folder_of_step)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        for old_checkpoint in _checkpoints(folder)[:-1]:
            shutil.rmtree(old_checkpoint, ignore_errors=True)


def latest(folder: Path) -> tuple[Path, State] | None:
    """The last complete checkpoint in ``folder``. Raises BrokenInput if its state cannot be read."""
    checkpoints = _checkpoints(folder)
    if not checkpoints:
        return None
    path = checkpoints[-1] / STATE
    try:
        state = State(**json.loads(read_small(path)))
        if any(type(getattr(state, field.name)).__name__ != field.type for field in fields(State)):
            raise TypeError("a value of another type")
        if min(state.step, state.halvings) < 0 or state.batch_tokens < 1 or state.asked_tokens < 1:
            raise ValueError("a number that cannot be")
        return checkpoints[-1], state
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BrokenInput(f"{path}: this is not the state of a run; remove {checkpoints[-1].name}, and the run starts again.") from error


def restore(checkpoint: Path, network: torch.nn.Module, optimiser: torch.optim.Optimizer, *, averaged: bool = False) -> None:
    """Load a checkpoint's weights and optimiser state, with the weights' averages if the run is ``averaged``."""
    load_weights(network, checkpoint / WEIGHTS, trained_only=True)
    _restore_optimiser(checkpoint / OPTIMISER, network, optimiser, UPDATED | ({AVERAGE} if averaged else set()))


def _check_file(path: Path) -> None:
    """Raise MissingInput, since safetensors reports a missing file without the system's error number."""
    if not path.is_file():
        raise MissingInput(f"{path}: there is no such file; remove its folder, and train the reader again.")


def _checkpoints(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("step-*") if path.is_dir())


def _optimiser_tensors(network: torch.nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """``exp_avg/NAME`` and so on, for each parameter with a state."""
    return {
        f"{moment}/{name}": value
        for name, parameter in network.named_parameters()
        for moment, value in optimiser.state.get(parameter, {}).items()
    }


def _restore_optimiser(path: Path, network: torch.nn.Module, optimiser: torch.optim.Optimizer, keys: set[str]) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    _check_file(path)
    try:
        with storage_errors(path):
            tensors = load_file(str(path))
    except SafetensorError as error:
        raise BrokenInput(f"{path}: this optimiser state is incomplete; remove {path.parent.name}, and the run starts again.") from error
    parameters = dict(network.named_parameters())
    for key, value in tensors.items():
        moment, _, name = key.partition("/")
        if name not in parameters:
            raise BrokenInput(
                f"{path}: this is the state of another network ({name}); remove {path.parent.name}, and the run starts again."
            )
        parameter = parameters[name]
        if moment not in keys or value.shape != (() if moment == "step" else parameter.shape):
            raise BrokenInput(
                f"{path}: this is the state of another network ({name}); remove {path.parent.name}, and the run starts again."
            )
        optimiser.state[parameter][moment] = value.to(parameter.device)
    if any(values.keys() != keys for values in optimiser.state.values()):
        raise BrokenInput(f"{path}: this optimiser state is incomplete; remove {path.parent.name}, and the run starts again.")


def _save_tensors(tensors: dict[str, torch.Tensor], path: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    path.touch()
    mode = path.stat().st_mode  # safetensors would let the owner alone read them
    try:
        save_file({name: value.contiguous() for name, value in tensors.items()}, str(path))
    except SafetensorError as error:
        raise _os_error(error, path) from error
    path.chmod(mode)


def _os_error(error: Exception, path: Path) -> Exception:
    """The operating system's error behind ``error``, if there is one."""
    code = _OS_CODE.search(str(error))
    return OSError(int(code[1]), str(error), str(path)) if code else error

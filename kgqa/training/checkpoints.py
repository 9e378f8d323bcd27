"""What a run needs to go on after it was killed: weights and the optimiser's state as safetensors, the place in the data as JSON.

The random state needs no room: every step draws from the run's seed and its own number.
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
"""What AdamW keeps of each parameter."""
_OS_CODE = re.compile(r"(?:code: |os error )(\d+)")
"""How safetensors reports the operating system's refusals."""


@dataclass(slots=True, kw_only=True)
class State:
    """How far a run is."""

    key: str
    """Of all that the run depends on."""
    step: int = 0
    """Steps that are done."""
    best: float = -1.0
    best_step: int = 0
    worse: int = 0
    """Evaluations since the best one."""
    batch_tokens: int = 0
    """What still fits into memory, of the ``asked_tokens``."""
    asked_tokens: int = 0
    loss: float = 0.0
    """Summed up over the ``questions`` since the last point of the curve."""
    questions: int = 0
    unscored: bool = False
    """Whether the run was stopped in the evaluation after the step, which comes first then."""
    finished: bool = False


def save_weights(network: torch.nn.Module, path: Path) -> None:
    """The network's weights, tied ones once, under the first of their names. Raises StorageError."""
    # Not safetensors' save_model, which notes the other names beside, in an order that is another one each time.
    named: dict[object, tuple[str, torch.Tensor]] = {}
    for name, value in sorted(network.state_dict().items()):
        place = (value.device, value.data_ptr(), value.shape) if value.numel() else name
        named.setdefault(place, (name, value))
    with storage_errors(path):
        _save_tensors(dict(named.values()), path)


def replace_weights(network: torch.nn.Module, path: Path) -> None:
    """Put the weights in place of those in ``path``; whatever happens, one of the two is there whole. Raises StorageError."""
    partial = path.with_name(f".{path.name}{TEMPORARY}")
    with storage_errors(path):
        try:
            save_weights(network, partial)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def load_weights(network: torch.nn.Module, path: Path) -> None:
    """Put back what :func:`save_weights` saved; BrokenInput where the file is of another network, or no safetensors; MissingInput."""
    from safetensors import SafetensorError
    from safetensors.torch import load_model

    _check_there(path)
    try:
        with storage_errors(path):
            missing, unexpected = load_model(network, str(path), strict=False)
    except (SafetensorError, RuntimeError) as error:
        raise BrokenInput(f"{path}: these are no whole weights of this reader; train it again.") from error
    if missing or unexpected:
        raise BrokenInput(f"{path}: these are weights of another network ({sorted({*missing, *unexpected})[0]}); train the reader again.")


def save(folder: Path, state: State, network: torch.nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """Put a checkpoint into ``folder``, and then let go of the ones before. Raises StorageError, and keeps those."""
    # The last step's may be there already, and stays until this one is whole.
    place = folder / f"step-{state.step:09d}{'-finished' if state.finished else ''}"
    partial = place.with_name(f".{place.name}{TEMPORARY}")
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            save_weights(network, partial / WEIGHTS)
            _save_tensors(_optimiser_tensors(network, optimiser), partial / OPTIMISER)
            (partial / STATE).write_text(json.dumps(asdict(state)), "utf-8")
            partial.replace(place)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        for other in _all(folder)[:-1]:
            shutil.rmtree(other, ignore_errors=True)


def latest(folder: Path) -> tuple[Path, State] | None:
    """The last whole checkpoint in ``folder``. Raises BrokenInput where its state cannot be read."""
    found = _all(folder)
    if not found:
        return None
    path = found[-1] / STATE
    try:
        state = State(**json.loads(read_small(path)))
        if any(type(getattr(state, each.name)).__name__ != each.type for each in fields(State)):
            raise TypeError("a value of another type")
        if state.step < 0 or state.batch_tokens < 1 or state.asked_tokens < 1:
            raise ValueError("a number that cannot be")
        return found[-1], state
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BrokenInput(f"{path}: this is no state of a run; remove {found[-1].name}, and the run starts again.") from error


def restore(place: Path, network: torch.nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """Put the weights and the optimiser's state of a checkpoint back."""
    load_weights(network, place / WEIGHTS)
    _restore_optimiser(place / OPTIMISER, network, optimiser)


def _check_there(path: Path) -> None:
    """As safetensors says it without the system's number."""
    if not path.is_file():
        raise MissingInput(f"{path}: there is no such file; remove its folder, and train the reader again.")


def _all(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("step-*") if path.is_dir())


def _optimiser_tensors(network: torch.nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """``exp_avg/NAME`` and so on, for each parameter that was updated."""
    return {
        f"{what}/{name}": value
        for name, parameter in network.named_parameters()
        for what, value in optimiser.state.get(parameter, {}).items()
    }


def _restore_optimiser(path: Path, network: torch.nn.Module, optimiser: torch.optim.Optimizer) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    _check_there(path)
    try:
        with storage_errors(path):
            tensors = load_file(str(path))
    except SafetensorError as error:
        raise BrokenInput(
            f"{path}: this is no whole state of an optimiser; remove {path.parent.name}, and the run starts again."
        ) from error
    parameters = dict(network.named_parameters())
    for key, value in tensors.items():
        what, _, name = key.partition("/")
        if name not in parameters:
            raise BrokenInput(
                f"{path}: this is the state of another network ({name}); remove {path.parent.name}, and the run starts again."
            )
        parameter = parameters[name]
        if what not in UPDATED or value.shape != (() if what == "step" else parameter.shape):
            raise BrokenInput(
                f"{path}: this is the state of another network ({name}); remove {path.parent.name}, and the run starts again."
            )
        optimiser.state[parameter][what] = value.to(parameter.device)
    if any(found.keys() != UPDATED for found in optimiser.state.values()):
        raise BrokenInput(f"{path}: this is no whole state of an optimiser; remove {path.parent.name}, and the run starts again.")


def _save_tensors(tensors: dict[str, torch.Tensor], path: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    path.touch()
    readers = path.stat().st_mode  # safetensors would let the owner alone read them
    try:
        save_file({name: value.contiguous() for name, value in tensors.items()}, str(path))
    except SafetensorError as error:
        raise _as_os_error(error, path) from error
    path.chmod(readers)


def _as_os_error(error: Exception, path: Path) -> Exception:
    """The system's own error where it was one."""
    code = _OS_CODE.search(str(error))
    return OSError(int(code[1]), str(error), str(path)) if code else error

"""A task that is sent to other processes. The tensors of its network are arrays, which all processes of a machine can share."""

from __future__ import annotations

import functools
import pickle
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kgqa.training.task import Task

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class _Array:
    """A tensor's bytes, and what they mean."""

    data: npt.NDArray[np.uint8]
    type: torch.dtype
    shape: tuple[int, ...]
    is_parameter: bool
    requires_grad: bool
    """Nothing is learned from it, but torch chooses kernels by it, which differ in the last digit."""


LOCK = type(Lock())
HOOKED = "_output_capturing_hooks_installed"
"""Attribute by which transformers knows that an encoder has these functions."""


class SentTask:
    """A task, to be pickled. It can read, but not learn: its tensors may not be changed."""

    def __init__(self, task: Task) -> None:
        """Copies nothing of a network on the CPU before it is pickled."""
        file = BytesIO()
        pickler = _Pickler(file)
        pickler.dump(task)
        self._data, self._arrays = file.getvalue(), pickler.arrays
        self._task: Task | None = None

    def task(self) -> Task:
        """The task. It is made once, and keeps its place, on a GPU for example."""
        if self._task is None:
            self._task = _Unpickler(BytesIO(self._data), self._arrays).load()
        return self._task


class _Pickler(pickle.Pickler):
    """Leaves tensors out."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.arrays: list[_Array] = []
        self._tensors: dict[int, tuple[int, torch.Tensor]] = {}

    def persistent_id(self, obj: Any) -> int | None:
        """The number of a tensor. One that several layers have stays one."""
        import torch

        if not isinstance(obj, torch.Tensor):
            return None
        if id(obj) not in self._tensors:
            self._tensors[id(obj)] = len(self.arrays), obj
            values = obj.detach().cpu().contiguous()
            data = values.flatten().view(torch.uint8).numpy()
            is_parameter = isinstance(obj, torch.nn.Parameter)
            self.arrays.append(_Array(data, values.dtype, tuple(values.shape), is_parameter, obj.requires_grad))
        return self._tensors[id(obj)][0]

    def reducer_override(self, obj: Any) -> Any:
        """What pickle cannot do itself: a method with a cache, a lock, and an encoder with the functions that transformers hangs on it when
        it is first used. Cache, holder of the lock and functions stay behind.
        """
        import torch

        if isinstance(obj, torch.nn.Module):
            reduced: Any = obj.__reduce_ex__(5)
            make, arguments, state, *rest = reduced
            hooks = {number: hook for number, hook in obj._forward_hooks.items() if not hook.__module__.startswith("transformers.")}
            own = {**state, "_forward_hooks": OrderedDict(hooks)}
            own.pop(HOOKED, None)
            if any(kind.__name__ == "PreTrainedModel" for kind in type(obj).__mro__):  # some readers need no transformers
                make, arguments = _encoder, (type(obj), obj.config)
            return make, arguments, own, *rest
        if isinstance(obj, LOCK):
            return Lock, ()
        if isinstance(obj, functools._lru_cache_wrapper) and hasattr(obj.__wrapped__, "__self__"):
            return _cached, (obj.__wrapped__, obj.cache_parameters()["maxsize"])
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, arrays: list[_Array]) -> None:
        super().__init__(file)
        self._arrays, self._tensors = arrays, dict[int, Any]()

    def persistent_load(self, pid: int) -> Any:
        import torch

        if pid not in self._tensors:
            array = self._arrays[pid]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that the array is read-only, as it should be
                tensor = torch.from_numpy(array.data).view(array.type).reshape(array.shape)
            self._tensors[pid] = torch.nn.Parameter(tensor, requires_grad=array.requires_grad) if array.is_parameter else tensor
        return self._tensors[pid]


def _encoder(kind: Any, config: Any) -> Any:
    """An encoder without a state. One is made before: with the first of a class, transformers notes what the class can do."""
    import torch

    with torch.device("meta"):  # it takes no memory
        kind(config)
    return kind.__new__(kind)


def _cached(method: Any, size: int | None) -> Any:
    return functools.lru_cache(maxsize=size)(method)

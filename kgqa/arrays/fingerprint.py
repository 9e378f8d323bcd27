"""What a kernel's machine code is made from, as one hash: two kernels with equal hashes compile to the same.

That is more than its source file: the kernels that it calls become part of it, and so do the constants that it reads, wherever they stand.
It is taken from the functions in memory, not from files, which may have changed since they were imported.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.extending import is_jitted

VERSIONS = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, str(config.OPT), config.BOUNDSCHECK)
CONSTANTS = (bool, int, float, str, bytes, type(None), np.generic, np.dtype)


def fingerprint(kernel: Any) -> str:
    """The hash, in hexadecimal digits; 20 microseconds for each kernel that ``kernel`` is made from."""
    hashed = hashlib.sha256(repr(VERSIONS).encode())
    made_from = [kernel]
    for each in made_from:
        for part in _parts(each):
            if isinstance(part, str):
                hashed.update(part.encode() + b"\n")
            elif part not in made_from:
                made_from.append(part)
    return hashed.hexdigest()


def _parts(kernel: Any) -> Iterator[Any]:
    """The kernels that ``kernel`` calls, and the text of everything else in it."""
    function = kernel.py_func
    assert function.__closure__ is None, f"{function.__qualname__}: a kernel stands in a module, not in a function"
    yield repr((function.__module__, function.__qualname__, function.__defaults__, sorted(kernel.targetoptions.items())))
    yield from _code(function.__code__)
    for name in sorted(_names(function.__code__) & function.__globals__.keys()):
        value = function.__globals__[name]
        yield f"{name}: {_called(value)}"
        if is_jitted(value):
            yield value


def _code(code: CodeType) -> Iterator[str]:
    """All that decides what a function does; not where it stands."""
    yield repr((code.co_code, code.co_names, code.co_varnames, code.co_argcount, code.co_exceptiontable))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _names(code: CodeType) -> set[str]:
    """Names that may be globals; attributes are among them, and do no harm."""
    return set(code.co_names).union(*(_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)))


def _called(value: Any) -> str:
    """A text that differs where values differ."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_called, value))})"
    if isinstance(value, CONSTANTS):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, ModuleType):
        assert value.__name__.split(".")[0] != "kgqa", f"a kernel must import names from {value.__name__}, not the module"
        return value.__name__
    named = is_jitted(value) or isinstance(value, type | FunctionType | BuiltinFunctionType)
    assert named, f"a kernel must not read {value!r}: it may change"
    return f"{value.__module__}.{value.__qualname__}"

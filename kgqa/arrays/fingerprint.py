"""A hash of everything that a kernel's machine code is made from: two kernels with equal hashes compile to the same code.

That is more than its source file: the kernels that it calls and the constants that it reads, in whatever module, become part of it. The
hash is taken from the functions in memory, since files may have changed after import.
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
    """The hash, in hexadecimal digits; takes 20 microseconds for each kernel that ``kernel`` calls."""
    digest = hashlib.sha256(repr(VERSIONS).encode())
    kernels = [kernel]
    for member in kernels:
        for part in _parts(member):
            if isinstance(part, str):
                digest.update(part.encode() + b"\n")
            elif part not in kernels:
                kernels.append(part)
    return digest.hexdigest()


def _parts(kernel: Any) -> Iterator[Any]:
    """The kernels that ``kernel`` calls, and a text for each other part of it."""
    function = kernel.py_func
    assert function.__closure__ is None, f"{function.__qualname__}: a kernel stands in a module, not in a function"
    yield repr((function.__module__, function.__qualname__, function.__defaults__, sorted(kernel.targetoptions.items())))
    yield from _code(function.__code__)
    for name in sorted(_names(function.__code__) & function.__globals__.keys()):
        value = function.__globals__[name]
        yield f"{name}: {_text_of(value)}"
        if is_jitted(value):
            yield value


def _code(code: CodeType) -> Iterator[str]:
    """Texts for all parts of the code that determine its behaviour, without its place in a file."""
    yield repr((code.co_code, code.co_names, code.co_varnames, code.co_argcount, code.co_exceptiontable))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _names(code: CodeType) -> set[str]:
    """Names that may be globals; attributes among them do no harm."""
    return set(code.co_names).union(*(_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)))


def _text_of(value: Any) -> str:
    """A text that differs where values differ."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_text_of, value))})"
    if isinstance(value, CONSTANTS):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, ModuleType):
        assert value.__name__.split(".")[0] != "kgqa", f"a kernel must import names from {value.__name__}, not the module"
        return value.__name__
    has_name = is_jitted(value) or isinstance(value, type | FunctionType | BuiltinFunctionType)
    assert has_name, f"a kernel must not read {value!r}: it may change"
    return f"{value.__module__}.{value.__qualname__}"

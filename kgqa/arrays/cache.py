"""Machine code on disk, in one private folder; the name of each file depends on everything that the code was made from.

Anybody who can write to the folder can run code in this process, so it is used only if nobody else can. Code of another version or checkout
has another name, so no change invalidates a file; a file is removed after a month without use.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import stat
import time
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from kgqa.arrays.fingerprint import fingerprint
from kgqa.resources import user_cache

KEPT = 30 * 24 * 3600
"""Seconds that machine code is kept after its last use."""
DIGEST = hashlib.sha256().digest_size

log = logging.getLogger(__name__)
log.addHandler(logging.NullHandler())


def place() -> Path:
    """The folder for machine code: below ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "kgqa-kernels"
    return user_cache("kernels")


@cache
def private_folder() -> Path | None:
    """The folder, created if necessary; None, with a warning, if it cannot be created or others could write to it."""
    try:
        folder = place()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except (OSError, RuntimeError) as error:  # RuntimeError: no home folder
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error
        log.warning("the code is compiled anew in each process, as it cannot be kept (%s); set NUMBA_CACHE_DIR to another folder", reason)
        return None
    if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return folder
    log.warning("the code is compiled anew in each process, as %s is not a folder that only you can write; remove it", folder)
    return None


class KernelCache(_Cache):  # type: ignore[misc]
    """The machine code of one kernel, a file for each combination of argument types; Numba calls it before and after compiling."""

    def __init__(self, kernel: Any) -> None:
        """The folder is not touched before the first call of ``kernel``."""
        self._kernel = kernel
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The folder as text, for Numba's statistics."""
        folder = private_folder()
        return str(folder) if folder else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled result for these argument types, or None."""
        target_context.refresh()
        file = self._file(sig, target_context.codegen())
        if file is None:
            return None
        try:
            data = file.read_bytes()
            with suppress(OSError):  # a read-only cache serves, too
                os.utime(file)  # so that it is not removed as unused
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("%s cannot be read, so the kernel is compiled anew: %s", file, error)
            return None
        digest, payload = data[:DIGEST], data[DIGEST:]
        if hashlib.sha256(payload).digest() != digest:
            log.warning("%s is damaged, so the kernel is compiled anew", file)
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(payload))  # noqa: S301 - only we can write it

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled result; a failure to write is only logged."""
        file = self._file(sig, data.codegen)
        if file is None or data.library.has_dynamic_globals:
            return
        payload = dumps(data._reduce())
        part = file.with_name(f"{uuid4().hex}.part")
        try:
            _forget_unused(file.parent)
            # Another process may write the same code at the same time; replacing a file is atomic.
            part.write_bytes(hashlib.sha256(payload).digest() + payload)
            part.replace(file)
        except OSError as error:
            log.warning("%s cannot be written, so the next process compiles anew: %s", file, error)
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def enable(self) -> None:
        """Part of what Numba asks for."""
        self._enabled = True

    def disable(self) -> None:
        """Part of what Numba asks for."""
        self._enabled = False

    def flush(self) -> None:
        """Remove the kernel's machine code; Numba calls it before recompiling."""
        folder = private_folder()
        for file in folder.glob(f"{self._stem}*") if folder else ():
            file.unlink(missing_ok=True)

    @cached_property
    def _stem(self) -> str:
        function = self._kernel.py_func
        return f"{function.__module__}.{function.__qualname__}-{fingerprint(self._kernel)[:32]}"

    def _file(self, sig: Any, codegen: Any) -> Path | None:
        folder = private_folder() if self._enabled else None
        arguments, _ = normalize_signature(sig)
        # The tuple names the processor and what it can do.
        types = hashlib.sha256(repr((arguments, codegen.magic_tuple())).encode()).hexdigest()
        return folder / f"{self._stem}-{types[:32]}" if folder else None


def _forget_unused(folder: Path) -> None:
    oldest = time.time() - KEPT
    for file in folder.iterdir():
        with suppress(FileNotFoundError):  # another process forgets it, too
            if file.stat().st_mtime < oldest:
                file.unlink()

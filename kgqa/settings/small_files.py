"""Small files of a user, which are read whole: none fills the memory, and none is waited for."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, SettingsError

MOST_BYTES = 64 << 20
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*+{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{200}}", re.MULTILINE)
"""A dotted key with more parts than any table has levels; reading it takes a time that grows with the square of their number."""


def read_small(path: Path) -> bytes:
    """The bytes of a file. Raises BrokenInput for a pipe or device, or more than ``MOST_BYTES``; OSError as ``open`` does."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BrokenInput(f"{path}: this is a pipe or device; give a file.")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise BrokenInput(f"{path}: this has more than {MOST_BYTES >> 20} MiB, which is too large for such a file; choose another file.")
    return data


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without blocking: opening a pipe would wait for its writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises SettingsError where it is none, BrokenInput and OSError as :func:`read_small` does."""
    try:
        text = read_small(path).decode("utf-8-sig")
        if _LONG_KEY.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: this is not UTF-8; save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: this is not TOML: {error}; fix the file.") from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise SettingsError(f"{path}: a number in it has thousands of digits; fix the file.") from None
    except RecursionError:
        raise SettingsError(f"{path}: its lists or tables are nested too deeply; fix the file.") from None

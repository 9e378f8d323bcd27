"""Compiled kernels are kept, found again, and never taken for what they are not; each test compiles in processes of its own."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numba.extending import is_jitted

from kgqa.arrays import tokens
from kgqa.arrays.cache import KEPT
from kgqa.arrays.fingerprint import fingerprint
from kgqa.arrays.kernel import kernel
from tests.command import ROOT
from tests.conftest import SmallDisk

WORDS = """
import importlib
import json
import pyarrow as pa
from kgqa.arrays import tokens
bounds, _ = tokens.word_hashes(pa.array(["a b-c d"]))
print(json.dumps([int(bounds[-1]), sum(tokens.tokenize_all.stats.cache_hits.values())]))
"""
SMALL = """
import json, logging
logging.basicConfig(format="%(message)s")
import calling
print(json.dumps([calling.outer(4), sum(calling.outer.stats.cache_hits.values())]))
"""
"""Both print what a kernel finds, and how often its machine code came from the cache."""
CALLED = """
from kgqa.arrays.kernel import kernel
STEP = 3

@kernel(inline=True)
def inner(value):
    return value + 1
"""
CALLING = """
from called import STEP, inner
from kgqa.arrays.kernel import kernel

@kernel
def outer(value):
    return inner(value) * STEP
"""


def start(program: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A fresh interpreter that runs ``program`` and finds the modules of ``folder`` first."""
    outside = {name: value for name, value in os.environ.items() if name not in {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}}
    environment = {**outside, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(program: str, folder: Path, **environment: str) -> tuple[list[int], str]:
    """What ``program`` prints, and what it logs."""
    process = start(program, folder, **environment)
    out, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return json.loads(out), said


def files(folder: Path) -> dict[str, int]:
    """The files of a cache and when each was last used."""
    return {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}


def edit(file: Path, old: str, new: str) -> None:
    """Replace the one place where ``old`` stands."""
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a kernel that calls another one, of another file."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "called.py").write_text(CALLED, "utf-8")
    (folder / "calling.py").write_text(CALLING, "utf-8")
    return folder


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    """The environment for a cache of the test's own."""
    return {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where that cache is."""
    return tmp_path / "cache" / "kgqa-kernels"


@pytest.mark.slow
def test_an_edited_tokeniser_is_compiled_anew_in_what_contains_it(tmp_path: Path, place: dict[str, str]) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "kgqa", copy / "kgqa", ignore=shutil.ignore_patterns("__pycache__"))
    assert run(WORDS, copy, **place)[0] == [4, 0]
    assert run(WORDS, copy, **place)[0] == [4, 1]
    # A hyphen becomes part of a word, in tokenize(); _words() stands in another file, and is what is called.
    edit(copy / "kgqa" / "arrays" / "tokens.py", "        goes_on = kind == run", "        goes_on = character == 45 or kind == run")
    assert run(WORDS, copy, **place)[0] == [3, 0]


@pytest.mark.parametrize(("old", "new", "found"), [("value + 1", "value + 2", 18), ("STEP = 3", "STEP = 4", 20)])
@pytest.mark.slow
def test_an_edit_of_what_a_kernel_contains_counts_in_whatever_file(
    old: str, new: str, found: int, small: Path, place: dict[str, str]
) -> None:
    assert run(SMALL, small, **place)[0] == [15, 0]
    assert run(SMALL, small, **place)[0] == [15, 1]
    edit(small / "called.py", old, new)
    assert run(SMALL, small, **place)[0] == [found, 0]
    edit(small / "called.py", new, old)
    (small / "calling.py").write_text("# A line more.\n" + CALLING, "utf-8")
    assert run(SMALL, small, **place)[0] == [15, 1]


@pytest.mark.parametrize(
    ("variable", "below"),
    [
        ("XDG_CACHE_HOME", "kgqa/kernels"),
        pytest.param("NUMBA_CACHE_DIR", "kgqa-kernels", marks=pytest.mark.slow),
        pytest.param("HOME", "", marks=pytest.mark.slow),
    ],
)
def test_the_folder_is_private_and_where_the_user_says(variable: str, below: str, small: Path, tmp_path: Path) -> None:
    below = below or ("Library/Caches/kgqa/kernels" if sys.platform == "darwin" else ".cache/kgqa/kernels")
    assert run(SMALL, small, **{variable: str(tmp_path / "home")})[0] == [15, 0]
    assert (tmp_path / "home" / below).stat().st_mode & 0o777 == 0o700
    (file,) = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert file.parent == tmp_path / "home" / below


@pytest.mark.slow
def test_a_folder_that_others_can_write_is_not_used(small: Path, place: dict[str, str], folder: Path) -> None:
    run(SMALL, small, **place)
    before = files(folder)
    folder.chmod(0o777)
    found, said = run(SMALL, small, **place)
    assert found == [15, 0]
    assert f"{folder} is not a folder that only you can write; remove it" in said
    assert files(folder) == before


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_of_somebody_else_is_not_used(small: Path, place: dict[str, str], folder: Path) -> None:
    run(SMALL, small, **place)
    os.chown(folder, 65534, 65534)
    found, said = run(SMALL, small, **place)
    assert found == [15, 0]
    assert "is not a folder that only you can write" in said


@pytest.mark.slow
def test_a_link_to_a_folder_is_not_used(small: Path, place: dict[str, str], folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.parent.mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert run(SMALL, small, **place)[0] == [15, 0]
    assert not files(tmp_path / "elsewhere")


@pytest.mark.slow
def test_without_a_place_that_can_be_written_kernels_are_compiled_each_time(small: Path) -> None:
    found, said = run(SMALL, small, HOME="/dev/null")
    assert found == [15, 0]
    assert "it cannot be kept (/dev/null" in said
    assert "set NUMBA_CACHE_DIR" in said


@pytest.mark.slow
def test_a_read_only_cache_is_read_and_left_as_it_is(small: Path, small_disk: SmallDisk) -> None:
    place = {"NUMBA_CACHE_DIR": str(small_disk.path)}
    run(SMALL, small, **place)
    before = files(small_disk.path / "kgqa-kernels")
    small_disk.mount("ro")
    assert run(SMALL, small, **place)[0] == [15, 1]
    edit(small / "called.py", "STEP = 3", "STEP = 4")
    found, said = run(SMALL, small, **place)
    assert found == [20, 0]
    assert "cannot be written" in said
    assert files(small_disk.path / "kgqa-kernels") == before


@pytest.mark.slow
def test_a_full_disk_costs_the_cache_and_nothing_else(small: Path, small_disk: SmallDisk) -> None:
    (small_disk.path / "filled").write_bytes(bytes((1 << 20) - 4096))
    found, said = run(SMALL, small, NUMBA_CACHE_DIR=str(small_disk.path))
    assert found == [15, 0]
    assert "cannot be written" in said
    assert not files(small_disk.path / "kgqa-kernels")


@pytest.mark.slow
def test_two_processes_at_once_find_the_same_and_keep_each_kernel_once(small: Path, place: dict[str, str], folder: Path) -> None:
    both = [start(SMALL, small, **place) for _ in range(2)]
    assert [json.loads(process.communicate(timeout=300)[0])[0] for process in both] == [15, 15]
    assert len(files(folder)) == 1
    assert run(SMALL, small, **place)[0] == [15, 1]


@pytest.mark.parametrize("damage", [lambda found: found[: len(found) // 2], lambda found: b"", lambda found: found[:-1] + b"?"])
@pytest.mark.slow
def test_a_damaged_file_is_made_anew(damage: Callable[[bytes], bytes], small: Path, place: dict[str, str], folder: Path) -> None:
    run(SMALL, small, **place)
    for file in folder.iterdir():
        file.write_bytes(damage(file.read_bytes()))
    found, said = run(SMALL, small, **place)
    assert found == [15, 0]
    assert "is damaged, so the kernel is compiled anew" in said
    assert run(SMALL, small, **place)[0] == [15, 1]


@pytest.mark.slow
def test_what_is_not_used_for_a_month_goes_and_what_is_used_stays(small: Path, place: dict[str, str], folder: Path) -> None:
    run(SMALL, small, **place)
    (used,) = files(folder)
    (folder / "of another version").write_bytes(b"")
    for file in folder.iterdir():
        os.utime(file, (0, file.stat().st_mtime - KEPT - 60))
    assert run(SMALL, small, **place)[0] == [15, 1]
    edit(small / "called.py", "STEP = 3", "STEP = 4")
    assert run(SMALL, small, **place)[0] == [20, 0]
    assert len(files(folder)) == 2
    assert used in files(folder)


def test_importing_kgqa_sets_nothing_writes_nothing_and_leaves_numba_out(tmp_path: Path) -> None:
    program = """
import json, os, sys
before = dict(os.environ)
import kgqa, kgqa.cli
print(json.dumps([before == dict(os.environ), "numba" in sys.modules]))
"""
    (tmp_path / "home").mkdir()
    place = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "home")}
    assert run(program, tmp_path, **place) == ([True, False], "")
    # Nor do kernels that are not called.
    assert run(program + "import kgqa.linking.matcher", tmp_path, **place) == ([True, False], "")
    assert not files(tmp_path / "home")


def test_without_compilation_a_kernel_is_the_function(small: Path) -> None:
    program = "import json, calling; print(json.dumps([calling.outer(4), type(calling.outer).__name__ == 'function']))"
    assert run(program, small, NUMBA_DISABLE_JIT="1")[0] == [15, True]


STEP = 3
TABLE = (1, (2.0, np.uint8(3)))


@kernel(inline=True)
def _inner(value: int) -> int:
    return value + STEP


@kernel
def _outer(value: int) -> int:
    return _inner(value) * 2


@kernel
def _reader() -> float:
    return TABLE[1][0]


def test_a_kernel_that_kernels_call_is_compiled_with_them() -> None:
    assert _outer(4) == 14
    assert _outer.nopython_signatures  # type: ignore[attr-defined]


def test_the_fingerprint_follows_calls_and_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(_outer), fingerprint(_inner), fingerprint(_reader)
    assert len(set(before)) == 3
    monkeypatch.setattr(sys.modules[__name__], "STEP", 3.0)
    monkeypatch.setattr(sys.modules[__name__], "TABLE", (1, (2.0, np.int8(3))))
    after = fingerprint(_outer), fingerprint(_inner), fingerprint(_reader)
    assert not set(before) & set(after)


def test_a_global_that_may_change_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ([1, 2], np.zeros(3)):
        monkeypatch.setattr(sys.modules[__name__], "STEP", value)
        with pytest.raises(AssertionError, match="may change"):
            fingerprint(_outer)
    monkeypatch.setattr(sys.modules[__name__], "STEP", tokens)
    with pytest.raises(AssertionError, match=r"import names from kgqa\.arrays\.tokens"):
        fingerprint(_outer)


def test_every_kernel_of_the_package_can_be_told_from_the_others() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "kgqa").rglob("*.py")
        if b"\n@kernel" in path.read_bytes()
    ]
    kernels = [value for module in modules for value in vars(importlib.import_module(module)).values() if is_jitted(value)]
    distinct = {fingerprint(one): one for one in kernels}
    assert len(modules) > 10
    assert len(distinct) == len({id(one) for one in kernels})

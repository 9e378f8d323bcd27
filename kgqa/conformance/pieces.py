"""What is installed here, in which version, and what each piece is needed for."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kgqa.store.apart import walls
from kgqa.store.embedded import ENGINE_VERSION

PYTHON = ((3, 11), (3, 13))
"""The first and last version that is tested."""
PACKAGES = (
    ("ladybug", "the graph of a workspace, the store that needs no server", ENGINE_VERSION),
    ("neo4j", "--store neo4j (pip install 'kgqa[neo4j]')", "6"),
    ("neo4j-rust-ext", "a faster Neo4j driver (pip install 'kgqa[neo4j]'); everything works without", "6"),
    ("numba", "the compiled search for chains", ""),
    ("polars", "reading sources and making tables", ""),
    ("pyarrow", "all tables on disk", ""),
    ("matplotlib", "kgqa audit (pip install 'kgqa[audit]')", ""),
    ("fastapi", "kgqa explore (pip install 'kgqa[explore]')", ""),
    ("uvicorn", "kgqa explore (pip install 'kgqa[explore]')", ""),
    ("jinja2", "kgqa explore (pip install 'kgqa[explore]')", ""),
    ("datasets", "loading a finished dataset with Hugging Face (pip install 'kgqa[huggingface]')", ""),
)
"""Package, what it is needed for, and how its version must begin."""
MEMORY, DISK = 2 << 30, 2 << 30
"""What a domain of a million links needs; a seed domain needs a tenth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing that kgqa uses."""

    name: str
    found: str
    """Version or amount; empty where it is missing."""
    good: bool
    needed_for: str


def pieces(workspace: Path) -> list[Piece]:
    """Everything, in the order in which people care."""
    return [_python(), *_packages(), _memory(), _disk(workspace), _walls(), _java(), _docker()]


def _python() -> Piece:
    first, last = (".".join(map(str, numbers)) for numbers in PYTHON)
    numbers = tuple(int(part) for part in platform.python_version_tuple()[:2])
    return Piece(
        name="Python", found=platform.python_version(), good=PYTHON[0] <= numbers <= PYTHON[1], needed_for=f"everything; {first} to {last}"
    )


def _packages() -> Iterator[Piece]:
    for name, needed_for, begins in PACKAGES:
        try:
            found = version(name)
        except PackageNotFoundError:
            found = ""
        good = bool(found) and f"{found}.".startswith(f"{begins}." if begins else "")
        yield Piece(name=name, found=found, good=good, needed_for=needed_for + (f"; version {begins}" if begins else ""))


def _memory() -> Piece:
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    # Linux counts what it would give back if somebody asked.
    counted = Path("/proc/meminfo")
    if counted.is_file() and (match := re.search(r"^MemAvailable:\s+(\d+) kB$", counted.read_text(), re.MULTILINE)):
        free = int(match[1]) << 10
    return Piece(name="free memory", found=f"{free / 2**30:.1f} GiB", good=free >= MEMORY, needed_for="a large domain; 2 GiB")


def _disk(workspace: Path) -> Piece:
    folder = workspace.absolute()
    while not folder.is_dir():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    return Piece(
        name="free disk", found=f"{free / 2**30:.1f} GiB", good=free >= DISK, needed_for=f"tables, graph and datasets in {workspace}; 2 GiB"
    )


def _walls() -> Piece:
    found = walls()
    return Piece(
        name="walls",
        found=", ".join(found),
        good=bool({"landlock", "seccomp"} & set(found)),
        needed_for="Cypher of yours or of a domain on the embedded store can write, load and connect to nothing, even if the check of its "
        "text fails; landlock or seccomp of Linux. Without them, run no Cypher of people whom you do not trust",
    )


def _java() -> Piece:
    said = _said("java", "-version")
    found = match[1] if (match := re.search(r'version "([^"]+)"', said)) else ""
    return Piece(
        name="Java", found=found, good=bool(found), needed_for="a Neo4j server of one's own: 17 for Neo4j 5, 21 for later ones; else none"
    )


def _docker() -> Piece:
    found = match[1] if (match := re.search(r"version ([\d.]+)", _said("docker", "--version"))) else ""
    return Piece(name="Docker", found=found, good=bool(found), needed_for="docker-compose.yml, a Neo4j server in a container; else none")


def _said(program: str, *arguments: str) -> str:
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False, timeout=20)  # noqa: S603 - two fixed programs
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr

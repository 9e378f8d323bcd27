"""The installed components, their versions, and their purposes."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kgqa.store import sandbox
from kgqa.store.embedded import ENGINE_VERSION
from kgqa.store.limits import size
from kgqa.store.memory import VARIABLE, available_memory, engine_memory

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
"""The needs, in bytes, of a domain with a million links; a seed domain needs a tenth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A program, package or resource that kgqa uses."""

    name: str
    value: str
    """Version or amount; empty where it is missing."""
    good: bool
    needed_for: str


def components(workspace: Path) -> list[Component]:
    """All components, the most important first."""
    return [_python(), *_packages(), _memory(), _disk(workspace), _wall(), _java(), _docker()]


def _python() -> Component:
    first, last = (".".join(map(str, numbers)) for numbers in PYTHON)
    numbers = tuple(int(part) for part in platform.python_version_tuple()[:2])
    return Component(
        name="Python", value=platform.python_version(), good=PYTHON[0] <= numbers <= PYTHON[1], needed_for=f"everything; {first} to {last}"
    )


def _packages() -> Iterator[Component]:
    for name, needed_for, begins in PACKAGES:
        try:
            installed = version(name)
        except PackageNotFoundError:
            installed = ""
        good = bool(installed) and f"{installed}.".startswith(f"{begins}." if begins else "")
        yield Component(name=name, value=installed, good=good, needed_for=needed_for + (f"; version {begins}" if begins else ""))


def _memory() -> Component:
    free, engine = available_memory(), engine_memory()
    needed_for = f"a large domain; 2 GiB. The graph engine takes {size(engine)} of it at most ({VARIABLE})"
    return Component(name="free memory", value=f"{free / 2**30:.1f} GiB", good=free >= MEMORY, needed_for=needed_for)


def _disk(workspace: Path) -> Component:
    folder = workspace.absolute()
    while not folder.is_dir():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    return Component(
        name="free disk", value=f"{free / 2**30:.1f} GiB", good=free >= DISK, needed_for=f"tables, graph and datasets in {workspace}; 2 GiB"
    )


def _wall() -> Component:
    walls = sandbox.available()
    without = "" if walls else "; without one the check of the query is the only guard, so run no query of a stranger here"
    return Component(
        name="query sandbox", value=" and ".join(walls), good=bool(walls),
        needed_for=f"queries of users in a process that cannot write files, load libraries or connect; Linux{without}",
    )  # fmt: skip


def _java() -> Component:
    output = _output_of("java", "-version")
    java_version = match[1] if (match := re.search(r'version "([^"]+)"', output)) else ""
    return Component(
        name="Java",
        value=java_version,
        good=bool(java_version),
        needed_for="a Neo4j server of one's own: 17 for Neo4j 5, 21 for later ones; else none",
    )


def _docker() -> Component:
    docker_version = match[1] if (match := re.search(r"version ([\d.]+)", _output_of("docker", "--version"))) else ""
    return Component(
        name="Docker",
        value=docker_version,
        good=bool(docker_version),
        needed_for="docker-compose.yml, a Neo4j server in a container; else none",
    )


def _output_of(program: str, *arguments: str) -> str:
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        process = subprocess.run([path, *arguments], capture_output=True, text=True, check=False, timeout=20)  # noqa: S603 - two fixed programs
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout + process.stderr

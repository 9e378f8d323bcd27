"""What holds for the code as a whole: who may import whom, what is public, what is said where."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import kgqa
from kgqa.domains import built_in, built_in_variant, load_domain
from kgqa.recipes.qangaroo.gates import GATES
from kgqa.store.graph import TABLES
from kgqa.store.queries import askable_queries, listed_queries, read_queries
from tests.command import ROOT, environment
from tests.recipes.qangaroo.test_gates import all_gates

PACKAGE = ROOT / "kgqa"
PUBLIC: list[str] = vars(kgqa)["__all__"]
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
TEXT = {".py", ".md", ".toml", ".cypher", ".yml", ".yaml", ".txt", ".json", ".jsonl", ".tsv", ".cfg", ".sh", ".csv", ""}


@cache
def parsed(module: str) -> ast.Module:
    """Its tree, made when a test first asks, as every worker imports this file."""
    return ast.parse((PACKAGE / module).read_text("utf-8"))


def part_of(module: str) -> str:
    """``linking`` of ``linking/tokens.py``, ``records`` of ``records.py``."""
    return module.split("/", maxsplit=1)[0].removesuffix(".py")


def test_the_front_door_is_sorted_and_everything_behind_it_is_there() -> None:
    assert list(PUBLIC) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(kgqa, name) is not None
    assert not {part_of(module) for module in MODULES} & set(PUBLIC)
    with pytest.raises(AttributeError, match="nothing"):
        kgqa.nothing  # type: ignore[attr-defined] # noqa: B018


IMPORT = """
import logging, os, sys
before = dict(os.environ)
import kgqa
assert dict(os.environ) == before
assert not logging.root.handlers and logging.root.level == logging.WARNING
print(*sorted({name.split(".")[0] for name in sys.modules} & {"numpy", "pyarrow", "polars", "numba", "pydantic", "rich", "typer"}))
"""


def test_importing_it_loads_sets_and_writes_nothing(tmp_path: Path) -> None:
    place = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], cwd=tmp_path, env=environment() | place, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("\n", "")
    assert not list(tmp_path.iterdir())


def test_what_type_checkers_see_is_what_is_there() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    assert {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names} == set(PUBLIC)


def undocumented(tree: ast.AST, name: str) -> Iterator[str]:
    """Public modules, classes and functions, and methods of public classes, without a docstring."""
    if isinstance(tree, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(tree) is None:
        yield name
    if isinstance(tree, ast.Module | ast.ClassDef):
        for node in tree.body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef) or "overload" in map(ast.unparse, node.decorator_list):
                continue
            if not node.name.startswith("_") or node.name == "__init__":
                yield from undocumented(node, f"{name}: {node.name}")


def test_everything_public_says_what_it_is() -> None:
    assert not [name for module in MODULES for name in undocumented(parsed(module), module)]


def prints(node: ast.AST) -> bool:
    """Whether it calls ``print`` or ``input``, or imports what prints."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {"print", "input"}
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] == "rich" for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in {"rich", "typer"}


def test_the_library_prints_nothing() -> None:
    assert {module for module in MODULES if any(map(prints, ast.walk(parsed(module)))) and part_of(module) != "cli"} == set()
    assert any(map(prints, ast.walk(parsed("cli/annotate.py"))))


def test_every_query_says_what_it_is_and_a_domains_projection_uses_what_is_there() -> None:
    queries = read_queries()
    assert all(query.purpose and query.stores for query in queries.values())
    asked = set(askable_queries())
    assert not asked & {f"{step}_{table}" for step in ("schema", "load", "add") for table in TABLES}
    # What writes, and what says how an engine fares, is not asked by name; what serves pages and traversal is, but is not shown.
    internal = {query.file.split("/")[0] for name, query in queries.items() if name not in asked}
    # The graph of questions is made for one run, so nobody has it open to ask what is in compose.cypher.
    loading = {"schema.cypher", "load.cypher", "load_samples.cypher", "load_questions.cypher"}
    assert internal == {*loading, "compose.cypher", "conformance.cypher", "project"}
    assert {query.file for query in listed_queries().values()} == {"explore.cypher", "samples.cypher"}
    assert {queries[name].file.split("/")[0] for name in asked - set(listed_queries())} == {
        "graph.cypher", "names.cypher", "page.cypher", "paths.cypher", "traverse",
    }  # fmt: skip
    papers = [(domain, "paper") for domain in built_in() if built_in_variant(domain, "paper")]
    projections = [
        load_domain(domain, recipe=recipe).settings.projection for domain, recipe in [*((domain, None) for domain in built_in()), *papers]
    ]
    projected = {name for p in projections for name in (*p.document_to_entity, *p.entity_to_document)}
    assert projected == {name for name, query in queries.items() if query.file.startswith("project/")}
    traversed = {name for p in projections for name in (*p.candidates, *p.chains)}
    assert traversed == {name for name, query in queries.items() if query.file.startswith("traverse/")}


def test_every_read_is_ordered() -> None:
    for name, query in askable_queries().items():
        assert query.search or re.search(r"\bORDER BY\b", query.text), name  # a search orders what it finds
        assert not re.search(r"\b(CREATE|MERGE|SET|DELETE|DROP|COPY|LOAD|ATTACH)\b", query.text), name


def test_query_text_comes_from_files_alone() -> None:
    executed = [
        node.args[0]
        for module in MODULES
        # The record of runs and the journal are no graphs.
        if not module.startswith(("training/", "collection/"))
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "execute"
    ]
    assert executed
    # A named query's text, or what the user wrote, which only GraphStore.read is given.
    assert all((isinstance(a, ast.Attribute) and a.attr == "text") or (isinstance(a, ast.Name) and a.id == "text") for a in executed)
    # The doctor's graphs have names that look like queries.
    trees = {module: parsed(module) for module in MODULES if module != "conformance/graphs.py"}
    texts = [(module, node.value) for module, tree in trees.items() for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    spoken = re.compile(r"\bMATCH\s*\(|\bRETURN\s+\w|\bUNWIND\s|\bCOPY\s+\w+\s+FROM\b|CREATE (NODE|REL) TABLE")
    assert not [(module, text) for module, text in texts if isinstance(text, str) and spoken.search(text)]


def test_no_text_of_a_query_is_put_together_in_the_store() -> None:
    for node in (node for module in MODULES if part_of(module) == "store" for node in ast.walk(parsed(module))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Query":
            (text,) = [keyword.value for keyword in node.keywords if keyword.arg == "text"]
            assert isinstance(text, ast.Name)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_execute":
            assert isinstance(node.args[1], ast.Name | ast.Subscript)


def repository_texts() -> Iterator[Path]:
    """Text files that are part of the repository, not made by tools."""
    for folder, below, files in os.walk(ROOT):
        made_by_tools = {name for name in below if name.startswith((".", "kgqa-workspace")) and name != ".ci"} | {
            "__pycache__",
            "build",
            "dist",
        }
        below[:] = sorted(set(below) - made_by_tools)
        yield from (Path(folder, name) for name in sorted(files) if Path(name).suffix in TEXT)


def test_no_file_names_a_place_on_one_machine() -> None:
    place = re.compile(rb"(?<![\w.:/])/(?:work|tmp|root|home|Users)/")
    files = list(repository_texts())
    assert len(files) > 60
    assert not [path.relative_to(ROOT).as_posix() for path in files if place.search(path.read_bytes())]


def test_every_compiled_function_is_a_kernel() -> None:
    """Numba's own decorators cache by one file, which is wrong as soon as a kernel calls another."""
    names = {"njit", "jit", "vectorize", "guvectorize", "cfunc", "stencil", "prange"}
    trees = {module: parsed(module) for module in MODULES if module != "arrays/kernel.py"}
    imported = [
        (module, node.module, {alias.name for alias in node.names})
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    ]
    assert not [(module, found) for module, source, found in imported if (source or "").split(".")[0] == "numba" and found & names]
    assert [
        module
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import) and any(alias.name == "numba" for alias in node.names)
    ] == ["arrays/fingerprint.py"]


def test_only_the_engine_of_a_cluster_imports_ray_and_only_for_a_cluster() -> None:
    names = {module: {name for node in ast.walk(parsed(module)) for name in imported_names(node)} for module in MODULES}
    engines = ["cluster/group.py", "cluster/ray_engine.py"]
    assert sorted(module for module, found in names.items() if "ray" in {name.split(".")[0] for name in found}) == engines
    assert {module for module, found in names.items() if "kgqa.cluster.ray_engine" in found} == {"cluster/group.py", "cluster/opening.py"}
    at_once = {name for node in parsed("cluster/opening.py").body for name in imported_names(node)}
    assert not {"kgqa.cluster.group", "kgqa.cluster.ray_engine"} & at_once


def imported_names(node: ast.AST) -> list[str]:
    """The modules that a statement imports, itself."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_every_gate_is_registered_under_its_name() -> None:
    assert set(GATES.values()) == all_gates()
    assert all(name == gate.__name__ for name, gate in GATES.items())

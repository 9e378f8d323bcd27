"""Every example in a docstring of ``kgqa`` and ``tools`` gives the result that it shows."""

from __future__ import annotations

import doctest
import importlib
import inspect
from types import ModuleType

import pytest

from tests.command import ROOT

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("kgqa", "tools")
    for path in (ROOT / folder).rglob("*.py")
    if "    >>> " in path.read_text("utf-8")
)
"""Modules with examples; only these are imported."""


def examples_of(module: ModuleType) -> list[doctest.DocTest]:
    """The examples of a module, those of compiled kernels included."""
    return [test for test in doctest.DocTestFinder(exclude_empty=True).find(module) if test.examples]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    module = importlib.import_module(name)
    examples = examples_of(module)
    assert sum(len(test.examples) for test in examples) == inspect.getsource(module).count(">>> "), "an example is not collected"
    runner = doctest.DocTestRunner()
    for example in examples:
        runner.run(example)
    assert runner.failures == 0

"""A command and the function of its name do the same where nothing is said."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest
import typer

import kgqa
from kgqa.cli.app import COMMANDS, MODULES
from tests.command import function_name

ELSEWHERE = {
    "query": {"seconds"},
}
"""Parameters that mean something else in the function: a query asked from Python may take as long as it likes."""


@pytest.mark.parametrize("name", COMMANDS)
def test_defaults_are_the_functions(name: str) -> None:
    module = MODULES.get(name, name)
    command = getattr(import_module(f"kgqa.cli.{module}"), module)
    if isinstance(command, typer.Typer):  # of a command with parts, the one that runs without the name of a part
        command = import_module(f"kgqa.cli.{module}").serve
    typed = inspect.signature(command).parameters
    called = inspect.signature(getattr(kgqa, function_name(name))).parameters
    shared = typed.keys() & called.keys() - ELSEWHERE.get(name, set())
    optional = {parameter: called[parameter].default for parameter in shared if called[parameter].default is not inspect.Parameter.empty}
    assert optional
    assert {parameter: typed[parameter].default or None for parameter in optional} == {p: known or None for p, known in optional.items()}

"""One default and one check for everything that takes a number of threads."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

import kgqa
from kgqa.errors import SettingsError
from kgqa.linking.link import link_mentions
from kgqa.linking.matcher import match
from kgqa.recipes.qangaroo.search import add_chains, find_samples
from kgqa.settings.workers import MOST_WORKERS, worker_count
from tests.command import environment

TAKE_WORKERS = (kgqa.generate, kgqa.plan, kgqa.compose, kgqa.relations)
TAKE_ENGINES = (link_mentions, match, find_samples, add_chains)


def test_the_default_is_the_cores_that_the_process_may_use() -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system lends no single cores")
    one = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    script = f"{one}; from kgqa.settings.workers import worker_count; print(worker_count())"
    process = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True)
    assert process.stdout == "1\n"
    assert worker_count() == min(len(os.sched_getaffinity(0)), MOST_WORKERS)


def test_a_system_without_affinities_counts_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for cores, expected in ((7, 7), (None, 1), (4_096, MOST_WORKERS)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert worker_count() == expected


@pytest.mark.parametrize("workers", [0, -1, MOST_WORKERS + 1, 9_999])
def test_a_number_that_makes_no_sense_is_refused(workers: int) -> None:
    with pytest.raises(SettingsError, match=f"^workers {workers} is not between 1 and {MOST_WORKERS}; give another"):
        worker_count(workers)


def test_a_number_that_makes_sense_stays() -> None:
    assert [worker_count(workers) for workers in (1, 3, MOST_WORKERS)] == [1, 3, MOST_WORKERS]


@pytest.mark.parametrize("function", TAKE_WORKERS, ids=lambda function: function.__name__)
def test_everything_that_takes_workers_has_the_same_default(function: Callable[..., object]) -> None:
    assert inspect.signature(function).parameters["workers"].default is None


@pytest.mark.parametrize("function", TAKE_ENGINES, ids=lambda function: function.__name__)
def test_everything_that_takes_an_engine_has_the_same_default(function: Callable[..., object]) -> None:
    assert inspect.signature(function).parameters["engine"].default is None

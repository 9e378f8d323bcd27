"""The synthetic questions of the benchmark are what it says they are, and every contrast can take them."""

from __future__ import annotations

import pytest

from benchmarks.contrast import MADE, PARAGRAPHS, main, synthetic
from kgqa.recipes.contrasts.transforms import Settings
from kgqa.runs.funnel import Rejection


@pytest.mark.slow
@pytest.mark.parametrize("facts", [pytest.param(2, marks=pytest.mark.thorough), 4])
@pytest.mark.parametrize("kind", MADE)
def test_every_contrast_takes_every_synthetic_question(kind: str, facts: int) -> None:
    instances = list(synthetic(20, facts=facts))
    assert instances == list(synthetic(20, facts=facts))
    assert {len(instance.paragraphs) for instance in instances} == {PARAGRAPHS}
    assert {sum(bool(paragraph.supporting) for paragraph in instance.paragraphs) for instance in instances} == {facts}
    settings = Settings(kind=kind, seed=1)
    make = settings.maker(lambda: iter(instances))
    for instance in instances:
        made = make(instance)
        assert not isinstance(made, Rejection)
        assert settings.faults(instance, made) == []


def test_the_section_has_a_row_for_every_contrast() -> None:
    section = main(rounds=1, questions=20, whole=10)
    assert [len(table.rows) for table in section.tables] == [2 * len(MADE), len(MADE)]
    assert "Contrast" in section.plain()

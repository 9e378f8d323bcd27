"""Jobs of an audit with readers: one per kind of reader and of questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgqa.checks.readers.disconnection import Transformed, transformed
from kgqa.checks.readers.material import Material
from kgqa.readers.cost import Job
from kgqa.readers.registry import find_reader
from kgqa.readers.specification import Specification, specification
from kgqa.settings.judging import JudgingSettings

EVERYTHING = "ee"
"""The full reader, with which partial readers are compared; DiRe's scores are of it."""
PARTIAL = ("question-only", "context-only", "one-paragraph")
KINDS = ("probe", "sufficiency", "probe-of-sufficiency")
ENOUGH_TRANSFORMED = 20
"""Groups of questions that DiRe's scores need; there are never more folds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All jobs of an audit."""

    jobs: tuple[Job, ...]
    transforms: Mapping[str, Transformed]
    """Kind → the judged questions' instances; empty where DiRe's scores are not measured."""
    without_dire: str = ""
    """Why they are not."""


def plan_of(level: str, asked: Material, settings: JudgingSettings, *, encoder: str | None, device: str | None, seed: int) -> Plan:
    """Jobs of ``level``. Raises SettingsError if a reader does not accept the settings."""

    def reader(name: str) -> Specification:
        known = find_reader(name).settings.model_fields
        # What the full reader knows is said for all; one that is kept from paragraphs cannot be told how to cut them.
        said = {key: value for key, value in settings.settings.items() if name == EVERYTHING or key in known}
        return specification(
            name, settings={**said, **({"encoder": encoder} if encoder else {})},
            training={**settings.training, **({"device": device} if device else {})},
        )  # fmt: skip

    made: dict[str, Transformed] = {}
    learned: dict[str, Transformed] = {}
    without = "" if level == "full" else "level"
    if level == "full":
        made = {kind: transformed(asked.judged, kind, max_facts=settings.max_facts, seed=seed) for kind in KINDS}
        learned = {kind: transformed(asked.train or (), kind, max_facts=settings.max_facts, seed=seed) for kind in KINDS}
        parts = [each.questions for part in (made, learned if asked.train else {}) for each in part.values()]
        fewest = min(len({question.group for question in part}) for part in parts)
        if fewest < ENOUGH_TRANSFORMED:
            made, without = {}, (
                f"{fewest} groups of questions have two marked supporting paragraphs or more, an answer, and distractors enough; it takes "
                f"{ENOUGH_TRANSFORMED} to judge."
            )  # fmt: skip
    beside = {"probe": made["probe"].instances} if made else {}
    jobs = [Job(name="everything", reader=reader(EVERYTHING), judged=asked.judged, train=asked.train, beside=beside)]
    weights: dict[str, Any] = {"question-only": 0.1, "one-paragraph": 1.4}
    for name in PARTIAL:
        jobs.append(Job(name=name, reader=reader(name), judged=asked.judged, train=asked.train, weight=weights.get(name, 1.0)))
    for kind, found in made.items():
        jobs.append(
            Job(name=kind, reader=reader(EVERYTHING), judged=found.instances, train=learned[kind].instances if asked.train else None)
        )
    return Plan(jobs=tuple(jobs), transforms=made, without_dire=without)

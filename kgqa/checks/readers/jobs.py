"""Jobs of an audit with readers: one per kind of reader and of questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgqa.checks.readers.disconnection import Transformed, transformed
from kgqa.checks.readers.material import Material
from kgqa.errors import SettingsError
from kgqa.readers.cost import Job
from kgqa.readers.registry import LLM, find_reader
from kgqa.readers.specification import Specification, specification
from kgqa.settings.judging import JudgingSettings

PARTIAL = ("question-only", "context-only", "one-paragraph")
SHOWN = {"question-only": "question", "context-only": "context", "one-paragraph": "paragraph"}
"""Partial reader → what an ``llm`` is shown in its place."""
BESIDE = "beside"
"""Jobs of further readers are called ``beside-1`` and so on."""
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


def plan_of(level: str, material: Material, settings: JudgingSettings, *, encoder: str | None, device: str | None, seed: int) -> Plan:
    """Jobs of ``level``. Raises SettingsError if a reader does not accept the settings."""

    def reader(name: str, *, named: bool = False, **shown: str) -> Specification:
        kind = find_reader(name, named=named)
        if kind.asks:
            return specification(name, settings={**settings.llm, **shown}, training={}, may_ask=True)
        fields = kind.settings.model_fields
        # What the full reader knows is said for all; one that is kept from paragraphs cannot be told how to cut them.
        reader_options = {**settings.settings, **({"encoder": encoder} if encoder else {})}
        options = {key: value for key, value in reader_options.items() if name == settings.reader or key in fields}
        training = {} if kind.training is None else {**settings.training, **({"device": device} if device else {})}
        return specification(name, settings=options, training=training, named=named)

    transforms: dict[str, Transformed] = {}
    training_transforms: dict[str, Transformed] = {}
    reason = "" if level == "full" else "level"
    if level == "full":
        transforms = {kind: transformed(material.judged, kind, max_facts=settings.max_facts, seed=seed) for kind in KINDS}
        training_transforms = {kind: transformed(material.train or (), kind, max_facts=settings.max_facts, seed=seed) for kind in KINDS}
        parts = [transform.questions for part in (transforms, training_transforms if material.train else {}) for transform in part.values()]
        fewest = min(len({question.group for question in part}) for part in parts)
        if fewest < ENOUGH_TRANSFORMED:
            transforms, reason = {}, (
                f"{fewest} groups of questions have two marked supporting paragraphs or more, an answer, and distractors enough; it takes "
                f"{ENOUGH_TRANSFORMED} to judge."
            )  # fmt: skip
    extra = {"probe": transforms["probe"].instances} if transforms else {}
    jobs = [Job(name="everything", reader=reader(settings.reader), judged=material.judged, train=material.train, beside=extra)]
    weights: dict[str, Any] = {"question-only": 0.1, "one-paragraph": 2.4}  # of this 1 for the selectors of two folds
    for name in PARTIAL:
        part = reader(LLM, shows=SHOWN[name]) if settings.reader == LLM else reader(name)
        jobs.append(Job(name=name, reader=part, judged=material.judged, train=material.train, weight=weights.get(name, 1.0)))
    for number, name in enumerate(settings.beside, start=1):
        other = reader(name, named=True)  # the user's settings of this audit name it
        if not other.kind.answers:
            raise SettingsError(f"beside = {name!r}: this reader answers nothing; give others.")
        weight = 1.0 if other.steps else 0.0
        jobs.append(Job(name=f"{BESIDE}-{number}", reader=other, judged=material.judged, train=material.train, weight=weight))
    for kind, transform in transforms.items():
        jobs.append(
            Job(
                name=kind,
                reader=reader(settings.reader),
                judged=transform.instances,
                train=training_transforms[kind].instances if material.train else None,
            )
        )
    if settings.llm and not any(job.reader.kind.asks for job in jobs):
        raise SettingsError('[llm] is for the reader llm, but no reader is; set reader = "llm" or beside = ["llm"], or leave it out.')
    return Plan(jobs=tuple(jobs), transforms=transforms, without_dire=reason)

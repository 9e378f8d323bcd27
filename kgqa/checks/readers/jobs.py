"""Jobs of an audit with readers: one per kind of reader and of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kgqa.checks.readers.disconnection import Transformation, transformed
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
    transforms: Mapping[str, Transformation]
    """Kind → the judged questions' instances; empty where DiRe's scores are not measured."""
    without_dire: str = ""
    """Why they are not."""


def plan_of(
    level: str, material: Material, settings: JudgingSettings, *, encoder: str | None, device: str | None, seed: int, file: str = ""
) -> Plan:
    """Jobs of ``level``; ``file`` has the ``settings``, for messages. Raises SettingsError if a reader does not accept the settings."""
    options = {name: value for name, value in {"encoder": encoder, "device": device}.items() if value is not None}
    reader = partial(_reader, settings=settings, options=options, file=file)
    transforms: dict[str, Transformation] = {}
    training_transforms: dict[str, Transformation] = {}
    reason = "level"
    if level == "full":
        transforms, training_transforms = (
            {kind: transformed(questions, kind, max_facts=settings.max_facts, seed=seed) for kind in KINDS}
            for questions in (material.judged, material.train or ())
        )
        reason = _lack(transforms, training_transforms if material.train else {})
        if reason:
            transforms = {}
    extra = {"probe": transforms["probe"].instances} if transforms else {}
    jobs = [Job(name="everything", reader=reader(settings.reader), judged=material.judged, train=material.train, beside=extra)]
    weights: dict[str, Any] = {"question-only": 0.1, "one-paragraph": 2.4}  # of this 1 for the selectors of two folds
    for name in PARTIAL:
        part = reader(LLM, shows=SHOWN[name]) if settings.reader == LLM else reader(name)
        jobs.append(Job(name=name, reader=part, judged=material.judged, train=material.train, weight=weights.get(name, 1.0)))
    for number, name in enumerate(settings.beside, start=1):
        other = reader(name, named=True)  # the user's settings of this audit name it
        if not other.kind.answers:
            raise SettingsError(f"{file}: beside: the reader {name} does not answer questions; name other readers.")
        if name == settings.reader or name in settings.beside[: number - 1]:
            twice = "is the full reader" if name == settings.reader else "is there twice"
            raise SettingsError(f"{file}: beside: the reader {name} {twice}; leave it out.")
        weight = 1.0 if other.steps else 0.0
        jobs.append(Job(name=f"{BESIDE}-{number}", reader=other, judged=material.judged, train=material.train, weight=weight))
    for kind, transform in transforms.items():
        train = training_transforms[kind].instances if material.train else None
        jobs.append(Job(name=kind, reader=reader(settings.reader), judged=transform.instances, train=train))
    _check_used(settings, [job.reader for job in jobs], file)
    return Plan(jobs=tuple(jobs), transforms=transforms, without_dire=reason)


def _reader(
    name: str, *, settings: JudgingSettings, options: Mapping[str, str], file: str, named: bool = False, **shown: str
) -> Specification:
    """The reader ``name`` with those of the ``settings`` and ``options`` that are for it; ``shown``: what the reader llm gets to see."""
    try:
        kind = find_reader(name, named=named)
    except SettingsError as error:
        raise SettingsError(f"{file}: {error}" if file else str(error)) from None
    if kind.asks:
        return specification(name, settings={**settings.llm, **shown}, training={}, may_ask=True, file=file, sections=("llm", ""))
    encoder, device = ({key: options[key]} if key in options else {} for key in ("encoder", "device"))
    fields = kind.settings.model_fields
    # What the full reader knows is said for all; one that is kept from paragraphs cannot be told how to cut them.
    own = {key: value for key, value in {**settings.settings, **encoder}.items() if name == settings.reader or key in fields}
    training = {} if kind.training is None else {**settings.training, **device}
    return specification(name, settings=own, training=training, named=named, file=file, options=options)


def _lack(*parts: Mapping[str, Transformation]) -> str:
    """Why the transformed questions of ``parts`` are too few to judge; empty if they are not."""
    fewest = min(len({question.group for question in transform.questions}) for part in parts for transform in part.values())
    if fewest >= ENOUGH_TRANSFORMED:
        return ""
    return (
        f"{fewest} groups of questions have two marked supporting paragraphs or more, an answer, and distractors enough; it takes "
        f"{ENOUGH_TRANSFORMED} to judge."
    )


def _check_used(settings: JudgingSettings, readers: Sequence[Specification], file: str) -> None:
    """Raise SettingsError for a setting that none of the ``readers`` has."""
    trained = [reader for reader in readers if not reader.kind.asks]
    if settings.llm and len(trained) == len(readers):
        raise SettingsError(f'{file}: no reader uses the section [llm]; set reader = "llm" or beside = ["llm"], or remove the section.')
    have = {name for reader in trained for name in type(reader.settings).model_fields}
    unused = [f"[settings] {name}" for name in settings.settings if name not in have]
    unused += [f"[training] {name}" for name in settings.training if not any(reader.steps for reader in trained)]
    if unused:
        raise SettingsError(
            f"{file}: no reader of this audit has the setting {unused[0]}; remove it, or name a reader that has it under beside."
        )

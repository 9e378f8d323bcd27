"""Default metric of a question set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgqa.errors import SettingsError
from kgqa.formats import native
from kgqa.formats.musique import TWIN
from kgqa.formats.provenance import everything, noted
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.records import Instance
from kgqa.scoring.breakdown import SHAPE_IN_ID
from kgqa.scoring.metrics import METRICS

METRIC_OF_TRANSFORM: Mapping[str, str] = MappingProxyType(
    {"probe": "dire-probe", "sufficiency": "dire-sufficiency", "probe-of-sufficiency": "dire-probe-of-sufficiency"}
)
"""DiRe's transform → its metric. The adversarial transform keeps the metric of its set."""
WITHOUT_SCORER = "trivial"
"""The transform whose grouped score is in the paper (appendix G) but in no official script."""
INSPECTED = 100
"""Questions of each split that are inspected; some records have no notes."""

METRIC_OF_FORMAT: Mapping[str, str] = MappingProxyType({"quoref": "drop"})
"""Format → the metric that also scores it."""
OVERSIGHTS = 0.05
"""Maximum share of empty answers that count as oversights of DROP; three in ten of IIRC's questions have none."""


def default_metric(source: QuestionSet) -> tuple[str, str]:
    """A metric, and the reason for choosing it. Raises SettingsError if nothing determines it."""
    name = METRIC_OF_FORMAT.get(source.format, source.format)
    if name in METRICS and name != "dire":
        return _metric_and_reason(source, name, "the format of the set")
    first = _first_instances(source)
    if any(instance.id.endswith(TWIN) for instance in first):
        return "musique", "the ids of its unanswerable questions"
    provenances = [everything(instance) for instance in first]
    transform = _transform(provenances[0]) if provenances else ""
    if transform in METRIC_OF_TRANSFORM:
        return METRIC_OF_TRANSFORM[transform], "the transform that made it"
    if transform != WITHOUT_SCORER:
        names = [name for name in _names(source, provenances) if name in METRICS and name != "dire"]
        # Of a set with both, rows with an answer are alike in SQuAD 1.1 and 2.0.
        metric = "squad2" if "squad2" in names else next(iter(names), None)
        if metric is not None:
            return _metric_and_reason(source, metric, "what was noted when the set was made")
        if first and all(SHAPE_IN_ID.match(instance.id) for instance in first):
            return "musique", "the ids of its questions"
        if source.format == "dire" and transform:
            return "dire", "the format of the set"
    raise SettingsError(f"{source.path}: the metric is unknown; pass one with --metric: {', '.join(METRICS)}.")


def _metric_and_reason(source: QuestionSet, name: str, reason: str) -> tuple[str, str]:
    """The metric ``name``, with two exceptions.

    IIRC's authors publish their questions in DROP's format, where an empty answer means that there is none. HotpotQA's questions in
    2WikiMultihopQA's format have no triples to score.
    """
    if name == "drop" and _many_are_empty(_first_instances(source)):
        return "iirc", "its empty answers, which mean none in IIRC's files"
    if name == "twowiki" and not any(noted(instance, "twowiki").get("evidences") for instance in _first_instances(source)):
        return "hotpotqa", "its fields, as there are no evidence triples"
    return name, reason


def _many_are_empty(first: Sequence[Instance]) -> bool:
    return sum(not instance.answerable for instance in first) > OVERSIGHTS * len(first)


def _first_instances(source: QuestionSet) -> list[Instance]:
    return [instance for split in source.files for instance in islice(source.read(split), INSPECTED)]


def has_metric(dataset: str | Path | QuestionSet) -> bool:
    """Whether a set, or the set in a file or folder, determines its metric."""
    try:
        default_metric(dataset if isinstance(dataset, QuestionSet) else open_dataset(dataset))
    except SettingsError:
        return False
    return True


def _names(source: QuestionSet, provenances: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Names of formats and recipes in the provenance; values that are not text are ignored."""
    own = source.path if source.format == "native" and isinstance(source.path, Path) else None
    manifest = {} if own is None else native.manifest_of(source.folder or own.parent)
    names = (name for provenance in provenances for name in (provenance.get("recipe"), *provenance))
    return (METRIC_OF_FORMAT.get(name, name) for name in chain(names, [manifest.get("from")]) if isinstance(name, str))


def _transform(provenance: Mapping[str, Any]) -> str:
    note = provenance.get("dire")
    return str(note.get("transform")) if isinstance(note, dict) else ""

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

OF_TRANSFORM: Mapping[str, str] = MappingProxyType(
    {"probe": "dire-probe", "sufficiency": "dire-sufficiency", "probe-of-sufficiency": "dire-probe-of-sufficiency"}
)
"""DiRe's transform → its metric. The adversarial one leaves questions that are scored as before it."""
WITHOUT_SCORER = "trivial"
"""The transform whose grouped score is in the paper (appendix G) and in no official script."""
LOOKED_AT = 100
"""Questions of each split that may tell the metric; of many a reader has nothing to note."""

SCORED_AS: Mapping[str, str] = MappingProxyType({"quoref": "drop"})
"""Format → the metric whose script is its own, too."""
OVERSIGHTS = 0.05
"""Maximum share of empty answers that count as oversights of DROP; three in ten of IIRC's questions have none."""


def default_metric(source: QuestionSet) -> tuple[str, str]:
    """A metric, and what it was taken from; SettingsError where nothing tells."""
    name = SCORED_AS.get(source.format, source.format)
    if name in METRICS and name != "dire":
        return _told_by(source, name, "the format of the set")
    first = _first(source)
    if any(instance.id.endswith(TWIN) for instance in first):
        return "musique", "the ids of its unanswerable questions"
    provenances = [everything(instance) for instance in first]
    transform = _transform(provenances[0]) if provenances else ""
    if transform in OF_TRANSFORM:
        return OF_TRANSFORM[transform], "the transform that made it"
    if transform != WITHOUT_SCORER:
        names = [name for name in _names(source, provenances) if name in METRICS and name != "dire"]
        # Of a set with both, rows with an answer are alike in SQuAD 1.1 and 2.0.
        named = "squad2" if "squad2" in names else next(iter(names), None)
        if named is not None:
            return _told_by(source, named, "what was noted when the set was made")
        if first and all(SHAPE_IN_ID.match(instance.id) for instance in first):
            return "musique", "the ids of its questions"
        if source.format == "dire" and transform:
            return "dire", "the format of the set"
    raise SettingsError(f"{source.path}: the metric is unknown; pass one with --metric: {', '.join(METRICS)}.")


def _told_by(source: QuestionSet, name: str, told: str) -> tuple[str, str]:
    """As it was told; but IIRC's authors give their questions in DROP's form, too, where an empty answer means that there is none, and
    HotpotQA's questions in 2WikiMultihopQA's form have no triples to score."""
    if name == "drop" and _many_are_empty(_first(source)):
        return "iirc", "its empty answers, which mean none in IIRC's files"
    if name == "twowiki" and not any(noted(instance, "twowiki").get("evidences") for instance in _first(source)):
        return "hotpotqa", "its fields, as there are no evidence triples"
    return name, told


def _many_are_empty(first: Sequence[Instance]) -> bool:
    return sum(not instance.answerable for instance in first) > OVERSIGHTS * len(first)


def _first(source: QuestionSet) -> list[Instance]:
    return [instance for split in source.files for instance in islice(source.read(split), LOOKED_AT)]


def has_metric(dataset: str | Path | QuestionSet) -> bool:
    """Whether a set, or the one in a file or folder, tells how it is scored."""
    try:
        default_metric(dataset if isinstance(dataset, QuestionSet) else open_dataset(dataset))
    except SettingsError:
        return False
    return True


def _names(source: QuestionSet, provenances: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Names of formats and recipes in the provenance; values that are not text are ignored."""
    manifest = native.manifest_of(source.folder or source.path.parent) if isinstance(source.path, Path) else {}
    noted = (name for provenance in provenances for name in (provenance.get("recipe"), *provenance))
    return (SCORED_AS.get(name, name) for name in chain(noted, [manifest.get("from")]) if isinstance(name, str))


def _transform(provenance: Mapping[str, Any]) -> str:
    note = provenance.get("dire")
    return str(note.get("transform")) if isinstance(note, dict) else ""

"""The sets' official prediction files, parsed into the input of their scorers.

A file that is one object is read into memory as a whole. It may have as many bytes as a record anywhere else in kgqa.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, TypeVar

from pydantic import ConfigDict, FiniteFloat, TypeAdapter

from kgqa.errors import BrokenInput
from kgqa.formats.hotpotqa import Facts
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Closed, Ids, Open
from kgqa.formats.twowiki import Triples
from kgqa.metrics import dire, hotpotqa, musique, strategyqa, twowiki
from kgqa.metrics.drop import Spans

Kind = TypeVar("Kind")


class HotpotQAFile(Open):
    """HotpotQA's object; the script crashes if a part is missing, and ignores other parts."""

    answer: dict[str, str]
    sp: dict[str, Facts]


class TwoWikiFile(HotpotQAFile):
    """2WikiMultihopQA's object, which also has the evidence triples."""

    evidence: dict[str, Triples]


class MuSiQueLine(Open):
    """Prediction for one line of MuSiQue."""

    id: str
    predicted_answer: str
    predicted_support_idxs: list[int]
    predicted_answerable: bool


class DiReContextLine(Open):
    """Prediction for one context, with the fields that all of DiRe's metrics need."""

    question_id: str
    answer: str
    supporting_paragraphs: list[str]
    supporting_sentences: Facts


class DiReLine(DiReContextLine):
    """A prediction on the set itself."""

    answer_confidence: NotRequired[FiniteFloat]
    sub_idx: NotRequired[int]
    sufficiency: NotRequired[int]


class ProbeLine(DiReContextLine):
    """A prediction on a probe, where the more confident answer counts."""

    answer_confidence: FiniteFloat
    sub_idx: NotRequired[int]
    sufficiency: NotRequired[int]


class SufficiencyLine(DiReContextLine):
    """A prediction on the sufficiency transform, where the label counts."""

    answer_confidence: NotRequired[FiniteFloat]
    sub_idx: int
    sufficiency: int


class ProbeOfSufficiencyLine(DiReContextLine):
    """A prediction on the probe of the transform, where confidence and label count."""

    answer_confidence: FiniteFloat
    sub_idx: int
    sufficiency: int


class StrategyQAEntry(Closed):
    """Prediction for one question; any of the three tasks can be missing from all predictions."""

    answer: NotRequired[bool]
    decomposition: NotRequired[list[str]]
    paragraphs: NotRequired[list[str]]


class AliasesLine(Open):
    """The names of one entity in 2WikiMultihopQA's ``id_aliases.json``."""

    Q_id: str
    aliases: list[str]
    demonyms: list[str]


TEXTS = TypeAdapter(dict[str, str], config=ConfigDict(strict=True))
PROBABILITIES = TypeAdapter(dict[str, FiniteFloat], config=ConfigDict(strict=True))
SPANS = TypeAdapter(dict[str, str | list[str]], config=ConfigDict(strict=True))
HOTPOTQA = TypeAdapter(HotpotQAFile)
TWOWIKI = TypeAdapter(TwoWikiFile)
STRATEGYQA = TypeAdapter(dict[str, StrategyQAEntry])
MUSIQUE = TypeAdapter(MuSiQueLine)
ALIASES = TypeAdapter(AliasesLine)
DIRE: Mapping[str, TypeAdapter[Any]] = {
    "dire": TypeAdapter(DiReLine),
    "dire-probe": TypeAdapter(ProbeLine),
    "dire-sufficiency": TypeAdapter(SufficiencyLine),
    "dire-probe-of-sufficiency": TypeAdapter(ProbeOfSufficiencyLine),
}
"""Metric → the required fields of its lines."""


def read_texts(path: Path) -> dict[str, str]:
    """SQuAD's and QAngaroo's object: id → answer."""
    return _read_object(path, TEXTS)


def read_probabilities(path: Path) -> dict[str, float]:
    """SQuAD 2.0's other object: id → no-answer probability."""
    return _read_object(path, PROBABILITIES)


def read_spans(path: Path) -> dict[str, str | Spans]:
    """DROP's and IIRC's object: id → answer, a text or a list of texts."""
    spans: dict[str, str | list[str]] = _read_object(path, SPANS)
    return {**spans}


def read_hotpotqa(path: Path) -> dict[str, hotpotqa.HotpotQAPrediction]:
    """HotpotQA's object: ``answer`` and ``sp``, each by id."""
    parts = _read_object(path, HOTPOTQA)
    answers, support = parts["answer"], parts["sp"]
    return {
        key: hotpotqa.HotpotQAPrediction(answer=answers.get(key), support=frozenset(support[key]) if key in support else None)
        for key in {**answers, **support}
    }


def read_twowiki(path: Path) -> dict[str, twowiki.TwoWikiPrediction]:
    """2WikiMultihopQA's object: ``answer``, ``sp`` and ``evidence``, each by id."""
    parts = _read_object(path, TWOWIKI)
    answers, support, evidence = parts["answer"], parts["sp"], parts["evidence"]
    return {
        key: twowiki.TwoWikiPrediction(
            answer=answers.get(key),
            support=frozenset(support[key]) if key in support else None,
            evidence=tuple(evidence[key]) if key in evidence else None,
        )
        for key in {**answers, **support, **evidence}
    }


def read_strategyqa(path: Path) -> dict[str, strategyqa.StrategyQAPrediction]:
    """The object of StrategyQA's leaderboard: id → ``answer``, ``decomposition`` and ``paragraphs``, or some of them."""
    return {
        key: strategyqa.StrategyQAPrediction(
            answer=entry.get("answer"),
            decomposition=tuple(entry["decomposition"]) if "decomposition" in entry else None,
            paragraphs=tuple(entry["paragraphs"]) if "paragraphs" in entry else None,
        )
        for key, entry in _read_object(path, STRATEGYQA).items()
    }


def read_musique(path: Path) -> list[musique.MuSiQuePrediction]:
    """MuSiQue's JSON lines, in order."""
    return [
        musique.MuSiQuePrediction(
            id=line["id"],
            answer=line["predicted_answer"],
            support=frozenset(line["predicted_support_idxs"]),
            answerable=line["predicted_answerable"],
        )
        for _, line in stream.records(path, MUSIQUE)
    ]


def read_dire(path: Path, metric: str) -> list[dire.DiRePrediction]:
    """DiRe's JSON lines, in order, for one of its four metrics."""
    plain = dire.DiRePrediction(question_id="", answer="", paragraphs=frozenset(), sentences=frozenset())
    return [
        replace(
            plain,
            question_id=line["question_id"],
            answer=line["answer"],
            paragraphs=frozenset(line["supporting_paragraphs"]),
            sentences=frozenset(line["supporting_sentences"]),
            confidence=line.get("answer_confidence", plain.confidence),
            sufficiency=line.get("sufficiency"),
            sub_idx=line.get("sub_idx"),
        )
        for _, line in stream.records(path, DIRE[metric])
    ]


def read_original(path: Path) -> list[dire.DiRePrediction]:
    """DiRe's JSON lines on the unprobed set, each question once."""
    ids = Ids()
    for location, line in stream.records(path, DIRE["dire"]):
        ids.add(line["question_id"], location)
    return read_dire(path, "dire")


def read_aliases(path: Path) -> dict[str, frozenset[str]]:
    """2WikiMultihopQA's JSON lines of entities: id → its aliases and demonyms."""
    ids = Ids()
    names_of = {}
    for location, line in stream.records(path, ALIASES):
        ids.add(line["Q_id"], location)
        names_of[line["Q_id"]] = frozenset((*line["aliases"], *line["demonyms"]))
    return names_of


def _read_object(path: Path, kind: TypeAdapter[Kind]) -> Kind:
    """Parse a file that is one object, after checking that it is not too large for memory."""
    with stream.opened(path) as file:
        size = 0
        while chunk := file.read(stream.CHUNK_BYTES):
            size += len(chunk)
            if size > stream.RECORD_LIMIT:
                raise BrokenInput(
                    f"{path.name}: it is longer than {stream.RECORD_LIMIT >> 20} MiB, so these are not predictions; check the file."
                )
    return stream.document(path, kind)

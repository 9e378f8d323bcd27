"""DiRe's JSON: HotpotQA's records, of which several belong to one question, with labels of sufficiency (Trivedi et al. 2020).

What the published code makes of HotpotQA: the sufficiency transform T(D) (``sufficiency`` 1 and 0) and its probe (0 and -1), whose records
are told apart by ``sub_idx``, and the probe P(D), which has neither, so that the format has to be named to read it. ``_id`` is the
question's in all of its records. The n-th record of a question, from 0, is Instance ``<_id>#<n>`` of group ``<_id>``; one that is labelled
insufficient has no answer, and the question's is noted.

The sets of ``kgqa contrast`` are written in this form too. What it has no field for is in one more, ``dire``, which the published code does
not look at and by which everything but the parts that HotpotQA's form lacks comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, cast

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, DuplicateId, MissingInput
from kgqa.formats import hotpotqa
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.json.write import write_list
from kgqa.formats.provenance import note, noted
from kgqa.records import Instance, Paragraph

PURPOSE = "DiRe's JSON: HotpotQA's records, several of each question, with labels of sufficiency"
SUFFIX = ".json"
NAME = "dire"
PROBE, SUFFICIENCY, PROBE_OF_SUFFICIENCY = "probe", "sufficiency", "probe-of-sufficiency"
DECIDING = {1: SUFFICIENCY, -1: PROBE_OF_SUFFICIENCY}
"""Label → the transform that alone has it."""
LABELS = {PROBE: (None,), SUFFICIENCY: (1, 0), PROBE_OF_SUFFICIENCY: (0, -1)}


class Shown(Open):
    """What ``dire`` holds beside the note: what the Instance says and the record cannot."""

    question: str
    transform: str
    sub_idx: int
    sufficiency: int | None
    answers: list[str]
    id: str
    group: str
    answerable: bool
    answered: bool
    marked: bool
    paragraphs: list[str]


class Record(hotpotqa.Record):
    """One record; all of a file have both labels, or none has."""

    sufficiency: NotRequired[int]
    sub_idx: NotRequired[int]
    dire: NotRequired[dict[str, Any]]


RECORD = TypeAdapter(Record)
SHOWN = TypeAdapter(Shown)
OWN = ("sufficiency", "sub_idx", NAME)
ONLY_HERE = ("id", "group", "answerable", "answered", "marked", "paragraphs")
"""Fields of ``Shown`` that are no part of the note."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether there are HotpotQA's fields and a label, or what kgqa adds."""
    return hotpotqa.recognises(record) and ({"sufficiency", "sub_idx"} <= record.keys() or isinstance(record.get(NAME), dict))


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file; memory: one record, and all ids. Records before the first with a label 1 or -1 are read twice."""
    transform = _transform(path)
    counts: Counter[str] = Counter()
    ids, labelled = Ids(), _Labels()
    for where, record in stream.records(path, RECORD):
        hotpotqa.check_whole(record, where)
        number = counts[record["_id"]]
        counts[record["_id"]] += 1
        instance = from_record(record, where, transform=transform, number=number)
        labelled.add(record, where)
        ids.add(instance.id, where)
        yield instance


class _Labels:
    """The ``sub_idx`` of each question that were seen."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, int]] = set()

    def add(self, record: Record, where: str) -> None:
        if "sub_idx" in record:
            key = (record["_id"], record["sub_idx"])
            if key in self._seen:
                raise DuplicateId(f"{where}: question {key[0]} has the sub_idx {key[1]} twice; drop one of them.")
            self._seen.add(key)


def _transform(path: Path) -> str:
    """What the labels of a file say that made it; a label 0 says nothing, as both transforms with labels have it."""
    labels = False
    for _, record in stream.values(path):
        if isinstance(record.get(NAME), dict):
            return ""
        label = record.get("sufficiency")
        if label is None and not labels:
            return PROBE
        labels = True
        if type(label) is int and label in DECIDING:
            return DECIDING[label]
    if labels:
        raise BrokenInput(f"{path.name}: every record has the sufficiency 0, so that it is no whole set of DiRe; fetch it again.")
    return PROBE


def from_record(record: Record, where: str, *, transform: str, number: int) -> Instance:
    """The Instance of the record that is the ``number``-th of its question; what ``dire`` holds counts more than ``transform``.

    InputError where the labels are not the transform's.
    """
    plain = hotpotqa.from_record(cast(hotpotqa.Record, {key: value for key, value in record.items() if key not in OWN}))
    if "dire" in record:
        return _ours(plain, record["dire"], where)
    sufficiency = _checked(record, where, transform)
    insufficient = sufficiency in {0, -1}
    values = {
        "question": plain.id,
        "transform": transform,
        "bipartition": None if transform == SUFFICIENCY else 0,
        "sub_idx": record.get("sub_idx", number),
        "sufficiency": sufficiency,
        "removed": None,
        "answers": list(plain.answers),
    }
    return replace(
        plain,
        id=f"{plain.id}#{number}",
        answers=() if insufficient else plain.answers,
        answer_type="none" if insufficient else plain.answer_type,
        answerable=not insufficient,
        provenance=note(NAME, values, beside=plain.provenance),
    )


def _checked(record: Record, where: str, transform: str) -> int | None:
    """The label, or None in a probe."""
    label = record.get("sufficiency")
    if not transform:
        raise MissingInput(f"{where}: the field {NAME!r} is missing; every record of this file has one.")
    if label not in LABELS[transform]:
        known = " or ".join("none" if one is None else str(one) for one in LABELS[transform])
        found = "none" if label is None else str(label)[:20]
        raise BrokenInput(f"{where}, field 'sufficiency': expected {known}, as in records before, found {found}; fix or drop the record.")
    if label is not None and "sub_idx" not in record:
        raise MissingInput(f"{where}: the field 'sub_idx' is missing; every record with a sufficiency has one.")
    return label


def _ours(plain: Instance, held: dict[str, Any], where: str) -> Instance:
    """What ``kgqa contrast`` made; its note calls paragraphs by their ids, which a record does not have."""
    shown = validated(held, SHOWN, f"{where}, field 'dire'")
    ids = shown["paragraphs"]
    if len(ids) != len(plain.paragraphs) or len(set(ids)) != len(ids):
        raise BrokenInput(
            f"{where}, field 'dire.paragraphs': expected {len(plain.paragraphs)} different ids, one for each paragraph; "
            "write the set again."
        )
    answers = tuple(shown["answers"]) if shown["answered"] else ()
    return replace(
        plain,
        id=shown["id"],
        group=shown["group"],
        answers=answers,
        answer_type=plain.answer_type if answers else "none",
        answerable=shown["answerable"],
        paragraphs=tuple(_renamed(paragraph, name, marked=shown["marked"]) for paragraph, name in zip(plain.paragraphs, ids, strict=True)),
        provenance=note(NAME, {key: value for key, value in held.items() if key not in ONLY_HERE}, beside=plain.provenance),
    )


def _renamed(paragraph: Paragraph, name: str, *, marked: bool) -> Paragraph:
    if marked:
        return replace(paragraph, id=name)
    return replace(paragraph, id=name, supporting=None, supporting_sentences=None)


def to_record(instance: Instance) -> dict[str, Any]:
    """The record; BrokenInput for a question that no transform of DiRe made."""
    values = noted(instance, NAME)
    if not {"question", "sufficiency", "sub_idx"} <= values.keys():
        raise BrokenInput(f"instance {instance.id}: no transform of DiRe made it; make the set with kgqa contrast, or write hotpotqa.")
    answers = values.get("answers") or list(instance.answers)
    record = {**hotpotqa.to_record(instance), "_id": values["question"], **({"answer": answers[0]} if answers else {})}
    # The published code wants facts of every record; insufficient ones of T(D) carry no marks and are not looked at.
    record.setdefault("supporting_facts", [])
    if values["sufficiency"] is not None:
        record |= {"sufficiency": values["sufficiency"], "sub_idx": values["sub_idx"]}
    if values.get("removed") is None:
        return record
    own = {
        "id": instance.id,
        "group": instance.group,
        "answerable": instance.answerable,
        "answered": bool(instance.answers),
        "marked": all(paragraph.supporting is not None for paragraph in instance.paragraphs),
        "paragraphs": [paragraph.id for paragraph in instance.paragraphs],
    }
    return {**record, NAME: {**values, **own}}


def write(instances: Iterable[Instance], path: Path) -> None:
    """Write one file, record by record."""
    write_list((to_record(instance) for instance in instances), path)

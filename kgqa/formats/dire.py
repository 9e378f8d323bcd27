"""DiRe's JSON: HotpotQA's records, several for each question, with labels of sufficiency (Trivedi et al. 2020).

The published code makes three kinds of set from HotpotQA: the sufficiency transform T(D), labelled 1 and 0 (``sufficiency``); its probe,
labelled 0 and -1; and the probe P(D), without labels, which is read only if the user names the format. All records of a question have its
``_id``; in the two labelled kinds ``sub_idx`` numbers them. The n-th record of a question, from 0, becomes Instance ``<_id>#<n>`` of group
``<_id>``. An insufficient record has no answer; the answer of its question goes into its note.

The sets of ``kgqa contrast`` are written in this form too. A further field, ``dire``, holds everything that the form lacks, except parts
that HotpotQA's form lacks as well; the published code ignores it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, cast

from pydantic import TypeAdapter

from kgqa.errors import BrokenInput, DuplicateId, MissingInput
from kgqa.formats import hotpotqa
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open, validated
from kgqa.formats.json.write import list_writer
from kgqa.formats.provenance import note, noted
from kgqa.records import Instance, Paragraph

PURPOSE = "DiRe's JSON: HotpotQA's records, several of each question, with labels of sufficiency"
SUFFIX = ".json"
NAME = "dire"
PROBE, SUFFICIENCY, PROBE_OF_SUFFICIENCY = "probe", "sufficiency", "probe-of-sufficiency"
DECISIVE_LABELS = {1: SUFFICIENCY, -1: PROBE_OF_SUFFICIENCY}
"""Label → the only transform that uses it."""
LABELS = {PROBE: (None,), SUFFICIENCY: (1, 0), PROBE_OF_SUFFICIENCY: (0, -1)}


class DireFields(Open):
    """The field ``dire`` of a record that ``kgqa contrast`` made: the note, and the Instance's fields that the record lacks."""

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
    """One record; either all records of a file have both labels, or none has any."""

    sufficiency: NotRequired[int]
    sub_idx: NotRequired[int]
    dire: NotRequired[dict[str, Any]]


RECORD = TypeAdapter(Record)
DIRE_FIELDS = TypeAdapter(DireFields)
OWN_KEYS = ("sufficiency", "sub_idx", NAME)
INSTANCE_FIELDS = ("id", "group", "answerable", "answered", "marked", "paragraphs")
"""Fields of ``DireFields`` that are not part of the note."""


def recognises(record: Mapping[str, Any]) -> bool:
    """Whether the record has HotpotQA's fields and either labels or the field ``dire``."""
    return hotpotqa.recognises(record) and ({"sufficiency", "sub_idx"} <= record.keys() or isinstance(record.get(NAME), dict))


def read(path: Path) -> Iterator[Instance]:
    """The Instances of one file. Memory: one record and all ids. Records up to the first label 1 or -1 are read twice."""
    transform = _transform(path)
    counts: Counter[str] = Counter()
    ids, labels = Ids(), _Labels()
    for location, record in stream.records(path, RECORD):
        hotpotqa.check_whole(record, location)
        number = counts[record["_id"]]
        counts[record["_id"]] += 1
        instance = from_record(record, location, transform=transform, number=number)
        labels.add(record, location)
        ids.add(instance.id, location)
        yield instance


class _Labels:
    """The pairs of question and ``sub_idx`` seen so far, to refuse a repeated one."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, int]] = set()

    def add(self, record: Record, location: str) -> None:
        if "sub_idx" in record:
            key = (record["_id"], record["sub_idx"])
            if key in self._seen:
                raise DuplicateId(f"{location}: question {key[0]} has the sub_idx {key[1]} twice; drop one of them.")
            self._seen.add(key)


def _transform(path: Path) -> str:
    """The transform that made a file, from its labels; label 0 does not decide, since both labelled transforms use it."""
    labels = False
    for _, record in stream.values(path):
        if isinstance(record.get(NAME), dict):
            return ""
        label = record.get("sufficiency")
        if label is None and not labels:
            return PROBE
        labels = True
        if type(label) is int and label in DECISIVE_LABELS:
            return DECISIVE_LABELS[label]
    if labels:
        raise BrokenInput(f"{path.name}: every record has the sufficiency 0, so this is not a complete DiRe set; download it again.")
    return PROBE


def from_record(record: Record, location: str, *, transform: str, number: int) -> Instance:
    """The Instance of a record, the ``number``-th of its question; the field ``dire`` takes precedence over ``transform``.

    Raises InputError for a label that the transform does not use.
    """
    original = hotpotqa.from_record(cast(hotpotqa.Record, {key: value for key, value in record.items() if key not in OWN_KEYS}))
    if "dire" in record:
        return _from_contrast(original, record["dire"], location)
    sufficiency = _label(record, location, transform)
    insufficient = sufficiency in {0, -1}
    values = {
        "question": original.id,
        "transform": transform,
        "bipartition": None if transform == SUFFICIENCY else 0,
        "sub_idx": record.get("sub_idx", number),
        "sufficiency": sufficiency,
        "removed": None,
        "answers": list(original.answers),
    }
    return replace(
        original,
        id=f"{original.id}#{number}",
        answers=() if insufficient else original.answers,
        answer_type="none" if insufficient else original.answer_type,
        answerable=not insufficient,
        provenance=note(NAME, values, beside=original.provenance),
    )


def _label(record: Record, location: str, transform: str) -> int | None:
    """The label of a record, None in a probe. Raises InputError for a label that the transform does not use."""
    label = record.get("sufficiency")
    if not transform:
        raise MissingInput(f"{location}: the field {NAME!r} is missing; every record of this file has one.")
    if label not in LABELS[transform]:
        options = " or ".join("none" if number is None else str(number) for number in LABELS[transform])
        text = "none" if label is None else str(label)[:20]
        raise BrokenInput(
            f"{location}, field 'sufficiency': expected {options}, as in records before, found {text}; fix or drop the record."
        )
    if label is not None and "sub_idx" not in record:
        raise MissingInput(f"{location}: the field 'sub_idx' is missing; every record with a sufficiency has one.")
    return label


def _from_contrast(original: Instance, field: dict[str, Any], location: str) -> Instance:
    """The Instance of a record that ``kgqa contrast`` made. Its note refers to paragraphs by id, which HotpotQA's records lack."""
    fields = validated(field, DIRE_FIELDS, f"{location}, field 'dire'")
    ids = fields["paragraphs"]
    if len(ids) != len(original.paragraphs) or len(set(ids)) != len(ids):
        raise BrokenInput(
            f"{location}, field 'dire.paragraphs': expected {len(original.paragraphs)} different ids, one for each paragraph; "
            "write the set again."
        )
    answers = tuple(fields["answers"]) if fields["answered"] else ()
    marks = fields["marked"]
    return replace(
        original,
        id=fields["id"],
        group=fields["group"],
        answers=answers,
        answer_type=original.answer_type if answers else "none",
        answerable=fields["answerable"],
        paragraphs=tuple(_with_id(paragraph, name, keep_marks=marks) for paragraph, name in zip(original.paragraphs, ids, strict=True)),
        provenance=note(NAME, {key: value for key, value in field.items() if key not in INSTANCE_FIELDS}, beside=original.provenance),
    )


def _with_id(paragraph: Paragraph, name: str, *, keep_marks: bool) -> Paragraph:
    if keep_marks:
        return replace(paragraph, id=name)
    return replace(paragraph, id=name, supporting=None, supporting_sentences=None)


def to_record(instance: Instance) -> dict[str, Any]:
    """The record of an instance that one of DiRe's transforms made; BrokenInput for any other."""
    values = noted(instance, NAME)
    if not {"question", "sufficiency", "sub_idx"} <= values.keys():
        raise BrokenInput(
            f"instance {instance.id}: it was not made by one of DiRe's transforms; make the set with kgqa contrast, or write hotpotqa."
        )
    answers = values.get("answers") or list(instance.answers)
    record = {**hotpotqa.to_record(instance), "_id": values["question"], **({"answer": answers[0]} if answers else {})}
    # The published code requires the field in every record, though it ignores it in insufficient ones of T(D), which have no marks.
    record.setdefault("supporting_facts", [])
    if values["sufficiency"] is not None:
        record |= {"sufficiency": values["sufficiency"], "sub_idx": values["sub_idx"]}
    if values.get("removed") is None:
        return record
    instance_fields = {
        "id": instance.id,
        "group": instance.group,
        "answerable": instance.answerable,
        "answered": bool(instance.answers),
        "marked": all(paragraph.supporting is not None for paragraph in instance.paragraphs),
        "paragraphs": [paragraph.id for paragraph in instance.paragraphs],
    }
    return {**record, NAME: {**values, **instance_fields}}


write = list_writer(to_record)
"""Write one file, record by record."""

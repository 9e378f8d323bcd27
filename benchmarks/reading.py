"""How fast the reader of each format reads a set of which half of the records are imperfect in content, beside the set as it should be.

``python -m benchmarks.reading``
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import kgqa
from benchmarks.measure import Section, Table, in_turn, ratios, spread
from benchmarks.scoring import PARAGRAPHS, SENTENCES, Synthetic
from kgqa.errors import KgqaError
from kgqa.formats.question_set import open_dataset

TITLE = "Reading imperfect sets"
QUESTIONS = 4_000
ROUNDS = 5
GROUP = 5
"""Questions to a paragraph, where a format has them share one."""
WORDS = 120
Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How official records of a format are made, spoilt and put into a file."""

    make: Callable[[Synthetic, str], Record]
    spoil: Callable[[Record], None]
    fault: str
    """What is then wrong, for the table."""
    wrap: Callable[[list[Record], Synthetic], Any] | None = None
    """What the file holds; the list of the records where it is None."""
    lines: bool = False


def _nq(synthetic: Synthetic, key: str) -> Record:
    text = synthetic.words(WORDS)
    span = {"start": 0, "end": text.index(" "), "string": text.partition(" ")[0]}
    return {
        "example_id": key, "title_text": synthetic.words(2), "question_text": synthetic.words(10), "paragraph_text": text,
        "sentence_starts": [0], "original_nq_answers": [[span], [dict(span)]],
    }  # fmt: skip


def _boolq(synthetic: Synthetic, _: str) -> Record:
    return {
        "title": synthetic.words(2), "paragraph": synthetic.words(WORDS), "question": synthetic.words(10), "answer": "TRUE",
        "perturbed_questions": [],
    }  # fmt: skip


def _squad(synthetic: Synthetic, key: str) -> Record:
    return {**synthetic.squad(key)[0], "answers": None}


def _drop(synthetic: Synthetic, key: str) -> Record:
    return dict(synthetic.drop(key)[0])


def _articles(records: Sequence[Record], synthetic: Synthetic, *, impossible: bool) -> Record:
    """SQuAD's file, in which the first word of a paragraph answers its questions; those that are spoilt say another place."""
    paragraphs = []
    for first in range(0, len(records), GROUP):
        text, group = synthetic.words(WORDS), records[first : first + GROUP]
        for record in group:
            start = record.pop("start", 0)
            record["answers"] = [{"text": text.partition(" ")[0], "answer_start": start}]
            if not impossible:
                del record["is_impossible"]
        paragraphs.append({"context": text, "qas": group})
    return {"version": "v2.0" if impossible else "1.1", "data": [{"title": "x", "paragraphs": paragraphs}]}


def _parts(records: Sequence[Record], synthetic: Synthetic) -> Record:
    """The same with the last word as a second part of the answer, as Quoref has it."""
    file = _articles(records, synthetic, impossible=False)
    for paragraph in file["data"][0]["paragraphs"]:
        text = paragraph["context"]
        last = text.rpartition(" ")[2]
        for record in paragraph["qas"]:
            record["answers"].append({"text": last, "answer_start": len(text) - len(last)})
    return file


def _passages(records: Sequence[Record], synthetic: Synthetic) -> Record:
    groups = [records[first : first + GROUP] for first in range(0, len(records), GROUP)]
    return {f"passage_{number}": {"passage": synthetic.words(WORDS), "qa_pairs": group} for number, group in enumerate(groups)}


def _linked(records: Sequence[Record], synthetic: Synthetic) -> list[Record]:
    groups = [records[first : first + GROUP] for first in range(0, len(records), GROUP)]
    return [{"pid": str(n), "title": "x", "text": synthetic.words(WORDS), "questions": group} for n, group in enumerate(groups)]


def _no_sentence(record: Record) -> None:
    record["supporting_facts"][0][1] = SENTENCES


def _no_paragraph(record: Record) -> None:
    record["question_decomposition"][0]["paragraph_support_idx"] = PARAGRAPHS


def _no_candidate(record: Record) -> None:
    record["answer"] = "someone else"


def _later_step(record: Record) -> None:
    record["decomposition"][0] += " #2"


def _other_place(record: Record) -> None:
    record["start"] = 1


def _other_span(record: Record) -> None:
    record["original_nq_answers"][0][0]["start"] += 1


def _no_boolean(record: Record) -> None:
    record["answer"] = "MAYBE"


def _no_span(record: Record) -> None:
    record["answer"]["answer_spans"] = []


def _no_question(record: Record) -> None:
    record["question"] = ""


def _dire(synthetic: Synthetic, key: str) -> Record:
    return dict(next(synthetic.dire(key, [None]))[0])


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "hotpotqa": Form(make=lambda s, key: s.hotpotqa(key)[0], spoil=_no_sentence, fault="a fact names no sentence"),
        "twowiki": Form(make=lambda s, key: s.twowiki(key)[0], spoil=_no_sentence, fault="a fact names no sentence"),
        "dire": Form(make=_dire, spoil=_no_sentence, fault="a fact names no sentence"),
        "musique": Form(make=lambda s, key: s.musique(key)[0], spoil=_no_paragraph, fault="a step has no paragraph", lines=True),
        "strategyqa": Form(make=lambda s, key: s.strategyqa(key)[0], spoil=_later_step, fault="a step refers to a later one"),
        "qangaroo": Form(make=lambda s, key: s.qangaroo(key)[0], spoil=_no_candidate, fault="the answer is no candidate"),
        "squad": Form(make=_squad, spoil=_other_place, fault="an answer is elsewhere", wrap=lambda r, s: _articles(r, s, impossible=False)),
        "quoref": Form(make=_squad, spoil=_other_place, fault="an answer is elsewhere", wrap=_parts),
        "squad2": Form(make=_squad, spoil=_other_place, fault="an answer is elsewhere", wrap=lambda r, s: _articles(r, s, impossible=True)),
        "nq": Form(make=_nq, spoil=_other_span, fault="a span is elsewhere", lines=True),
        "boolq": Form(make=_boolq, spoil=_no_boolean, fault="neither yes nor no", wrap=lambda records, _: {"data": records}),
        "drop": Form(make=_drop, spoil=_no_question, fault="the question is empty", wrap=_passages),
        "iirc": Form(make=lambda s, key: s.iirc(key)[0], spoil=_no_span, fault="no answer", wrap=_linked),
    }
)
"""Format → its records."""
CONVERTED = ("native", "beir", "huggingface", "label_studio")
"""Formats that are written from HotpotQA's records, of which half show a paragraph twice: what any question may have."""


def main(*, questions: int = QUESTIONS, rounds: int = ROUNDS) -> Section:
    """Read both sets of every format."""
    rows = []
    for name in (*FORMS, *CONVERTED):
        with tempfile.TemporaryDirectory(prefix="kgqa-bench-") as folder:
            rows.append(row(name, *make(name, Path(folder), questions), questions=questions, rounds=rounds))
    table = Table(
        title=f"Reading {questions:,} questions, half of them imperfect",
        columns=("format", "what is wrong", "as it should be, seconds", "half imperfect, seconds", "ratio"),
        rows=rows,
        notes=[
            f"Both sets are read in turn, {rounds} rounds, from the file to Instances with their faults counted; the ratio is taken within "
            "a round. Made-up questions; in SQuAD, DROP and IIRC five to a paragraph.",
        ],
    )
    return Section(title=TITLE, tables=[table])


def row(name: str, sound: Path, imperfect: Path, *, questions: int, rounds: int) -> tuple[str, ...]:
    """What reading both took; says so where the reader refuses the imperfect one."""
    fault = FORMS[name].fault if name in FORMS else "a paragraph is there twice"
    assert read(name, sound) == (questions, 0), name
    try:
        found = read(name, imperfect)
    except KgqaError:
        return (name, fault, "", "refused", "")
    assert found == (questions, questions // 2), (name, found)
    seconds = in_turn({"sound": lambda: read(name, sound), "imperfect": lambda: read(name, imperfect)}, rounds=rounds)
    slower = ratios(seconds["imperfect"], seconds["sound"])
    return (name, fault, spread(seconds["sound"]), spread(seconds["imperfect"]), spread(slower))


def read(name: str, path: Path) -> tuple[int, int]:
    """How many questions a set has, and how many of them are imperfect."""
    found = open_dataset(path, name)
    count = sum(1 for split in found.files for _ in found.read(split))
    return count, found.faults.imperfect


def make(name: str, folder: Path, questions: int) -> tuple[Path, Path]:
    """A sound set and its imperfect twin."""
    if name in CONVERTED:
        return _converted(name, folder, questions)
    suffix = "jsonl" if FORMS[name].lines else "json"
    paths = folder / f"sound_dev.{suffix}", folder / f"imperfect_dev.{suffix}"
    for path, every in zip(paths, (0, 2), strict=True):
        write(FORMS[name], path, questions, every)
    return paths


def write(form: Form, path: Path, questions: int, every: int) -> None:
    """An official file in which one record of ``every`` is imperfect; none where it is 0."""
    synthetic = Synthetic()
    records = [form.make(synthetic, f"question-{number:06}") for number in range(questions)]
    for record in records[::every] if every else ():
        form.spoil(record)
    if form.lines:
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    else:
        path.write_text(json.dumps(form.wrap(records, synthetic) if form.wrap else records), "utf-8")


def _converted(name: str, folder: Path, questions: int) -> tuple[Path, Path]:
    def repeat(record: Record) -> None:
        record["context"][-1] = record["context"][0]

    twice = Form(make=FORMS["hotpotqa"].make, spoil=repeat, fault="")
    paths = folder / "sound", folder / "imperfect"
    for path, every in zip(paths, (0, 2), strict=True):
        source = folder / f"{path.name}_dev.json"
        write(twice, source, questions, every)
        kgqa.convert(source, to=name, out=path, lossy=True)
    return paths


if __name__ == "__main__":
    print(main().plain())

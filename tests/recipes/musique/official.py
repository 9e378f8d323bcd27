"""What must hold of an exported set, read as MuSiQue's own scripts would: plain JSON, no code of kgqa's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ANSWERABLE, FULL = "musique_ans_{}.jsonl", "musique_full_{}.jsonl"


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def normal(text: str) -> str:
    return " ".join(re.sub(r"[^\w ]", "", text.lower()).split())


def check_export(folder: Path, *, shown: int = 20, twins: float = 0.9) -> int:
    """Assert all of it; how many answerable questions there are. ``twins``: the share of questions that must have one."""
    shared: dict[str, dict[str, set[str]]] = {}
    total = 0
    for split in ("train", "dev", "test"):
        result = records(folder / ANSWERABLE.format(split))
        total += len(result)
        parts = shared.setdefault(split, {"questions": set(), "answers": set(), "paragraphs": set()})
        for record in result:
            check_record(record, shown)
            texts = [paragraph["paragraph_text"] for paragraph in record["paragraphs"]]
            answers = [step["answer"] for step in record["question_decomposition"]]
            for step in record["question_decomposition"]:
                parts["questions"].add(normal(resolved(step["question"], answers)))
                parts["answers"].add(normal(step["answer"]))
                parts["paragraphs"].add(texts[step["paragraph_support_idx"]])
        check_twins(result, records(folder / FULL.format(split)), shown, twins)
    for first, second in (("train", "dev"), ("train", "test"), ("dev", "test")):
        for kind in ("questions", "answers", "paragraphs"):
            assert not shared[first][kind] & shared[second][kind], (first, second, kind)
    return total


def resolved(question: str, answers: list[str]) -> str:
    """With answers in the places of ``#1`` and so on."""
    for number, answer in enumerate(answers, start=1):
        question = question.replace(f"#{number}", answer)
    return question


def check_record(record: dict[str, Any], shown: int) -> None:
    steps, question = record["question_decomposition"], record["question"]
    texts = [paragraph["paragraph_text"] for paragraph in record["paragraphs"]]
    assert len(texts) == len(set(texts)) == shown
    assert [paragraph["idx"] for paragraph in record["paragraphs"]] == list(range(shown))
    supports = {paragraph["idx"] for paragraph in record["paragraphs"] if paragraph["is_supporting"]}
    assert supports == {step["paragraph_support_idx"] for step in steps}
    assert len(supports) == len(steps)
    assert question.endswith("?")
    for number, step in enumerate(steps):
        assert normal(step["answer"])
        assert f" {normal(step['answer'])} " not in f" {normal(question)} ", record["id"]
        assert normal(step["answer"]) in normal(texts[step["paragraph_support_idx"]]), record["id"]
        for earlier in steps[:number]:  # nor does an earlier answer give a later one away
            assert f" {normal(step['answer'])} " not in f" {normal(earlier['answer'])} ", record["id"]
    assert record["answer"] == steps[-1]["answer"]
    usage = {int(number) for step in steps for number in re.findall(r"#(\d)", step["question"])}
    assert usage == set(range(1, len(steps)))
    for number, step in enumerate(steps, start=1):
        assert all(int(earlier) < number for earlier in re.findall(r"#(\d)", step["question"]))


def check_twins(answerable: list[dict[str, Any]], full: list[dict[str, Any]], shown: int, twins: float) -> None:
    pairs: dict[str, dict[bool, dict[str, Any]]] = {}
    for record in full:
        pairs.setdefault(record["id"], {})[record["answerable"]] = record
    assert all(set(pair) == {True, False} for pair in pairs.values())
    data = {record["id"]: record for record in answerable}
    assert pairs.keys() <= data.keys()
    assert len(pairs) >= twins * len(data), "nearly every question has a twin"
    for name, pair in pairs.items():
        twin, texts = pair[False], []
        assert pair[True]["question"] == twin["question"] == data[name]["question"]
        assert [twin["answer"], *twin["answer_aliases"]] == [data[name]["answer"], *data[name]["answer_aliases"]]
        for paragraph in twin["paragraphs"]:
            texts.append(paragraph["paragraph_text"])
        assert len(texts) == len(set(texts)) == shown
        message = normal("\n".join(f"{paragraph['title']} {paragraph['paragraph_text']}" for paragraph in twin["paragraphs"]))
        steps = pair[True]["question_decomposition"]
        names = [[step["answer"]] for step in steps]
        names[-1] += pair[True]["answer_aliases"]
        assert any(all(f" {normal(name)} " not in f" {message} " for name in some if normal(name)) for some in names), name

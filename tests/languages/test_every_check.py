"""Every contrast and every check of the audit says the same of the same set in each language."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import kgqa
from kgqa.checks import CHECKS
from kgqa.errors import KgqaError
from kgqa.formats.question_set import open_dataset
from kgqa.recipes.contrasts.transforms import KINDS
from tests.languages.drawing import LANGUAGES, OFTEN, Language, question_set, write_set, write_single_hops, write_source

OTHERS = pytest.mark.parametrize(
    "code", [pytest.param(code, marks=() if code in OFTEN else pytest.mark.slow) for code in LANGUAGES if code != "en"]
)
BY_WORDING = {"support-not-needed", "question-words", "lexical-overlap"}
"""Checks that guess by the words that a question shares with paragraphs, or begins with, which differ between languages ("was", "的")."""


@cache
def in_english(kind: str) -> Any:
    """What the English set gives, once for all languages."""
    with TemporaryDirectory() as folder:
        return contrast_of(kind, "en", Path(folder)) if kind in KINDS else audits_of("en", Path(folder))


def generated(code: str, folder: Path) -> Path:
    """A set with candidates and chains."""
    toml = write_source(LANGUAGES[code], folder, english=code == "en")
    kgqa.generate(toml, recipe="paper", source=folder / "source", workspace=folder / "work", workers=1)
    return folder / "work" / "datasets" / "househop"


def contrast_of(kind: str, code: str, folder: Path) -> list[tuple[str, bool, int]] | None:
    """Of each instance made whether it is answerable and how many paragraphs it shows, by group; None where the contrast is refused."""
    thins = kind in ("gold-chain", "document-removal")
    dataset = generated(code, folder) if thins else write_set(LANGUAGES[code], folder)
    try:
        kgqa.contrast(kind, dataset, out=folder / "made")
    except KgqaError:
        return None
    made = open_dataset(folder / "made").instances()
    # Groups of a generated set are named by its subjects, which have the same place in each language.
    groups: dict[str, int] = {}
    rows = [(groups.setdefault(each.group, len(groups)), each.answerable, len(each.paragraphs)) for each in made]
    return sorted((str(group) if not thins else "", answerable, shown) for group, answerable, shown in rows)


@OTHERS
@pytest.mark.parametrize("kind", KINDS)
def test_a_contrast_makes_the_same(kind: str, code: str, tmp_path: Path) -> None:
    made = contrast_of(kind, code, tmp_path)
    assert made == in_english(kind)
    # The set does not tell what kind of thing its answers are, which adversarial has to know.
    assert bool(made) is (kind != "adversarial")


def faulty_set(language: Language, folder: Path) -> Path:
    """Two splits that share questions, and a dev split with a fault of each kind."""
    train, dev = question_set(language)[:4], question_set(language)
    for number, record in enumerate(train):
        record["id"] = f"2hop__{50 + number}_{60 + number}"
        if number != 1:  # most have one answer
            answer = language.towns[0]
            record["answer"] = record["question_decomposition"][1]["answer"] = answer
            record["paragraphs"][2 * number + 1]["paragraph_text"] = language.born.format(maker=language.makers[number], town=answer)
        if number > 1:
            record["question"] = language.asked[1].format(work=language.works[number])
    dev[1]["question"] = f"{dev[1]['question'][:-1]}!"
    dev[2]["answer"] = dev[2]["question_decomposition"][1]["answer"] = "Qzx"
    dev[3]["question"] = language.towns[3]
    dev[4]["question_decomposition"][0]["answer"] = language.makers[0]
    dev[5]["question"] = dev[4]["question"]
    folder.mkdir()
    for split, records in (("train", train), ("dev", dev)):
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (folder / f"words_musique_{split}.jsonl").write_text(lines, "utf-8")
    return folder


def wrong_places(language: Language, folder: Path) -> Path:
    """Questions of SQuAD, two of whose answers begin a character later than they say."""
    path = write_single_hops(language, folder)
    content = json.loads(path.read_text("utf-8"))
    for article in content["data"][:2]:
        article["paragraphs"][0]["qas"][0]["answers"][0]["answer_start"] -= 1
    path.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    return path


def equal_titles(language: Language, folder: Path) -> Path:
    """Questions of HotpotQA; in the first, a distractor has the title of a supporting paragraph."""
    records = []
    for record in question_set(language):
        shown = record["paragraphs"]
        facts = [[each["title"], 0] for each in shown if each["is_supporting"]]
        context = [[each["title"], [each["paragraph_text"]]] for each in shown]
        records.append({
            "_id": record["id"], "question": record["question"], "answer": record["answer"], "type": "bridge", "level": "hard",
            "supporting_facts": facts, "context": context,
        })  # fmt: skip
    records[0]["context"][-1][0] = records[0]["supporting_facts"][0][0]
    path = folder / "hotpot_dev.json"
    path.write_text(json.dumps(records, ensure_ascii=False), "utf-8")
    return path


def audits_of(code: str, folder: Path) -> list[dict[str, float | None]]:
    """Check → figure, of four sets that between them give every check something to look at."""
    language = LANGUAGES[code]
    (folder / "generated").mkdir()
    sets = [faulty_set(language, folder / "faulty"), wrong_places(language, folder), equal_titles(language, folder)]
    sets.append(generated(code, folder / "generated"))
    audits = [kgqa.audit(dataset, out=folder / f"audit {number}") for number, dataset in enumerate(sets)]
    return [{each.check: each.figure for each in found.findings if each.check not in BY_WORDING} for found in audits]


@OTHERS
def test_every_check_of_the_audit_finds_the_same(code: str, tmp_path: Path) -> None:
    found = audits_of(code, tmp_path)
    assert found == in_english("audit")
    measured = {name for figures in found for name, figure in figures.items() if figure is not None}
    assert measured == {check.name for check in CHECKS} - BY_WORDING
    faulty, places, titles, _ = found
    for name in ("absent-answers", "answer-in-question", "degenerate-questions", "several-answers", "step-answers", "shared-questions"):
        assert faulty[name], name
    assert places["wrong-spans"]
    assert titles["equal-titles"]

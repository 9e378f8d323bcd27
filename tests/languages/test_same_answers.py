"""What contrasts, the audit, generate and compose say of a set does not depend on the language in which it is written."""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import kgqa
from kgqa.checks.batch import Batch, Side
from kgqa.errors import KgqaError
from kgqa.formats.question_set import open_dataset
from kgqa.recipes.musique.from_sets import set_questions
from kgqa.recipes.musique.pool import REASONS
from kgqa.recipes.names.statements import names, paragraph_states, states
from kgqa.records import Instance, Paragraph
from kgqa.settings.musique import SingleHopSettings
from tests.languages.drawing import LANGUAGES, OFTEN, write_set, write_single_hops, write_source

EVERY = pytest.mark.parametrize("code", [pytest.param(code, marks=() if code in OFTEN else pytest.mark.slow) for code in LANGUAGES])


def contrast_of(kind: str, code: str, folder: Path) -> list[Instance]:
    kgqa.contrast(kind, write_set(LANGUAGES[code], folder), out=folder / kind)
    return list(open_dataset(folder / kind).instances())


@EVERY
def test_an_unanswerable_twin_states_one_step_less(code: str, tmp_path: Path) -> None:
    made = contrast_of("unanswerable", code, tmp_path)
    twins = [each for each in made if not each.answerable]
    assert len(twins) == 6
    for twin in twins:
        wanted = [names([step.answer or ""]) for step in twin.decomposition or ()]
        assert not all(any(paragraph_states(shown, name) for shown in twin.paragraphs) for name in wanted)


@EVERY
def test_the_half_of_a_probe_with_the_answer_has_it(code: str, tmp_path: Path) -> None:
    made = contrast_of("probe", code, tmp_path)
    assert (len(made), sum(each.answerable for each in made)) == (12, 6)


@EVERY
def test_what_suffices_is_answerable_and_trivial_copies_are(code: str, tmp_path: Path) -> None:
    made = contrast_of("sufficiency", code, tmp_path)
    assert (len(made), sum(each.answerable for each in made)) == (18, 6)
    assert len(contrast_of("trivial", code, tmp_path)) == 18


@EVERY
def test_adversarial_gives_no_untrue_reason(code: str, tmp_path: Path) -> None:
    with pytest.raises(KgqaError) as raised:
        contrast_of("adversarial", code, tmp_path)
    said = "nothing tells what kind of thing" if code == "en" else "the texts are not English"
    assert said in str(raised.value)
    assert "no supporting paragraph states the answer" not in str(raised.value)


@EVERY
def test_the_audit_finds_the_same(code: str, tmp_path: Path) -> None:
    figures = audit_of(code, tmp_path)
    assert figures == audit_in_english()
    assert figures["absent-answers"] == 0


def audit_of(code: str, folder: Path) -> dict[str, float | None]:
    found = kgqa.audit(write_set(LANGUAGES[code], folder), out=folder / "audit")
    return {each.check: each.figure for each in found.findings if each.check != BY_SHARED_WORDS}


@cache
def audit_in_english() -> dict[str, float | None]:
    with TemporaryDirectory() as folder:
        return audit_of("en", Path(folder))


BY_SHARED_WORDS = "support-not-needed"
"""Here a paragraph is chosen by the words that it shares with the question, which are others in each language ("was", "的")."""


@EVERY
def test_generate_finds_the_same_samples(code: str, tmp_path: Path) -> None:
    toml = write_source(LANGUAGES[code], tmp_path, english=code == "en")
    kgqa.generate(toml, recipe="paper", source=tmp_path / "source", workspace=tmp_path / "work", workers=1)
    made = [each.question.split(" ", 1)[1] for each in open_dataset(tmp_path / "work" / "datasets" / "househop").instances()]
    assert sorted(map(LANGUAGES[code].works.index, made)) == SAMPLES


SAMPLES = [0, 1, 2, 3, 4, 5]


@EVERY
@pytest.mark.parametrize(("bounds", "reason"), [((6, 20), ""), ((25, 99), REASONS["short"]), ((1, 4), REASONS["long"])])
def test_compose_finds_the_same_texts_too_short_and_too_long(code: str, bounds: tuple[int, int], reason: str, tmp_path: Path) -> None:
    given = open_dataset(write_single_hops(LANGUAGES[code], tmp_path))
    kept, _, refused, _ = set_questions([given], SingleHopSettings(min_words=bounds[0], max_words=bounds[1]))
    assert (len(kept), refused["reason"].to_pylist()) == ((0, [reason] * 6) if reason else (6, []))


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("한솔은 왔다", "한솔", True),
        ("한솔에서는", "한솔", True),
        ("한솔시에서", "한솔", False),
        ("큰한솔은", "한솔", False),
        ("2019년에", "2019", True),
        ("BTS는", "BTS", True),
        ("서울 시청", "서울시청", True),
        ("パリの橋", "パリ", True),
        ("パリスの橋", "パリ", False),
        ("スタイル", "タイ", False),
        ("言った", "言", False),
        ("ไปเชียงใหม่แล้ว", "เชียงใหม่", True),
        ("王小明的桥", "王小明", True),
        ("王 小 明", "王小明", True),
        ("ABC公司成立", "ABC", True),
        ("Istanbul'da", "İstanbul", True),
        ("İSTANBUL'DA", "İstanbul", True),
        ("ISPARTA", "Isparta", True),
        ("ısparta", "Isparta", True),
        ("ＮＨＫの本", "NHK", True),
        ("हिन्दी में", "हिन्द", False),
        ("ΠΑΡΙΣ", "Πάρις", False),
        ("ΟΔΟΣ", "οδος", True),
        ("བོད་ཀྱི་", "བོད", True),
    ],
)
def test_a_name_is_found_on_the_boundaries_of_its_script(text: str, name: str, expected: bool) -> None:
    assert states(text, names([name])) is expected


def decomposed(folder: Path, *, fields: frozenset[str] | None = None) -> Path:
    """The set of ``folder`` with its texts decomposed (NFD), or with those of some fields alone."""
    path = folder / "words_musique_dev.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(json.dumps(_decomposed(record, fields), ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


def _decomposed(value: Any, fields: frozenset[str] | None, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _decomposed(each, fields, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_decomposed(each, fields, name) for each in value]
    return unicodedata.normalize("NFD", value) if isinstance(value, str) and (fields is None or name in fields) else value


MARKED = ("de", "tr", "ko", "ja")
"""The languages here with letters that can be decomposed."""


@pytest.mark.parametrize("code", ["ko", *(pytest.param(code, marks=pytest.mark.slow) for code in MARKED if code != "ko")])
@pytest.mark.parametrize("fields", [None, frozenset({"paragraph_text"}), frozenset({"answer"})], ids=["all", "texts", "answers"])
def test_decomposed_letters_are_the_same(code: str, fields: frozenset[str] | None, tmp_path: Path) -> None:
    figures = []
    for form in ("NFC", "NFD"):
        folder = tmp_path / form
        folder.mkdir()
        dataset = write_set(LANGUAGES[code], folder)
        if form == "NFD":
            decomposed(folder, fields=fields)
        found = kgqa.audit(dataset, out=folder / "audit")
        figures.append({each.check: each.figure for each in found.findings})
        kgqa.contrast("unanswerable", dataset, out=folder / "unanswerable")
        twins = [each for each in open_dataset(folder / "unanswerable").instances() if not each.answerable]
        figures[-1]["twins"] = len(twins)
        kgqa.contrast("probe", dataset, out=folder / "probe")
        figures[-1]["probes with the answer"] = sum(each.answerable for each in open_dataset(folder / "probe").instances())
    assert figures[0] == figures[1]
    assert figures[0]["twins"] == 6


@pytest.mark.parametrize("code", MARKED)
def test_compose_finds_decomposed_texts_the_same(code: str, tmp_path: Path) -> None:
    pools = []
    for form in ("NFC", "NFD"):
        folder = tmp_path / form
        folder.mkdir()
        path = write_single_hops(LANGUAGES[code], folder)
        if form == "NFD":
            content = json.loads(path.read_text("utf-8"))
            path.write_text(json.dumps(_decomposed(content, None), ensure_ascii=False), "utf-8")
        kept, _, refused, _ = set_questions([open_dataset(path)], SingleHopSettings(min_words=6, max_words=20))
        pools.append((len(kept), len(refused)))
    assert pools[0] == pools[1] == (6, 0)


@pytest.mark.parametrize(
    ("text", "answer", "absent"),
    [
        ("서울에서는 비가 왔다", "서울", False),
        ("서울대학교에 비가 왔다", "서울", True),
        ("큰서울은 멀다", "서울", True),
        ("Seoul은 멀다", "Seoul", False),
    ],
)
def test_the_audit_ends_korean_names_where_only_particles_follow(text: str, answer: str, absent: bool) -> None:
    shown = Paragraph(id="p", title="", text=text, supporting=None)
    asked = Instance(
        id="q", question="어디?", paragraphs=(shown,), answers=(answer,), answer_type="span", answerable=True, group="q", provenance=None
    )
    batch = Batch(Side(name="dev", against=False), 0, [asked])
    assert batch.absent.tolist() == [float(absent)]
    assert states(text, names([answer])) is not absent

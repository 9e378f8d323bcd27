"""What is counted as shared is what plain sets say; a certificate holds for the data and for no other."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.errors import BrokenInput
from kgqa.metrics.normalize import normalize
from kgqa.records import Instance, Step
from kgqa.splits.certificate import certificate, differences, read_certificate
from kgqa.splits.items import KINDS, ItemBatch, Items, facts, keys_of, texts_of
from kgqa.splits.leakage import SharedItems, add_split
from kgqa.splits.near_shared import NearSharedTexts

QUESTIONS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=4, unique=True), max_size=8)
SIDES = st.lists(QUESTIONS, min_size=2, max_size=3)


def items(questions: list[list[str]]) -> Items:
    owner = [number for number, each in enumerate(questions) for _ in each]
    return Items(np.array(owner, np.int64), keys_of(text for each in questions for text in each))


def counted(sides: list[list[list[str]]], batch: int = 3) -> SharedItems:
    shared = SharedItems()
    for place, questions in enumerate(sides):
        for first in range(0, len(questions) or 1, batch):
            earlier = [str(other) for other in range(place)]
            shared.update(str(place), items(questions[first : first + batch]), first=first, earlier=earlier)
    return shared


def asking(question: str) -> Instance:
    return Instance(
        id=question,
        question=question,
        paragraphs=(),
        answers=("yes",),
        answer_type="boolean",
        answerable=True,
        group=question,
        provenance=None,
    )


def test_splits_are_compared_with_those_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.splits.leakage.BATCH_ROWS", 2)
    shared = {"questions": SharedItems()}
    for split, questions in {"train": ["a", "b", "c"], "dev": ["d", "e", "b"], "test": ["c", "d", "f", "b", "a"]}.items():
        add_split(shared, split, [asking(f"Is it {name}?") for name in questions])
    counts = {(pair.earlier, pair.later): (pair.items, pair.questions, pair.of) for pair in shared["questions"].shared()}
    assert counts == {("train", "dev"): (1, 1, 3), ("train", "test"): (3, 3, 5), ("dev", "test"): (2, 2, 5)}


@given(sides=SIDES, batch=st.integers(1, 9))
def test_counts_are_those_of_plain_sets(sides: list[list[list[str]]], batch: int) -> None:
    found = {(pair.earlier, pair.later): pair for pair in counted(sides, batch).shared()}
    assert set(found) == {(str(a), str(b)) for b in range(len(sides)) for a in range(b)}
    for (a, b), pair in found.items():
        known = {text for each in sides[int(a)] for text in each}
        asked = sides[int(b)]
        assert pair.items == len(known & {text for each in asked for text in each})
        assert pair.questions == sum(not known.isdisjoint(each) for each in asked)
        assert pair.of == sum(bool(each) for each in asked)


@given(sides=SIDES)
def test_sightings_point_at_questions_that_share(sides: list[list[list[str]]]) -> None:
    for sighting in counted(sides).sightings():
        mine, theirs = sides[int(sighting.later)][sighting.number], sides[int(sighting.earlier)][sighting.counterpart]
        assert set(mine) & set(theirs)
        known = {text for each in sides[int(sighting.earlier)] for text in each}
        assert sighting.items == len(known & set(mine))


@given(questions=QUESTIONS, data=st.data())
def test_hashes_pin_the_set_and_not_its_order(questions: list[list[str]], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(questions))
    distinct = sorted({hashlib.sha256(text.encode()).digest()[:16] for each in questions for text in each})
    expected = {"0": (len(distinct), hashlib.sha256(b"".join(distinct)).hexdigest())}
    assert counted([questions]).digests() == counted([shuffled]).digests() == expected


def example(**fields: object) -> Instance:
    base = Instance(
        id="1", question="Who?", paragraphs=(), answers=("Ada",), answer_id=None, answer_type="span", candidates=None, chains=None,
        decomposition=None, answerable=True, group="1", provenance=None,
    )  # fmt: skip
    return replace(base, **fields)  # type: ignore[arg-type]


def test_facts_put_answers_in_the_place_of_references() -> None:
    steps = (
        Step(id="a", question="Green >> performer", answer="Steve Hillage", paragraph_id=None, depends_on=()),
        Step(id="b", question="#1 >> spouse, not #7", answer="Miquette Giraudy", paragraph_id=None, depends_on=("a",)),
    )
    assert list(facts(example(decomposition=steps))) == [
        "green performer = steve hillage",
        "steve hillage spouse not 7 = miquette giraudy",
    ]
    assert texts_of(example(decomposition=steps), "bridge-entities") == ["steve hillage"]


@pytest.mark.parametrize("reference", ["#0", "#1", "#2", "#9999", "#" + "1" * 5000, "&#1;", "#\u0661"])
def test_only_earlier_steps_are_put_in_the_place_of_a_reference(reference: str) -> None:
    steps = tuple(Step(id=name, question=f"{reference} of", answer="Ada", paragraph_id=None, depends_on=()) for name in "ab")
    assert next(facts(example(decomposition=steps))) == f"{normalize(reference)} of = ada"


def test_facts_of_the_graph_and_of_evidence_count() -> None:
    assert list(facts(example(provenance='{"qangaroo": {"head": "Q1", "relation": "P2"}}', answer_id="Q3"))) == ["Q1 P2 Q3"]
    assert list(facts(example(provenance='{"twowiki": {"evidences": [["The Film", "is", "B"]]}}'))) == ["film | is | b"]
    assert list(facts(example(provenance='{"twowiki": {"evidences": [3]}, "qangaroo": 3}'))) == []


@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_those_of_the_texts(kind: str) -> None:
    steps = (
        Step(id="a", question="one", answer="x", paragraph_id=None, depends_on=()),
        Step(id="b", question="two", answer="y", paragraph_id=None, depends_on=("a",)),
    )
    instances = [example(decomposition=steps), example(answers=(), question="?"), example(answer_type="boolean", answers=("yes",))]
    found = ItemBatch(instances).of(kind)
    expected = [(n, normalize(text) if "paragraph" in kind else text) for n, i in enumerate(instances) for text in texts_of(i, kind)]
    assert found.owner.tolist() == [number for number, _ in expected]
    assert found.keys.tolist() == keys_of(text for _, text in expected).tolist()


def test_near_duplicates_between_sides_name_the_questions() -> None:
    near = NearSharedTexts(width=1)
    words = [f"w{number}" for number in range(20)]
    texts = {"train": [" ".join(words), "nothing alike"], "dev": [" ".join([*words, "more"]), "nothing alike", "else entirely"]}
    for side, each in texts.items():
        near.update(side, keys_of(each)[:, 0].tolist(), each, range(len(each)), [0] * len(each))
    (pair,) = near.shared([("train", "dev")], most=10)
    assert (pair.texts, pair.of) == (1, 3)
    ((similarity, later, earlier),) = pair.most_alike
    assert similarity == pytest.approx(20 / 21)
    assert (later, earlier) == (0, 0)


def test_what_stands_in_both_is_not_almost_shared() -> None:
    near = NearSharedTexts(width=1)
    words = " ".join(f"w{number}" for number in range(20))
    near.update("train", [1, 2], [words, words + " more"], [0, 1], [0, 0])
    near.update("dev", [1], [words], [0], [0])
    assert near.shared([("train", "dev")], most=10)[0].texts == 0


def test_texts_with_other_labels_are_not_near_duplicates() -> None:
    near = NearSharedTexts(width=1)
    words = " ".join(f"w{number}" for number in range(20))
    near.update("train", [1], [words], [0], [7])
    near.update("dev", [2, 3], [words + " more", words + " yet"], [0, 1], [7, 8])
    assert near.shared([("train", "dev")], most=10)[0].texts == 1


def test_the_order_of_texts_in_a_large_bucket_changes_no_count() -> None:
    rng = np.random.default_rng(3)
    template = [f"w{number}" for number in range(20)]

    def text(number: int) -> str:
        words = template.copy()
        for place in rng.choice(20, int(rng.integers(1, 3)), replace=False).tolist():
            words[place] = f"other{place}of{number}"
        return " ".join(words)

    texts = {side: [text(1000 * size + number) for number in range(size)] for side, size in (("train", 3), ("dev", 600))}
    counts = set()
    for _ in range(3):
        near = NearSharedTexts(width=1)
        for side, each in texts.items():
            shuffled = [each[place] for place in rng.permutation(len(each))]
            near.update(side, keys_of(shuffled)[:, 0].tolist(), shuffled, range(len(each)), [0] * len(each))
        (pair,) = near.shared([("train", "dev")], most=10)
        counts.add((pair.texts, pair.of, near.not_compared))
    assert near.not_compared > 0
    assert len(counts) == 1, counts


def test_a_certificate_survives_its_file_and_tells_what_differs(tmp_path: Path) -> None:
    one = certificate({"a": 2, "b": 1}, {"questions": counted([[["x"], ["y"]], [["z"]]])}, {}, words={}, threshold=0.8, seed=0)
    (tmp_path / "certificate.json").write_text(json.dumps(asdict(one)), "utf-8")
    assert list(differences(one, read_certificate(tmp_path / "certificate.json"))) == []
    other = certificate({"a": 2, "b": 1}, {"questions": counted([[["x"], ["y"]], [["y"]]])}, {}, words={}, threshold=0.8, seed=0)
    told = list(differences(one, other))
    assert any(line.startswith("questions that 1 has of 0: 0, in 0 of 1") for line in told)
    assert any(line.startswith("questions of 1:") for line in told)
    assert "| questions | 0 – 1 | 0 |" in one.to_markdown()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"certificate": 3}', '{"certificate": {"kgqa": 1}}', "\x00"])
def test_what_is_no_certificate_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.json").write_text(text, "utf-8")
    with pytest.raises(BrokenInput, match="has no leakage certificate"):
        read_certificate(tmp_path / "c.json")

"""DiRe's published form: several records of a question, what their labels say, and sets of ``kgqa contrast`` in the same form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.commands.contrast import contrast
from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput
from kgqa.formats import dire, hotpotqa, native
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.records import Instance

EXAMPLES = Path(__file__).parent / "examples"
TRANSFORMED = EXAMPLES / "dire_dev.json"
LABELS = {"sufficiency": (1, 0, 0), "probe-of-sufficiency": (0, -1, 0), "probe": (None, None)}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
KINDS = ("probe", "sufficiency", "probe-of-sufficiency", "trivial")


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]]]:
    """A transform, and its records, those of a question not always side by side."""
    transform = draw(st.sampled_from(sorted(LABELS)))
    found = []
    for key in draw(st.lists(TEXT, min_size=1, max_size=3, unique=True)):
        whole = {"_id": key, "question": draw(TEXT), "answer": draw(TEXT | st.just("yes"))}
        for number, label in enumerate(LABELS[transform]):
            titles = draw(st.lists(TEXT, max_size=3, unique=True))
            facts = [
                [title, draw(st.sampled_from([0, 1, 9]))] for title in draw(st.lists(st.sampled_from([*titles, "elsewhere"]), max_size=3))
            ]
            context = [[title, draw(st.lists(TEXT, min_size=1, max_size=2))] for title in titles]
            labels = {} if label is None else {"sufficiency": label, "sub_idx": (number + 1) % 3}
            found.append(
                {**whole, "supporting_facts": facts, "context": context, **labels, **draw(st.sampled_from([{}, {"type": "bridge"}]))}
            )
    return transform, draw(st.permutations(found))


@given(files())
@settings(deadline=None)
def test_what_is_read_is_written(tmp_path_factory: pytest.TempPathFactory, drawn: tuple[str, list[dict[str, Any]]]) -> None:
    transform, records = drawn
    folder = tmp_path_factory.mktemp("dire")
    (folder / "x.json").write_text(json.dumps(records), "utf-8")
    instances = list(dire.read(folder / "x.json"))
    dire.write(instances, folder / "y.json")
    assert list(dire.read(folder / "y.json")) == instances
    assert json.loads((folder / "y.json").read_text("utf-8")) == records
    seen: dict[str, int] = {}
    for instance, record in zip(instances, records, strict=True):
        number = seen[record["_id"]] = seen.get(record["_id"], -1) + 1
        assert (instance.id, instance.group) == (f"{record['_id']}#{number}", record["_id"])
        assert noted(instance, "dire") == {
            "question": record["_id"],
            "transform": transform,
            "bipartition": None if transform == "sufficiency" else 0,
            "sub_idx": record.get("sub_idx", number),
            "sufficiency": record.get("sufficiency"),
            "removed": None,
            "answers": [record["answer"]],
        }
        assert instance.answerable == bool(instance.answers) == (record.get("sufficiency", 1) == 1)


def test_what_the_examples_become() -> None:
    assert open_dataset(TRANSFORMED).format == "dire"
    instances = list(dire.read(TRANSFORMED))
    assert [instance.id for instance in instances] == ["hd1#0", "hd1#1", "hd1#2", "hd2#0", "hd2#1", "hd2#2"]
    assert [instance.answers for instance in instances] == [("the Sill",), (), (), ("yes",), (), ()]
    assert [instance.answer_type for instance in instances] == ["span", "none", "none", "boolean", "none", "none"]
    assert noted(instances[5], "hotpotqa") == {"type": "comparison", "level": "hard", "absent_facts": [["Oats", 0]]}
    assert [paragraph.supporting for paragraph in instances[1].paragraphs] == [False, True, False]


def changed(change: Callable[[list[dict[str, Any]]], None], folder: Path) -> Path:
    records = json.loads(TRANSFORMED.read_text("utf-8"))
    change(records)
    path = folder / "x.json"
    path.write_text(json.dumps(records), "utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "error", "part"),
    [
        (
            lambda r: r[1].pop("sufficiency"),
            BrokenInput,
            "record 2, field 'sufficiency': expected 1 or 0, as in records before, found none",
        ),
        (lambda r: r[2].update(sufficiency=-1), BrokenInput, "record 3, field 'sufficiency': expected 1 or 0"),
        (lambda r: r[2].update(sufficiency=2), BrokenInput, "record 3, field 'sufficiency': expected 1 or 0"),
        (lambda r: r[2].update(sufficiency="much"), BrokenInput, "field 'sufficiency': expected a whole number, found text"),
        (lambda r: r[2].update(sufficiency=True), BrokenInput, "field 'sufficiency': expected a whole number, found true or false"),
        (lambda r: r[2].pop("sub_idx"), MissingInput, "record 3: the field 'sub_idx' is missing"),
        (lambda r: r[2].update(sub_idx=1), DuplicateId, "record 3: question hd1 has the sub_idx 1 twice"),
        (lambda r: [record.update(sufficiency=0) for record in r], BrokenInput, "every record has the sufficiency 0"),
        (lambda r: r[0].pop("sufficiency"), BrokenInput, "record 2, field 'sufficiency': expected none, as in records before, found 0"),
        (lambda r: r[4].update(dire={"question": "x"}), MissingInput, "record 5, field 'dire': the field 'transform' is missing"),
        (lambda r: r[0].update(dire=3), BrokenInput, "record 1, field 'dire': expected an object"),
        (lambda r: r[0].pop("_id"), MissingInput, "record 1: the field '_id' is missing"),
        (lambda r: r[1].pop("context") and r[1].pop("answer"), MissingInput, "record 2: the field 'context' is missing"),
        (lambda r: r.clear(), BrokenInput, "the file has no records"),
    ],
)
def test_what_is_wrong_is_said(change: Callable[[list[dict[str, Any]]], None], error: type[InputError], part: str, tmp_path: Path) -> None:
    path = changed(change, tmp_path)
    with pytest.raises(error) as caught:
        list(dire.read(path))
    assert part in str(caught.value)
    assert str(caught.value).startswith("x.json")


def test_recognised_by_its_labels_only() -> None:
    record = json.loads(TRANSFORMED.read_text("utf-8"))[0]
    assert dire.recognises(record)
    plain = {key: value for key, value in record.items() if key not in {"sufficiency", "sub_idx"}}
    assert not dire.recognises(plain)
    assert hotpotqa.recognises(plain)
    assert dire.recognises({**plain, "dire": {}})
    assert not dire.recognises({"sufficiency": 1, "sub_idx": 0, "id": "x"})


def test_what_no_transform_made_is_refused(tmp_path: Path) -> None:
    (first, *_) = hotpotqa.read(EXAMPLES / "hotpotqa_dev.json")
    with pytest.raises(BrokenInput, match=f"instance {first.id}: it was not made by one of DiRe's transforms"):
        dire.write([first], tmp_path / "x.json")


def without_parts_that_hotpotqa_lacks(instance: Instance) -> tuple[Any, ...]:
    provenance = json.loads(instance.provenance or "{}")
    marks = tuple((paragraph.id, paragraph.text, paragraph.supporting) for paragraph in instance.paragraphs)
    return instance.id, instance.group, instance.question, instance.answerable, instance.answers, marks, provenance


@pytest.mark.parametrize("level", ["paragraph", "sentence"])
@pytest.mark.parametrize("kind", KINDS)
def test_sets_of_ours_come_back(kind: str, level: str, tmp_path: Path) -> None:
    contrast(kind, three_facts(tmp_path), out=tmp_path / "ours", level=level)
    instances = list(native.read(tmp_path / "ours" / "dev.parquet"))
    assert len(instances) > 2
    dire.write(instances, tmp_path / "x.json")
    assert open_dataset(tmp_path / "x.json").format == "dire"
    assert list(map(without_parts_that_hotpotqa_lacks, dire.read(tmp_path / "x.json"))) == [
        without_parts_that_hotpotqa_lacks(instance) for instance in instances
    ]
    for record in json.loads((tmp_path / "x.json").read_text("utf-8")):
        # What the published code asks every record for.
        assert {"_id", "question", "answer", "supporting_facts", "context"} <= record.keys()
        assert (record["_id"], record["answer"]) == ("q", "the Sill")
        assert ({"sufficiency", "sub_idx"} <= record.keys()) == ("sufficiency" in kind)


def test_a_wrong_number_of_paragraph_ids(tmp_path: Path) -> None:
    contrast("probe", three_facts(tmp_path), out=tmp_path / "ours")
    dire.write(native.read(tmp_path / "ours" / "dev.parquet"), tmp_path / "x.json")
    records = json.loads((tmp_path / "x.json").read_text("utf-8"))
    records[1]["dire"]["paragraphs"].pop()
    (tmp_path / "x.json").write_text(json.dumps(records), "utf-8")
    with pytest.raises(BrokenInput, match=r"record 2, field 'dire.paragraphs': expected 5 different ids"):
        list(dire.read(tmp_path / "x.json"))


def three_facts(folder: Path) -> Path:
    """A HotpotQA set with one question that needs three paragraphs."""
    context = [
        ["Mill", ["The mill grinds rye.", " It stands in Harne."]],
        ["Oats", ["Oats grow in the north."]],
        ["Harne", ["Harne has a market.", " It lies in the valley of Olm."]],
        ["Olm", ["The valley of Olm is that of the Sill.", " It is steep."]],
        ["Rye", ["Rye is sown in autumn."]],
        ["Barley", ["Barley is not ground here."]],
        ["Wheat", ["Wheat likes it warm."]],
    ]
    facts = [["Mill", 1], ["Harne", 1], ["Olm", 0]]
    record = {"_id": "q", "question": "On which river is the mill?", "answer": "the Sill", "context": context, "supporting_facts": facts}
    path = folder / "three_dev.json"
    path.write_text(json.dumps([record]), "utf-8")
    return path


def test_a_probe_whose_format_is_not_named_says_how_to_name_it(tmp_path: Path) -> None:
    records = json.loads(TRANSFORMED.read_text("utf-8"))
    probe = [{key: value for key, value in record.items() if key not in {"sufficiency", "sub_idx"}} for record in records[1:3]]
    path = tmp_path / "probe_dev.json"
    path.write_text(json.dumps(probe), "utf-8")
    said = r"^probe_dev.json, record 2: id hd1 was already used in record 1; drop one of them"
    with pytest.raises(DuplicateId, match=said + ", or name the format if these are probes of DiRe's: --from dire.$"):
        list(open_dataset(path).instances())
    with pytest.raises(DuplicateId, match=r", or name the format if these are probes of DiRe's: kgqa convert --from dire.$"):
        list(open_dataset(path, naming="kgqa convert --from").instances())
    with pytest.raises(DuplicateId, match=said + r"\.$"):
        list(open_dataset(path, "hotpotqa").instances())
    assert [instance.group for instance in open_dataset(path, "dire").instances()] == ["hd1", "hd1"]
    path.write_text(json.dumps(probe[:1])[:-2] + ', "_id": "hd1"}]', "utf-8")
    with pytest.raises(DuplicateId, match=r"the key '_id' occurs twice in one object; drop one of them\.$"):
        list(open_dataset(path).instances())


@pytest.mark.real_data
def test_the_published_fixtures_come_back(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "hotpotqa" / "dire_fixtures"
    for name, transform in (
        ("probe_of_hotpotqa_fixture.json", "probe"), ("transformed_hotpotqa_fixture.json", "sufficiency"),
        ("probe_of_transformed_hotpotqa_fixture.json", "probe-of-sufficiency"),
    ):  # fmt: skip
        assert open_dataset(folder / name).format == ("hotpotqa" if transform == "probe" else "dire")
        instances = list(open_dataset(folder / name, "dire").instances())
        assert [(noted(instance, "dire")["transform"], instance.group) for instance in instances] == [(transform, "123")] * 2
        dire.write(instances, tmp_path / name)
        assert json.loads((tmp_path / name).read_text("utf-8")) == json.loads((folder / name).read_text("utf-8"))


@pytest.mark.real_data
@pytest.mark.parametrize("kind", KINDS)
def test_sets_made_of_real_questions_come_back(kind: str, real_data: Path, tmp_path: Path) -> None:
    contrast(kind, real_data / "hotpotqa" / "hotpot_dev_distractor_200.json", out=tmp_path / "ours", level="paragraph")
    done = kgqa.convert(tmp_path / "ours", to="dire", out=tmp_path / "x.json")
    assert done.counts["dev"] > 300
    assert done.changed == {}

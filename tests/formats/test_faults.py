"""What is wrong in the content of a record is kept, noted, counted in one line, and written back as it was; --strict refuses it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.errors import BrokenInput, KgqaError
from kgqa.formats import native
from kgqa.formats.faults import FAULTS, TOLERABLE, Fault, FaultCounts, faults_of, note_faults, without_faults
from kgqa.formats.instance_json import from_row, to_row
from kgqa.formats.provenance import note, noted
from kgqa.formats.question_set import open_dataset
from kgqa.formats.registry import FORMATS, find_format
from kgqa.recipes.contrasts.transforms import KINDS
from kgqa.records import Instance, Mention, Step
from kgqa.web.marks import pieces
from tests.conftest import Cli
from tests.formats.drawing import instances, sets
from tests.formats.test_beir import paragraph, question

EXAMPLES = Path(__file__).parent / "examples"
Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imperfect:
    """A format, a sound record of it, and what its authors may get wrong."""

    id: str
    """The field with the question's id."""
    changes: dict[str, tuple[Callable[[Record], object], str, str]]
    """What is wrong → how a record comes to it, the kind of the fault, and its place."""
    suffix: str = ".json"
    in_lines: bool = False

    def record(self, name: str) -> Record:
        text = (EXAMPLES / f"{name}_dev{self.suffix}").read_text("utf-8")
        return json.loads(text.splitlines()[0]) if self.in_lines else json.loads(text)[0]

    def write(self, records: list[Record], path: Path) -> Path:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        path.write_text("".join(lines) if self.in_lines else json.dumps(records), "utf-8")
        return path

    def written(self, path: Path) -> list[Record]:
        text = path.read_text("utf-8")
        return list(map(json.loads, text.splitlines())) if self.in_lines else json.loads(text)


def facts(*found: list[Any]) -> Callable[[Record], object]:
    return lambda record: record.update(supporting_facts=list(found))


def gold(record: Record) -> None:
    for field in ("question", "context", "type", "level", "entity_ids"):
        record.pop(field, None)


def marked(text: str | None, start: int, end: int) -> Record:
    value: Record = {"start": "1", "end": "1", "startOffset": start, "endOffset": end, "paragraphlabels": ["Answer"]}
    return {"type": "paragraphlabels", "value": value | ({} if text is None else {"text": text})}


def labelled(*results: Record) -> Callable[[Record], object]:
    return lambda task: task.update(annotations=[{"id": 7, "completed_by": 1, "result": list(results)}])


def hop(place: int, idx: int | None) -> Callable[[Record], object]:
    return lambda record: record["question_decomposition"][place].update(paragraph_support_idx=idx)


def twin(record: Record) -> None:
    del record["paragraphs"][1]
    record["answerable"] = False


SUPPORT = "absent-support"
YES = {"type": "choices", "value": {"choices": ["yes"]}}
FORMS = {
    "hotpotqa": Imperfect(
        id="_id",
        changes={
            "sentence": (facts(["Harne", 7], ["Mill of Aldern", 1], ["Harne", 7]), SUPPORT, "supporting_facts.0"),
            "negative": (facts(["Harne", 0], ["Mill of Aldern", -1]), SUPPORT, "supporting_facts.1"),
            "all": (facts(["Harne", 1]), SUPPORT, "supporting_facts.0"),
            "order": (facts(["Harne", 0], ["Mill of Aldern", 1], ["Harne", 0]), "", ""),
            "retrieved": (facts(["Elsewhere", 0], ["Mill of Aldern", 1]), "", ""),
            "gold": (gold, "", ""),
            "no title": (lambda r: r["context"][2].__setitem__(0, " "), "empty-title", "paragraphs.2.title"),
            "twice": (lambda r: r["context"].append(r["context"][0]), "equal-paragraphs", "paragraphs.3"),
            "no question": (lambda r: r.update(question=" "), "empty-question", "question"),
            "empty answer": (lambda r: r.update(answer=""), "empty-answer", "answers.0"),
        },
    ),
    "twowiki": Imperfect(
        id="_id",
        changes={
            "sentence": (facts(["Red Gate", 1], ["Blue Door", 0]), SUPPORT, "supporting_facts.0"),
            "order": (facts(["Red Gate", 0], ["Blue Door", 0], ["Red Gate", 0]), "", ""),
            "gold": (gold, "", ""),
            "nothing": (lambda r: r.update(answer="", supporting_facts=[], evidences=[], answer_id=None), "", ""),
        },
    ),
    "dire": Imperfect(
        id="_id",
        changes={
            "sentence": (lambda r: r["supporting_facts"].insert(0, [r["context"][0][0], 9]), SUPPORT, "supporting_facts.0"),
            "order": (lambda r: r["supporting_facts"].reverse(), "", ""),
            "gold": (gold, "", ""),
        },
    ),
    "musique": Imperfect(
        id="id",
        suffix=".jsonl",
        in_lines=True,
        changes={
            "elsewhere": (hop(1, 9), "absent-paragraph", "question_decomposition.1.paragraph_support_idx"),
            "nowhere": (hop(0, None), "absent-paragraph", "question_decomposition.0.paragraph_support_idx"),
            "twin": (twin, "", ""),
            "aliases": (lambda r: r.update(answer=None), "absent-answer", "answer"),
            "aliases alone": (lambda r: r.pop("answer"), "absent-answer", "answer"),
        },
    ),
    "strategyqa": Imperfect(
        id="qid",
        changes={
            "later": (lambda r: r["decomposition"].__setitem__(0, "Is #2 it?"), "wrong-reference", "decomposition.0"),
            "none": (lambda r: r["decomposition"].__setitem__(1, "Is #1 or #0 it?"), "wrong-reference", "decomposition.1"),
        },
    ),
    "qangaroo": Imperfect(
        id="id",
        changes={
            "unlisted": (lambda r: r.update(answer="harne"), "unlisted-answer", "answer"),
            "equal": (lambda r: r["candidates"].extend(["orrin", "orrin#2", "orrin"]), "equal-candidates", "candidates.3"),
            "none": (lambda r: r.update(candidates=[]), "unlisted-answer", "answer"),
            "masked": (lambda r: r.update(answer="___MASK9___", candidates=["___MASK1___"]), "unlisted-answer", "answer"),
        },
    ),
    "label_studio": Imperfect(
        id="data",
        changes={
            "elsewhere": (labelled(marked("Sill", 0, 4)), "wrong-place", "annotations.0.result.0"),
            "outside": (labelled(marked(None, 0, 999)), "wrong-place", "annotations.0.result.0"),
            "beside": (labelled(marked("Sill", 0, 4), YES), "wrong-place", "annotations.0.result.0"),
        },
    ),
}  # fmt: skip
CASES = [(name, what) for name, form in FORMS.items() for what in form.changes]
FAULTY = [(name, what) for name, what in CASES if FORMS[name].changes[what][1]]


def made(name: str, what: str) -> Record:
    form = FORMS[name]
    record = deepcopy(form.record(name))
    form.changes[what][0](record)
    return record


def numbered(name: str, record: Record, number: int) -> Record:
    """The record under an id of its own."""
    form, record = FORMS[name], deepcopy(record)
    (record["data"] if form.id == "data" else record)["id" if form.id == "data" else form.id] = f"q{number}"
    return record


def key(name: str, what: str) -> str:
    """The id of the Instance."""
    record = made(name, what)
    told = record["data"]["id"] if name == "label_studio" else record[FORMS[name].id]
    return f"{told}#0" if name == "dire" else str(told)


@pytest.mark.parametrize(("name", "what"), CASES)
def test_it_is_kept_noted_and_written_back_unchanged(name: str, what: str, tmp_path: Path) -> None:
    form, module = FORMS[name], find_format(name)
    record = made(name, what)
    source = open_dataset(form.write([record], tmp_path / f"dev{form.suffix}"))
    assert source.format == name
    (found,) = source.instances()
    kind, place = form.changes[what][1:]
    assert [(fault.kind, fault.place) for fault in faults_of(found)][:1] == ([(kind, place)] if kind else [])
    assert bool(source.faults.imperfect) == bool(kind)
    # Directly, and with our own format in between.
    module.write([found], tmp_path / f"again{form.suffix}")  # type: ignore[union-attr]
    assert form.written(tmp_path / f"again{form.suffix}") == [record]
    native.write([found], tmp_path / "between.parquet")
    (between,) = native.read(tmp_path / "between.parquet")
    assert between == found
    module.write([between], tmp_path / f"back{form.suffix}")  # type: ignore[union-attr]
    assert form.written(tmp_path / f"back{form.suffix}") == [record]


@pytest.mark.parametrize(("name", "what"), CASES)
def test_strict_refuses_what_breaks_a_promise_of_the_format(name: str, what: str, tmp_path: Path, cli: Cli) -> None:
    form = FORMS[name]
    path = form.write([made(name, what)], tmp_path / f"dev{form.suffix}")
    kind, place = form.changes[what][1:]
    outcome = cli("convert", path, "--to", "native", "--out", tmp_path / "out", "--strict")
    if kind and kind not in TOLERABLE:
        outcome.sentence(path.name, f"question {key(name, what)}, field '{place}': {FAULTS[kind]}", "or leave out --strict")
        assert not (tmp_path / "out").exists()
    else:
        assert (outcome.status, outcome.err) == (0, "")


@pytest.mark.parametrize("name", FORMS)
def test_a_set_in_which_every_record_is_imperfect(name: str, tmp_path: Path, cli: Cli) -> None:
    form = FORMS[name]
    whats = list(islice(cycle([what for what in form.changes if form.changes[what][1]]), 40))
    records = [numbered(name, made(name, what), number) for number, what in enumerate(whats)]
    path = form.write(records, tmp_path / f"dev{form.suffix}")
    for command in (("convert", "--to", name, "--out", tmp_path / "again"), ("convert", "--to", "native", "--out", tmp_path / "native")):
        outcome = cli(command[0], path, *command[1:])
        assert (outcome.status, outcome.err) == (0, "")
        (line,) = [line for line in outcome.out.splitlines() if "faults of content" in line]
        assert line.startswith("40 of 40 questions have faults of content, kept as they are: ")
        assert len(line) < 500
    (written,) = (tmp_path / "again").glob(f"dev*{form.suffix}")
    assert form.written(written) == records
    manifest = json.loads((tmp_path / "native" / "manifest.json").read_text("utf-8"))["faults"]
    assert manifest["imperfect"] == 40
    assert sum(manifest["kinds"].values()) >= 40
    outcome = cli("audit", path, "--out", tmp_path / "audit")
    assert (outcome.status, outcome.err) == (0, "")
    assert "40 of 40 questions have faults of content" in outcome.out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORMS)
def test_contrast_takes_or_rejects_imperfect_questions(kind: str, name: str, tmp_path: Path) -> None:
    form = FORMS[name]
    records = [numbered(name, made(name, what), number) for number, what in enumerate(form.changes)]
    path = form.write(records, tmp_path / f"dev{form.suffix}")
    try:
        kgqa.contrast(kind, path, out=tmp_path / "out")
    except KgqaError as error:
        assert str(error).endswith(".")  # noqa: PT017 - which of both happens depends on the format
    else:
        assert list(open_dataset(tmp_path / "out").instances())


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("to", FORMATS)
def test_another_format_takes_it_or_says_why_not(to: str, name: str, tmp_path: Path) -> None:
    form = FORMS[name]
    path = form.write([made(name, next(iter(form.changes)))], tmp_path / f"dev{form.suffix}")
    try:
        done = kgqa.convert(path, to=to, out=tmp_path / "out", lossy=True)
    except KgqaError as error:
        assert str(error).startswith("instance ")  # noqa: PT017
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
    else:
        assert done.counts == {"dev": 1}


def wild(instance: Instance) -> Iterator[Instance]:
    """The same with places that are not in the text."""
    for change in (
        {"mentions": (Mention(entity="e", start=-3, end=2), Mention(entity="e", start=5, end=1), Mention(entity="e", start=0, end=10_000))},
        {"sentences": (0, 500), "supporting_sentences": (0,)},
        {"sentences": (7, 3, -1), "supporting_sentences": (1,)},
        {"sentences": (0,), "supporting_sentences": (0, 8)},
        {"sentences": None, "supporting_sentences": (0,)},
        {"sentences": (0,), "supporting_sentences": (-1,)},
    ):
        first, *others = instance.paragraphs
        yield replace(instance, paragraphs=(replace(first, **change), *others))


TEXTS = {
    "a": "The mill of Aldern grinds rye. It stands in Harne.", "b": "Harne lies on the Sill.", "c": "Oats grow in Orrin.",
    "d": "Rye is sown in autumn.", "e": "Barley is not ground here."
}  # fmt: skip
MARKS: dict[str, Any] = {"supporting": True, "sentences": (0,), "supporting_sentences": (0,)}
NO_MARKS = MARKS | {"supporting": False, "supporting_sentences": ()}
SHOWN = [paragraph(name, text, title=name, **(MARKS if name in "ab" else NO_MARKS)) for name, text in TEXTS.items()]
MILL = question("q", *SHOWN, answers=("the Sill",))


def test_a_place_outside_its_text_is_seen_in_any_instance() -> None:
    seen = [[(fault.kind, fault.place) for fault in faults_of(one)] for one in wild(MILL)]
    assert all(kind == "wrong-place" for found in seen for kind, _ in found)
    assert [[place.removeprefix("paragraphs.0.") for _, place in found] for found in seen] == [
        ["mentions.0", "mentions.1", "mentions.2"], ["sentences.1"], ["sentences.2"],
        ["supporting_sentences.1"], ["supporting_sentences.0"], ["supporting_sentences.0"],
    ]  # fmt: skip
    assert faults_of(MILL) == ()


def test_native_rows_and_carried_ones_keep_such_places(tmp_path: Path, cli: Cli) -> None:
    found = [replace(one, id=f"q{number}") for number, one in enumerate(wild(MILL))]
    (tmp_path / "set").mkdir()
    native.write(found, tmp_path / "set" / "dev.parquet")
    assert list(native.read(tmp_path / "set" / "dev.parquet")) == found
    assert [from_row(json.loads(json.dumps(to_row(one))), "row") for one in found] == found
    for to in ("beir", "huggingface", "label_studio", "native"):
        assert kgqa.convert(tmp_path / "set", to=to, out=tmp_path / to).changed == {}
        assert list(open_dataset(tmp_path / to).instances()) == found
    cli("convert", tmp_path / "set", "--to", "native", "--out", tmp_path / "x", "--strict").sentence(
        "dev.parquet, question q0, field 'paragraphs.0.mentions.0': a text is not where its place says: from -3 to 2 in a text of 50"
    )
    outcome = cli("audit", tmp_path / "set", "--out", tmp_path / "audit")
    assert (outcome.status, outcome.err) == (0, "")
    (wrong,) = [
        one for one in json.loads((tmp_path / "audit" / "audit.json").read_text("utf-8"))["findings"] if one["check"] == "wrong-spans"
    ]
    assert wrong["figure"] == 1.0


def test_nothing_breaks_on_such_places(tmp_path: Path, cli: Cli) -> None:
    for number, one in enumerate(wild(MILL)):
        folder, out = tmp_path / str(number), tmp_path / f"{number}-out"
        folder.mkdir()
        out.mkdir()
        native.write([one], folder / "dev.parquet")
        outcome = cli("show", folder)
        assert (outcome.status, outcome.err) == (0, "")
        assert TEXTS["a"] in outcome.out.replace("\n", " ")
        shown = one.paragraphs[0]
        assert "".join(piece.text for piece in pieces(shown.text, shown.mentions or (), roles={}, steps={})) == shown.text
        for kind in KINDS:
            for level in ("paragraph", "sentence"):
                try:
                    kgqa.contrast(kind, folder, out=out / f"{kind}-{level}", level=level)
                except KgqaError as error:
                    assert str(error).endswith(".")  # noqa: PT017
        for to in ("hotpotqa", "twowiki"):
            kgqa.convert(folder, to=to, out=out / to, lossy=True)
            (again,) = open_dataset(out / to).instances()
            assert [paragraph.text for paragraph in again.paragraphs] == [paragraph.text for paragraph in one.paragraphs]


PLACES = st.integers(-5, 30)


@st.composite
def misplaced(draw: st.DrawFn) -> Instance:
    """An Instance of which any place may be anywhere."""
    one = draw(instances(at_least=1))
    mentions = st.lists(st.builds(Mention, entity=st.sampled_from(["a", "b"]), start=PLACES, end=PLACES), max_size=3).map(tuple)
    numbers = st.none() | st.lists(PLACES, max_size=3).map(tuple)
    return replace(
        one,
        paragraphs=tuple(
            replace(entry, mentions=draw(mentions), sentences=draw(numbers), supporting_sentences=draw(numbers)) for entry in one.paragraphs
        ),
    )


@given(sets(misplaced(), at_least=1), st.sampled_from(tuple(FORMATS)))
@settings(deadline=None)
def test_every_format_takes_any_place_or_says_why_not(tmp_path_factory: pytest.TempPathFactory, drawn: list[Instance], to: str) -> None:
    folder = tmp_path_factory.mktemp("set")
    native.write(drawn, folder / "dev.parquet")
    try:
        done = kgqa.convert(folder, to=to, out=folder.with_name(f"{folder.name}-out"))
    except KgqaError as error:
        assert str(error).endswith((".", "?"))  # noqa: PT017
    else:
        assert sum(done.counts.values()) == len(drawn)


def test_a_place_that_no_column_has_room_for_is_named(tmp_path: Path) -> None:
    far = replace(MILL.paragraphs[0], mentions=(Mention(entity="e", start=0, end=1 << 40),))
    with pytest.raises(BrokenInput, match="instance q: a mention or sentence is at a place beyond 2,147,483,648"):
        native.write([replace(MILL, paragraphs=(far,))], tmp_path / "x.parquet")


def test_the_summary_speaks_of_one_as_of_one() -> None:
    counts = FaultCounts()
    kinds = list(FAULTS)[:4]
    counts.add(replace(MILL, provenance=note_faults([Fault(kind=kind, place=kind, detail="d") for kind in kinds], beside=None)))
    assert counts.sentence.startswith("1 of 1 questions has faults of content, kept as they are: ")
    assert counts.sentence.endswith("; and 1 more kind. It is q.")


def test_the_summary_is_short_whatever_there_is() -> None:
    counts = FaultCounts()
    for number in range(10_000):
        faults = [Fault(kind=kind, place=f"field.{number}", detail="d" * 1_000) for kind in list(FAULTS)[: number % len(FAULTS) + 1]]
        counts.add(replace(MILL, id="i" * 1_000 + str(number), provenance=note_faults(faults, beside=None)))
    assert counts.imperfect == counts.questions == 10_000
    assert counts.sentence.startswith("10,000 of 10,000 questions have faults of content, kept as they are: ")
    assert f"; and {len(FAULTS) - 3} more kinds." in counts.sentence
    assert len(counts.sentence) < 600
    assert "\n" not in counts.sentence
    total = FaultCounts()
    total += counts
    total += counts
    assert (total.questions, total.kinds) == (20_000, Counter({kind: 2 * number for kind, number in counts.kinds.items()}))
    assert FaultCounts().sentence == ""


def test_faults_are_noted_beside_what_is_there_already() -> None:
    fault, other = Fault(kind="wrong-place", place="a.0", detail="d"), Fault(kind="absent-answer", place="b", detail='"é"')
    for beside in (None, note("musique", {"x": "faults"}), '{"x": {"faults": {}}}', "{}", "{ } ", '{"y": {"z": [1]}} '):
        found = note_faults([fault], beside=beside)
        one = replace(MILL, provenance=found)
        assert faults_of(one) == (fault,)
        assert {**json.loads(beside or "{}"), "faults": {"a.0": ["wrong-place", "d"]}} == json.loads(found or "")
        both = replace(MILL, provenance=note_faults([other], beside=found))
        assert faults_of(both) == (fault, other)
        assert faults_of(without_faults(both, ("a.",))) == (other,)
        assert json.loads(without_faults(one, ("a.",)).provenance or "{}") == json.loads(beside or "{}")
    assert note_faults([], beside="{ }") == "{ }"


@pytest.mark.parametrize(
    "notes", ["[]", '{"faults": 3}', '{"faults": {"x": 3}}', '{"faults": {"x": [[], []]}}', '{"faults": {"x": ["odd", ""]}}']
)
def test_a_note_that_is_none_is_named(notes: str) -> None:
    with pytest.raises(BrokenInput, match="instance q"):
        faults_of(replace(MILL, provenance=notes if notes != "[]" else '["faults"]'))


def test_a_note_of_the_order_of_facts_is_not_true_of_a_part_of_the_question(tmp_path: Path) -> None:
    context = [[name, [text]] for name, text in TEXTS.items()]
    record = {
        "_id": "q",
        "question": "On which river is the mill?",
        "answer": "the Sill",
        "context": context,
        "supporting_facts": [["b", 0], ["a", 0]],
    }
    (tmp_path / "dev.json").write_text(json.dumps([record]), "utf-8")
    kgqa.contrast("probe", tmp_path / "dev.json", out=tmp_path / "probe")
    found = list(open_dataset(tmp_path / "probe").instances())
    assert found
    assert all("given_facts" not in noted(one, "hotpotqa") for one in found)
    assert kgqa.convert(tmp_path / "probe", to="dire", out=tmp_path / "dire.json").changed == {}


def reasons(folder: Path, kind: str, instance: Instance, level: str = "paragraph") -> list[tuple[str, str]]:
    """Why a question was left out of a set in which others were not."""
    sound = [replace(MILL, id=f"s{number}", group=f"s{number}") for number in range(2)]
    native.write([*sound, instance], folder / "dev.parquet")
    kgqa.contrast(kind, folder, out=folder.with_name("out"), level=level)
    rows = pq.read_table(folder.with_name("out") / "rejected.parquet").to_pylist()
    return [(row["reason"], row["detail"]) for row in rows if row["id"] == instance.id]


def test_contrast_says_why_it_leaves_a_question_out(tmp_path: Path) -> None:
    (tmp_path / "steps").mkdir()
    step = Step(id="1", question="Where?", answer="Harne", paragraph_id="elsewhere", depends_on=())
    ((reason, detail),) = reasons(tmp_path / "steps", "probe", replace(MILL, decomposition=(step,)))
    assert (reason, detail) == ("a supporting fact is not among the paragraphs", "step 1, paragraph elsewhere")
    sentences = tmp_path / "more" / "sentences"
    sentences.mkdir(parents=True)
    wrong = replace(MILL, paragraphs=(replace(MILL.paragraphs[0], sentences=(0, 500)), *MILL.paragraphs[1:]))
    assert reasons(sentences, "probe", wrong, "sentence") == [("a sentence is not where the source says", "paragraph a")]

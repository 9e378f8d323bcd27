"""``kgqa contrast``: whole sets of every format, from Python and from the command line; nothing half-written, nothing silently lost."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml  # type: ignore[import-untyped]

from kgqa.commands.contrast import Contrast, contrast
from kgqa.errors import BrokenInput, EmptyResult, KgqaError, MissingInput, SettingsError, StorageError
from kgqa.formats import hotpotqa, musique, native
from kgqa.formats.faults import Fault, faults_of, note_faults
from kgqa.formats.instance_json import to_row
from kgqa.formats.provenance import everything, noted
from kgqa.formats.question_set import open_dataset
from kgqa.recipes.contrasts.dataset import BROKEN
from kgqa.recipes.contrasts.questions import REASONS, UNANSWERABLE
from kgqa.recipes.contrasts.transforms import BY_FACTS, KINDS, Settings
from kgqa.records import Candidate, Instance
from kgqa.scoring.default_metric import default_metric
from tests.conftest import Cli
from tests.languages.drawing import LANGUAGES, write_set
from tests.recipes.contrasts.test_adversarial import SET as NOVELS
from tests.recipes.contrasts.test_unanswerable import SET as CARVERS

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


DRAWS_NOTHING = ("probe", "gold-chain", "document-removal")


def questions(count: int, *, prefix: str = "q", kind: str = "") -> list[Instance]:
    """Two-hop questions, with candidates where the ``kind`` needs them; every eighth is the same but for its id."""
    return [
        replace(chosen_from(instance) if kind == "document-removal" else instance, id=f"{prefix}{number}", group=f"{prefix}{number}")
        for number in range(count)
        for instance in [(NOVELS if number % 16 < 8 else CARVERS)[number % 8]]
    ]


def chosen_from(instance: Instance) -> Instance:
    """The question with candidates."""
    answer = instance.answers[0]
    return replace(instance, candidates=(Candidate(id="no", text="nowhere"), Candidate(id="yes", text=answer)), answer_id="yes")


@pytest.fixture
def dataset(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A set with splits, and with questions that cannot be transformed."""
    folder = tmp_path / "set"
    folder.mkdir()
    # A test of every kind asks for questions that its kind can transform.
    kind = request.node.callspec.params.get("kind", "") if hasattr(request.node, "callspec") else ""
    train = questions(40, prefix="t", kind=kind)
    train[3] = replace(train[3], answers=(), answer_type="none", answerable=False)
    train[5] = replace(train[5], paragraphs=train[5].paragraphs[:2])
    train[10], train[11] = replace(train[10], group="t-pair"), replace(train[11], group="t-pair")
    for name, instances in (("train", train), ("dev", questions(16, prefix="d", kind=kind)), ("test", [])):
        native.write(instances, folder / f"{name}.parquet")
    return folder


def read(folder: Path) -> dict[str, list[Instance]]:
    return {split: list(native.read(path)) for split, path in native.split_files(folder).items()}


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir()) if path.name != "manifest.json"}


def rejected(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "rejected.parquet").to_pylist()
    return rows


def original_id(instance: Instance) -> str:
    return str(noted(instance, "dire").get("question") or instance.id.removesuffix(musique.TWIN))


@pytest.mark.parametrize("kind", ["unanswerable", "probe", "sufficiency", "probe-of-sufficiency"])
def test_what_is_made_unanswerable_has_no_fault_that_only_other_questions_have(kind: str, tmp_path: Path) -> None:
    faults = [
        Fault(kind="absent-answer", place="answer", detail="there are only aliases of it"),
        Fault(kind="absent-paragraph", place="question_decomposition.0.paragraph_support_idx", detail="the step has none"),
        Fault(kind="wrong-place", place="links.0.indices", detail="it stands elsewhere"),
    ]
    native.write((replace(instance, provenance=note_faults(faults, beside=None)) for instance in questions(32)), tmp_path / "dev.parquet")
    contrast(kind, tmp_path / "dev.parquet", out=tmp_path / "out")
    found = read(tmp_path / "out")["dev"]
    assert {instance.answerable for instance in found} == {True, False}
    for instance in found:
        assert faults_of(instance) == tuple(faults if instance.answerable else faults[2:])
        assert noted(instance, "dire") or noted(instance, "unanswerable") or instance.answerable
    (tmp_path / "more").mkdir()
    native.write(
        (replace(instance, provenance=note_faults(faults[:2], beside=None)) for instance in questions(32)),
        tmp_path / "more" / "dev.parquet",
    )
    contrast(kind, tmp_path / "more" / "dev.parquet", out=tmp_path / "without")
    for instance in read(tmp_path / "without")["dev"]:
        assert ("faults" in everything(instance)) == instance.answerable


@EVERY_KIND
def test_every_question_is_transformed_or_rejected_with_a_reason(kind: str, dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "made" / kind
    result = contrast(kind, dataset, out=out)
    before, after = read(dataset), read(out)
    assert set(after) == {"train", "dev", "test"}
    rows = rejected(out)
    for split, instances in before.items():
        kept = {original_id(instance) for instance in after[split]}
        refused = [row["id"] for row in rows if row["split"] == split]
        assert sorted([*kept, *refused]) == sorted(instance.id for instance in instances)
        assert result.counts[split] == len(after[split])
        assert result.groups[split] == len({instance.group for instance in after[split]})
    reasons = {row["id"]: row["reason"] for row in rows}
    assert reasons["t3"] == UNANSWERABLE
    assert (reasons.get("t5") == REASONS["short"]) == (kind in BY_FACTS)
    assert all(row["stage"] == "contrast" and row["detail"] for row in rows)
    funnel = {row.reason: row for row in result.funnel}
    assert funnel["read"].left == 56
    assert Counter(reasons.values()) == {reason: row.removed for reason, row in funnel.items() if row.removed is not None}
    assert result.funnel[-1].left == sum(result.counts.values())


@EVERY_KIND
def test_what_breaks_its_invariant_is_left_out_and_counted(
    kind: str, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, whole = "d0" if kind == "adversarial" else "d8", Settings.faults  # noqa: A001 - the first that this kind can transform
    monkeypatch.setattr(Settings, "faults", lambda self, q, made: ["one", "one", "two"] if q.id == id else whole(self, q, made))
    result = contrast(kind, dataset, out=tmp_path / "made")
    (row,) = [row for row in rejected(tmp_path / "made") if row["id"] == id]
    assert (row["reason"], row["detail"]) == (BROKEN, "one; two")
    assert [entry.removed for entry in result.funnel if entry.reason == BROKEN] == [1]
    assert id not in {original_id(instance) for instance in read(tmp_path / "made")["dev"]}


@EVERY_KIND
def test_the_same_input_settings_and_seed_give_the_same_bytes(kind: str, dataset: Path, tmp_path: Path) -> None:
    for name in "ab":
        contrast(kind, dataset, out=tmp_path / name, seed=7)
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    if kind not in DRAWS_NOTHING:
        contrast(kind, dataset, out=tmp_path / "c", seed=8)
        assert digests(tmp_path / "a") != digests(tmp_path / "c")


@EVERY_KIND
def test_a_question_is_transformed_alike_wherever_it_stands(kind: str, tmp_path: Path) -> None:
    items = []
    for name, instances in (("a", questions(32, kind=kind)), ("b", questions(32, kind=kind)[::-1])):
        (tmp_path / name).mkdir()
        native.write(instances, tmp_path / name / "dev.parquet")
        contrast(kind, tmp_path / name, out=tmp_path / f"{name}-made")
        items.append({instance.id: instance for instance in read(tmp_path / f"{name}-made")["dev"]})
    assert items[0] == items[1]


def test_what_is_written_says_where_it_comes_from(dataset: Path, tmp_path: Path) -> None:
    contrast("sufficiency", dataset, out=tmp_path / "made", level="sentence", seed=5, max_facts=3)
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text("utf-8"))
    assert manifest["inputs"] == {
        f"{split}.parquet": hashlib.sha256((dataset / f"{split}.parquet").read_bytes()).hexdigest() for split in ("train", "dev", "test")
    }
    assert manifest["passed"] == {
        "kind": "sufficiency", "dataset": "set", "level": "sentence", "seed": 5, "inoculation": 0, "max_facts": 3, "format": None,
        "paragraphs": None, "strict": False,
    }  # fmt: skip
    assert manifest["settings"] == {"kind": "sufficiency", "level": "sentence", "seed": 5, "max_facts": 3, "inoculation": 0}
    assert (manifest["from"], manifest["recipe"], manifest["seed"]) == ("native", "contrast", 5)
    assert manifest["files"] == digests(tmp_path / "made")
    assert manifest["versions"]["kgqa"]
    card = (tmp_path / "made" / "README.md").read_text("utf-8")
    assert KINDS["sufficiency"] in card
    assert manifest["content"] in card
    assert "test.parquet" not in card  # an empty split cannot be loaded
    assert str(tmp_path) not in card + json.dumps(manifest)
    native.check_whole(tmp_path / "made")


def test_the_format_that_a_set_had_first_is_carried_on(dataset: Path, tmp_path: Path) -> None:
    def origin(folder: Path, said: str) -> str:
        (folder / "manifest.json").write_text(said, "utf-8")
        contrast("adversarial", folder, out=tmp_path / "once")
        contrast("sufficiency", tmp_path / "once", out=tmp_path / "twice")
        found = {json.loads((tmp_path / name / "manifest.json").read_text("utf-8"))["from"] for name in ("once", "twice")}
        shutil.rmtree(tmp_path / "once")
        shutil.rmtree(tmp_path / "twice")
        assert len(found) == 1
        return str(found.pop())

    files = '"files": {"README.md": ""}'
    assert origin(dataset, f'{{"recipe": "convert", "from": "hotpotqa", {files}}}') == "hotpotqa"
    for said in (f'{{"recipe": "qangaroo", {files}}}', f'{{"from": ["hotpotqa"], {files}}}', f'{{"from": "nothing", {files}}}'):
        assert origin(dataset, said) == "native"


@pytest.mark.parametrize(("percent", "groups"), [(1, 1), (5, 2)])
def test_a_training_portion_of_the_train_split_holds_whole_groups(percent: int, groups: int, dataset: Path, tmp_path: Path) -> None:
    whole = read_made("probe", dataset, tmp_path / "whole")
    result = contrast("probe", dataset, out=tmp_path / "portion", inoculation=percent)
    portion = read(tmp_path / "portion")
    chosen = {instance.group for instance in portion["train"]}
    assert len(chosen) == groups == result.groups["train"]
    assert portion["train"] == [instance for instance in whole["train"] if instance.group in chosen]
    assert portion["dev"] == whole["dev"]
    assert result.funnel[-1].removed == len(whole["train"]) - len(portion["train"])
    assert result.counts == {split: len(instances) for split, instances in portion.items()}


def test_without_a_train_split_the_portion_is_taken_from_what_is_tested(dataset: Path, tmp_path: Path) -> None:
    (dataset / "train.parquet").unlink()
    whole = read_made("probe", dataset, tmp_path / "whole")
    result = contrast("probe", dataset, out=tmp_path / "portion", inoculation=5)
    portion = read(tmp_path / "portion")
    assert {instance.group for instance in portion["train"]}.isdisjoint(instance.group for instance in portion["dev"])
    assert sorted(portion["train"] + portion["dev"], key=repr) == sorted(whole["dev"], key=repr)
    assert result.groups["train"] == 1
    assert result.funnel[-1].removed == 0


def read_made(kind: str, dataset: Path, out: Path) -> dict[str, list[Instance]]:
    contrast(kind, dataset, out=out)
    return read(out)


def test_one_contrast_takes_what_another_made(dataset: Path, tmp_path: Path) -> None:
    contrast("adversarial", dataset, out=tmp_path / "adversarial")
    result = contrast("sufficiency", tmp_path / "adversarial", out=tmp_path / "both")
    false = {paragraph.id for instance in read(tmp_path / "adversarial")["dev"] for paragraph in instance.paragraphs if "#" in paragraph.id}
    shown = {paragraph.id for instance in read(tmp_path / "both")["dev"] for paragraph in instance.paragraphs}
    assert false
    assert false <= shown
    assert noted(read(tmp_path / "both")["dev"][0], "dire")["of"]["transform"] == "adversarial"
    contrast("unanswerable", dataset, out=tmp_path / "full")
    again = contrast("sufficiency", tmp_path / "full", out=tmp_path / "of-full")
    # Unanswerable twins are no questions that suffice anywhere.
    assert {row["reason"] for row in rejected(tmp_path / "of-full") if row["id"].endswith("#unanswerable")} == {UNANSWERABLE}
    assert again.counts["dev"] == 3 * read_questions(tmp_path / "full")
    assert result.counts["dev"] == 3 * len(read(tmp_path / "adversarial")["dev"])


def read_questions(folder: Path) -> int:
    return sum(instance.answerable for instance in read(folder)["dev"])


def test_paragraphs_of_other_splits_do_not_slip_in(dataset: Path, tmp_path: Path) -> None:
    texts = {split: {p.text for instance in found for p in instance.paragraphs} for split, found in read(dataset).items()}
    result = read_made("unanswerable", dataset, tmp_path / "made")
    for split, instances in result.items():
        assert {paragraph.text for instance in instances for paragraph in instance.paragraphs} <= texts[split]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"kind": "prob"}, "did you mean probe"),
        ({"level": "word"}, "level 'word' is not known"),
        ({"kind": "unanswerable", "level": "sentence"}, "level: the contrast unanswerable deals in whole paragraphs"),
        ({"kind": "adversarial", "max_facts": 3}, "max_facts: the contrast adversarial"),
        ({"inoculation": 2}, "inoculation 2 is not one of 0, 1, 5"),
        ({"max_facts": 1}, "max_facts 1 is not between 2 and 10"),
        ({"max_facts": 11}, "max_facts 11"),
        ({"seed": -1}, "seed -1"),
        ({"format": "hotpotq"}, "did you mean hotpotqa"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], says: str, dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=says):
        contrast(**{"kind": "probe", "dataset": dataset, "out": tmp_path / "made", **settings})
    assert not list(tmp_path.glob("*made*"))
    assert not list(tmp_path.glob(".*"))


def failing(tmp_path: Path, dataset: Path, kind: str = "probe") -> KgqaError:
    with pytest.raises(KgqaError) as error:
        contrast(kind, dataset, out=tmp_path / "made")
    assert not (tmp_path / "made").exists()
    assert not list(tmp_path.glob(".*"))
    return error.value


def test_nothing_is_left_where_a_set_fails(dataset: Path, tmp_path: Path) -> None:
    assert isinstance(failing(tmp_path, tmp_path / "nowhere"), MissingInput)
    rows = [hotpotqa.to_record(instance) for instance in questions(3)]
    (tmp_path / "half.json").write_text(json.dumps(rows)[:-40], "utf-8")
    assert isinstance(failing(tmp_path, tmp_path / "half.json"), BrokenInput)
    result = failing(tmp_path, dataset_of(tmp_path, [replace(q, answerable=False) for q in questions(2)]))
    assert isinstance(result, EmptyResult)
    assert "no question of dev can be transformed by probe: the question has no answer (2)" in str(result)
    assert "no decomposition" in str(failing(tmp_path, dataset_of(tmp_path, list(NOVELS)), "unanswerable"))
    assert isinstance(failing(tmp_path, dataset_of(tmp_path, [])), EmptyResult)
    contrast("probe", dataset, out=tmp_path / "probe")
    assert "contains parts of questions" in str(failing(tmp_path, tmp_path / "probe"))


def dataset_of(tmp_path: Path, instances: list[Instance]) -> Path:
    folder = tmp_path / "only"
    folder.mkdir(exist_ok=True)
    native.write(instances, folder / "dev.parquet")
    return folder


def test_a_portion_that_leaves_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmptyResult, match="leave nothing in dev"):
        contrast("probe", dataset_of(tmp_path, questions(1)), out=tmp_path / "made", inoculation=5)
    assert not (tmp_path / "made").exists()


def test_what_is_there_is_never_replaced(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(StorageError, match="already there"):
        contrast("probe", dataset, out=tmp_path / "made")
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["notes.txt"]
    (tmp_path / "empty").mkdir()
    contrast("probe", dataset, out=tmp_path / "empty")
    assert native.split_files(tmp_path / "empty")


class TestOnTheCommandLine:
    """The same by ``kgqa contrast``."""

    def test_it_prints_what_was_left_out_and_what_comes_next(self, dataset: Path, tmp_path: Path, cli: Cli) -> None:
        outcome = cli("contrast", "probe", dataset, "--out", tmp_path / "made", "--level", "sentence", "--seed", "3", "--max-facts", "4")
        assert outcome.status == 0, outcome.err
        # Half of the questions have no sentence offsets; of train's others, one has no answer. With sentences, the short one suffices.
        assert "train 44 of 22 groups, dev 16 of 8 groups, test 0 of 0 groups" in outcome.out
        assert "sentences" in outcome.out.partition("What was left out, and why")[2]
        assert f"Next: kgqa show {tmp_path / 'made'}" in outcome.out
        assert native.split_files(tmp_path / "made")

    def test_mistakes_end_in_one_sentence(self, dataset: Path, tmp_path: Path, cli: Cli) -> None:
        out = tmp_path / "made"
        cli("contrast", "prob", dataset, "--out", out).sentence("'prob' is not known", "did you mean probe")
        cli("contrast", "probe", tmp_path / "nowhere", "--out", out).sentence("nowhere", "no such file or folder")
        cli("contrast", "probe", dataset, "--out", out, "--inoculation", "50").sentence("inoculation 50")
        cli("contrast", "unanswerable", dataset, "--out", out, "--level", "sentence").sentence("level")
        cli("contrast", "probe", dataset, "--out", dataset).sentence("already there", "--out")
        cli("contrast", "probe", dataset, "--out", dataset / "x").sentence("is inside the set that is read", "--out")
        assert not out.exists()

    def test_a_note_that_is_no_list_is_named(self, tmp_path: Path, cli: Cli) -> None:
        broken = replace(NOVELS[0], provenance='{"hotpotqa": {"supporting_facts": 7}}')
        native.write([broken], tmp_path / "dev.parquet")
        result = cli("contrast", "probe", tmp_path / "dev.parquet", "--out", tmp_path / "made")
        result.sentence(f"instance {broken.id}, provenance, 'hotpotqa.supporting_facts': expected a list", "generate the dataset again")
        assert not (tmp_path / "made").exists()

    @EVERY_KIND
    def test_the_next_command_that_is_named_has_a_metric(self, kind: str, tmp_path: Path, cli: Cli) -> None:
        native.write([replace(q, provenance='{"hotpotqa": {}}') for q in questions(16, kind=kind)], tmp_path / "dev.parquet")
        result = cli("contrast", kind, tmp_path / "dev.parquet", "--out", tmp_path / "made")
        assert f"kgqa show {tmp_path / 'made'}" in result.out
        assert (f"kgqa evaluate {tmp_path / 'made'} PREDICTIONS" in result.out) == (kind != "trivial")
        (tmp_path / "none.json").write_text("{}", "utf-8")
        said = cli("evaluate", tmp_path / "made", tmp_path / "none.json").sentence()
        assert ("the metric is unknown" in said) == (kind == "trivial")

    @pytest.mark.parametrize("inoculation", [0, 5])
    def test_a_folder_whose_name_is_not_utf_8(self, inoculation: int, dataset: Path, tmp_path: Path) -> None:
        odd, plain = (contrast("probe", dataset, out=tmp_path / name, inoculation=inoculation).dataset for name in ("o\udcff", "o"))
        assert digests(odd) == digests(plain)


SETS = {
    "hotpotqa": ("hotpotqa/hotpot_dev_distractor_200.json", 198, 198),
    "twowiki": ("2wikimultihopqa/2wiki_dev_200.json", 164, 164),
    "musique": ("musique/musique_ans_dev_200.jsonl", 200, 0),
}
"""File, and the questions that can be transformed at the levels of paragraphs and of sentences."""


@pytest.mark.real_data
@pytest.mark.parametrize("name", SETS)
class TestOnRealSets:
    """200 questions each; every instance is held to its transform's invariant while it is made."""

    def made(self, kind: str, real_data: Path, out: Path, name: str, **settings: Any) -> Contrast:
        return contrast(kind, real_data / SETS[name][0], out=out, **settings)

    @pytest.mark.parametrize("kind", sorted(BY_FACTS))
    def test_facts_can_be_taken_away(self, kind: str, name: str, real_data: Path, tmp_path: Path) -> None:
        _, paragraphs, sentences = SETS[name]
        assert self.made(kind, real_data, tmp_path / "paragraphs", name).groups == {"dev": paragraphs}
        if sentences:
            assert self.made(kind, real_data, tmp_path / "sentences", name, level="sentence").groups == {"dev": sentences}
        else:
            with pytest.raises(EmptyResult, match="sentences of its paragraphs begin"):
                self.made(kind, real_data, tmp_path / "sentences", name, level="sentence")

    def test_false_paragraphs_can_be_added_to_about_a_third(self, name: str, real_data: Path, tmp_path: Path) -> None:
        # Comparisons have no bridge; in the others it is not always called by its title, or nothing tells what kind of thing it is.
        assert 55 <= self.made("adversarial", real_data, tmp_path / "made", name).groups["dev"] <= 120
        both = contrast("sufficiency", tmp_path / "made", out=tmp_path / "both")
        assert both.groups["dev"] >= 55

    def test_only_a_decomposition_has_unanswerable_twins(self, name: str, real_data: Path, tmp_path: Path) -> None:
        if name == "musique":
            result = self.made("unanswerable", real_data, tmp_path / "made", name)
            assert (result.counts, result.groups) == ({"dev": 400}, {"dev": 200})
        else:
            with pytest.raises(EmptyResult, match="no decomposition"):
                self.made("unanswerable", real_data, tmp_path / "made", name)


@pytest.mark.parametrize("domain", ["wikidata", pytest.param("medline", marks=pytest.mark.slow)])
def test_what_kgqa_generates_can_be_contrasted(domain: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    workspace: Path = request.getfixturevalue(f"seed_{domain}")
    (dataset,) = (workspace / "datasets").iterdir()
    before = {split: len(found) for split, found in read(dataset).items()}
    for kind in sorted(KINDS.keys() - {"unanswerable"}):
        for folder in (dataset, dataset / "masked"):
            result = contrast(kind, folder, out=tmp_path / f"{kind}-{folder.name}")
            if kind in {"gold-chain", "document-removal"}:
                assert result.counts == before
                assert default_metric(open_dataset(result.dataset))[0] == "qangaroo"
            elif domain == "medline" and kind != "adversarial":
                # Where several chains lead to the answer, one of them is kept; every question can be transformed.
                assert result.groups == before
            assert all(0 < result.groups[split] <= before[split] for split in before)


def test_the_card_is_what_the_hub_expects(tmp_path: Path) -> None:
    dataset = write_set(LANGUAGES["tr"], tmp_path)
    for kind, paper in (("probe", "trivedi-etal-2020-multihop"), ("unanswerable", "trivedi-etal-2022-musique")):
        result = contrast(kind, dataset, out=tmp_path / kind)
        card = (result.dataset / "README.md").read_text("utf-8")
        head = yaml.safe_load(card.split("---\n")[1])
        assert head["size_categories"] == ["n<1K"]
        assert "language" not in head  # the set does not say in which it is
        assert [each["split"] for each in head["configs"][0]["data_files"]] == ["validation"]
        for section in ("## Size", "## How to load it", "## Fields", "## An example", "## Licence", "## Citation", "## How it was made"):
            assert card.count(f"\n{section}\n") == 1
        assert paper in card
        content = json.loads(card.partition("```json\n")[2].partition("\n```")[0])
        assert content in [json.loads(json.dumps(to_row(each))) for each in native.read(result.dataset / "dev.parquet")]

"""Readers as judges: what is measured, by how much it can be wrong, and that a stopped audit goes on."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from subprocess import run
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from kgqa.chat.connection import Connection
from kgqa.checks import CHECKS
from kgqa.checks.conditions import decide, parse
from kgqa.checks.readers.conclusions import conclusions
from kgqa.checks.readers.disconnection import ANSWER, SUPPORT, Transformation, answered, scores_of, transformed, whole_score
from kgqa.checks.readers.figures import Figure, figure_of, grouped_interval
from kgqa.checks.readers.judging import prepared
from kgqa.checks.readers.material import Material, material
from kgqa.checks.readers.names import FULL_READER, MEASURES, TRANSFORMED_WHOLE
from kgqa.checks.readers.random_reader import RandomReader
from kgqa.commands.audit import audit
from kgqa.errors import MissingInput, SettingsError
from kgqa.formats import native
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.metrics import dire
from kgqa.metrics.bootstrap import interval
from kgqa.progress import Silent
from kgqa.readers.cost import Job, cost_of
from kgqa.readers.scores import support_score
from kgqa.readers.specification import specification
from kgqa.records import Instance, Paragraph
from kgqa.settings.judging import JudgingSettings
from kgqa.training.reader import Prediction
from tests.checks.sets import clean_set
from tests.small_questions import question

BY_NAME = {measure.name: measure for measure in MEASURES}


def spans(count: int, split: str = "dev") -> list[Instance]:
    """Two-hop questions over four short paragraphs, each a group of its own."""
    return [_question(f"{split}-{number}") for number in range(count)]


def _question(name: str) -> Instance:
    number = name.partition("-")[2]
    texts = [f"book {number} is by a{number}", f"a{number} was born in b{number}", f"c{number} died", f"d{number} did"]
    paragraphs = tuple(Paragraph(id=f"{name}-p{place}", title=None, text=text, supporting=place < 2) for place, text in enumerate(texts))
    return Instance(
        id=name, question=f"where was who wrote book {number} born", paragraphs=paragraphs, answers=(f"b{number}",), answer_type="span",
        answerable=True, group=name, provenance=None,
    )  # fmt: skip


def written(folder: Path, **splits: Sequence[Instance]) -> Path:
    folder.mkdir(parents=True)
    for split, instances in splits.items():
        native.write(instances, folder / f"{split}.parquet")
    return folder


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("sets") / "made-up", train=spans(50, "train"), dev=spans(50))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Path:
    path = tmp_path_factory.mktemp("settings") / "readers.toml"
    path.write_text(
        f'questions = 20\ntrain_questions = 20\nseeds = 1\n[settings]\nencoder = "{tiny_encoder}"\n'
        '[training]\nepochs = 1\nmax_steps = 1\nbatch = 2\ndev_questions = 1\ndevice = "cpu"\n'
    )
    return path


class Seen(Silent):
    """The stages that were begun, and what came out; stops in one of them."""

    def __init__(self, stop_in: str = "\0") -> None:
        self.stages: list[str] = []
        self.notes: list[str] = []
        self._stop_in = stop_in

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        self.stages.append(stage)
        if self._stop_in in stage:
            raise KeyboardInterrupt

    def finish(self, note: str = "") -> None:
        self.notes.append(note)


def test_a_full_audit_is_stopped_goes_on_and_says_what_it_found(dataset: Path, told: Path, tmp_path: Path) -> None:
    options = {"readers": "full", "reader_settings": told, "fail_on": ["dire>=0.0001", "context-only<0.9", "reader>.99"]}
    with pytest.raises(KeyboardInterrupt):
        audit(dataset, out=tmp_path / "stopped", progress=Seen("fold 1 of 1, probe"), **options)  # type: ignore[arg-type]
    assert sorted(path.name for path in (tmp_path / "stopped").iterdir()) == ["readers"]
    for name in ("probe-0123456789abcdef", "somebody-else"):
        (tmp_path / "stopped" / "readers" / name).mkdir()
    again = Seen()
    done = audit(dataset, out=tmp_path / "stopped", progress=again, **options)  # type: ignore[arg-type]
    assert not any("everything" in stage for stage in again.stages)
    assert any("minute" in note and "tokens" in note for note in again.notes)
    assert sorted(path.name for path in (tmp_path / "stopped").iterdir()) == ["audit.html", "audit.json", "readers"]
    assert [path.name for path in (tmp_path / "stopped" / "readers").iterdir()] == ["somebody-else"]

    value = json.loads(done.json.read_text("utf-8"))
    # A selector that has learned nothing may show the answerer no paragraph that states an answer.
    missing = {each["name"]: each["reason"] for each in value["not_measured"]}
    assert missing.keys() <= {"one-paragraph"}
    assert all("can be learned from" in reason for reason in missing.values())
    figures = {(each["name"], each["scored"]): each for each in value["readers"]["figures"]}
    assert {each["measure"] for each in figures.values()} - {None} == BY_NAME.keys() - missing
    assert (FULL_READER, "support F1") in figures
    for each in figures.values():
        assert 0 <= each["low"] <= each["value"] <= each["high"] <= 1
        assert each["lowest"] <= each["value"] <= each["highest"]
        assert each["questions"] == 20
    assert figures["dire-conditional", "answer F1"]["value"] <= figures[FULL_READER, "answer F1"]["value"] + 1e-9
    assert {finding.check for finding in done.findings if finding.family == "reader"} == BY_NAME.keys() - missing
    assert [outcome.condition for outcome in done.outcomes] == ["dire>=0.0001", "context-only<0.9", "reader>0.99"]
    page = done.html.read_text("utf-8")
    assert "What this says" in page
    assert all(f'id="{name}"' in page for name in BY_NAME.keys() - missing)


def test_a_stopped_audit_does_not_go_on_with_another_encoder_of_the_same_name(dataset: Path, tiny_encoder: str, tmp_path: Path) -> None:
    encoder = tmp_path / "encoder"
    shutil.copytree(tiny_encoder, encoder)
    settings = JudgingSettings(questions=20, train_questions=20)
    asked = material(open_dataset(dataset), settings, seed=0)
    options = {"encoder": str(encoder), "device": "cpu", "connection": Connection(path=tmp_path / "r.jsonl"), "seed": 0}
    before = prepared("minimal", asked, settings, **options)  # type: ignore[arg-type]
    assert prepared("minimal", asked, settings, **options) == before  # type: ignore[arg-type]
    weights = load_file(encoder / "model.safetensors")
    save_file({name: 2 * tensor for name, tensor in weights.items()}, encoder / "model.safetensors", metadata={"format": "pt"})
    after = prepared("minimal", asked, settings, **options)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        before.judge(tmp_path / "readers", Seen("question-only"))
    again = Seen("question-only")
    with pytest.raises(KeyboardInterrupt):
        after.judge(tmp_path / "readers", again)
    assert any("everything" in stage for stage in again.stages)


def test_the_cost_is_measured_on_questions_that_can_be_learned_from(tiny_encoder: str) -> None:
    """Of a set of which few can, eight drawn blindly would teach nothing, and end the audit."""
    few = [
        question(number % 16, id=f"q{number}", answers=("nowhere",) if number % 8 != 1 else question(number % 16).answers)
        for number in range(64)
    ]
    reader = specification("ee", settings={"encoder": tiny_encoder}, training={"device": "cpu"})
    assert cost_of([Job(name="everything", reader=reader, judged=few, train=None)], folds=5, seeds=1).tokens > 0


def test_without_readers_it_is_said_what_is_missing(dataset: Path, tmp_path: Path) -> None:
    value = json.loads(audit(dataset, out=tmp_path).json.read_text("utf-8"))
    assert value["readers"] is None
    assert {each["name"]: each["reason"] for each in value["not_measured"]}["dire"] == "needs trained readers: --readers full"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"fail_on": ["dire>0.4"]}, "--fail-on 'dire>0.4': trained readers measure this; add --readers full"),
        ({"fail_on": ["dire>0.4"], "readers": "minimal"}, "add --readers full"),
        ({"fail_on": ["one-paragraph>0.5"]}, "add --readers minimal"),
        ({"fail_on": ["reader>0.5"]}, "add --readers minimal"),
        ({"fail_on": ["one-paragraf>0.5"], "readers": "minimal"}, "did you mean one-paragraph"),
        ({"readers": "some"}, "--readers some: there is no such level"),
        ({"encoder": "x"}, "--encoder: this setting is for readers"),
        ({"readers": "minimal", "encoder": "./nowhere"}, "there is no folder with an encoder of this name"),
        ({"readers": "minimal", "reader_settings": "nowhere.toml"}, "nowhere.toml: there is no such file"),
    ],
)
def test_mistakes_are_told_in_a_sentence_and_before_anything_is_done(
    dataset: Path, tmp_path: Path, options: dict[str, object], sentence: str
) -> None:
    seen = Seen()
    with pytest.raises((SettingsError, MissingInput), match=sentence.replace("(", r"\(")):
        audit(dataset, out=tmp_path / "out", progress=seen, **options)  # type: ignore[arg-type]
    assert seen.stages == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("folds = 2", "the setting 'folds' cannot be 2: it must be at least 3"),
        ("fold = 5", "unknown setting 'fold'; did you mean folds\\?"),
        ("folds", "this is not TOML"),
        ("[training]\nbatsch = 1", "unknown setting 'training.batsch'; did you mean batch"),
    ],
)
def test_settings_that_cannot_be_are_refused(dataset: Path, tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "readers.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=sentence):
        audit(dataset, out=tmp_path / "out", readers="minimal", reader_settings=path)


def test_without_the_extra_the_install_line_is_given(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.errors.find_spec", lambda name: None if name in {"torch", "sqlalchemy"} else name)
    with pytest.raises(SettingsError, match=r"pip install 'kgqa\[readers\]'"):
        audit(dataset, out=tmp_path / "out", readers="minimal")


def test_a_set_that_is_too_small_is_refused(tmp_path: Path) -> None:
    small = written(tmp_path / "small", dev=spans(19))
    with pytest.raises(SettingsError, match="19 groups of questions with paragraphs and answers are too few"):
        audit(small, out=tmp_path / "out", readers="minimal")


@pytest.mark.slow
def test_torch_is_imported_only_for_readers(dataset: Path, tmp_path: Path) -> None:
    code = (
        "import sys, kgqa; kgqa.audit(sys.argv[1], out=sys.argv[2]); "
        "print([name for name in ('torch', 'transformers', 'accelerate') if name in sys.modules])"
    )
    assert run([sys.executable, "-c", code, str(dataset), str(tmp_path)], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_command_has_the_options() -> None:
    import typer

    from kgqa.cli.audit import audit as command

    app = typer.Typer()
    app.command()(command)
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}).output
    assert all(option in shown for option in ("--readers", "--reader-settings", "--encoder", "--device"))


def test_the_train_split_is_learned_from_where_there_is_one(tmp_path: Path) -> None:
    both = written(tmp_path / "both", train=spans(60, "train"), dev=spans(55))
    found = material(open_dataset(both), JudgingSettings(questions=30, train_questions=50), seed=0)
    assert found.train is not None
    assert ({each.id.partition("-")[0] for each in found.train}, len(found.train)) == ({"train"}, 50)
    assert ({each.id.partition("-")[0] for each in found.judged}, len(found.judged)) == ({"dev"}, 30)
    alone = material(open_dataset(written(tmp_path / "alone", dev=spans(55))), JudgingSettings(questions=30), seed=0)
    assert alone.train is None
    assert "cross-fitted in 5 folds" in alone.how


def said(found: Transformation, right: bool) -> Iterator[Prediction]:
    """Everything that is there, and the answer where it is a label; or nothing at all."""
    questions = {question.id: question for question in found.questions}
    for instance in found.instances:
        note = noted(instance, "dire")
        wanted = {paragraph.id for paragraph in questions[note["question"]].paragraphs if paragraph.supporting}
        yield Prediction(
            id=instance.id,
            answer=questions[note["question"]].answers[0] if right and (instance.answers or note["transform"] == "sufficiency") else "",
            confidence=0.9 if instance.answers else 0.1,
            supporting=tuple(each.id for each in instance.paragraphs if each.id in wanted) if right else (),
            sufficiency=note["sufficiency"] if right and note["sufficiency"] is not None else 1,
        )


@pytest.mark.parametrize("kind", ["probe", "sufficiency", "probe-of-sufficiency"])
def test_scores_are_those_of_dires_scorers(kind: str) -> None:
    found = transformed(spans(6), kind, max_facts=4, seed=0)
    assert len(found.questions) == 6
    whole = scores_of(found, said(found, True))
    assert whole[ANSWER].tolist() == whole[SUPPORT].tolist() == [1.0] * 6
    assert scores_of(found, said(found, False))[ANSWER].tolist() == [0.0] * 6


def test_a_question_with_aliases_scores_as_with_the_best() -> None:
    asked = [replace(each, answers=("somebody else", *each.answers)) for each in spans(4)]
    found = transformed(asked, "probe", max_facts=4, seed=0)
    first_only = transformed(spans(4), "probe", max_facts=4, seed=0)
    assert scores_of(found, said(first_only, True))[ANSWER].tolist() == [1.0] * 4


def test_the_conditional_score_is_that_of_the_official_scorer() -> None:
    questions = spans(8)
    found = transformed(questions, "probe", max_facts=4, seed=0)
    rng = np.random.default_rng(0)
    guesser = RandomReader(questions, [1], rng)
    apart = [guesser.predict(each) if rng.random() < 0.5 else right for each, right in zip(answered(found), said(found, True), strict=True)]
    whole = [Prediction(id=each.id, answer=each.answers[0] if rng.random() < 0.5 else "nothing") for each in questions]
    ours = np.minimum([whole_score(*pair) for pair in zip(questions, whole, strict=True)], scores_of(found, apart)[ANSWER])
    gold, parts = [], []
    for instance, prediction in zip(found.instances, apart, strict=True):
        note = noted(instance, "dire")
        answer = next(each.answers[0] for each in questions if each.id == note["question"])
        gold.append(
            dire.DiReGold(
                question_id=note["question"], answer=answer, support=frozenset(), bipartition=note["bipartition"], sub_idx=note["sub_idx"]
            )
        )
        parts.append(
            dire.DiRePrediction(
                question_id=note["question"], answer=prediction.answer, paragraphs=frozenset(), sentences=frozenset(),
                confidence=prediction.confidence, sub_idx=note["sub_idx"],
            )
        )  # fmt: skip
    original = [
        dire.DiRePrediction(question_id=each.id, answer=each.answer, paragraphs=frozenset(), sentences=frozenset()) for each in whole
    ]
    theirs = dire.dire_probe(gold, parts, original=original).per_record[ANSWER]
    assert ours.tolist() == [theirs[each.id] for each in questions]


def test_support_is_scored_by_paragraph() -> None:
    question = spans(1)[0]
    right = tuple(paragraph.id for paragraph in question.paragraphs if paragraph.supporting)
    assert support_score(question, Prediction(id="", answer="", supporting=right)) == 1.0
    assert support_score(question, Prediction(id="", answer="", supporting=right[:1])) == pytest.approx(2 / 3)


def test_a_guess_gets_what_it_must() -> None:
    asked = clean_set({"dev": 40})["dev"]
    guesser = RandomReader(asked, [1], np.random.default_rng(0))
    right = [guesser.predict(each).answer == each.answers[0] for each in asked for _ in range(100)]
    assert np.mean(right) == pytest.approx(1 / 5, abs=0.03)


def test_a_guess_without_paragraphs_is_never_the_own_answer() -> None:
    asked = [replace(each, answers=(f"answer {number}",)) for number, each in enumerate(spans(3))]
    guesser = RandomReader(asked, [1], np.random.default_rng(0), hides_context=True)
    said = {each.id: {guesser.predict(each).answer for _ in range(50)} for each in asked}
    assert said == {each.id: {*(other.answers[0] for other in asked)} - {each.answers[0]} for each in asked}
    assert RandomReader(asked[:1], [1], np.random.default_rng(0), hides_context=True).predict(asked[0]).answer == ""


def test_groups_are_drawn_whole() -> None:
    scores = np.array([0.0, 1.0] * 50)
    alone = grouped_interval(scores, [str(number) for number in range(100)], rng=np.random.default_rng(0))
    known = interval(scores.tolist(), rng=np.random.default_rng(0))
    assert alone == pytest.approx((known.low, known.high), abs=0.02)
    by_score = ["zero" if score == 0 else "one" for score in scores]
    assert grouped_interval(scores, by_score, rng=np.random.default_rng(0)) == (0.0, 1.0)


def figure(name: str, value: float, half: float, *, chance: float = 0.05) -> Figure:
    return Figure(
        name=name, scored="answer F1", value=value, low=value - half, high=value + half, lowest=value, highest=value, chance=chance,
        questions=100, groups=90, measure=BY_NAME.get(name),
    )  # fmt: skip


def test_conclusions_say_what_cannot_be_said() -> None:
    weak = " ".join(conclusions([figure(FULL_READER, 0.06, 0.05), figure("one-paragraph", 0.05, 0.04)], seeds=1))
    assert "says nothing about the set" in weak
    assert "nothing can be concluded" in weak
    assert "There is one reader of each kind" in weak
    strong = [
        figure(FULL_READER, 0.7, 0.05),
        figure("one-paragraph", 0.6, 0.05),
        figure("question-only", 0.06, 0.02),
        figure("dire", 0.6, 0.05),
    ]
    clear = " ".join(conclusions([*strong, figure("dire-sufficiency", 0.3, 0.05, chance=0.01)], seeds=3))
    assert "one-paragraph: 60.0% (interval 55.0% to 65.0%), a random reader 5.0%, the full reader 70.0%: at least 55.0%" in clear
    assert "question-only: 6.0% (interval 4.0% to 8.0%), a random reader 5.0%: this reader finds no shortcut here" in clear
    assert "the intervals do not meet" in clear
    wide = " ".join(conclusions([*strong, figure("dire-sufficiency", 0.5, 0.2, chance=0.01)], seeds=3))
    assert "cannot be said" in wide
    assert "dire-sufficiency ±20, as 100 questions of 90 groups" in wide


def test_a_transform_that_no_reader_does_takes_nothing_away() -> None:
    """Zero after it may be because the task is not learned at all."""
    figures = [figure(FULL_READER, 0.5, 0.05), figure("dire", 0.45, 0.05), figure("dire-sufficiency", 0.0, 0.0, chance=0.0)]
    known = " ".join(conclusions([*figures, figure(TRANSFORMED_WHOLE, 0.3, 0.05)], seeds=3))
    assert "leaves clearly less to be cheated" in known
    said = " ".join(conclusions([*figures, figure(TRANSFORMED_WHOLE, 0.0, 0.0, chance=0.0)], seeds=3, connects=False))
    assert "so whether the transform leaves less cannot be said" in said
    assert "dire-sufficiency: 0.0% (interval 0.0% to 0.0%), a random reader 0.0%: nothing can be concluded" in said
    assert "cannot connect two of them in one pass" in said
    assert "leaves clearly less" not in said


def test_question_only_is_asked_what_has_an_answer(tiny_encoder: str, tmp_path: Path) -> None:
    """Of twins without an answer a guesser of labels would have half, and a reader that always answers nothing."""
    asked = [*spans(25), *(replace(each, id=f"{each.id}-twin", answers=(), answerable=False, answer_type="none") for each in spans(25))]
    judging = prepared(
        "minimal", Material(train=None, judged=tuple(asked), how=""), JudgingSettings(), encoder=tiny_encoder, device="cpu",
        connection=Connection(path=tmp_path / "r.jsonl"), seed=0,
    )  # fmt: skip

    class Perfect:
        def scores(self, score: Callable[[Instance, Prediction], float]) -> Any:
            said = [Prediction(id=each.id, answer=each.answers[0] if each.answers else "x") for each in asked]
            return np.array([[score(*pair) for pair in zip(asked, said, strict=True)]])

    done = {name: Perfect() for name in ("everything", "question-only")}
    found = {each.name: each for each in judging._figures(done) if each.scored == "answer F1"}  # type: ignore[arg-type]
    assert (found["question-only"].value, found["question-only"].questions) == (1.0, 25)
    assert found["question-only"].chance < 0.1
    assert (found[FULL_READER].value, found[FULL_READER].questions) == (0.5, 50)


@pytest.mark.parametrize("condition", ["dire>0.4", "reader>0.4"])
def test_a_condition_that_no_reader_can_decide_is_told_before_they_begin(condition: str, told: Path, tmp_path: Path) -> None:
    plain = [replace(each, paragraphs=tuple(replace(one, supporting=None) for one in each.paragraphs)) for each in spans(50)]
    path = written(tmp_path / "set", dev=plain)
    seen = Seen()
    with pytest.raises(SettingsError, match=r"dire cannot be measured on this set \(0 groups of questions have two marked"):
        audit(path, out=tmp_path / "out", progress=seen, readers="full", reader_settings=told, fail_on=[condition])
    assert seen.stages == []


def test_a_condition_that_readers_could_not_decide_fails() -> None:
    condition = parse("reader>0.9", CHECKS, readers="full")
    outcome = decide(condition, [figure("dire", 0.1, 0.05).finding("")], missing={"one-paragraph": "nothing can be learned from."})
    assert (outcome.holds, outcome.figure, outcome.check, outcome.reason) == (True, None, "one-paragraph", "nothing can be learned from")
    assert not decide(parse("dire>0.9", CHECKS, readers="full"), [figure("dire", 0.1, 0.05).finding("")], missing={"x": ""}).holds


def test_no_more_dev_questions_are_paid_for_than_are_read(tiny_encoder: str) -> None:
    few = [question(number % 16, id=f"q{number}") for number in range(64)]
    costs = []
    for dev in (1, 1000):
        reader = specification("ee", settings={"encoder": tiny_encoder}, training={"device": "cpu", "dev_questions": dev})
        costs.append(cost_of([Job(name="everything", reader=reader, judged=few, train=None)], folds=5, seeds=1).passes)
    assert costs[0] < costs[1]


def test_a_figure_has_the_range_of_its_seeds() -> None:
    found = figure_of(
        np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]),
        ["a", "b", "c"],
        name="x",
        scored="answer F1",
        chance=0.1,
        rng=np.random.default_rng(0),
    )
    assert [found.value, found.lowest, found.highest] == pytest.approx([1 / 2, 1 / 3, 2 / 3])

"""Readers that kgqa does not have: the one of the page, named as module:Class and installed, and everything that can be wrong with one."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.readers.registry import find_reader
from tests.command import COMMAND, ROOT, environment
from tests.conftest import Cli, unavailable
from tests.small_questions import question, write_set

PAGE = ROOT / "docs" / "own-reader.md"
NAME = "log_linear:LogLinear"
WHOLE = """
class Whole:
    "Answers nothing."
    def __init__(self, name, settings, training): pass
    def fit(self, train, dev, fitting): pass
    def predict(self, questions, progress):
        import kgqa
        return [kgqa.Prediction(id=question.id, answer="") for question in questions]
    def save(self, folder): pass
    def load(self, folder): pass
"""


def files_of_the_page() -> dict[str, str]:
    """File name → text of each block that begins with one."""
    blocks = re.findall(r"^```(?:python|toml)\n# ([\w.]+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert [name for name, _ in blocks] == ["log_linear.py", "slow.toml", "pyproject.toml"]
    return dict(blocks)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    many = [question(number % 16, id=f"q{number}", shown=2 + number % 3, candidates=True) for number in range(60)]
    return write_set(tmp_path / "set", train=many[:40], dev=many[40:50], test=many[50:])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with the page's files; what is imported from it is forgotten."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in files_of_the_page().items():
        (folder / name).write_text(text, "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    modules = set(sys.modules)
    yield folder
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def write(place: Path, text: str, name: str = "mine") -> str:
    """A module in the working directory; returns its name."""
    (place / f"{name}.py").write_text(text, "utf-8")
    importlib.invalidate_caches()
    return name


def install(place: Path, **points: str) -> Path:
    """Packages as pip leaves them, which have a name each in the group; on the path."""
    for package, point in points.items():
        folder = place / f"{package}-0.1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n", "utf-8")
        (folder / "entry_points.txt").write_text(f"[kgqa.readers]\n{point}\n", "utf-8")
    sys.path.append(str(place))
    importlib.invalidate_caches()
    return place


def test_the_reader_of_the_page_is_trained_asked_scored_and_resumed(place: Path, dataset: Path, cli: Cli) -> None:
    done = cli("train", NAME, dataset, "--out", "run", "--seed", "0")
    assert done.status == 0, done.err
    assert f"--reader {NAME}" in done.out
    assert "finished" in cli("train", NAME, dataset, "--out", "run", "--seed", "0").out
    points = [json.loads(line) for line in Path("run/log.jsonl").read_text("utf-8").splitlines()]
    losses = [line["loss"] for line in points if line["kind"] == "point"]
    assert losses[-1] < losses[0]
    done = cli("predict", "run", dataset, "--reader", NAME, "--split", "test", "--metric", "dire", "--out", "answers.jsonl")
    assert done.status == 0, done.err
    there = cli("predict", "run", dataset, "--reader", NAME, "--metric", "dire", "--out", "there.jsonl", "--cluster", "auto")
    there.sentence("--cluster is for readers of kgqa, but the code of this one is on this machine alone; leave it out.")
    kgqa.predict("run", dataset, reader=NAME, split="test", metric="squad", out="answers.json")
    scores = kgqa.evaluate(dataset, "answers.json", metric="squad").scores.official
    assert scores["f1"] > 40  # two to four candidates, of which a third is right by chance


@pytest.mark.slow
def test_it_judges_a_set_beside_the_partial_readers(place: Path, tiny_encoder: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra [readers] is not installed")
    dataset = write_set(
        tmp_path / "judged", train=[question(number % 16, id=f"q{number}", group=f"g{number}", candidates=True) for number in range(24)]
    )
    Path("judging.toml").write_text(
        f'folds = 3\nbeside = ["{NAME}", "tf-idf"]\n[settings]\nencoder = "{tiny_encoder}"\n[training]\nmax_steps = 2\ndevice = "cpu"\n',
        "utf-8",
    )
    audit = kgqa.audit(dataset, out="report", readers="minimal", reader_settings="judging.toml")
    assert audit.readers is not None
    figures = {figure.name: figure for figure in audit.readers.figures}
    assert figures[NAME].scored == "answer F1"
    assert figures[NAME].value > figures[NAME].chance
    assert {"tf-idf", "question-only"} < set(figures)
    assert NAME in audit.html.read_text("utf-8")
    assert not list(Path("report").glob("readers/*"))
    Path("judging.toml").write_text('beside = ["decomposer"]', "utf-8")
    with pytest.raises(kgqa.KgqaError, match="does not answer questions"):
        kgqa.audit(dataset, out="other", readers="minimal", reader_settings="judging.toml")


def test_settings_are_those_of_its_class_and_are_kept(place: Path, dataset: Path, cli: Cli) -> None:
    assert cli("train", "slow.toml", dataset, "--out", "run").status == 0
    assert json.loads(Path("run/reader/reader.json").read_text("utf-8"))["settings"] == {"rounds": 200, "rate": 0.1}
    kgqa.predict("run", dataset, reader=NAME, metric="squad", out="answers.json")
    Path("slow.toml").write_text(f'reader = "{NAME}"\n[settings]\nround = 3\n', "utf-8")
    cli("train", "slow.toml", dataset, "--out", "other").sentence("unknown setting 'settings.round'; did you mean rounds?")
    cli("train", NAME, dataset, "--out", "other", "--epochs", "3").sentence("counts", "leave out epochs")
    assert not Path("other").exists()


def test_a_run_does_not_say_what_code_is_run(place: Path, dataset: Path, cli: Cli) -> None:
    kgqa.train(NAME, dataset, out="run")
    cli("predict", "run", dataset, "--metric", "squad", "--out", "answers").sentence(NAME, f"kgqa predict --reader {NAME}")
    write(place, "open('was-run', 'w')\n" + WHOLE, "evil")
    identity = Path("run/reader/reader.json")
    identity.write_text(identity.read_text("utf-8").replace(NAME, "evil:Whole"), "utf-8")
    cli("predict", "run", dataset, "--metric", "squad", "--out", "answers").sentence("evil:Whole", "does not run it")
    asked = ("predict", "run", dataset, "--reader", NAME, "--metric", "squad", "--out", "answers")
    cli(*asked).sentence("trained evil:Whole")
    cli("compose", "--domain", "companies", "--reader", "run", "--workspace", "work").sentence("evil:Whole", "does not run it")
    with pytest.raises(kgqa.KgqaError, match="does not run it"):
        find_reader("evil:Whole")  # as settings in a saved run may have it
    assert not Path("was-run").exists()


@pytest.mark.slow
def test_an_installed_reader_has_a_name(place: Path, dataset: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("setuptools") is None or importlib.util.find_spec("pip") is None:
        unavailable("no pip or no setuptools in this environment")
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    done = subprocess.run([*pip, str(place)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    there = {**environment(), "PYTHONPATH": os.pathsep.join((str(ROOT), str(target)))}

    def run(*arguments: str | Path) -> str:
        done = subprocess.run([*COMMAND, *map(str, arguments)], cwd=tmp_path, env=there, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "log-linear" in run("train", "--list")
    run("train", "log-linear", dataset, "--out", "run")
    run("predict", "run", dataset, "--metric", "squad", "--out", "answers.json")
    assert "f1" in run("evaluate", dataset, "answers.json", "--metric", "squad").lower()


FAULTY: dict[str, tuple[str, str, list[str]]] = {
    "no module": ("", "nowhere:Whole", ["there is no module nowhere"]),
    "no module in it": ("", "nowhere.deep:Whole", ["there is no module nowhere"]),
    "imports what is not there": ("import nowhere", "mine:Whole", ["mine imports nowhere, which is not installed"]),
    "raises": ("1 / 0", "mine:Whole", ["importing mine raises ZeroDivisionError: division by zero"]),
    "ends Python": ("import sys; sys.exit('no')", "mine:Whole", ["importing mine raises SystemExit: no"]),
    "is no Python": ("def", "mine:Whole", ["importing mine raises SyntaxError"]),
    "no class": (WHOLE, "mine:Hole", ["the module mine has no class Hole"]),
    "a function": ("def read(): pass", "mine:read", ["has something else than a class under the name read"]),
    "no predict": (WHOLE.replace("def predict", "def foretell"), "mine:Whole", ["no method predict", "docs/own-reader.md"]),
    "no load": (WHOLE.replace("def load", "def _load"), "mine:Whole", ["no method load"]),
    "other arguments": (WHOLE.replace("dev, fitting", "fitting"), "mine:Whole", ["its method fit must take train, dev, fitting"]),
    "another start": (WHOLE.replace("name, settings, training", "name"), "mine:Whole", ["its __init__ must take name, settings, training"]),
    "settings of another kind": (WHOLE + "    Settings = dict\n", "mine:Whole", ["its Settings is not a subclass of kgqa.Settings"]),
    "training of another kind": (WHOLE + "    training = 3\n", "mine:Whole", ["its training is neither None nor a dictionary"]),
    "no training setting": (WHOLE + "    training = {'epoch': 3}\n", "mine:Whole", ["unknown setting 'epoch'"]),
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_class_that_cannot_be_a_reader_is_a_sentence(name: str, place: Path, dataset: Path, cli: Cli) -> None:
    text, reader, parts = FAULTY[name]
    write(place, text)
    cli("train", reader, dataset, "--out", "run").sentence(*parts)
    assert not Path("run").exists()


@pytest.mark.parametrize("name", ["no predict", "raises"])
def test_an_entry_point_that_leads_to_no_reader_is_a_sentence(name: str, place: Path, dataset: Path, cli: Cli) -> None:
    text, reader, parts = FAULTY[name]
    write(place, text)
    install(place, somebody=f"theirs = {reader}")
    cli("train", "theirs", dataset, "--out", "run").sentence("'theirs' of the package somebody", *parts)
    assert "somebody: mine:Whole" in " ".join(cli("train", "--list").out.split())  # which imports nothing


def test_an_entry_point_that_is_none_is_a_sentence(place: Path, dataset: Path, cli: Cli) -> None:
    install(place, somebody="theirs = mine")
    cli("train", "theirs", dataset, "--out", "run").sentence("somebody", "its entry point is not module:Class")


def test_a_name_that_exists_twice_is_a_sentence(place: Path, dataset: Path, cli: Cli) -> None:
    write(place, WHOLE)
    install(place, a="theirs = mine:Whole", b="theirs = mine:Whole", c="majority = mine:Whole", d="llm = mine:Whole")
    cli("train", "theirs", dataset, "--out", "run").sentence("'theirs' is in several packages, a and b")
    cli("train", "majority", dataset, "--out", "run").sentence("one of kgqa and one of the package c", "mine:Whole")
    assert "the reader llm is not trained" in cli("train", "llm", dataset, "--out", "run").err
    cli("train", "thiers", dataset, "--out", "run").sentence("did you mean theirs?")


PREDICTIONS: dict[str, tuple[Callable[[str], str], str]] = {
    "too few": (lambda text: text.replace("in questions]", "in questions][1:]"), "gives a prediction for"),
    "none for the last": (lambda text: text.replace("in questions]", "in questions][:-1]"), "gives no prediction for the question"),
    "too many": (lambda text: text.replace("in questions]", "in questions] * 2"), "more predictions than there are questions"),
    "texts": (lambda text: text.replace('kgqa.Prediction(id=question.id, answer="")', '""'), "gives a str for the question"),
    "nothing": (
        lambda text: text.replace(
            "return [",
            "[",
        ),
        "predict gives a NoneType",
    ),
}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_predictions_that_are_not_one_for_each_question_are_a_sentence(name: str, place: Path, dataset: Path, cli: Cli) -> None:
    change, part = PREDICTIONS[name]
    text = change(WHOLE)
    assert text != WHOLE
    write(place, text)
    assert cli("train", "mine:Whole", dataset, "--out", "run").status == 0
    cli("predict", "run", dataset, "--reader", "mine:Whole", "--metric", "squad", "--out", "answers").sentence("mine:Whole", part)
    assert not Path("answers").exists()


def test_reader_is_an_option_of_own_readers(place: Path, dataset: Path, cli: Cli) -> None:
    kgqa.train("random", dataset, out="run")
    asked = (dataset, "--reader", NAME, "--metric", "squad", "--out", "answers")
    cli("predict", "run", *asked).sentence("--reader", "trained random")
    cli("predict", "llm", dataset, "--reader", NAME, "--model", "m", "--out", "answers").sentence("--reader is for trained readers")

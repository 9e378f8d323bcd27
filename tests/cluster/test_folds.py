"""Readers that judge are fitted on three nodes, one fold of one seed each, with the predictions of one process."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.arrays.parallel import Threads  # noqa: E402
from kgqa.cluster.opening import opened_engine  # noqa: E402
from kgqa.cluster.ray_engine import RayEngine  # noqa: E402
from kgqa.errors import EmptyResult, KgqaError, MissingInput, SettingsError, TrainingError  # noqa: E402
from kgqa.readers.portable import Portable, nodes_for  # noqa: E402
from kgqa.readers.recurrent.embeddings import open_table  # noqa: E402
from kgqa.readers.specification import Specification, specification  # noqa: E402
from kgqa.training import sent_folds  # noqa: E402
from kgqa.training.cross_fit import cross_fit, held_out  # noqa: E402
from kgqa.training.folds import Fold  # noqa: E402
from kgqa.training.questions import of_list  # noqa: E402
from tests.checks.test_readers import spans, written  # noqa: E402
from tests.cluster.conftest import Nodes  # noqa: E402
from tests.cluster.test_commands import contents as made  # noqa: E402
from tests.command import run_command  # noqa: E402
from tests.conftest import Cli  # noqa: E402
from tests.small_questions import question, questions  # noqa: E402
from tests.training.test_sent_task import Pickling, write_static  # noqa: E402


@pytest.fixture
def engine(cluster: Nodes) -> Iterator[RayEngine]:
    with opened_engine(cluster=cluster.address) as opened:
        assert isinstance(opened, RayEngine)
        yield opened


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As on the nodes, which have one core each."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def asked(name: str, encoder: str, **training: Any) -> Specification:
    return specification(name, settings={"encoder": encoder}, training={"max_steps": 3, "batch": 4, "device": "cpu", **training})


@pytest.mark.parametrize("name", ["ee", pytest.param("sa", marks=pytest.mark.thorough)])
def test_the_same_predictions(engine: RayEngine, name: str, tiny_encoder: str, tmp_path: Path) -> None:
    reader, some = asked(name, tiny_encoder), of_list(questions(12))
    beside = {"others": of_list([question(number, id=f"other{number}", shown=2) for number in range(12)])}
    points: dict[str, list[dict[str, object]]] = {"here": [], "nodes": []}
    for place, nodes in (("here", None), ("nodes", nodes_for(engine, reader))):
        done = cross_fit(
            some, lambda _: reader.make(), place=tmp_path / place, folds=3, seeds=(0, 1), settings=reader.training, beside=beside,
            record=points[place].append, nodes=nodes,
        )  # fmt: skip
        assert len(list(done.predictions(1))) == 12
        held_out(some, beside["others"], lambda _: reader.make(), place=tmp_path / f"{place}-2", settings=reader.training, nodes=nodes)
    for folder, file in (("", "judged"), ("", "others"), ("-2", "judged")):
        there, here = (tmp_path / f"{place}{folder}" / f"{file}.parquet" for place in ("nodes", "here"))
        assert there.read_bytes() == here.read_bytes()
    speeds = {"examples_per_second"}
    curves = [[{key: value for key, value in point.items() if key not in speeds} for point in points[place]] for place in points]
    assert curves[0] == curves[1]
    assert {point["seed"] for point in curves[0]} == {0, 1}


def test_what_is_done_is_not_done_again(engine: RayEngine, tiny_encoder: str, tmp_path: Path) -> None:
    """The folds of the first seed were fitted here, and the last of them is not yet marked as done."""
    reader, some = asked("ee", tiny_encoder), of_list(questions(9))
    options: dict[str, Any] = {"place": tmp_path / "run", "folds": 3, "settings": reader.training}
    points: list[dict[str, object]] = []

    class Stopped(BaseException):
        pass

    def stop(point: dict[str, object]) -> None:
        if point["fold"] == "seed 0, fold 3 of 3":
            raise Stopped

    with pytest.raises(Stopped):
        cross_fit(some, lambda _: reader.make(), seeds=(0, 1), record=stop, **options)
    cross_fit(some, lambda _: reader.make(), seeds=(0, 1), record=points.append, nodes=nodes_for(engine, reader), **options)
    assert {point["fold"] for point in points} == {"seed 0, fold 3 of 3", *(f"seed 1, fold {number} of 3" for number in (1, 2, 3))}


def test_faults_of_readers_are_told_as_here(engine: RayEngine, tiny_encoder: str, tmp_path: Path) -> None:
    reader = asked("ee", tiny_encoder)
    nothing = of_list([question(number, answers=("nowhere",), shown=0) for number in range(9)])
    with pytest.raises(EmptyResult, match=r"^the node \S+: .*none of the 3 training questions can be learned from"):
        cross_fit(
            nothing, lambda _: reader.make(), place=tmp_path / "run", folds=3, settings=reader.training, nodes=nodes_for(engine, reader)
        )
    with pytest.raises(SettingsError, match=r"--device cuda: the cluster at .* has no GPU"):
        nodes_for(engine, asked("ee", tiny_encoder, device="cuda"))


def has_no_finite_loss(*given: Any) -> list[dict[str, object]]:
    raise TrainingError(f"{given[3] / 'fit'}: the loss is inf in step 2; the last checkpoint is kept; try a lower learning_rate.")


def lacks_a_file(*_: Any) -> list[dict[str, object]]:
    raise MissingInput("words.txt: there is no such file; give another.")


@pytest.mark.parametrize(
    ("fit", "text"),
    [
        (has_no_finite_loss, "the loss is inf in step 2; try a lower learning_rate."),
        (lacks_a_file, "words.txt: there is no such file; give another."),
    ],
)
def test_a_fault_names_the_node_and_promises_no_checkpoint(fit: Any, text: str, tiny_encoder: str) -> None:
    reader = asked("ee", tiny_encoder)
    there = sent_folds.Nodes(engine=Pickling(), reader=Portable(reader))
    fold = Fold(train=of_list(questions(4)), dev=None, read={})
    with pytest.raises(KgqaError, match=f"^{re.escape(f'the node {socket.gethostname()}: {text}')}$"):
        list(sent_folds.fit_on_nodes([(0, fold)], there, reader.training, fit))


def test_what_is_fitted_here(engine: RayEngine, tiny_encoder: str) -> None:
    assert nodes_for(engine, specification("majority", settings={}, training={})) is None
    assert nodes_for(Threads(1), asked("ee", tiny_encoder)) is None


def test_a_static_model_is_sent(tiny_encoder: str, tmp_path: Path) -> None:
    name = write_static(tmp_path, tiny_encoder)
    sent = Portable(specification("fastqa", settings={"hidden": 4, "word_size": 6, "embeddings": name}, training={"device": "cpu"}))
    made_there: Any = sent.make(tmp_path / "there", "cpu")
    assert open_table(made_there.settings.embeddings).key == open_table(name).key


@pytest.mark.parametrize("name", ["ex-ee", "ex-sa"])
def test_a_decomposer_with_settings_stays_here(name: str, engine: RayEngine, tiny_encoder: str) -> None:
    for decomposer, is_here in ({"encoder": tiny_encoder}, True), (None, False):
        reader = specification(name, settings={"encoder": tiny_encoder, "decomposer": decomposer}, training={"device": "cpu"})
        assert (nodes_for(engine, reader) is None) == is_here


def judged(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "audit.json").read_bytes())
    return report["readers"]  # type: ignore[no-any-return]


def test_audit(cluster: Nodes, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    dataset = written(tmp_path / "made-up", dev=spans(50))
    settings = tmp_path / "readers.toml"
    settings.write_text(
        f'questions = 20\ntrain_questions = 20\nfolds = 3\nseeds = 1\n[settings]\nencoder = "{tiny_encoder}"\n'
        "[training]\nepochs = 1\nmax_steps = 1\nbatch = 2\ndev_questions = 1\n"
    )
    arguments: list[str | Path] = ["audit", dataset, "--readers", "minimal", "--reader-settings", settings]
    for out, more in (("here", ["--device", "cpu"]), ("nodes", ["--cluster", cluster.address])):
        outcome = run_command(*arguments, "--out", tmp_path / out, *more, seconds=500)
        assert outcome.status == 0, outcome.err
    assert "of this machine: 20 questions" in outcome.out + outcome.err
    assert judged(tmp_path / "nodes") == judged(tmp_path / "here")
    refused = cli(*arguments, "--out", tmp_path / "no", "--cluster", cluster.address, "--device", "cuda")
    refused.sentence(f"--device cuda: the cluster at {cluster.address} has no GPU")
    assert not (tmp_path / "no" / "audit.json").exists()


@pytest.mark.slow
def test_the_filter_of_compose(cluster: Nodes, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    domain = tmp_path / "mine.toml"
    domain.write_text(
        'extends = "companies"\nseed_domain = "companies"\n[musique.disconnection]\nuse = "readers"\nfolds = 3\nseeds = 1\n'
        f'settings = {{ encoder = "{tiny_encoder}" }}\ntraining = {{ epochs = 1, max_steps = 2, batch = 4, dev_questions = 5 }}\n'
    )
    for out, more in (("here", []), ("nodes", ["--cluster", cluster.address])):
        outcome = run_command("compose", "--domain", domain, "--workspace", tmp_path / out, *more, seconds=550)
        assert outcome.status == 0, outcome.err
    assert made(tmp_path / "nodes") == made(tmp_path / "here")

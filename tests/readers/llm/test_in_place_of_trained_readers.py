"""The reader ``llm`` in an audit and in the filter of ``kgqa compose``: what is shown, the cost, the recording, endpoints at fault."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.checks.readers.names import FULL_READER, MEASURES
from kgqa.errors import EndpointError, SettingsError
from kgqa.formats import native
from kgqa.progress import Silent
from kgqa.readers.llm.endpoint_reader import HIDDEN
from kgqa.records import Instance, Paragraph
from kgqa.settings.llm import EndpointReaderSettings, LlmReaderSettings
from tests.chat_server import ChatServer, Reply, chat_server
from tests.command import ROOT, environment
from tests.conftest import Cli
from tests.small_single_hops import single_hop

pytest.importorskip("openai")
pytest.importorskip("torch")
AWAY = "http://127.0.0.1:9/v1"
FAST = "retries = 1\ntries = 1\nat_once = 1\n"
QUESTIONS = 20
REQUESTS = 7 * QUESTIONS
"""Of an audit of the minimal level: two with all paragraphs, one without any, and one for each of four."""


def test_every_setting_is_described() -> None:
    page = (ROOT / "docs" / "llm-reader.md").read_text("utf-8").partition("## In audits and in the filter")[2].partition("\n## ")[0]
    described = set(re.findall(r"^\| `(\w+)` ", page, re.MULTILINE))
    assert described == set(EndpointReaderSettings.model_fields) - set(LlmReaderSettings.model_fields)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")


class Notes(Silent):
    """What was said at the end of each stage."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def finish(self, note: str = "") -> None:
        self.notes.append(note)


def question(number: int) -> Instance:
    """A question of two hops; its answer is in the second of four paragraphs."""
    texts = [f"book {number} is by a{number}", f"a{number} was born in b{number}", f"c{number} died", f"d{number} did"]
    paragraphs = tuple(Paragraph(id=f"{number}-{place}", title=None, text=text, supporting=place < 2) for place, text in enumerate(texts))
    return Instance(
        id=f"q{number}", question=f"where was who wrote book {number} born", paragraphs=paragraphs, answers=(f"b{number}",),
        answer_type="span", answerable=True, group=f"q{number}", provenance=None,
    )  # fmt: skip


def data_of(request: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(request["messages"][-1]["content"])
    return data


def born(request: dict[str, Any]) -> Reply:
    """A model that takes the place where somebody was born, and knows it from one paragraph alone."""
    fields = request["response_format"]["json_schema"]["schema"]["properties"]
    texts = [paragraph["text"] for paragraph in data_of(request)["paragraphs"].values()]
    found = [(number, text.rpartition(" ")[2]) for number, text in enumerate(texts, start=1) if " was born in " in text]
    number, answer = found[0] if found else (0, "nowhere")
    value = {"type": "span", "answer": [answer], "sufficient": "yes" if found else "no", "supporting": [str(number)] if found else []}
    return Reply(content=json.dumps({name: value[name] for name in fields}))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets") / "made-up"
    folder.mkdir()
    native.write(map(question, range(QUESTIONS)), folder / "dev.parquet")
    return folder


def settings(folder: Path, more: str = "", *, first: str = 'reader = "llm"') -> Path:
    path = folder / "readers.toml"
    path.write_text(f'{first}\nquestions = {QUESTIONS}\nfolds = 3\nseeds = 1\n[llm]\nmodel = "m"\n{FAST}{more}', "utf-8")
    return path


def audited(dataset: Path, folder: Path, server: ChatServer | str, more: str = "", *, out: str = "out", **options: Any) -> dict[str, Any]:
    address = server if isinstance(server, str) else server.address
    level = options.pop("level", "minimal")
    told = settings(folder, more)
    result = kgqa.audit(dataset, out=folder / out, readers=level, reader_settings=told, endpoint=address, **options)
    value: dict[str, Any] = json.loads(result.json.read_text("utf-8"))
    return value


def figures(value: dict[str, Any]) -> dict[str, float]:
    return {each["name"]: each["value"] for each in value["readers"]["figures"] if each["scored"] == "answer F1"}


def test_an_audit_shows_the_model_a_part_of_each_question(dataset: Path, tmp_path: Path) -> None:
    notes = Notes()
    with chat_server(born) as server:
        value = audited(dataset, tmp_path, server, progress=notes)
        asked = [data_of(request) for request in server.requests]
    assert figures(value) == {FULL_READER: 1.0, "question-only": 0.0, "context-only": 1.0, "one-paragraph": 1.0}
    counts = [len(data["paragraphs"]) for data in asked]
    assert (counts.count(4), counts.count(0), counts.count(1)) == (2 * QUESTIONS, QUESTIONS, 4 * QUESTIONS)
    assert sum(data["question"] == HIDDEN for data in asked) == QUESTIONS
    assert all(data["question"].startswith("where was who wrote") or len(data["paragraphs"]) == 4 for data in asked)
    first = next(note for note in notes.notes if "requests" in note)
    assert first.startswith(f"0 answers are recorded; {REQUESTS} requests")


def test_a_recording_gives_the_same_report_without_an_endpoint(dataset: Path, tmp_path: Path) -> None:
    with chat_server(born) as server:
        audited(dataset, tmp_path, server, "shots = 2\n")
    recording = tmp_path / "out" / "llm.recording.jsonl"
    again = audited(dataset, tmp_path, AWAY, "shots = 2\n", out="again", recording=recording)
    for name in ("audit.json", "audit.html"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert again["readers"]["encoder"] == "m"
    assert "sk-very-secret" not in recording.read_text("utf-8")


def test_an_audit_decides_what_the_model_sees(dataset: Path, tmp_path: Path) -> None:
    with chat_server(born) as server:
        with pytest.raises(SettingsError, match=r"\[llm\] shows cannot be set in an audit"):
            audited(dataset, tmp_path, server, 'shows = "question"\n')
        assert not server.requests


@pytest.mark.parametrize("name", ["audit.json", "audit.html"])
def test_a_recording_is_no_file_of_the_report(dataset: Path, tmp_path: Path, name: str) -> None:
    with chat_server(born) as server:
        with pytest.raises(SettingsError, match="the report would overwrite this file; give another one"):
            audited(dataset, tmp_path, server, recording=tmp_path / "out" / name)
        assert not server.requests
    assert not (tmp_path / "out" / name).exists()


def test_dires_probes_are_answered_too(dataset: Path, tmp_path: Path) -> None:
    with chat_server(born) as server:
        value = audited(dataset, tmp_path, server, level="full")
        sufficient = [request for request in server.requests if "sufficient" in str(request["response_format"])]
        assert any(len(data_of(request)["paragraphs"]) > 1 for request in sufficient)
    assert {each["measure"] for each in value["readers"]["figures"]} - {None} == {measure.name for measure in MEASURES}
    # The model needs the second fact only, so it answers from contexts without the first.
    assert figures(value)["dire"] == 1.0
    assert figures(value)["dire-conditional"] == 1.0


def test_a_stopped_audit_sends_only_what_is_missing(dataset: Path, tmp_path: Path) -> None:
    def failing(request: dict[str, Any]) -> Reply:
        return born(request) if len(server.requests) <= 30 else Reply(status=401)

    with chat_server(failing) as server, pytest.raises(EndpointError, match="it refuses the key in OPENAI_API_KEY"):
        audited(dataset, tmp_path, server)
    assert not (tmp_path / "out" / "audit.json").exists()
    with chat_server(born) as server:
        audited(dataset, tmp_path, server)
        assert len(server.requests) == REQUESTS - 30


def times_out(request: dict[str, Any]) -> Reply:
    return replace(born(request), delay=0.6)


def is_dear(request: dict[str, Any]) -> Reply:
    return replace(born(request), tokens=(3000, 1000))


def is_broken(request: dict[str, Any]) -> Reply:
    return Reply(content="no JSON")


@pytest.mark.parametrize(
    ("reply", "more", "sentence"),
    [
        (times_out, "timeout_seconds = 0.2\n", "no answer in 0.2 s"),
        (is_broken, "", "all 20 answers have the wrong form"),
        (lambda _: Reply(status=429, headers={"retry-after": "0"}), "", "too many requests"),
        (lambda _: Reply(body="<html>"), "", "no chat completion"),
        (is_dear, "input_price = 1.0\noutput_price = 1.0\nmax_cost = 0.06\n", "and with a higher max_cost the same command goes on"),
    ],
)
def test_each_fault_of_an_endpoint_is_one_sentence(
    dataset: Path, tmp_path: Path, reply: Callable[[dict[str, Any]], Reply], more: str, sentence: str
) -> None:
    with chat_server(reply) as server, pytest.raises(EndpointError, match=sentence) as error:
        audited(dataset, tmp_path, server, more)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out" / "audit.json").exists()


@pytest.mark.slow
def test_a_rate_limit_is_waited_for(dataset: Path, tmp_path: Path) -> None:
    def limited(request: dict[str, Any]) -> Reply:
        return Reply(status=429, headers={"retry-after": "0"}) if len(server.requests) == 3 else born(request)

    with chat_server(limited) as server:
        assert figures(audited(dataset, tmp_path, server))[FULL_READER] == 1.0
        assert len(server.requests) == REQUESTS + 1


def test_nothing_is_sent_if_the_estimate_exceeds_the_limit(dataset: Path, tmp_path: Path) -> None:
    with chat_server(born) as server:
        with pytest.raises(SettingsError, match=rf"{REQUESTS} requests would cost about .* and max_cost is 0.001; raise it, or give fewer"):
            audited(dataset, tmp_path, server, "input_price = 1.0\noutput_price = 1.0\nmax_cost = 0.001\n")
        assert not server.requests


@pytest.mark.parametrize(
    ("first", "more", "options", "sentence"),
    [
        ('reader = "ll"', "", {}, 'the setting .reader. cannot be "ll": it must be "ee" or "llm"'),
        ('reader = "llm"', "retrieve = 3\n", {}, "the paragraphs are the question's own"),
        ('reader = "llm"', "max_cost = 1.0\n", {}, "max_cost needs prices"),
        ('reader = "llm"', "mode = 1\n", {}, "unknown setting 'llm.mode'; did you mean model"),
        ('reader = "llm"', "", {"encoder": "x"}, "--encoder is for trained readers"),
        ("", "", {"endpoint": AWAY}, "--endpoint is for the reader llm"),
    ],
)
def test_wrong_settings_are_refused(dataset: Path, tmp_path: Path, first: str, more: str, options: dict[str, Any], sentence: str) -> None:
    told = settings(tmp_path, more, first=first)
    with pytest.raises(SettingsError, match=sentence):
        kgqa.audit(dataset, out=tmp_path / "out", readers="minimal", reader_settings=told, **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("shots = -1\n", "the setting 'llm.shots' cannot be -1: it must be at least 0."),
        ('temperature = "0"\n', "the setting 'llm.temperature' cannot be \"0\": it must be a number, without quotation marks."),
        ("retrieve = 3\n", "llm: retrieve: here the paragraphs are the question's own; leave it out."),
        ("max_cost = 1.0\n", "llm: max_cost needs prices: give input_price and output_price, of a million tokens."),
        ('[settings]\nencoder = "x"\n', "no reader of this audit has the setting [settings] encoder; remove it, or name a reader"),
        ("[training]\nepochs = 1\n", "no reader of this audit has the setting [training] epochs; remove it, or name a reader"),
    ],
)
def test_a_fault_of_a_section_is_said_with_file_and_section(dataset: Path, tmp_path: Path, more: str, sentence: str) -> None:
    told = settings(tmp_path, more)
    with pytest.raises(SettingsError) as error:
        kgqa.audit(dataset, out=tmp_path / "out", readers="minimal", reader_settings=told)
    assert str(error.value).startswith(f"{told}: {sentence}")
    told.write_text('reader = "llm"\n[llm]\nshots = 1\n')
    with pytest.raises(SettingsError) as error:
        kgqa.audit(dataset, out=tmp_path / "out", readers="minimal", reader_settings=told)
    assert str(error.value) == f"{told}: the setting 'llm.model' is missing; add it."
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("beside", "sentence"),
    [
        ('["llm"]', "beside: the reader llm is the full reader; leave it out."),
        ('["tf-idf", "tf-idf"]', "beside: the reader tf-idf is there twice; leave it out."),
        ('["lm"]', "reader 'lm' is not known; did you mean llm?"),
        ('["llmm"]', "reader 'llmm' is not known; did you mean llm?"),
    ],
)
def test_readers_beside_the_full_one(dataset: Path, tmp_path: Path, beside: str, sentence: str) -> None:
    told = settings(tmp_path, first=f'reader = "llm"\nbeside = {beside}')
    with pytest.raises(SettingsError) as error:
        kgqa.audit(dataset, out=tmp_path / "out", readers="minimal", reader_settings=told)
    assert str(error.value) == f"{told}: {sentence}"


def test_a_misspelt_llm_is_offered_where_readers_are_named(tmp_path: Path, cli: Cli) -> None:
    single_hop(tmp_path / "set")
    cli("train", "llmm", tmp_path / "set", "--out", tmp_path / "run").sentence("reader 'llmm' is not known; did you mean llm?")
    cli("predict", "lmm", tmp_path / "set", "--out", tmp_path / "p.json").sentence("lmm: ", "did you mean llm?")
    toml = tmp_path / "own.toml"
    toml.write_text('extends = "questions"\n[musique.disconnection]\nuse = "readers"\ntail_reader = "lm"\n', "utf-8")
    composing = cli("compose", tmp_path / "set", "--domain", toml, "--workspace", tmp_path / "w")
    composing.sentence(f"{toml}: reader 'lm' is not known; did you mean llm?")
    assert {path.name for path in tmp_path.iterdir()} == {"set", "own.toml"}


def test_no_option_is_advised_that_the_command_lacks(dataset: Path, tmp_path: Path) -> None:
    with chat_server(lambda _: Reply(status=404)) as server, pytest.raises(EndpointError) as missing:
        audited(dataset, tmp_path, server)
    with chat_server(is_broken) as server, pytest.raises(EndpointError) as broken:
        audited(dataset, tmp_path, server)
    for error in (missing, broken):
        assert "give another model in the settings of the reader llm" in str(error.value)
        assert "--model" not in str(error.value)


def unhelpful(request: dict[str, Any]) -> Reply:
    fields = request["response_format"]["json_schema"]["schema"]["properties"]
    value = {"type": "span", "answer": ["nothing"], "sufficient": "no", "supporting": []}
    return Reply(content=json.dumps({name: value[name] for name in fields}))


@pytest.mark.parametrize(("model", "level"), [pytest.param(born, "full", marks=pytest.mark.slow), (unhelpful, "minimal")])
def test_an_audit_says_nothing_of_training_a_model_that_it_only_asks(
    dataset: Path, tmp_path: Path, model: Callable[[dict[str, Any]], Reply], level: str
) -> None:
    with chat_server(model) as server:
        judged = audited(dataset, tmp_path, server, level=level)["readers"]
    said = " ".join([judged["how"], *judged["conclusions"]])
    assert not re.search(r"train(?!\b)|weights|encoder|has not learned|cross-fitted", said), said
    assert ("it cannot do the task, and" in said) == (model is unhelpful)
    assert "the reader llm learned nothing" in judged["how"]


WITHOUT_TORCH = """
import sys
names = {"torch", "transformers", "accelerate", "safetensors", "sqlalchemy"}
class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in names else self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Without, sys.meta_path)
from kgqa.cli import main
main()
"""


@pytest.mark.slow
def test_an_audit_that_trains_nothing_needs_no_torch(dataset: Path, tmp_path: Path) -> None:
    told = settings(tmp_path, first='reader = "llm"\nbeside = ["tf-idf"]')
    with chat_server(born) as server:
        common = ["audit", dataset, "--readers", "minimal", "--endpoint", server.address, "--out", tmp_path / "out"]

        def run(path: Path) -> subprocess.CompletedProcess[str]:
            command = [sys.executable, "-c", WITHOUT_TORCH, *map(str, [*common, "--reader-settings", path])]
            return subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=300)

        asking = run(told)
        assert asking.returncode == 0, asking.stderr
        assert (tmp_path / "out" / "audit.json").exists()
        training = run(settings(tmp_path, first='reader = "ee"\nbeside = ["llm"]'))
    assert training.returncode == 2
    assert "kgqa audit --readers needs torch and transformers" in training.stderr


def composed(folder: Path, server: ChatServer | str, *, workspace: str = "w", more: str = "", **options: Any) -> Path:
    address = server if isinstance(server, str) else server.address
    toml = folder / "own.toml"
    toml.write_text(
        'extends = "questions"\n[musique.disconnection]\nuse = "readers"\nhead_reader = "llm"\ntail_reader = "llm"\nfolds = 3\n'
        f'seeds = 2\ndistractors = 2\n[musique.disconnection.llm]\nmodel = "m"\n{FAST}{more}',
        "utf-8",
    )
    return kgqa.compose(folder / "set", domain=toml, workspace=folder / workspace, endpoint=address, **options).dataset


def knows_some(request: dict[str, Any]) -> Reply:
    """A model that knows by heart where the first ruler was born, and never finds a tail's answer."""
    data = data_of(request)
    heads: Sequence[str] = [data["question"]] if not data["paragraphs"] else []
    answer = known_answer[heads[0]] if heads and heads[0] in known_answer else "nothing"
    return Reply(content=json.dumps({"type": "span", "answer": [answer], "supporting": []}))


known_answer: dict[str, str] = {}


def test_the_filter_drops_what_the_model_knows(tmp_path: Path) -> None:
    single_hop(tmp_path / "set")
    first = next(iter(kgqa.open_dataset(tmp_path / "set").instances()))
    known_answer[first.question] = first.answers[0]
    notes = Notes()
    with chat_server(knows_some) as server:
        done = composed(tmp_path, server, progress=notes)
        sent = len(server.requests)
    assert any(note.startswith(f"0 answers are recorded; {sent} requests") for note in notes.notes)
    funnel = json.loads((done / "manifest.json").read_text("utf-8"))["funnel"]
    rows = {(row["what"], row["reason"]): row["removed"] for row in funnel if row["stage"] == "disconnection"}
    assert rows["heads", "the first question is answered without any paragraph"] == 1
    # The same answers give the same bytes in another workspace without an endpoint, whatever the requests may cost.
    with pytest.raises(EndpointError, match="it cannot be reached"):
        composed(tmp_path, AWAY, workspace="again")
    recordings = tmp_path / "again" / "recordings"
    recordings.mkdir()
    (recordings / "filter.jsonl").write_bytes((tmp_path / "w" / "recordings" / "filter.jsonl").read_bytes())
    again = composed(tmp_path, AWAY, workspace="again", more="input_price = 1.0\noutput_price = 1.0\nmax_cost = 5.0\n")
    files = [path for path in done.iterdir() if path.suffix in {".jsonl", ".parquet"}]
    assert files
    for path in files:
        assert path.read_bytes() == (again / path.name).read_bytes()


def test_a_filter_that_cannot_ask_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    single_hop(tmp_path / "set")
    toml = tmp_path / "own.toml"
    toml.write_text('extends = "questions"\n[musique.disconnection]\nuse = "readers"\nhead_reader = "llm"\n', "utf-8")
    with pytest.raises(SettingsError, match=r"own\.toml: the setting 'musique\.disconnection\.llm\.model' is missing; add it\."):
        kgqa.compose(tmp_path / "set", domain=toml, workspace=tmp_path / "w")
    with pytest.raises(SettingsError, match=r"--endpoint is for --composer llm"):
        kgqa.compose(tmp_path / "set", workspace=tmp_path / "w", endpoint=AWAY)

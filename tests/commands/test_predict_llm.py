"""A model behind an endpoint as a reader: every official file, prompts, replays, limits, and endpoints at fault."""

from __future__ import annotations

import itertools
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.commands.predict import Predicted
from kgqa.errors import EndpointError, MissingInput, SettingsError, StorageError
from kgqa.formats.provenance import noted_sufficiency
from kgqa.records import Instance
from kgqa.scoring.dire_gold import dire_label
from kgqa.scoring.prediction_files import ANSWER_TYPES, WRITERS
from kgqa.settings.llm import LlmReaderSettings
from tests.chat_server import ChatServer, Reply, chat_server
from tests.command import COMMAND, ROOT
from tests.conftest import Cli
from tests.scoring.families import FAMILIES, NAMES, Family
from tests.scoring.test_prediction_files import UNPREDICTED, full_marks
from tests.small_questions import CAPITALS, questions, write_set

pytest.importorskip("openai")
KEY = "sk-very-secret"
AWAY = "http://127.0.0.1:9/v1"
ONE = "[settings]\nat_once = 1\nretries = 0\ntries = 1\n"
Teller = Callable[[dict[str, Any]], Reply]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def data_of(request: dict[str, Any]) -> dict[str, Any]:
    """What the last question of a request shows."""
    asked = [message["content"] for message in request["messages"] if message["content"].startswith('{"paragraphs"')]
    result: dict[str, Any] = json.loads(asked[-1])
    return result


def texts_of(paragraph: dict[str, Any]) -> str:
    return " ".join((paragraph["text"] if "text" in paragraph else " ".join(paragraph["sentences"].values())).split())


def teller(instances: Sequence[Instance]) -> Teller:
    """A model that knows the gold answers, and finds the support among the numbered texts."""

    def tell(request: dict[str, Any]) -> Reply:
        data = data_of(request)
        shown = [texts_of(paragraph) for paragraph in data["paragraphs"].values()]
        [instance] = [
            instance
            for instance in instances
            if instance.question == data["question"] and (len(shown) != len(instance.paragraphs) or texts(instance) == shown)
        ]
        return Reply(content=json.dumps(gold(instance, data, request["response_format"]["json_schema"]["schema"]["properties"])))

    return tell


def texts(instance: Instance) -> list[str]:
    return [" ".join(paragraph.text.split()) for paragraph in instance.paragraphs]


def gold(instance: Instance, data: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    marked = {" ".join(paragraph.text.split()): paragraph for paragraph in instance.paragraphs if paragraph.supporting}
    supporting: list[str] = []
    for number, paragraph in data["paragraphs"].items():
        found = marked.get(texts_of(paragraph))
        if found is not None:
            sentences = found.supporting_sentences if "sentences" in paragraph else ()
            supporting += [list(paragraph["sentences"])[sentence] for sentence in sentences or ()] or [number]
    sufficient = {1: "yes", 0: "partly", -1: "no", None: "yes"}[noted_sufficiency(instance)]
    answer: dict[str, Any] = {"reasoning": "because", "unit": "", "sufficient": sufficient, "supporting": supporting}
    if "candidate" in fields:
        [right] = [c.text for c in instance.candidates or () if c.id == instance.answer_id] or [instance.answers[0]]
        answer["candidate"] = next(int(number) for number, text in data["candidates"].items() if text == right)
    else:
        kinds, kind = fields["type"]["enum"], instance.answer_type
        parts = list(instance.answers) if kind == "spans" else list(instance.answers[:1])
        kind = kind if kind in kinds else "span"
        if not instance.answerable:
            kind, parts = "none" if "none" in kinds else kind, []
        answer |= {"type": kind, "answer": parts}
    return {name: answer[name] for name in fields}


def labelled(instances: Sequence[Instance]) -> list[Instance]:
    """Instances of a transform with the answers that its label wants."""
    found = []
    for instance in instances:
        label = dire_label(instance).instance
        found.append(replace(instance, answers=(label.answer,), answerable=True, answer_type="span"))
    return found


def predicted(folder: Path, dataset: Path, server: ChatServer | str, *, out: str = "out.json", **options: Any) -> Predicted:
    address = server if isinstance(server, str) else server.address
    run = options.pop("run", "llm")
    return kgqa.predict(run, dataset, out=folder / out, model="m", endpoint=address, **options)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A set with train and dev."""
    return write_set(tmp_path / "set", train=questions(8), dev=questions(16)[8:])


def report(folder: Path, out: str = "out.json") -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / f"{out}.report.json").read_text("utf-8"))
    return result


def test_every_setting_is_described() -> None:
    page = (ROOT / "docs" / "llm-reader.md").read_text("utf-8").partition("## Settings")[2].partition("## In audits")[0]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(LlmReaderSettings.model_fields)


def test_every_file_has_its_types_of_answers() -> None:
    assert set(ANSWER_TYPES) == set(WRITERS)


def numbered(value: Any, numbers: Iterator[int]) -> Any:
    """A set whose questions differ."""
    if isinstance(value, list):
        return [numbered(item, numbers) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{item} {next(numbers)}" if name in {"question", "query"} and isinstance(item, str) else numbered(item, numbers)
        for name, item in value.items()
    }


@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_a_model_that_knows_everything_has_full_marks(family: Family, tmp_path: Path) -> None:
    dataset, _ = replace(family, gold=numbered(family.gold, itertools.count())).write(tmp_path)
    options = family.options(tmp_path)
    options.pop("metric", None)
    instances = list(kgqa.open_dataset(dataset, options.get("format"), paragraphs=options.get("paragraphs")).instances())
    if family.metric.startswith("dire-"):
        instances = labelled(instances)
    with chat_server(teller(instances)) as server:
        result = predicted(tmp_path, dataset, server, metric=family.metric, **options)
        assert len(server.requests) == len(instances)
    assert not [remark for remark in result.remarks if "no prediction" in remark]
    done = kgqa.evaluate(dataset, result.file, metric=family.metric, **options)
    but = UNPREDICTED if family.metric == "twowiki" else ("SARI", "Recall@10") if family.metric == "strategyqa" else ()
    assert full_marks(done, but=but), done.scores.official
    assert not done.scores.missing


def knowing(small: Path) -> Teller:
    return teller(list(kgqa.open_dataset(small).instances()))


def toml(folder: Path, text: str) -> str:
    path = folder / "llm.toml"
    path.write_text(f'reader = "llm"\n{text}', "utf-8")
    return str(path)


def test_a_recording_gives_the_same_bytes_without_an_endpoint(small: Path, tmp_path: Path) -> None:
    with chat_server(knowing(small)) as server:
        first = predicted(tmp_path, small, server, metric="squad")
        assert len(server.requests) == 8
        assert set(server.keys) == {f"Bearer {KEY}"}
    recording = tmp_path / "out.json.recording.jsonl"
    again = predicted(tmp_path, small, AWAY, out="again.json", metric="squad", recording=recording)
    assert again.file.read_bytes() == first.file.read_bytes()
    assert first.report is not None
    assert again.report is not None
    assert again.report.read_bytes() == first.report.read_bytes()
    found = report(tmp_path)
    assert (found["model"], found["metric"], found["answers"], found["cost"]) == ("m", "squad", 8, None)
    assert found["questions"][0] == {"id": "q8", "type": "span", "answer": CAPITALS[8], "unit": "", "confidence": 1.0}
    assert KEY not in "".join(path.read_text("utf-8") for path in tmp_path.glob("*.json*"))


def test_a_prompt_has_numbered_paragraphs_examples_and_a_schema(small: Path, tmp_path: Path) -> None:
    with chat_server(knowing(small)) as server:
        predicted(tmp_path, small, server, metric="squad2", shots=2)
        predicted(tmp_path, small, server, metric="squad2", shots=2, out="again.json", retrieve=1)
        messages, request = server.requests[0]["messages"], server.requests[0]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "none: the paragraphs do not give the answer" in messages[0]["content"]
    train = {instance.question: instance for instance in kgqa.open_dataset(small).read("train")}
    for asked, answered in ((messages[1], messages[2]), (messages[3], messages[4])):
        data, answer = json.loads(asked["content"]), json.loads(answered["content"])
        example = train[data["question"]]
        assert list(data["paragraphs"]) == ["1", "2", "3"]
        assert answer["answer"] == list(example.answers)
        [number] = answer["supporting"]
        assert example.answers[0] in data["paragraphs"][number]["text"]
    assert request["response_format"]["json_schema"]["schema"]["properties"]["type"]["enum"] == ["span", "none"]
    assert report(tmp_path)["examples"] == report(tmp_path, "again.json")["examples"]
    assert set(report(tmp_path)["examples"]) <= {instance.id for instance in train.values()}


def test_examples_cover_the_types_of_answers(tmp_path: Path) -> None:
    unanswerable = [replace(item, answers=(), answerable=False, answer_type="none") for item in questions(8)[:2]]
    dataset = write_set(tmp_path / "set", train=[*unanswerable, *questions(8)[2:]], dev=questions(9)[8:])
    with chat_server(knowing(dataset)) as server:
        predicted(tmp_path, dataset, server, metric="squad2", shots=2)
        answers = [json.loads(message["content"]) for message in server.requests[0]["messages"] if message["role"] == "assistant"]
    assert sorted(answer["type"] for answer in answers) == ["none", "span"]


def test_candidates_are_numbered(tmp_path: Path) -> None:
    dataset = write_set(tmp_path / "set", train=questions(8, candidates=True), dev=questions(12, candidates=True)[8:])
    with chat_server(knowing(dataset)) as server:
        result = predicted(tmp_path, dataset, server, metric="qangaroo", shots=1)
        data = data_of(server.requests[0])
        example = json.loads(server.requests[0]["messages"][2]["content"])
    assert list(data["candidates"]) == ["1", "2", "3"]
    assert set(example) == {"candidate", "supporting"}
    assert full_marks(kgqa.evaluate(dataset, result.file, metric="qangaroo"))


def test_paragraphs_are_retrieved_from_the_whole_set(tmp_path: Path) -> None:
    """The question's own paragraphs lack the right one, which another question has; its rank is in StrategyQA's file."""
    asked = [replace(item, question=f"is the capital of {item.paragraphs[0].title} big?", answers=("yes",), answer_type="boolean",
                     answer_id=None) for item in questions(6, shown=1)]  # fmt: skip
    blind = [replace(item, paragraphs=()) for item in asked[:3]]
    dataset = write_set(tmp_path / "set", train=asked, dev=blind)
    with chat_server(teller(blind)) as server:
        predicted(tmp_path, dataset, server, metric="strategyqa", retrieve=2)
        shown = [data_of(request)["paragraphs"] for request in server.requests]
        predicted(tmp_path, dataset, server, metric="strategyqa", retrieve=0, out="closed.json")
        assert not any(data_of(request)["paragraphs"] for request in server.requests[3:])
    assert sorted(paragraphs["1"]["title"] for paragraphs in shown) == ["arl", "bem", "cor"]
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [entry["paragraphs"][0] for entry in found.values()] == ["p0", "p1", "p2"]
    with pytest.raises(MissingInput, match="there is no paragraph to retrieve"):
        predicted(tmp_path, write_set(tmp_path / "blind", dev=blind), AWAY, metric="strategyqa", retrieve=2, out="none.json")


def test_samples_vote(small: Path, tmp_path: Path) -> None:
    words = itertools.cycle(["right", "wrong", "Right", "{"])
    with chat_server(lambda _: Reply(content=json.dumps({"type": "span", "answer": [next(words)], "supporting": []}))) as server:
        predicted(tmp_path, small, server, run=toml(tmp_path, "[settings]\nat_once = 1\n"), metric="dire", samples=4)
        assert len(server.requests) == 4 * 8
    lines = [json.loads(line) for line in (tmp_path / "out.json").read_text("utf-8").splitlines()]
    assert {(line["answer"], line["answer_confidence"]) for line in lines} == {("right", 0.5)}
    predicted(tmp_path, small, AWAY, metric="dire", samples=4, out="again.json", recording=tmp_path / "out.json.recording.jsonl")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "out.json").read_bytes()


FAULTY = {
    "no JSON": "not of the form",
    '{"type": "list", "answer": ["a"]}': "\"type\" is 'list'",
    '{"type": "span", "answer": []}': '"answer" is empty',
    '{"type": "span", "answer": ["a", "b"]}': '"answer" has 2 texts',
    '{"type": "number", "answer": ["about five"]}': "must be a number in digits",
    '{"type": "boolean", "answer": ["perhaps"]}': "must be yes or no",
    '{"type": "span", "answer": ["a"], "supporting": ["9"]}': "there is no such number",
    json.dumps({"type": "span", "answer": ["a" * 3000]}): '"answer" is too long',
}


@pytest.mark.parametrize("content", FAULTY)
def test_a_faulty_answer_is_asked_for_again_and_then_there_is_none(content: str, tmp_path: Path) -> None:
    dataset = write_set(tmp_path / "set", dev=questions(2))
    know = knowing(dataset)

    def faulty(request: dict[str, Any]) -> Reply:
        is_second = "bem" in data_of(request)["question"]
        return know(request) if is_second and len(request["messages"]) > 2 else Reply(content=content)

    with chat_server(faulty) as server:
        result = predicted(tmp_path, dataset, server, metric="iirc")
        complaints = [request["messages"][-1]["content"] for request in server.requests if len(request["messages"]) > 2]
        assert len(server.requests) == 4
    assert FAULTY[content] in complaints[0] or "not JSON of the form" in complaints[0]
    first, second = report(tmp_path)["questions"]
    assert FAULTY[content] in first["reason"]
    assert second["answer"] == CAPITALS[1]
    assert any("1 of 2 questions have no prediction" in remark for remark in result.remarks)
    assert any("which may be scored as right" in remark for remark in result.remarks)


def said(text: str, _: dict[str, Any]) -> Reply:
    return Reply(content=text)


def test_numbers_have_units_and_no_separators(tmp_path: Path) -> None:
    dataset = write_set(tmp_path / "set", dev=questions(1))
    content = '```json\n{"type": "number", "answer": 12, "unit": "km", "supporting": 1}\n```'
    for number, (text, kept) in enumerate([(content, "12"), (content.replace("12", '"1,250,000.5"'), "1250000.5")]):
        with chat_server(partial(said, text)) as server:
            predicted(tmp_path, dataset, server, metric="drop", out=f"{number}.json")
        assert json.loads((tmp_path / f"{number}.json").read_text("utf-8")) == {"q0": kept}
        assert report(tmp_path, f"{number}.json")["questions"][0]["unit"] == "km"


PRICES: dict[str, Any] = {"input_price": 1000.0, "output_price": 1000.0}


def test_the_cost_is_capped_and_the_run_goes_on(small: Path, tmp_path: Path) -> None:
    know = knowing(small)
    with chat_server(lambda request: replace(know(request), tokens=(1000, 100))) as server:
        with pytest.raises(SettingsError, match=r"8 requests would cost about .* and max_cost is 0.01; raise it"):
            predicted(tmp_path, small, server, metric="squad", max_cost=0.01, **PRICES)
        assert not server.requests
        assert [path.name for path in tmp_path.iterdir()] == ["set"]
        run = toml(tmp_path, "[settings]\nat_once = 1\nmax_output_tokens = 100\n")
        with pytest.raises(EndpointError, match=r"of max_cost 4 is spent, and the next request may cost"):
            predicted(tmp_path, small, server, run=run, metric="squad", max_cost=4.0, **PRICES)
        sent = len(server.requests)
        assert 0 < sent < 8
        assert not (tmp_path / "out.json").exists()
        predicted(tmp_path, small, server, run=run, metric="squad", max_cost=40.0, **PRICES)
        assert len(server.requests) == 8
    found = report(tmp_path)
    assert found["cost"] == pytest.approx((found["input_tokens"] + found["output_tokens"]) / 1000)


class Endless:
    """A body without end, or a drip."""

    def __init__(self, chunk: bytes, wait: float = 0.0) -> None:
        self._chunk, self._wait = chunk, wait

    def __iter__(self) -> Iterator[bytes]:
        for _ in itertools.count():
            yield self._chunk
            time.sleep(self._wait)


FAULTS: dict[str, tuple[Callable[[], Reply], str]] = {
    "slow": (lambda: Reply(delay=1.5), "no answer in 0.7 s"),
    "drip": (lambda: Reply(chunks=Endless(b" ", 0.1)), "no answer in 0.7 s"),
    "endless": (lambda: Reply(chunks=Endless(b" " * 65536)), "its answer is longer than"),
    "packed": (lambda: Reply(chunks=[b"x" * 99], headers={"Content-Encoding": "gzip"}), "its answer is compressed"),
    "choices": (lambda: Reply(body=json.dumps({"choices": [{"message": {"content": "x"}}] * 20_000})), "20,000 choices"),
    "elsewhere": (lambda: Reply(status=307, headers={"Location": "http://localhost:9/v1"}), "it sends on to"),
    "key": (lambda: Reply(status=401, content=f"wrong {KEY}"), "it refuses the key in OPENAI_API_KEY"),
    "broken": (lambda: Reply(status=500), "it fails (status 500"),
    "page": (lambda: Reply(body="<html>"), "no chat completion"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_endpoint_at_fault_ends_the_run_and_nothing_is_lost(fault: str, small: Path, tmp_path: Path, cli: Cli) -> None:
    know, (reply, message) = knowing(small), FAULTS[fault]
    count = itertools.count()
    run = toml(tmp_path, f"{ONE}timeout_seconds = 0.7\n")
    command = ("predict", run, small, "--model", "m", "--metric", "squad", "--out", tmp_path / "out.json", "--endpoint")
    with chat_server(lambda request: know(request) if next(count) < 3 else reply()) as server:
        sentence = cli(*command, server.address).sentence(server.address, message)
    assert KEY not in sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["llm.toml", "out.json.recording.jsonl", "set"]
    assert len((tmp_path / "out.json.recording.jsonl").read_text("utf-8").splitlines()) == 3
    cli(*command, AWAY).sentence("it cannot be reached")
    with chat_server(know) as server:
        done = cli(*command, server.address)
        assert (done.status, len(server.requests)) == (0, 5), done.err
    assert "8 answers to dev" in done.out
    assert "requests" in done.out + done.err


def test_lies_about_tokens_and_echoes_of_the_key(small: Path, tmp_path: Path) -> None:
    know = knowing(small)

    def lying(request: dict[str, Any]) -> Reply:
        answer = json.loads(know(request).content or "") | {"answer": [f"x {KEY}"]}
        return Reply(content=json.dumps(answer), tokens=(-10_000, 1 << 39))

    with chat_server(lying) as server:
        predicted(tmp_path, small, server, metric="squad", max_cost=100.0, **PRICES)
    assert 0 < report(tmp_path)["cost"] < 100
    assert KEY not in "".join(path.read_text("utf-8") for path in tmp_path.glob("*.json*"))
    assert set(json.loads((tmp_path / "out.json").read_text("utf-8")).values()) == {"x …"}


def test_options_that_do_not_go_together(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(match: str, error: type[Exception] = SettingsError, **options: Any) -> None:
        with pytest.raises(error, match=match):
            predicted(tmp_path, small, AWAY, **{"metric": "squad", **options})

    refused("--device is for trained readers, but the reader is llm", device="cpu")
    refused("--model is for the reader llm, but the reader is that of a run", run=tmp_path / "run")
    refused("--shots 99: it must be at most 64; choose another value", shots=99)
    refused("the train split has 8 questions that can be examples, and shots is 9", shots=9)
    refused("shots are examples of the train split, but its questions are predicted", shots=1, split="train")
    refused("max_cost needs prices", max_cost=1.0)
    refused("input_price and output_price go together", input_price=1.0)
    refused("with a temperature of 0 all samples are the same", run=toml(tmp_path, "[settings]\ntemperature = 0.0\n"), samples=2)
    refused('reader = "llm" and', run=toml(tmp_path, "[training]\nbatch = 1\n"))
    refused("--recording and --out cannot be one file", recording=tmp_path / "out.json.report.json")
    refused("this is inside the set that is read", recording=small / "r.jsonl")
    with pytest.raises(SettingsError, match="kgqa predict llm needs --model"):
        kgqa.predict("llm", small, out=tmp_path / "out.json", endpoint=AWAY, metric="squad")
    with pytest.raises(SettingsError, match="the reader llm is not trained; run kgqa predict llm"):
        kgqa.train("llm", small, out=tmp_path / "run")
    (tmp_path / "out.json.report.json").write_text("", "utf-8")
    refused("this is already there", StorageError)
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(SettingsError, match="OPENAI_API_KEY is not set"):
        kgqa.predict("llm", small, out=tmp_path / "other.json", model="m", metric="squad")
    assert not (tmp_path / "other.json.recording.jsonl").exists()


@pytest.mark.slow
def test_a_stopped_run_loses_no_answer(small: Path, tmp_path: Path) -> None:
    know = knowing(small)
    command = ["predict", "llm", small, "--metric", "squad", "--model", "m", "--out", tmp_path / "out.json"]
    with chat_server(lambda request: replace(know(request), delay=0.5)) as server:
        process = subprocess.Popen([*COMMAND, *map(str, command), "--endpoint", server.address], stderr=subprocess.PIPE, text=True)
        while len(server.requests) < 6 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
        recorded = len((tmp_path / "out.json.recording.jsonl").read_text("utf-8").splitlines())
        assert recorded == len(server.requests)
        assert process.returncode == 128 + signal.SIGINT
        assert "stopped; run the same command again" in message.replace("\n", " ")
        assert not (tmp_path / "out.json").exists()
        predicted(tmp_path, small, server, metric="squad")
        assert len(server.requests) == 8

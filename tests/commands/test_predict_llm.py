"""A model behind an endpoint as a reader: every official file, prompts, replays, limits, and endpoints at fault."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.commands.predict import Predicted
from kgqa.formats.provenance import noted_sufficiency
from kgqa.records import Instance
from kgqa.scoring.dire_gold import dire_label
from kgqa.scoring.prediction_files import ANSWER_TYPES, WRITERS
from tests.chat_server import ChatServer, Reply, chat_server
from tests.scoring.families import FAMILIES, NAMES, Family
from tests.scoring.test_prediction_files import UNPREDICTED, full_marks
from tests.small_questions import questions, write_set

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

"""IIRC's pipeline with each stage replaced by gold (Ferguson et al. 2020, table 3), a learning curve, and the speed of prediction.

``python -m benchmarks.iirc_table``; ``--train``, ``--test``, ``--layers``, ``--squad``, ``--epochs`` and ``--seeds`` set its size;
``--only speed`` measures the speed alone.

The data here are 1,301 dev questions with passage, needed links and marked sentences, without offsets of links and without articles. A
passage links to what some question or the published system names, and to the titles of known articles in it, wherever the title is found.
An article is the text that is known of it, with all sentences that annotators or the system marked in it, its paragraphs in random order.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from types import MethodType
from typing import Any, cast

import numpy as np
import pyarrow as pa
import torch

from benchmarks.learning_curve import learning_curve
from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from benchmarks.small_encoder import first_layers
from benchmarks.training import Padded
from kgqa.arrays.draws import draw
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.bootstrap import interval
from kgqa.metrics.drop import NAMES, iirc
from kgqa.progress import Silent
from kgqa.readers.linked_articles import linked_articles, needed_links, whole_of
from kgqa.readers.specification import specification
from kgqa.readers.transformer.end_to_end import SpanReader
from kgqa.readers.transformer.linked import Linked, _reading
from kgqa.readers.transformer.reading import ReadingTask
from kgqa.records import Instance, Mention, Paragraph
from kgqa.scoring.gold import iirc_answers
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting, Prediction, Reader

TITLE = "IIRC's table"
STAGES: Mapping[str, Mapping[str, Any]] = {
    "oracle context": {"context": "gold"},
    "oracle links": {"links": "gold"},
    "pipeline": {},
    "no links": {"links": "none"},
}
SHARES = (0.5,)
"""Of the training questions, for the learning curve; that of all of them is a row of the table."""
DEV = 50
SETTINGS = {"window": 160, "step": 0.5}
BATCH, ROUNDS = 16, 3
LONGEST_TITLE = 6
"""Words."""
WORD = re.compile(r"\w[\w'.-]*")
Scores = dict[str, dict[str, float]]
"""Measure → question → score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a run of the table costs."""

    train: int
    test: int
    layers: int
    """Of MiniLM's six, which the encoder keeps."""
    squad: int
    """Questions of SQuAD from which the encoder learns before."""
    epochs: int
    seeds: int
    only: str


def main(arguments: Sequence[str] | None = None) -> Section:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.iirc_table", description=__doc__)
    for name, default in (("train", 120), ("test", 120), ("layers", 2), ("squad", 800), ("epochs", 2), ("seeds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", choices=("", "table", "speed"), default="")
    size = Size(**vars(parser.parse_args(arguments)))
    root, articles, squad = data_folder("iirc"), data_folder("wikidata-long"), data_folder("squad")
    if root is None or articles is None or squad is None:
        return Section(title=TITLE, skipped=absent("iirc"))
    questions = linked_questions(root / "iirc_dev_1301.jsonl", articles)
    with tempfile.TemporaryDirectory(prefix="kgqa-bench-") as folder:
        encoder = _encoder(Path(folder), squad / "dev-v1.1.json", size)
        measurement = Measurement(questions, encoder, size)
        tables = [] if size.only == "speed" else measurement.tables()
        return Section(title=TITLE, tables=tables if size.only == "table" else [*tables, measurement.speed()])


def linked_questions(file: Path, folder: Path) -> list[Instance]:
    """The questions with links in their passages and with the linked articles; questions on one passage share a group."""
    instances = list(open_dataset(file).instances())
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    titles: dict[str, set[str]] = defaultdict(set)
    sentences: dict[str, dict[str, None]] = defaultdict(dict)
    for record in records:
        named = record["link_prediction"]
        titles[record["original_paragraph"]].update(map(str.lower, named["gold_question_links"] + named["predicted_links"]))
        for field in ("gold_link_name_sent_list", "predicted_link_name_sent_list"):
            for entry in record["context_retrieval"][field]:
                sentences[entry["title"].lower()][entry["sent"].strip()] = None
    text_of = _texts(folder)
    for passage, names in titles.items():
        names.update(_titles_in(passage, text_of.keys()))
    texts = {name: _article(name, text_of.get(name, ""), list(sentences[name])) for name in set().union(*titles.values())}
    return [_linked(instance, titles[instance.paragraphs[0].text], texts) for instance in instances]


def _texts(folder: Path) -> dict[str, str]:
    with gzip.open(folder / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {entry["title"].lower(): entry["text"] for entry in map(json.loads, lines)}


def _titles_in(passage: str, known: Any) -> set[str]:
    """Known titles of at least two words, or of ten letters, that begin with a capital in the passage."""
    words = [match.span() for match in WORD.finditer(passage)]
    titles = set()
    for first, (start, _) in enumerate(words):
        for _, end in words[first : first + LONGEST_TITLE]:
            name = passage[start:end].rstrip(".-'")
            if name[:1].isupper() and (" " in name or len(name) >= 10) and name.lower() in known:
                titles.add(name.lower())
    return titles


def _article(title: str, text: str, marked: Sequence[str]) -> str:
    """The paragraphs of the known text and the marked sentences, in an order that tells nothing."""
    parts = [*text.split("\n"), *(sentence for sentence in marked if sentence not in text)]
    return "\n".join(sorted(filter(None, parts), key=lambda part: draw(purpose="article", seed=0, id=f"{title}\n{part}")))


def _linked(instance: Instance, names: set[str], texts: Mapping[str, str]) -> Instance:
    passage = instance.paragraphs[0]
    mentions = []
    for name in sorted(names):
        place = _place(name, passage.text)
        if place is not None:
            mentions.append(Mention(entity=name, start=place[0], end=place[1]))
    supporting = {(paragraph.title or "").lower() for paragraph in instance.paragraphs[1:] if paragraph.supporting}
    articles = tuple(
        Paragraph(id=name, title=name, text=texts[name], supporting=name in supporting if supporting else None)
        for name in sorted({*names, *(needed_links(instance) or ())})
        if texts.get(name)
    )
    links = tuple(sorted(mentions, key=lambda mention: (mention.start, mention.end)))
    group = f"{draw(purpose='passage', seed=0, id=passage.text):x}"[:16]
    return replace(instance, paragraphs=(replace(passage, mentions=links), *articles), group=group)


def _place(title: str, text: str) -> tuple[int, int] | None:
    """Where the title stands in the passage, without what follows in brackets; else its last word, as a person's surname."""
    bare = re.sub(r"\s*\(.*\)$", "", title)
    for name in (bare, bare.split(" ")[-1]):
        match = re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE)
        if match and name:
            return match.span()
    return None


def _encoder(folder: Path, squad: Path, size: Size) -> str:
    """The folder of a reader on the encoder's first layers, which learned from SQuAD."""
    layers = first_layers(folder / "layers", size.layers)
    if not size.squad:
        return layers
    questions = list(islice(open_dataset(squad).instances(), size.squad))
    reader = _fitted("ee", {"encoder": layers}, questions, [], seed=0, epochs=1)
    (folder / "squad").mkdir()
    reader.save(folder / "squad")
    return str(folder / "squad")


def _fitted(
    name: str, settings: Mapping[str, Any], train: Sequence[Instance], dev: Sequence[Instance], *, seed: int, epochs: int
) -> Reader:
    request = specification(name, settings=settings, training={"epochs": epochs, "device": "cpu"})
    reader = request.make()
    with tempfile.TemporaryDirectory(prefix="kgqa-bench-") as folder:
        fitting = Fitting(place=Path(folder), settings=request.training, seed=seed, progress=Silent(), record=lambda _: None)
        reader.fit(of_list(train), of_list(dev) if dev else None, fitting)
    return reader


class Measurement:
    """The table, its learning curve, and the speed."""

    def __init__(self, questions: Sequence[Instance], encoder: str, size: Size) -> None:
        self._encoder, self._size = encoder, size
        order = sorted(questions, key=lambda instance: instance.group)  # a hash: passages in random order, each in one part
        self._test, self._dev = order[: size.test], order[size.test : size.test + DEV]
        tested = {instance.group for instance in (*self._test, *self._dev)}
        self._train = [instance for instance in order[size.test + DEV :] if instance.group not in tested][: size.train]

    def _pipeline(self, train: Sequence[Instance], seed: int) -> Linked:
        settings = {"encoder": self._encoder, **SETTINGS}
        return cast(Linked, _fitted("linked", settings, train, self._dev, seed=seed, epochs=self._size.epochs))

    def _predictions(self, reader: Reader) -> list[Prediction]:
        return list(reader.predict(of_list(self._test), Silent()))

    def _scores(self, predictions: Sequence[Prediction], *, forced: bool = False) -> Scores:
        """The official script's scores; of the answerable questions alone, with the best answer to each, if ``forced``."""
        tested = [instance for instance in self._test if instance.answerable or not forced]
        gold = {instance.id: iirc_answers(instance) for instance in tested}
        answers = {one.id: _spans(one, forced=forced) for one in predictions if one.id in gold}
        return {name: dict(each) for name, each in iirc(gold, answers).per_record.items()}

    def tables(self) -> list[Table]:
        scores: dict[str, list[Scores]] = {name: [] for name in STAGES}
        forced: dict[str, list[Scores]] = {name: [] for name in STAGES}
        for seed in range(self._size.seeds):
            pipeline = self._pipeline(self._train, seed)
            for name, stages in STAGES.items():
                predictions = self._predictions(pipeline.with_stages(**stages))
                scores[name].append(self._scores(predictions))
                forced[name].append(self._scores(predictions, forced=True))
        return [self._table(scores), self._forced_table(forced), self._curve(forced)]

    def _forced_table(self, scores: Mapping[str, Sequence[Scores]]) -> Table:
        """The order of the contexts, without the decision whether a question has an answer."""
        count = sum(instance.answerable for instance in self._test)
        return Table(
            title="Answerable questions alone, each with the best answer",
            columns=("stages", "F1, interval", "F1 of each seed", "EM, interval"),
            rows=_rows(scores),
            notes=[f"The same predictions on the {count} answerable test questions; none is answered with none."],
        )  # fmt: skip

    def _table(self, scores: Mapping[str, Sequence[Scores]]) -> Table:
        never = iirc({each.id: iirc_answers(each) for each in self._test}, {each.id: "none" for each in self._test}).per_record
        links = np.mean([len(instance.paragraphs[0].mentions or ()) for instance in self._test])
        return Table(
            title="Stages replaced by gold", columns=("stages", "F1, interval", "F1 of each seed", "EM, interval"),
            rows=[_row("always none", [never]), *_rows(scores)],
            notes=[
                f"{len(self._train)} training questions, {len(self._dev)} dev, {len(self._test)} test, no passage in two of them; "
                f"{self._size.seeds} seeds; {links:.1f} links per passage. The first {self._size.layers} layers of MiniLM, which read "
                f"{self._size.squad:,} questions of SQuAD before; {self._size.epochs} epochs. Windows of {SETTINGS['window']} tokens. The "
                "answerer is ee, which computes no number. Bootstrap over questions of the mean over seeds. Paper: 70.3 with oracle "
                "context, 31.1 by the pipeline, a point more with oracle links.",
            ],
        )  # fmt: skip

    def _curve(self, scores: Mapping[str, Sequence[Scores]]) -> Table:
        """Of the answerable questions."""
        scores_of: dict[int, dict[str, list[float]]] = {}
        for share in SHARES:
            train = self._train[: round(share * len(self._train))]
            scores_of[len(train)] = {name: [] for name in STAGES}
            for seed in range(self._size.seeds):
                pipeline = self._pipeline(train, seed)
                for name, stages in STAGES.items():
                    scores_of[len(train)][name].append(_mean(self._scores(self._predictions(pipeline.with_stages(**stages)), forced=True)))
        scores_of[len(self._train)] = {name: [_mean(seed) for seed in each] for name, each in scores.items()}
        names = list(STAGES)
        notes = []
        for better, worse in pairwise(names):
            sizes = [size for size, each in scores_of.items() for _ in each[better]]
            gaps = [a - b for each in scores_of.values() for a, b in zip(each[better], each[worse], strict=True)]
            notes.append(f"{better} ahead of {worse} by 2 points: {learning_curve(sizes, gaps).reached(2.0)}.")
        rows = [(f"{size}", *(f"{np.mean(each[name]):.1f}" for name in names)) for size, each in scores_of.items()]
        return Table(
            title="F1 on the answerable questions by training questions, mean of the seeds",
            columns=("training questions", *names),
            rows=rows,
            notes=notes,
        )

    def speed(self) -> Table:
        """The whole pipeline beside a loop over the same networks with padded batches in the order of the file."""
        settings = {"encoder": self._encoder, **SETTINGS}
        pipeline = cast(Linked, _fitted("linked", settings, self._train[:64], [], seed=0, epochs=1))
        plain = PlainLoop(pipeline)
        answers: dict[str, list[Prediction]] = {}

        def ours() -> None:
            answers["kgqa"] = list(pipeline.predict(of_list(self._test), Silent()))

        def theirs() -> None:
            answers["plain"] = plain.predict(self._test)

        seconds = in_turn({"kgqa": ours, "plain": theirs}, rounds=ROUNDS)
        same = sum(one.answer == two.answer for one, two in zip(answers["kgqa"], answers["plain"], strict=True))
        rate = {name: [len(self._test) / each for each in values] for name, values in seconds.items()}
        return Table(
            title="Questions a second in prediction", columns=("kgqa predict", "plain loop", "ratio", "equal answers"),
            rows=[
                (
                    spread(rate["kgqa"], 1), spread(rate["plain"], 1), spread(ratios(rate["kgqa"], rate["plain"])),
                    f"{same} of {len(self._test)}",
                ),
            ],
            notes=[
                f"{len(self._test)} questions; links, windows and answers, from the tokenizer on; the same three networks and threads "
                f"({torch.get_num_threads()}). The loop takes {BATCH} questions in the order of the file through each stage and pads to "
                f"the longest. {ROUNDS} rounds in turn, median and range.",
            ],
        )  # fmt: skip


class PlainLoop:
    """The pipeline's networks, read in the order of the file: so many questions at a time, all windows padded to the longest."""

    def __init__(self, pipeline: Linked) -> None:
        selector, windows, answerer = pipeline._links, pipeline._windows, pipeline._answerer
        assert selector is not None
        assert windows is not None
        assert isinstance(answerer, SpanReader)
        tasks = (selector._task, windows._ranker._task, answerer._task)
        assert all(isinstance(task, ReadingTask) for task in tasks)
        self._links, self._ranker, self._answerer = (cast(ReadingTask, task) for task in tasks)
        self._windows, self._most = windows._view, pipeline.settings.read

    def predict(self, instances: Sequence[Instance]) -> list[Prediction]:
        """The answers, which should be those of the pipeline."""
        with torch.inference_mode():
            parts = [instances[first : first + BATCH] for first in range(0, len(instances), BATCH)]
            return [prediction for part in parts for prediction in self._answers(part)]

    def _answers(self, instances: Sequence[Instance]) -> list[Prediction]:
        links = self._read(self._links, instances)
        shown = []
        for instance, found in zip(instances, links, strict=True):
            articles = linked_articles(instance, frozenset(found.supporting), {})
            shown.append(replace(instance, paragraphs=(instance.paragraphs[0], *articles)))
        assert self._windows is not None
        contexts = {}
        for instance, ranked in zip(instances, self._read(self._ranker, [self._windows(each) for each in shown]), strict=True):
            best: dict[str, list[str]] = {}
            for window, _ in sorted(ranked.paragraph_scores, key=lambda entry: -entry[1]):
                best.setdefault(whole_of(window), []).append(window)
            contexts[instance.id] = [window for article in sorted(best) for window in best[article][: self._most]]
        return self._read(self._answerer, [_reading(instance, contexts=contexts, texts={}) for instance in instances])

    def _read(self, task: ReadingTask, instances: Sequence[Instance]) -> list[Prediction]:
        batch = task.collate(pa.Table.from_batches([task.encode(instances)]))
        network = task.network.eval()
        network.hidden = MethodType(Padded.hidden, network)  # type: ignore[assignment]
        try:
            readings = task.read(batch)
        finally:
            del network.hidden
        return [task.answer(instance, reading) for instance, reading in zip(instances, readings, strict=True)]


def _spans(prediction: Prediction, *, forced: bool) -> str | Sequence[str]:
    return (prediction.parts or prediction.answer or "none") if prediction.answerable or forced else "none"


def _mean(scores: Scores) -> float:
    return 100 * float(np.mean(list(scores[NAMES[1]].values())))


def _rows(scores: Mapping[str, Sequence[Scores]]) -> list[tuple[str, ...]]:
    """The stages, then the difference of each to the next."""
    differences = [_difference(f"{better} − {worse}", scores[better], scores[worse]) for better, worse in pairwise(STAGES)]
    return [_row(name, each) for name, each in scores.items()] + differences


def _row(name: str, seeds: Sequence[Scores]) -> tuple[str, ...]:
    cells = [_interval(np.mean([list(each[measure].values()) for each in seeds], axis=0)) for measure in NAMES]
    return (name, cells[1], ", ".join(f"{_mean(each):.1f}" for each in seeds), cells[0])


def _difference(name: str, better: Sequence[Scores], worse: Sequence[Scores]) -> tuple[str, ...]:
    """The paired difference of two rows."""
    means = {m: [np.mean([list(seed[m].values()) for seed in each], axis=0) for each in (better, worse)] for m in NAMES}
    cells = [_interval(means[measure][0] - means[measure][1]) for measure in NAMES]
    return (name, cells[1], ", ".join(f"{_mean(a) - _mean(b):+.1f}" for a, b in zip(better, worse, strict=True)), cells[0])


def _interval(values: Any) -> str:
    spread_of = interval(values.tolist(), rng=np.random.default_rng(0))
    return f"{100 * spread_of.mean:.1f} ({100 * spread_of.low:.1f} to {100 * spread_of.high:.1f})"


if __name__ == "__main__":
    print(main().plain())

"""The table of StrategyQA's paper (Geva et al. 2021, table 9) with a small encoder: what context and decomposition are worth.

``python -m benchmarks.strategyqa_table``; ``--train``, ``--characters``, ``--epochs`` and ``--seeds`` set its size.

The texts of the training questions' evidence are not part of the data here, so the rows with gold paragraphs are read by networks that were
trained on what BM25 finds by the gold decomposition. A question's paragraphs are one text, cut as the paper cuts them to 512 tokens.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.learning_curve import learning_curve
from benchmarks.measure import Section, Table, absent, data_folder
from benchmarks.small_encoder import first_layers
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.bootstrap import interval
from kgqa.metrics.strategyqa import StrategyQAGold, recall, sari
from kgqa.progress import Silent
from kgqa.readers.specification import specification
from kgqa.records import Instance, Paragraph, Step
from kgqa.retrieval.bm25 import Bm25
from kgqa.retrieval.evidence import evidence, step_queries
from kgqa.scoring.gold import strategyqa_question
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting, Prediction

TITLE = "StrategyQA's table"
BATCH = 32
SHARES = (0.125, 0.25)
"""Of the training questions, for the learning curve; that of all of them is a row of the table."""
PAPER = {"majority": 53.9, "question only": 63.6, "gold paragraphs": 70.7}
View = Callable[[Instance], Instance]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a run of the table costs."""

    train: int
    """Training questions of the decomposer and of readers that see a context; the reader that sees none learns from all."""
    characters: int
    """Of a question's context; some four are a token."""
    epochs: int
    seeds: int
    decomposer_epochs: int
    layers: int
    """Of MiniLM's six, which the encoder keeps."""
    reader: str
    """A reader that answers yes and no."""


class Pool:
    """Paragraphs to search."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self.paragraphs = paragraphs
        self.index = Bm25(pa.array([f"{paragraph.title or ''} {paragraph.text}" for paragraph in paragraphs], pa.string()))

    def find(self, instances: Sequence[Instance], steps: Mapping[str, Sequence[Step]] | None) -> dict[str, tuple[Paragraph, ...]]:
        """The ten best paragraphs of each question, by its steps or by itself."""
        queries = [step_queries(each.question, steps[each.id] if steps is not None else None) for each in instances]
        rows, _ = evidence(self.index, queries)
        return {
            each.id: tuple(self.paragraphs[row] for row in found if row >= 0) for each, found in zip(instances, rows.tolist(), strict=True)
        }


def main(arguments: Sequence[str] | None = None) -> Section:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strategyqa_table", description=__doc__)
    parser.add_argument("--train", type=int, default=150)
    parser.add_argument("--characters", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--decomposer-epochs", type=int, default=3)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--reader", default="ee")
    size = Size(**vars(parser.parse_args(arguments)))
    root, articles = data_folder("strategyqa"), data_folder("wikidata-long")
    if root is None or articles is None:
        return Section(title=TITLE, skipped=absent("strategyqa"))
    train = list(open_dataset(root / "train.json").instances())
    dev = list(open_dataset(root / "dev.json", paragraphs=root / "dev_evidence_paragraphs_998.jsonl").instances())
    with tempfile.TemporaryDirectory(prefix="kgqa-bench-") as folder:
        encoder = first_layers(Path(folder), size.layers)
        return Section(title=TITLE, tables=Measurement(train, dev, _articles(articles), encoder, size).tables())


def _articles(folder: Path) -> list[Paragraph]:
    with gzip.open(folder / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = map(json.loads, lines)
        return [Paragraph(id=entry["id"], title=entry["title"], text=entry["text"], supporting=None) for entry in documents]


class Measurement:
    """All rows of the table."""

    def __init__(self, train: Sequence[Instance], dev: Sequence[Instance], articles: Sequence[Paragraph], encoder: str, size: Size) -> None:
        self._train, self._dev, self._encoder, self._size = train, dev, encoder, size
        self._gold: dict[str, StrategyQAGold] = {each.id: strategyqa_question(each) for each in dev}
        own = list({paragraph.id: paragraph for each in dev for paragraph in each.paragraphs}.values())
        self._own, self._large = Pool(own), Pool([*own, *articles])

    def tables(self) -> list[Table]:
        predicted, score = self._decompositions()
        gold = {each.id: each.decomposition or () for each in (*self._train, *self._dev)}
        ways: dict[str, Mapping[str, Sequence[Step]] | None] = {"question": None, "predicted steps": predicted, "gold steps": gold}
        evidence = {name: self._large.find(self._dev, steps) for name, steps in ways.items()}
        recalls = [self._recall_row(name, steps, evidence[name]) for name, steps in ways.items()]
        return [
            Table(
                title="Recall@10",
                columns=("BM25 by", f"among the {len(self._own.paragraphs):,} gold paragraphs", f"among {len(self._large.paragraphs):,}"),
                rows=recalls,
                notes=[
                    f"{len(self._dev)} dev questions, bootstrap intervals over questions. SARI of the predicted steps {100 * score:.1f} "
                    f"({self._size.layers} layers of MiniLM with a decoder, {self._size.train:,} questions, "
                    f"{self._size.decomposer_epochs} epochs). In the paper: 0.174 by question, 0.195 by predicted and 0.282 by gold steps, "
                    "among the paragraphs of all of Wikipedia.",
                ],
            ),
            *self._accuracies(evidence, gold),
        ]

    def _decompositions(self) -> tuple[dict[str, Sequence[Step]], float]:
        """The dev questions' predicted steps, and their mean SARI."""
        predictions = self._fitted("decomposer", self._train[: self._size.train], self._dev, seed=0, epochs=self._size.decomposer_epochs)
        steps = {one.id: one.steps for one in predictions}
        texts = {name: " ".join(step.question for step in given) for name, given in steps.items()}
        scores = [sari(gold.question, texts[name], " ".join(gold.decomposition)) for name, gold in self._gold.items()]
        return dict(steps), float(np.mean(scores))

    def _recall_row(
        self, name: str, steps: Mapping[str, Sequence[Step]] | None, large: Mapping[str, tuple[Paragraph, ...]]
    ) -> tuple[str, ...]:
        cells = []
        for pool in (self._own.find(self._dev, steps), large):
            scores = [recall([paragraph.id for paragraph in pool[key]], gold.evidence) for key, gold in self._gold.items()]
            mean_interval = interval(scores, rng=np.random.default_rng(0))
            cells.append(f"{mean_interval.mean:.3f} ({mean_interval.low:.3f}–{mean_interval.high:.3f})")
        return (name, *cells)

    def _accuracies(self, found: Mapping[str, Mapping[str, tuple[Paragraph, ...]]], gold: Mapping[str, Sequence[Step]]) -> list[Table]:
        """Each kind of context in training, and the rows of the table that its networks read."""
        part = self._train[: self._size.train]
        by_question, by_steps = self._large.find(part, None), self._large.find(part, gold)
        evidence_of = {each.id: each.paragraphs for each in self._dev}
        shown = self._with
        plans: list[tuple[list[Instance], dict[str, list[Instance]]]] = [
            ([shown(each, ()) for each in self._train], {"question only": [shown(each, ()) for each in self._dev]}),
            (
                [shown(each, by_question[each.id]) for each in part],
                {"BM25 by question": [shown(each, found["question"][each.id]) for each in self._dev]},
            ),
            (
                [shown(each, by_steps[each.id]) for each in part],
                {
                    "BM25 by predicted steps": [shown(each, found["predicted steps"][each.id]) for each in self._dev],
                    "BM25 by gold steps": [shown(each, found["gold steps"][each.id]) for each in self._dev],
                    "gold paragraphs": [shown(each, evidence_of[each.id]) for each in self._dev],
                },
            ),
            (
                [shown(_with_steps(each), by_steps[each.id]) for each in part],
                {"gold steps and paragraphs": [shown(_with_steps(each), evidence_of[each.id]) for each in self._dev]},
            ),
            (
                [shown(_last_step(each), by_steps[each.id]) for each in part],
                {"last gold step and paragraphs": [shown(_last_step(each), evidence_of[each.id]) for each in self._dev]},
            ),
        ]  # fmt: skip
        majority = max(("yes", "no"), key=[each.answers[0] for each in self._train].count)
        rows = [_row("majority", [{each.id: float(each.answers[0] == majority) for each in self._dev}])]
        for train, reads in plans:
            scores: dict[str, list[dict[str, float]]] = {name: [] for name in reads}
            for seed in range(self._size.seeds):
                for name, predictions in zip(reads, self._read(train, list(reads.values()), seed), strict=True):
                    scores[name].append(self._right(predictions))
            rows += [_row(name, each) for name, each in scores.items()]
            if "question only" in scores:
                whole = [100 * float(np.mean(list(each.values()))) for each in scores["question only"]]
        return [
            Table(
                title="Accuracy", columns=("reader sees", "mean of the seeds, interval", "each seed", "the paper"), rows=rows,
                notes=[
                    f"{len(self._dev)} dev questions, {self._size.seeds} seeds; {self._size.reader} on {self._size.layers} layers "
                    f"of MiniLM, {self._size.epochs} epochs; {len(self._train):,} training questions without context, {len(part):,} "
                    f"with one of {self._size.characters} characters. Bootstrap over questions of the mean over seeds.",
                ],
            ),
            self._curve(whole),
        ]  # fmt: skip

    def _curve(self, whole: Sequence[float]) -> Table:
        """``whole``: the accuracy of each seed with all training questions."""
        dev = [self._with(each, ()) for each in self._dev]
        accuracies = {}
        for share in SHARES:
            train = [self._with(each, ()) for each in self._train[: round(share * len(self._train))]]
            accuracies[len(train)] = [self._accuracy(self._read(train, [dev], seed)[0]) for seed in range(self._size.seeds)]
        accuracies[len(self._train)] = list(whole)
        rows = [(f"{size:,}", f"{np.mean(each):.1f} ({min(each):.1f}–{max(each):.1f})") for size, each in accuracies.items()]
        sizes = [size for size, each in accuracies.items() for _ in each]
        scores = [score for each in accuracies.values() for score in each]
        curve = learning_curve(sizes, scores)
        target = PAPER["question only"]
        return Table(
            title="Question only, by training questions", columns=("training questions", "accuracy, range of the seeds"), rows=rows,
            notes=[f"The paper's {target} (RoBERTa, which had learned from three other sets): {curve.reached(target)}."],
        )  # fmt: skip

    def _read(self, train: Sequence[Instance], reads: Sequence[Sequence[Instance]], seed: int) -> list[list[Prediction]]:
        whole = [each for part in reads for each in part]
        predictions = self._fitted(self._size.reader, train, whole, seed=seed, epochs=self._size.epochs)
        bounds = np.cumsum([0, *map(len, reads)])
        return [predictions[first:last] for first, last in pairwise(bounds)]

    def _fitted(self, name: str, train: Sequence[Instance], dev: Sequence[Instance], *, seed: int, epochs: int) -> list[Prediction]:
        request = specification(name, settings={"encoder": self._encoder}, training={"epochs": epochs, "batch": BATCH, "device": "cpu"})
        reader = request.make()
        with tempfile.TemporaryDirectory(prefix="kgqa-bench-") as folder:
            fitting = Fitting(place=Path(folder), settings=request.training, seed=seed, progress=Silent(), record=lambda _: None)
            reader.fit(of_list(train), None, fitting)
        return list(reader.predict(of_list(dev), Silent()))

    def _with(self, instance: Instance, paragraphs: Sequence[Paragraph]) -> Instance:
        """The question with ``paragraphs`` as one text of limited length."""
        text = "\n".join(f"{paragraph.title}: {paragraph.text}" for paragraph in paragraphs)[: self._size.characters]
        return replace(instance, paragraphs=(Paragraph(id="context", title=None, text=text, supporting=None),) if text else ())

    def _right(self, predictions: Sequence[Prediction]) -> dict[str, float]:
        return {one.id: float(one.answer == ("yes" if self._gold[one.id].answer else "no")) for one in predictions}

    def _accuracy(self, predictions: Sequence[Prediction]) -> float:
        return 100 * float(np.mean(list(self._right(predictions).values())))


def _with_steps(instance: Instance) -> Instance:
    steps = " ".join(step.question for step in instance.decomposition or ())
    return replace(instance, question=f"{instance.question} {steps}")


def _last_step(instance: Instance) -> Instance:
    return replace(instance, question=instance.decomposition[-1].question) if instance.decomposition else instance


def _row(name: str, scores: Sequence[Mapping[str, float]]) -> tuple[str, ...]:
    """``scores``: of each seed, question → 0 or 1."""
    means = np.mean([list(each.values()) for each in scores], axis=0)
    mean_interval = interval(means.tolist(), rng=np.random.default_rng(0))
    seeds = ", ".join(f"{100 * float(np.mean(list(each.values()))):.1f}" for each in scores)
    paper = f"{PAPER[name]}" if name in PAPER else ""
    return (name, f"{100 * mean_interval.mean:.1f} ({100 * mean_interval.low:.1f}–{100 * mean_interval.high:.1f})", seeds, paper)


if __name__ == "__main__":
    print(main().plain())

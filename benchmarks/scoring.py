"""How long ``kgqa evaluate`` takes on 100,000 predictions of each metric: scoring alone, and the whole command; and on one of many spans.

``python -m benchmarks.scoring``
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.measure import Section, Table, in_turn, spread
from benchmarks.process import python
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.drop import spans_scores
from kgqa.scoring.metrics import METRICS, MetricOptions
from kgqa.scoring.predicted_split import find_split

TITLE = "Scoring predictions"
PREDICTIONS = 100_000
ROUNDS = 2
WHOLE = ("hotpotqa", "musique", "squad")
"""Of these the whole command is run too: a list, lines, and one object."""
WORDS = tuple(
    f"{first}{second}{third}" for first in "bdfgk" for second in ("a", "el", "im", "or") for third in ("n", "ra", "tis", "velo", "q")
)
SPANS = ((1_000, 1_000), (3_000, 3_000), (10_000, 3), (3, 10_000))
"""Of one prediction, and of its gold."""
PARAGRAPHS, SENTENCES, LENGTH = 10, 3, 10
"""In a context; words in a sentence."""
Made = tuple[Any, Any]
"""An official record and what is predicted for it."""


class Synthetic:
    """Records and predictions, the same for the same seed; half of the answers are right, a third shares a word with what is right."""

    def __init__(self, *, seed: int = 1) -> None:
        """Nothing was drawn yet."""
        self._rng = random.Random(seed)

    def words(self, count: int) -> str:
        """A text."""
        return " ".join(self._rng.choices(WORDS, k=count))

    def answers(self) -> tuple[str, str]:
        """A right one and a predicted one."""
        right, chance = self.words(self._rng.choice((1, 2, 3))), self._rng.random()
        return right, right if chance < 0.5 else f"the {right.split()[0]} {self.words(1)}" if chance < 5 / 6 else self.words(2)

    def context(self) -> list[list[Any]]:
        """Titled paragraphs in sentences."""
        return [[f"title {number}", [f"{self.words(LENGTH)}. " for _ in range(SENTENCES)]] for number in range(PARAGRAPHS)]

    def facts(self, count: int = 2) -> list[list[Any]]:
        """Supporting sentences."""
        return [[f"title {number}", self._rng.randrange(SENTENCES)] for number in self._rng.sample(range(PARAGRAPHS), count)]

    def hotpotqa(self, key: str) -> Made:
        """One question."""
        right, said = self.answers()
        record = {"_id": key, "question": self.words(12), "answer": right, "context": self.context(), "type": "bridge", "level": "hard"}
        return {**record, "supporting_facts": self.facts()}, {"answer": said, "sp": self.facts(self._rng.choice((1, 2, 3)))}

    def twowiki(self, key: str) -> Made:
        """One question."""
        record, said = self.hotpotqa(key)
        triples = [[self.words(2), "director", self.words(2)] for _ in range(3)]
        more = {"evidences": triples, "evidences_id": [], "answer_id": None, "entity_ids": "Q1_Q2"}
        return {**record, **more}, {**said, "evidence": triples[: self._rng.choice((1, 2, 3))]}

    def dire(self, key: str, parts: list[int | None]) -> Iterator[Made]:
        """The instances of one question."""
        whole, _ = self.hotpotqa(key)
        for number, label in enumerate(parts):
            context = [entry for place, entry in enumerate(whole["context"]) if place != number]
            facts = [fact for fact in whole["supporting_facts"] if fact[0] != f"title {number}"]
            labels = {} if label is None else {"sufficiency": label, "sub_idx": number}
            said = self.facts(self._rng.choice((1, 2)))
            line = {
                "question_id": key, "answer": self.answers()[1], "answer_confidence": self._rng.random(), **labels,
                "supporting_paragraphs": [title for title, _ in said], "supporting_sentences": said,
            }  # fmt: skip
            yield {**whole, "context": context, "supporting_facts": facts, **labels}, line

    def musique(self, key: str) -> Made:
        """One question."""
        right, said = self.answers()
        paragraphs = [
            {"idx": idx, "title": f"title {idx}", "paragraph_text": self.words(30), "is_supporting": idx < 2} for idx in range(PARAGRAPHS)
        ]
        steps = [
            {"id": number, "question": "#1 >> x" if number else "x", "answer": right, "paragraph_support_idx": number} for number in (0, 1)
        ]
        record = {"id": key, "paragraphs": paragraphs, "question": self.words(12), "question_decomposition": steps, "answer": right}
        support = self._rng.sample(range(PARAGRAPHS), 2)
        line = {"id": key, "predicted_answer": said, "predicted_support_idxs": support, "predicted_answerable": True}
        return {**record, "answer_aliases": [self.words(2)], "answerable": True}, line

    def strategyqa(self, key: str) -> Made:
        """One question."""
        steps = [f"{self.words(6)}?", f"{self.words(4)} #1?"]
        record = {"qid": key, "question": f"{self.words(8)}?", "answer": self._rng.random() < 0.5, "decomposition": steps}
        evidence = [[[[f"{key}-{number}"]] for number in range(2)] for _ in range(3)]
        said = {"answer": self._rng.random() < 0.5, "decomposition": [steps[0], f"{self.words(4)}?"]}
        return {**record, "evidence": evidence}, {**said, "paragraphs": [f"{key}-{number}" for number in range(1, 11)]}

    def qangaroo(self, key: str) -> Made:
        """One question."""
        candidates = [f"{self.words(2)} {number}" for number in range(10)]
        record = {"id": key, "query": f"{self.words(1)} {self.words(2)}", "answer": candidates[0], "candidates": candidates}
        return {**record, "supports": [self.words(30) for _ in range(PARAGRAPHS)]}, self._rng.choice(candidates[:2])

    def squad(self, key: str) -> Made:
        """One question."""
        right, said = self.answers()
        answers = [{"text": text, "answer_start": None} for text in (right, right, self.words(2))]
        return {"id": key, "question": self.words(10), "answers": answers, "is_impossible": False}, said

    def drop(self, key: str) -> Made:
        """One question; IIRC's are made of it."""
        right, said = self.answers()
        spans = [right, self.words(2)][: self._rng.choice((1, 1, 2))]
        date = {"day": "", "month": "", "year": ""}
        return {"query_id": key, "question": self.words(10), "answer": {"number": "", "date": date, "spans": spans}}, said

    def iirc(self, key: str) -> Made:
        """One question."""
        record, said = self.drop(key)
        spans = [{"text": text, "passage": "main"} for text in record["answer"]["spans"]]
        return {"qid": key, "question": record["question"], "answer": {"type": "span", "answer_spans": spans}, "question_links": []}, said


LABELS: Mapping[str, list[int | None]] = MappingProxyType(
    {"dire-probe": [None, None], "dire-sufficiency": [1, 0, 0], "dire-probe-of-sufficiency": [0, 0, -1]}
)


def make(metric: str, folder: Path, count: int) -> tuple[Path, Path, list[str]]:
    """A set with about ``count`` predictions, in official form, and the options that reading it takes."""
    synthetic = Synthetic()
    keys = [f"question-{number:06}" for number in range(count // len(LABELS.get(metric, [None])))]
    options = ["--from", "dire"] if metric == "dire-probe" else ["--metric", "dire"] if metric == "dire" else []
    gold, file = folder / "set_dev.json", folder / "predictions.json"
    if metric in LABELS:
        made = [pair for key in keys for pair in synthetic.dire(key, LABELS[metric])]
    elif metric == "dire":
        made = [next(synthetic.dire(key, [None])) for key in keys]
    else:
        one: Callable[[str], Made] = getattr(synthetic, "squad" if metric == "squad2" else metric)
        made = [one(key) for key in keys]
    records, said = [record for record, _ in made], [prediction for _, prediction in made]
    with gold.open("w", encoding="utf-8") as file_of_records:
        if metric == "musique":
            file_of_records.writelines(json.dumps(record) + "\n" for record in records)
        else:
            json.dump(_official(metric, records, synthetic), file_of_records)
    if metric == "musique" or metric.startswith("dire"):
        file.write_text("".join(json.dumps(line) + "\n" for line in said), "utf-8")
    elif metric in {"hotpotqa", "twowiki"}:
        file.write_text(json.dumps({part: {key: one[part] for key, one in zip(keys, said, strict=True)} for part in said[0]}), "utf-8")
    else:
        file.write_text(json.dumps(dict(zip(keys, said, strict=True))), "utf-8")
    return gold, file, options


def _official(metric: str, records: list[Any], synthetic: Synthetic) -> Any:
    """The file: five questions a paragraph where questions share one."""
    groups = [records[place : place + 5] for place in range(0, len(records), 5)]
    text = synthetic.words(120)
    if metric == "drop":
        return {f"passage_{number}": {"passage": text, "qa_pairs": group} for number, group in enumerate(groups)}
    if metric == "iirc":
        return [{"pid": str(number), "title": "x", "text": text, "questions": group} for number, group in enumerate(groups)]
    if not metric.startswith("squad"):
        return records
    if metric == "squad":
        for record in records:
            del record["is_impossible"]
    return {"version": "x", "data": [{"title": "x", "paragraphs": [{"context": text, "qas": group} for group in groups]}]}


def main(*, count: int = PREDICTIONS, rounds: int = ROUNDS) -> Section:
    """Score synthetic predictions of every metric."""
    rows = []
    for metric in METRICS:
        with tempfile.TemporaryDirectory(prefix="kgqa-bench-") as folder:
            gold, file, options = make(metric, Path(folder), count)
            done = python(["-m", "kgqa", "evaluate", str(gold), str(file), *options]) if metric in WHOLE else None
            scoring = _score(metric, gold, file, options, rounds)
            size = gold.stat().st_size / 1e6
        rows.append(
            (metric, spread(scoring), *(["", "", ""] if done is None else [f"{done.seconds:.1f}", f"{size:,.0f}", f"{done.gibibytes:.2f}"]))
        )
    table = Table(
        title=f"{count:,} predictions",
        columns=("metric", "scoring, seconds", "whole command, seconds", "set, MB", "peak GiB"),
        rows=rows,
        notes=[
            f"Scoring: gold and predictions in memory, {rounds} rounds, median and range. The whole command, run once, also starts Python, "
            "reads the set and the predictions, and computes intervals and breakdown. SQuAD's and DROP's sets are read whole, others "
            "record by record.",
            "Synthetic questions with 10 paragraphs of 30 words; in SQuAD, DROP and IIRC five questions to a paragraph of 120 words.",
        ],
    )
    return Section(title=TITLE, tables=[table, _many_spans(rounds)])


def _many_spans(rounds: int) -> Table:
    """DROP's score of one prediction of very many spans, which the optimal alignment makes dear."""
    synthetic = Synthetic()
    spans_scores(*[[synthetic.words(1) for _ in range(2)]] * 2)  # what is imported at the first alignment is not counted
    rows = []
    for predicted, gold in SPANS:
        texts = {side: [synthetic.words(1 + number % 4) for number in range(count)] for side, count in ((0, predicted), (1, gold))}
        seconds = in_turn({"": partial(spans_scores, texts[0], texts[1])}, rounds=rounds)[""]
        rows.append((f"{predicted:,}", f"{gold:,}", spread(seconds)))
    return Table(
        title="One prediction of many spans (DROP)",
        columns=("predicted spans", "gold spans", "seconds"),
        rows=rows,
        notes=["Spans of one to four of a hundred words: normal forms, the table of F1 and the alignment, which is cubic at worst."],
    )


def _score(metric: str, gold: Path, file: Path, options: list[str], rounds: int) -> list[float]:
    chosen = METRICS[metric]
    predictions = chosen.read(file)
    joined = find_split(open_dataset(gold, "dire" if "--from" in options else None), chosen, predictions, file, lambda _: None)
    return in_turn({metric: lambda: chosen.score(joined.gold, predictions, MetricOptions())}, rounds=rounds)[metric]


if __name__ == "__main__":
    begin = time.perf_counter()
    print(main().plain())
    print(f"{time.perf_counter() - begin:.0f} s in all")

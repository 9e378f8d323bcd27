"""Step S3 (Trivedi et al. 2022): shortcut baselines for the card, on single hops and on composed questions.

Scores on single hops come from the readers of the disconnection filter, so they cost nothing. The other baselines are counting readers that
cannot connect two paragraphs. They are fitted on train and score pairs before the filter, pairs after it, and the final questions.
``kgqa audit --readers`` adds trained readers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kgqa.arrays.draws import draw
from kgqa.metrics.bootstrap import interval
from kgqa.progress import Silent
from kgqa.readers.registry import find_reader
from kgqa.readers.scores import answer_score
from kgqa.recipes.contrasts.probe import probe
from kgqa.recipes.contrasts.questions import MAX_FACTS, question_of
from kgqa.recipes.musique.disconnection import Judged
from kgqa.records import Instance
from kgqa.runs.funnel import Rejection
from kgqa.settings.base import Settings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import of_list
from kgqa.training.reader import Fitting, Reader

COUNTING = {
    "majority": "question only: the commonest answer to this kind of question",
    "max-mention": "context only: the name that the paragraphs mention most",
    "document-cue": "context only: the answer that goes most often with one of these paragraphs",
    "tf-idf": "one paragraph: the name in whichever is most like the question",
}
"""Counting reader → the part of the input it sees, and its method."""
CHANCE = "random"
"""Counting reader that guesses any name or number of the paragraphs."""
DIRE = "DiRe"
SCORES = {**COUNTING, DIRE: "disconnected: tf-idf on the parts of the support apart, the surer answer counts (Trivedi et al. 2020)"}
"""Score → its description on the card."""
FITTED, JUDGED, PROBED = 2000, 500, 200
"""Maximum numbers of questions that a reader is fitted on, that it answers, and that DiRe probes. A card needs a figure with an interval,
not the last digit: 8,769 and 2,114 questions took minutes."""
HOPS = {
    "heads": "heads without a paragraph, answer F1",
    "tails": "tails with their bridge masked, answer F1",
    "supports": "tails with their bridge masked, support F1",
}
"""Score of the filter's readers → its description on the card."""


def hop_figures(judgements: Judged, pairs_kept: pl.DataFrame, *, seed: int) -> dict[str, dict[str, Any]]:
    """Keys of ``HOPS`` → the filter's scores ``before`` and ``after`` it (each as :func:`figure`) and by ``chance``.

    ``pairs_kept``: the pairs that the filter kept.
    """
    heads, tails = judgements.heads, judgements.tails
    kept_heads = heads.join(pairs_kept.select("head").unique(), on="head", how="semi")
    kept_tails = tails.join(pairs_kept.select("tail", "start").unique(), on=["tail", "start"], how="semi")
    columns = {"heads": (heads, kept_heads, "answer"), "tails": (tails, kept_tails, "answer"), "supports": (tails, kept_tails, "support")}
    return {
        name: {
            "chance": round(judgements.chance[name], 4),
            "before": figure(before[column].to_list(), seed=seed),
            "after": figure(after[column].to_list(), seed=seed),
        }
        for name, (before, after, column) in columns.items()
    }


NOTHING_LEARNED = {
    "heads": "; the filter's readers answer first questions no better than chance, so they filter nothing there",
    "tails": "; the filter's readers answer second questions no better than chance, so they filter nothing there",
}
"""Result of :func:`unlearned` → the sentence for the command line."""


def unlearned(hops: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Those of ``heads`` and ``tails`` that the filter's readers answer no better than chance (lower bound of the interval)."""
    return [name for name in ("heads", "tails") if hops[name]["before"]["low"] <= hops[name]["chance"]]


def figure(scores: Sequence[float], *, seed: int) -> dict[str, Any]:
    """``mean``, ``low``, ``high`` (95% bootstrap) and ``of`` (the number of scores); nulls for no scores."""
    if not scores:
        return {"mean": None, "low": None, "high": None, "of": 0}
    estimate = interval(scores, rng=np.random.default_rng(draw(purpose="interval of a score", seed=seed, id="all")))
    return {"mean": round(estimate.mean, 4), "low": round(estimate.low, 4), "high": round(estimate.high, 4), "of": len(scores)}


def set_figures(splits: Mapping[str, Sequence[Instance]], *, seed: int) -> dict[str, dict[str, Any]]:
    """Keys of ``SCORES``, and ``random`` → answer F1 on samples of dev and test, by readers fitted on a sample of train."""
    test_questions = of_list(_sample([*splits["dev"], *splits["test"]], JUDGED, seed=seed))
    train_questions = of_list(_sample(splits["train"], FITTED, seed=seed))
    if not len(train_questions):  # a small dataset whose questions form one component
        return {name: figure([], seed=seed) for name in (*SCORES, CHANCE)}
    figures = {}
    for name in (*COUNTING, CHANCE):
        reader = find_reader(name).make(name, Settings(), TrainingSettings())
        with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
            fitting = Fitting(place=Path(folder), settings=TrainingSettings(), seed=seed, progress=Silent(), record=lambda _: None)
            reader.fit(train_questions, None, fitting)
        predictions = list(reader.predict(test_questions, Silent())) if len(test_questions) else []
        figures[name] = figure([answer_score(*pair) for pair in zip(test_questions, predictions, strict=True)], seed=seed)
        if name == "tf-idf":
            figures[DIRE] = figure(disconnected(reader, list(test_questions), seed=seed), seed=seed)
    return figures


def disconnected(reader: Reader, instances: Sequence[Instance], *, seed: int) -> list[float]:
    """DiRe answer F1, 0 to 1: the support is read in two separate parts; the best bi-partition counts (Trivedi et al. 2020, 3.2)."""
    items = [
        (instance, question)
        for instance in _sample(instances, PROBED, seed=seed)
        if not isinstance(question := question_of(instance, level="paragraph", max_facts=MAX_FACTS), Rejection)
    ]
    parts = [probe(question) for _, question in items]
    flat = [part for questions_of_item in parts for part in questions_of_item]
    predictions_of_items = iter(reader.predict(of_list(flat), Silent()) if flat else ())
    scores = []
    for (instance, _), questions_of_item in zip(items, parts, strict=True):
        predictions = [next(predictions_of_items) for _ in questions_of_item]
        surer = [
            first if first.confidence > second.confidence else second
            for first, second in zip(predictions[::2], predictions[1::2], strict=True)
        ]
        scores.append(max(answer_score(instance, prediction) for prediction in surer))
    return scores


def _sample(instances: Sequence[Instance], count: int, *, seed: int) -> list[Instance]:
    """A sample of at most ``count`` instances, in their original order."""
    if len(instances) <= count:
        return list(instances)
    chances = [draw(purpose="questions for the card's baselines", seed=seed, id=instance.id) for instance in instances]
    return [instances[place] for place in sorted(sorted(range(len(instances)), key=chances.__getitem__)[:count])]

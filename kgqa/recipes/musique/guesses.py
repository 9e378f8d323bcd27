"""How far composed questions can be guessed: what readers reach on single hops before and after the filter, and counting ones on the whole.

All of it is for the card. The first are the scores by which the disconnection filter went, so they cost nothing; the second are readers
that cannot connect two paragraphs, fitted on train, on pairs before and after the filter and on the questions at last (``kgqa audit
--readers`` lets trained ones try).
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
"""Reader → what it is kept from, and what it does."""
DIRE = "DiRe"
SCORES = {**COUNTING, DIRE: "disconnected: tf-idf on the parts of the support apart, the surer answer counts (Trivedi et al. 2020)"}
"""Score → what it says."""
FITTED, JUDGED, PROBED = 2000, 500, 200
"""Questions at most that a reader is fitted on, that it answers, and all parts of whose support are read. A card needs a figure with an
interval, not the last digit: on 8,769 and 2,114 questions the same took minutes."""
HOPS = {
    "heads": "heads without a paragraph, answer F1",
    "tails": "tails with their bridge masked, answer F1",
    "supports": "tails with their bridge masked, support F1",
}
"""What was judged → how the card calls it."""


def hop_figures(judged: Judged, kept: pl.DataFrame, *, seed: int) -> dict[str, dict[str, Any]]:
    """``HOPS`` → before and after the filter, each a mean with interval and number, and by ``chance``; ``kept``: the pairs that stayed."""
    heads, tails = judged.heads, judged.tails
    left = heads.join(kept.select("head").unique(), on="head", how="semi")
    stayed = tails.join(kept.select("tail", "start").unique(), on=["tail", "start"], how="semi")
    columns = {"heads": (heads, left, "answer"), "tails": (tails, stayed, "answer"), "supports": (tails, stayed, "support")}
    return {
        name: {
            "chance": round(judged.chance[name], 4),
            "before": figure(before[column].to_list(), seed=seed),
            "after": figure(after[column].to_list(), seed=seed),
        }
        for name, (before, after, column) in columns.items()
    }


NOTHING_LEARNED = {
    "heads": "; the filter's readers answer first questions no better than chance, so they filter nothing there",
    "tails": "; the filter's readers answer second questions no better than chance, so they filter nothing there",
}
"""What :func:`unlearned` names → the sentence for people."""


def unlearned(hops: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Whether ``heads``, ``tails`` or both are answered by the filter's readers no clearer than by guesses."""
    return [name for name in ("heads", "tails") if hops[name]["before"]["low"] <= hops[name]["chance"]]


def figure(scores: Sequence[float], *, seed: int) -> dict[str, Any]:
    """``mean``, ``low``, ``high`` (95% bootstrap) and ``of``; nulls where there is nothing to score."""
    if not scores:
        return {"mean": None, "low": None, "high": None, "of": 0}
    found = interval(scores, rng=np.random.default_rng(draw(purpose="interval of a score", seed=seed, id="all")))
    return {"mean": round(found.mean, 4), "low": round(found.low, 4), "high": round(found.high, 4), "of": len(scores)}


def set_figures(splits: Mapping[str, Sequence[Instance]], *, seed: int) -> dict[str, dict[str, Any]]:
    """Each of ``SCORES`` → answer F1 on dev and test together, of readers that have read train; all drawn (``FITTED``, ``JUDGED``)."""
    judged = of_list(_drawn([*splits["dev"], *splits["test"]], JUDGED, seed=seed))
    fitted = of_list(_drawn(splits["train"], FITTED, seed=seed))
    if not len(fitted):  # a small set, all of whose questions hang together
        return {name: figure([], seed=seed) for name in SCORES}
    found = {}
    for name in COUNTING:
        reader = find_reader(name).make(name, Settings(), TrainingSettings())
        with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
            fitting = Fitting(place=Path(folder), settings=TrainingSettings(), seed=seed, progress=Silent(), record=lambda _: None)
            reader.fit(fitted, None, fitting)
        predicted = list(reader.predict(judged, Silent())) if len(judged) else []
        found[name] = figure([answer_score(*pair) for pair in zip(judged, predicted, strict=True)], seed=seed)
        if name == "tf-idf":
            found[DIRE] = figure(disconnected(reader, list(judged), seed=seed), seed=seed)
    return found


def disconnected(reader: Reader, instances: Sequence[Instance], *, seed: int) -> list[float]:
    """Answer F1 where no part of the support is read together with the rest, at the best bi-partition (section 3.2, answers alone)."""
    asked = [
        (instance, question)
        for instance in _drawn(instances, PROBED, seed=seed)
        if not isinstance(question := question_of(instance, level="paragraph", max_facts=MAX_FACTS), Rejection)
    ]
    parts = [probe(question) for _, question in asked]
    flat = [part for some in parts for part in some]
    predicted = iter(reader.predict(of_list(flat), Silent()) if flat else ())
    scores = []
    for (instance, _), some in zip(asked, parts, strict=True):
        said = [next(predicted) for _ in some]
        surer = [one if one.confidence > other.confidence else other for one, other in zip(said[::2], said[1::2], strict=True)]
        scores.append(max(answer_score(instance, each) for each in surer))
    return scores


def _drawn(instances: Sequence[Instance], count: int, *, seed: int) -> list[Instance]:
    """So many of them at most, in their order."""
    if len(instances) <= count:
        return list(instances)
    chances = [draw(purpose="questions for the card's baselines", seed=seed, id=instance.id) for instance in instances]
    return [instances[place] for place in sorted(sorted(range(len(instances)), key=chances.__getitem__)[:count])]

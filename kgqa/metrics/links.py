"""IIRC's link prediction: which links of a paragraph lead to the context that the question needs (Ferguson et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping

from kgqa.metrics.overlap import harmonic, set_overlap
from kgqa.metrics.scores import Scores, mean, unmatched


def link_prediction(gold: Mapping[str, frozenset[str]], predictions: Mapping[str, frozenset[str]]) -> Scores:
    """``precision`` and ``recall``, averaged over questions, and ``f1`` of the two averages, from 0 to 1.

    A question without gold links and without predicted links scores 1 and 1; otherwise an empty side scores 0. A missing id counts 0.
    """
    missing, extra = unmatched(gold, predictions)
    per_record: dict[str, dict[str, float]] = {"precision": {}, "recall": {}}
    for key, links in gold.items():
        prediction = predictions.get(key)
        if prediction is None:
            precision = recall = 0.0
        elif not prediction and not links:
            precision = recall = 1.0
        else:
            _, _, precision, recall = set_overlap(prediction, links)
        per_record["precision"][key], per_record["recall"][key] = precision, recall
    means = {name: mean(values) for name, values in per_record.items()}
    means["f1"] = harmonic(means["precision"], means["recall"])
    return Scores(official=means, unrounded=means, per_record=per_record, missing=missing, extra=extra)

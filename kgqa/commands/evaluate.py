"""``kgqa evaluate``: a system's predictions on a question set, scored as the set's authors do, with intervals and a breakdown."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

from kgqa.errors import SettingsError, check_known, check_seed, storage_errors
from kgqa.formats.huggingface.hub import Place
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.bootstrap import RESAMPLES, intervals
from kgqa.metrics.squad import NoAnswer
from kgqa.progress import Progress, Silent
from kgqa.runs.files import Watch, check_is_local, file_hash
from kgqa.runs.manifest import versions
from kgqa.scoring import report
from kgqa.scoring.breakdown import break_down
from kgqa.scoring.default_metric import default_metric
from kgqa.scoring.metrics import METRICS, MetricOptions
from kgqa.scoring.predicted_split import find_split, score
from kgqa.scoring.predictions import read_aliases, read_original, read_probabilities
from kgqa.scoring.report import Evaluation
from kgqa.settings.defaults import DRAWS_SEED, NO_ANSWER_PROBABILITY


def evaluate(
    dataset: str | Path,
    predictions: str | Path,
    *,
    metric: str | None = None,
    original: str | Path | None = None,
    aliases: str | Path | None = None,
    na_prob_file: str | Path | None = None,
    na_prob_thresh: float = NO_ANSWER_PROBABILITY,
    missing_as_zero: bool = False,
    json: str | Path | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    strict: bool = False,
    seed: int = DRAWS_SEED,
    progress: Progress | None = None,
) -> Evaluation:
    """Score ``predictions``, a file in the set's official format, on ``dataset``, a question set of any format.

    ``metric`` is by default the set's own. ``original``: for ``dire-probe``, predictions on the original set, which cap the scores.
    ``aliases``: for ``twowiki``, the official file of entity aliases. For ``squad2``: ``na_prob_file`` has the no-answer probabilities,
    ``na_prob_thresh`` is their threshold, and ``missing_as_zero`` counts missing predictions as wrong; otherwise they are an error.
    ``json`` is written whole or not at all. ``paragraphs`` and ``strict``: as in :func:`kgqa.open_dataset`. In a set with several splits,
    the split with most predictions is scored; ties go to dev, then test. Memory: predictions, one split's gold without its paragraphs, and
    scores. Raises KgqaError.
    """
    _check(metric, json, seed)
    watch = Watch(Path(file_path) for file_path in (predictions, original, aliases, na_prob_file) if file_path is not None)
    path, progress = Path(predictions), progress or Silent()
    if json is not None:
        check_is_local(Path(json))
    source = open_dataset(dataset, format, paragraphs=paragraphs, strict=strict, progress=progress)
    name, chosen_by = (metric, "--metric") if metric else default_metric(source)
    official_metric = METRICS[name]
    _check_beside(
        name,
        original=original,
        aliases=aliases,
        squad2=na_prob_file is not None or na_prob_thresh != NO_ANSWER_PROBABILITY or missing_as_zero,
    )
    if json is not None:
        source.check_outside(Path(json), "--json")
    beside = MetricOptions(
        original=None if original is None else read_original(Path(original)),
        aliases={} if aliases is None else read_aliases(Path(aliases)),
        no_answer=_no_answer(na_prob_file, na_prob_thresh),
        missing_as_zero=missing_as_zero,
    )
    progress.start("Reading predictions")
    answers = official_metric.read(path)
    progress.finish(path.name)
    progress.start("Reading questions", None, "questions")
    split_match = find_split(source, official_metric, answers, path, progress.advance)
    file = source.files[split_match.split]
    progress.finish(f"{len(split_match.gold):,} of {split_match.split}")
    progress.start("Scoring", None, "questions")
    scores = score(split_match, official_metric, answers, beside, path=path, dataset=file)
    result = Evaluation(
        source=source,
        split=split_match.split,
        metric=name,
        chosen_by=chosen_by,
        questions=len({key for key, _ in split_match.gold}),
        scores=scores,
        intervals=intervals(scores.per_record, scale=official_metric.scale, seed=seed),
        breakdown=break_down(scores.per_record, split_match.traits, official_metric.headline, scale=official_metric.scale, seed=seed),
        computed_from={
            "dataset": {
                "format": source.format,
                "split": split_match.split,
                **_hashed(file),
                **source.url_record,
            },
            **{
                name: optional_path and _hashed(Path(optional_path))
                for name, optional_path in (
                    ("predictions", path),
                    ("original", original),
                    ("aliases", aliases),
                    ("na_prob_file", na_prob_file),
                )
            },
            "na_prob_thresh": None if na_prob_file is None else na_prob_thresh,
            "missing_as_zero": missing_as_zero,
            "seed": seed,
            "resamples": RESAMPLES,
            "versions": versions(),
        },
    )
    progress.finish(f"{result.questions:,} questions")
    source.watch.check()
    watch.check()
    if json is not None:
        report.write(result, Path(json))
    return result


def _check(metric: str | None, json: str | Path | None, seed: int) -> None:
    """Raise KgqaError for impossible arguments, before anything is read."""
    check_seed(seed)
    if metric is not None:
        check_known("metric", metric, METRICS)
    if json is not None:
        report.check_free(Path(json))


def _check_beside(metric: str, *, original: object, aliases: object, squad2: bool) -> None:
    """Raise SettingsError for additional files that the metric does not use."""
    if original is not None and metric != "dire-probe":
        raise SettingsError(f"--original caps a probe's scores, and the metric is {metric}; leave it out, or give --metric dire-probe.")
    if aliases is not None and metric != "twowiki":
        raise SettingsError(f"--aliases are 2WikiMultihopQA's, and the metric is {metric}; leave them out, or give --metric twowiki.")
    if squad2 and metric != "squad2":
        raise SettingsError(
            f"--na-prob-file, --na-prob-thresh and --missing-as-zero are SQuAD 2.0's, and the metric is {metric}; leave them out, or give "
            "--metric squad2."
        )


def _no_answer(file: str | Path | None, threshold: float) -> NoAnswer | None:
    if not isfinite(threshold):
        raise SettingsError(f"--na-prob-thresh {threshold} is not a finite number; give another.")
    if file is not None:
        return NoAnswer(probabilities=read_probabilities(Path(file)), threshold=threshold)
    if threshold != NO_ANSWER_PROBABILITY:
        raise SettingsError("--na-prob-thresh is for the probabilities in --na-prob-file; give them too.")
    return None


def _hashed(path: Place) -> dict[str, Any]:
    """A file's name and SHA-256; a folder, or a set on the hub, has none."""
    if not isinstance(path, Path):
        return {"file": path.name, "sha256": None}
    with storage_errors(path):
        return {"file": path.name, "sha256": file_hash(path) if path.is_file() else None}

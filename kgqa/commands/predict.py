"""``kgqa predict``: predictions of a trained reader, in the format of the set's official scorer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kgqa.errors import MissingInput, SettingsError, suggestion
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.progress import Progress, Silent
from kgqa.readers.trained import READER, load_reader
from kgqa.runs.files import Watch, check_new_file, files_below
from kgqa.scoring.default_metric import default_metric
from kgqa.scoring.dire_gold import notes_of
from kgqa.scoring.metrics import METRICS
from kgqa.scoring.prediction_files import TRANSFORMED, write_predictions
from kgqa.training.questions import of_split
from kgqa.training.reader import Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """Result of :func:`predict`: the file of predictions and its metric."""

    source: QuestionSet
    split: str
    metric: str
    """The metric whose file format was written."""
    file: Path
    questions: int
    remarks: tuple[str, ...]
    """Remarks about the file, one sentence each."""
    seconds: float


def predict(
    run: str | Path,
    dataset: str | Path,
    *,
    out: str | Path,
    split: str | None = None,
    metric: str | None = None,
    device: str | None = None,
    precision: str | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    progress: Progress | None = None,
) -> Predicted:
    """Predict the answers of a split of ``dataset`` with the reader of the :func:`kgqa.train` folder ``run``; write the file ``out``.

    ``split`` is dev by default, or the only split. ``metric``, by default the set's own, determines the file's format, which
    :func:`kgqa.evaluate` reads. Memory: the reader, one batch, and one answer per question. Raises KgqaError.
    """
    if metric is not None and metric not in METRICS:
        raise SettingsError(f"metric {metric!r} is not known; {suggestion(metric, tuple(METRICS))}")
    out, begin = Path(out), time.perf_counter()
    check_new_file(out)
    source = open_dataset(dataset, format, paragraphs=paragraphs)
    source.check_outside(out)
    split_name = _split(source, split)
    form = metric or default_metric(source)[0]
    trained = Watch(files_below(Path(run) / READER))
    reader = load_reader(run, device=device, precision=precision, what="kgqa predict")
    trained.check()
    questions = of_split(source, split_name)
    if not len(questions):
        raise MissingInput(f"{source.path}: its {split_name} split has no question; give another --split.")
    if form in TRANSFORMED:
        notes_of(next(iter(questions)))  # predictions need them; say so before the reader has run for an hour
    answers = _unchanged(source, reader.predict(questions, progress or Silent()))
    remarks = write_predictions(form, questions, answers, out)
    return Predicted(
        source=source,
        split=split_name,
        metric=form,
        file=out,
        questions=len(questions),
        remarks=remarks,
        seconds=time.perf_counter() - begin,
    )


def _unchanged(source: QuestionSet, answers: Iterator[Prediction]) -> Iterator[Prediction]:
    """The ``answers``. Raises InputChanged at the end if the set has changed since the beginning."""
    yield from answers
    source.watch.check()


def _split(source: QuestionSet, name: str | None) -> str:
    if name is None:
        name = next(iter(source.files)) if len(source.files) == 1 else "dev"
    if name not in source.files:
        raise SettingsError(f"--split {name}: this set has {', '.join(source.files)}; give one of these.")
    return name

"""``kgqa predict``: predictions of a trained reader, or of a model behind an endpoint, in the format of the set's official scorer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from kgqa.cluster.opening import for_networks, opened_engine
from kgqa.commands.predict_llm import asking, predict_llm
from kgqa.errors import MissingInput, SettingsError, check_known
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.progress import Progress, Silent
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.readers.llm.reader import NAME
from kgqa.readers.own import OwnReader
from kgqa.readers.specification import settings_of
from kgqa.readers.trained import READER, load_reader
from kgqa.runs.files import Watch, check_new_file, files_below
from kgqa.scoring.default_metric import default_metric
from kgqa.scoring.dire_gold import notes_of
from kgqa.scoring.metrics import METRICS
from kgqa.scoring.prediction_files import TRANSFORMED, write_predictions
from kgqa.settings.cluster import is_cluster
from kgqa.settings.llm import LlmReaderSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.predicting import predict_together
from kgqa.training.processes import is_first_process, is_only_process
from kgqa.training.questions import Questions, of_split
from kgqa.training.reader import Prediction, Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """Result of :func:`predict`: the file of predictions and its metric."""

    source: QuestionSet
    split: str
    metric: str
    """The metric whose file format was written."""
    file: Path
    questions: int
    report: Path | None = None
    """For the reader ``llm``: settings, tokens, cost; for each question type, unit and confidence, or the reason for no prediction."""
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
    reader: str | None = None,
    device: str | None = None,
    precision: str | None = None,
    model: str | None = None,
    endpoint: str | None = None,
    recording: str | Path | None = None,
    shots: int | None = None,
    retrieve: int | None = None,
    samples: int | None = None,
    input_price: float | None = None,
    output_price: float | None = None,
    max_cost: float | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Predicted:
    """Predict the answers of a split of ``dataset`` with the reader of the :func:`kgqa.train` folder ``run``; write the file ``out``.

    ``split`` is dev by default, or the only split. ``metric``, by default the set's own, determines the file's format, which
    :func:`kgqa.evaluate` reads. ``reader``: the ``module:Class`` of a run of your own reader, which is imported only
    if you name it. On a ``cluster`` (:func:`kgqa.cluster.opening.opened_engine`) the nodes read the questions, on GPUs if it has any and
    ``device`` allows it; on CPUs the predictions are the same. Memory: the reader, one batch, and one answer per question.

    ``run`` may be "llm", or a TOML file with ``reader = "llm"``: then the ``model`` of a chat-completions ``endpoint`` answers (by default
    ``OPENAI_BASE_URL``; the key is ``OPENAI_API_KEY``). A prompt has ``shots`` examples of the train split, and the question's own
    paragraphs or the ``retrieve`` best of the whole set by BM25. The most frequent answer of several ``samples`` is the prediction. Prices
    are of a million tokens. All answers in the file ``recording`` (by default next to ``out``) may cost ``max_cost``. A recorded answer is
    not requested again: the same recording gives the same bytes. Raises KgqaError.
    """
    if metric is not None:
        check_known("metric", metric, METRICS)
    out, begin = Path(out), time.perf_counter()
    check_new_file(out)
    prompts = {
        "shots": shots,
        "retrieve": retrieve,
        "samples": samples,
        "input_price": input_price,
        "output_price": output_price,
        "max_cost": max_cost,
    }
    model_request = None
    if isinstance(run, str) and (run == NAME or run.endswith(".toml")):
        _refuse({"reader": reader, "device": device, "precision": precision}, "trained readers, but the reader is llm")
        _refuse({"cluster": cluster if is_cluster(cluster) else None}, "readers that run on the nodes, but the reader is llm")
        if not is_only_process():
            raise SettingsError("the reader llm asks its endpoint from one process; start kgqa predict without a launcher.")
        llm_settings = settings_of(run, NAME, LlmReaderSettings, prompts)
        model_request = asking(llm_settings, model=model, endpoint=endpoint, recording=recording, out=out)
    else:
        llm_options = {"model": model, "endpoint": endpoint, "recording": recording, **prompts}
        if get_close_matches(str(run), [NAME]) and not Path(run).exists():
            raise MissingInput(f"{run}: there is no run of kgqa train here; did you mean {NAME}?")
        _refuse(llm_options, "the reader llm, but the reader is that of a run")
    source = open_dataset(dataset, format, paragraphs=paragraphs, progress=progress)
    source.check_outside(out)
    split_name = _split(source, split)
    form = metric or default_metric(source)[0]
    if model_request is None:
        trained = Watch(files_below(Path(run) / READER))
        trained_reader = load_reader(run, reader=reader, device=device, precision=precision, what="kgqa predict")
        trained.check()
        questions = _questions(source, split_name, form)
        settings = TrainingSettings.model_validate({"device": device or "auto", "precision": precision or "auto"})
        with _predicting(trained_reader, questions, progress or Silent(), settings, cluster) as predictions:
            remarks = write_predictions(form, questions, predictions, out) if is_first_process() else ()
    else:
        questions = _questions(source, split_name, form)
        remarks = predict_llm(model_request, source, split_name, form, questions, progress=progress or Silent())
    return Predicted(
        source=source,
        split=split_name,
        metric=form,
        file=out,
        questions=len(questions),
        report=None if model_request is None else model_request.report,
        remarks=remarks,
        seconds=time.perf_counter() - begin,
    )


@contextmanager
def _predicting(
    reader: Reader, questions: Questions, progress: Progress, settings: TrainingSettings, cluster: str | None
) -> Iterator[Iterator[Prediction]]:
    """The predictions of the reader, on the cluster if one is given. SettingsError for a reader that does not run on a cluster."""
    if not is_cluster(cluster):
        yield predict_together(reader, questions, progress, settings)
        return
    if isinstance(reader, OwnReader):
        raise SettingsError("--cluster is for readers of kgqa, but the code of this one is on this machine alone; leave it out.")
    if not is_only_process():
        raise SettingsError("--cluster divides the questions itself; start kgqa predict without a launcher.")
    with opened_engine(cluster=cluster, progress=progress) as engine:
        counts = isinstance(reader, LexicalReader)
        where = engine if counts else for_networks(engine, device=settings.device)
        yield reader.predict(replace(questions, engine=where), progress)


def _refuse(options: Mapping[str, object], reason: str) -> None:
    """Raise SettingsError for options that are for another kind of reader."""
    option = next((name for name, value in options.items() if value is not None), None)
    if option is not None:
        raise SettingsError(f"--{option.replace('_', '-')} is for {reason}; leave it out.")


def _questions(source: QuestionSet, split: str, metric: str) -> Questions:
    questions = of_split(source, split)
    if not len(questions):
        raise MissingInput(f"{source.path}: its {split} split has no questions; choose another --split.")
    if metric in TRANSFORMED:
        notes_of(next(iter(questions)))  # predictions need them; say so before the reader has run for an hour
    return questions


def _split(source: QuestionSet, name: str | None) -> str:
    if name is None:
        name = next(iter(source.files)) if len(source.files) == 1 else "dev"
    if name not in source.files:
        raise SettingsError(f"--split {name}: this set has {', '.join(source.files)}; give one of these.")
    return name

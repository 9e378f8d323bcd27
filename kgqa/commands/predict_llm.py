"""``kgqa predict llm``: answers of a model behind an endpoint, in the format of the set's official scorer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kgqa.chat.ask import check_prices
from kgqa.chat.asking import Asker
from kgqa.chat.endpoint import Endpoint, cost
from kgqa.chat.recording import only_recording
from kgqa.errors import MissingInput, SettingsError, storage_errors
from kgqa.formats.question_set import QuestionSet
from kgqa.progress import Progress
from kgqa.readers.llm.answer_form import Form, Wanted
from kgqa.readers.llm.context import Context, InTheBox, Retrieved, Shown
from kgqa.readers.llm.reader import NAME, LlmReader, draw_examples
from kgqa.runs.files import check_new_file, put_all, real_path
from kgqa.runs.scratch import scratch
from kgqa.scoring.prediction_files import ANSWER_TYPES, LABELLED, OF_SENTENCES, write_predictions
from kgqa.settings.llm import OF_REQUESTS, LlmReaderSettings
from kgqa.training.questions import Questions, of_split
from kgqa.version import __version__

EMPTY_IS_NONE = ("squad2", "iirc")
"""Metrics in whose files a question without prediction looks like one that is predicted to have no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest:
    """The arguments of a prediction by a model, checked; nothing is sent yet."""

    settings: LlmReaderSettings
    model: str
    endpoint: Endpoint
    out: Path
    recording: Path

    @property
    def report(self) -> Path:
        """The file of the report, next to the predictions."""
        return self.out.with_name(f"{self.out.name}.report.json")


def asking(settings: LlmReaderSettings, *, model: str | None, endpoint: str | None, recording: str | Path | None, out: Path) -> LlmRequest:
    """Check the arguments. Raises SettingsError, StorageError."""
    if not model:
        raise SettingsError("kgqa predict llm needs --model, the endpoint's name of its model.")
    check_prices(settings)
    result = LlmRequest(
        settings=settings,
        model=model,
        endpoint=Endpoint(endpoint, model, settings, what="kgqa predict llm"),
        out=out,
        recording=out.with_name(f"{out.name}.recording.jsonl") if recording is None else Path(recording),
    )
    check_new_file(result.report)
    if real_path(result.recording) in {real_path(result.out), real_path(result.report)}:
        raise SettingsError(f"{result.recording}: --recording and --out cannot be one file; give two.")
    return result


def predict_llm(
    request: LlmRequest,
    source: QuestionSet,
    split: str,
    metric: str,
    questions: Questions,
    *,
    progress: Progress,
) -> tuple[str, ...]:
    """Ask the model; write predictions and report, both or none; return remarks. Raises KgqaError."""
    source.check_outside(request.recording, "--recording")
    settings = request.settings
    requirements = Wanted(
        types=ANSWER_TYPES[metric], sentences=metric in OF_SENTENCES, sufficiency=metric in LABELLED, reasoning=settings.reasoning
    )
    context = _context(source, settings, by_sentence=requirements.sentences)
    reader = LlmReader(settings, context, requirements, examples=_examples(source, split, settings, context, requirements))
    with only_recording(request.recording) as recording, storage_errors(request.out), scratch(request.out) as folder:
        asker = Asker(request.endpoint, recording, settings, fewer=", or give a smaller set")
        remarks = write_predictions(metric, questions, reader.predict(questions, asker, progress), folder / request.out.name)
        report = {
            "reader": NAME,
            "model": request.model,
            "version": __version__,
            "format": source.format,
            "split": split,
            "metric": metric,
            "settings": settings.model_dump(mode="json", exclude=set(OF_REQUESTS)),
            **_costs(asker, settings),
            "examples": reader.examples,
            "questions": reader.entries,
        }
        text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
        (folder / request.report.name).write_text(text, "utf-8")
        put_all({folder / request.report.name: request.report, folder / request.out.name: request.out})
    return (*remarks, *_without_prediction(reader, metric))


def _costs(asker: Asker, settings: LlmReaderSettings) -> dict[str, object]:
    """The tokens of all answers that were used, and their cost at these prices; the same when they come from a recording."""
    answers = asker.answers.values()
    inputs, outputs = sum(answer.input_tokens for answer in answers), sum(answer.output_tokens for answer in answers)
    price = None if settings.input_price is None else cost(settings, inputs, outputs)
    return {"answers": len(answers), "input_tokens": inputs, "output_tokens": outputs, "cost": price}


def _context(source: QuestionSet, settings: LlmReaderSettings, *, by_sentence: bool) -> Context:
    if not settings.retrieve:
        return InTheBox(by_sentence=by_sentence, without=settings.retrieve == 0)
    retrieval = Retrieved((of_split(source, split) for split in source.files), settings.retrieve, by_sentence=by_sentence)
    if not retrieval.paragraphs:
        raise MissingInput(f"{source.path}: there is no paragraph to retrieve; give --paragraphs, or leave out --retrieve.")
    return retrieval


def _examples(
    source: QuestionSet, split: str, settings: LlmReaderSettings, context: Context, requirements: Wanted
) -> list[tuple[Shown, Form]]:
    if not settings.shots:
        return []
    if "train" not in source.files or split == "train":
        reason = "its questions are predicted" if split == "train" else f"this set has only {', '.join(source.files)}"
        raise SettingsError(f"shots are examples of the train split, but {reason}; set shots = 0, or give another set or --split.")
    return draw_examples(of_split(source, "train"), context, settings, requirements)


def _without_prediction(reader: LlmReader, metric: str) -> Iterator[str]:
    for reason, count in reader.reasons.most_common():
        yield f"{count:,} of {len(reader.entries):,} questions have no prediction: {reason}."
    if reader.reasons and metric in EMPTY_IS_NONE:
        yield "Without a prediction, the file says that the question has no answer, which may be scored as right."

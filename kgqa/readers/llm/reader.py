"""The reader ``llm``: a prompt per question and sample, the votes of the samples, and a report of each question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from kgqa.arrays.draws import draw
from kgqa.chat.ask import Asked, judge
from kgqa.chat.asking import Asker, Conversation
from kgqa.errors import SettingsError
from kgqa.metrics.normalize import normalize
from kgqa.progress import Progress
from kgqa.readers.llm.answer_form import Form, Wanted, fault_of, gold_form, prediction_of, schema_of
from kgqa.readers.llm.context import Context, InTheBox, Shown
from kgqa.readers.llm.prompt import messages_of
from kgqa.records import Instance
from kgqa.settings.llm import LlmReaderSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction

NAME = "llm"
OUTPUT_TOKENS, REASONING_TOKENS = 60, 120
"""Estimated tokens of an answer, and of its reasoning, for the cost estimate."""


class LlmReader:
    """Answers questions by asking a model; nothing is trained."""

    def __init__(
        self, settings: LlmReaderSettings, context: Context, wanted: Wanted, *, examples: Sequence[tuple[Shown, Form]] = ()
    ) -> None:
        """Store the arguments; ``examples`` come from :func:`draw_examples`."""
        self._settings, self._context, self._wanted, self._examples = settings, context, wanted, tuple(examples)
        self.entries: list[dict[str, Any]] = []
        """JSON-able, one per question as it is predicted: id, type, answer, unit, confidence; without a prediction, id and reason."""

    @property
    def examples(self) -> list[str]:
        """Ids of the training questions that prompts show."""
        return [shown.instance.id for shown, _ in self._examples]

    @property
    def reasons(self) -> Counter[str]:
        """Why questions have no prediction, and how many."""
        return Counter(entry["reason"] for entry in self.entries if "reason" in entry)

    def predict(self, questions: Questions, asker: Asker, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in order; ``progress`` shows the cost before and after. May be called once.

        A question whose answers stay faulty has the answer "" and confidence 0; ``entries`` has the reason. Memory: a few prompts for each
        parallel request, one answer per question, and the recording. Raises SettingsError, EndpointError, StorageError.
        """
        progress.start("Estimating what the endpoint costs", len(questions), "questions")
        progress.finish(asker.estimate(self.keyed(questions, asker, progress), output_tokens=expected_tokens(self._settings)))
        before = asker.spent()
        progress.start("Asking the model", len(questions), "questions")
        shown: list[Shown] = []

        def conversations() -> Iterator[tuple[str, Conversation[Asked[Form]]]]:
            for question, conversation in self._conversations(questions):
                shown.append(question)
                yield asker.key(conversation), conversation

        answers = asker.ask(conversations())
        while samples := list(islice(answers, self._settings.samples)):
            question = shown[0]
            del shown[: len(samples)]
            yield self._vote(question, [judged.result for judged in samples])
            progress.advance(1)
        progress.finish(f"{asker.requests:,} requests{asker.price(asker.spent() - before)}")

    def keyed(
        self, questions: Questions, asker: Asker, progress: Progress | None = None
    ) -> Iterator[tuple[str, Conversation[Asked[Form]]]]:
        """The first requests of :meth:`predict`, each after its hash."""
        return ((asker.key(conversation), conversation) for _, conversation in self._conversations(questions, progress))

    def _conversations(self, questions: Questions, progress: Progress | None = None) -> Iterator[tuple[Shown, Conversation[Asked[Form]]]]:
        """Each question's conversations, one per sample."""
        for shown in self._context(questions):
            conversation = Conversation(
                messages=messages_of(shown, self._examples, self._wanted),
                schema=schema_of(self._wanted, candidates=bool(shown.instance.candidates)),
                name="answer",
                judge=partial(judge, schema=Form, check=partial(fault_of, shown=shown, wanted=self._wanted)),
            )
            for sample in range(self._settings.samples):
                yield shown, replace(conversation, sample=sample)
            if progress is not None:
                progress.advance(1)

    def _vote(self, shown: Shown, samples: Sequence[Asked[Form]]) -> Prediction:
        """The first prediction with the most frequent answer; its confidence is the share of the samples with this answer."""
        votes: dict[tuple[str, ...], list[tuple[Form, Prediction]]] = defaultdict(list)
        for asked in samples:
            if asked.value is not None:
                prediction = prediction_of(asked.value, shown)
                votes[_answer_key(prediction)].append((asked.value, prediction))
        best = max(votes.values(), key=len, default=None)
        if best is None:
            reason = samples[0].reason
            self.entries.append({"id": shown.instance.id, "reason": reason})
            return Prediction(id=shown.instance.id, answer="", paragraph_scores=shown.scores)
        form, prediction = best[0]
        prediction = replace(prediction, confidence=len(best) / len(samples))
        kind = "candidate" if shown.instance.candidates else form.type
        answer = list(prediction.parts) or prediction.answer
        entry = {"id": prediction.id, "type": kind, "answer": answer, "unit": form.unit.strip(), "confidence": prediction.confidence}
        self.entries.append(entry)
        return prediction


def expected_tokens(settings: LlmReaderSettings) -> int:
    """The estimated tokens of an answer."""
    return OUTPUT_TOKENS + (REASONING_TOKENS if settings.reasoning else 0)


def _answer_key(prediction: Prediction) -> tuple[str, ...]:
    """Equal for equal answers."""
    if not prediction.answerable:
        return ("none",)
    if prediction.candidate is not None:
        return "candidate", prediction.candidate
    return "text", *map(normalize, prediction.parts or [prediction.answer])


def draw_examples(train: Questions, context: Context, settings: LlmReaderSettings, wanted: Wanted) -> list[tuple[Shown, Form]]:
    """``settings.shots`` questions of ``train`` with their gold answers, as different in their answer types as they can be.

    The questions of each type come in drawn order, and the first of each type come first. Raises SettingsError if there are too few.
    Memory: ``shots`` questions of each type.
    """
    drawn: dict[str, list[tuple[int, str, Instance]]] = defaultdict(list)
    for shown in InTheBox(by_sentence=wanted.sentences)(instance for instance in train if not instance.hidden):
        form = gold_form(shown, wanted)
        if form is not None:
            entries = drawn["candidate" if shown.instance.candidates else form.type]
            key = shown.instance.id
            entries.append((draw(purpose="examples of a prompt", seed=settings.seed, id=key), key, shown.instance))
            entries.sort(key=lambda entry: entry[:2])
            del entries[settings.shots :]
    ranked = sorted(((rank, *entry) for entries in drawn.values() for rank, entry in enumerate(entries)), key=lambda entry: entry[:3])
    if len(ranked) < settings.shots:
        raise SettingsError(f"the train split has {len(ranked):,} questions that can be examples, and shots is {settings.shots}; lower it.")
    examples = ((shown, gold_form(shown, wanted)) for shown in context(instance for *_, instance in ranked[: settings.shots]))
    return [(shown, form) for shown, form in examples if form is not None]

"""Question only: which answer suits a question, of its candidates or of all answers that the training questions have, without any text.

What a system knows, or learned by heart, of a question (Kaushik and Lipton 2018; Trivedi et al. 2022, section 7.2.2, who generate where
this ranks: of an answer that no training question has it knows nothing). Question and answers are read by one encoder, and compared by
the dot product of their mean vectors.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.readers.neural import NeuralReader
from kgqa.readers.scores import answer_score
from kgqa.readers.transformer.encoder import ENCODER, Encoder, load_encoder, saved_encoder
from kgqa.readers.transformer.examples import ragged, right_candidate, without_right
from kgqa.readers.transformer.segments import segment_best, segment_logsumexp
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.reader import RankingSettings
from kgqa.settings.small_files import read_small
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction
from kgqa.training.task import FAULT, ID, TOKENS, Batch, Task

OTHERS = 15
"""Answers of other questions that one without candidates learns to tell its own from."""
MOST_ANSWERS = 50_000
AT_ONCE = 512
SHARPNESS = 20.0
"""What cosines are multiplied with before the softmax, as sentence encoders are trained (Reimers and Gurevych 2019)."""
ANSWERS = "answers.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What suits a question best."""

    number: int
    """Of its candidates, or of the known answers."""
    probability: float


class RankingTask:
    """One encoder for questions and answers."""

    def __init__(self, encoder: Encoder, settings: RankingSettings, answers: Sequence[str]) -> None:
        """``answers``: those of the training questions, each once."""
        self._encoder, self._settings, self._answers = encoder, settings, list(answers)
        self._longest = min(settings.question_tokens, encoder.longest)
        self.network: torch.nn.Module = nn.ModuleDict({ENCODER: encoder.network})
        self._vectors: torch.Tensor | None = None
        self._lock = Lock()
        self.network.register_load_state_dict_post_hook(self._forget)  # type: ignore[no-untyped-call]
        self.encoding = key_of("ranking", 2, encoder.tokenizer.backend_tokenizer.to_str(), self._longest, key_of(self._answers))

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """Texts behind each other: the question, then its choices."""
        choices = [self._choices(each) for each in instances]
        texts = [text for each, (some, _) in zip(instances, choices, strict=True) for text in (each.question, *some)]
        cut = self._cut(texts)
        rows, at = [], 0
        for each, (some, right) in zip(instances, choices, strict=True):
            ids = cut[at : at + 1 + len(some)]
            at += len(ids)
            rows.append((each.id, ids, right))
        faults = [None if right >= 0 else without_right(each) for each, (_, right) in zip(instances, choices, strict=True)]
        lengths = [[len(text) for text in ids] for _, ids, _ in rows]
        columns = {
            ID: pa.array([name for name, _, _ in rows], pa.string()),
            TOKENS: pa.array([len(each) * max(each) for each in lengths], pa.int32()),  # as they are padded
            FAULT: pa.array(faults, pa.string()),
            "right": pa.array([right for _, _, right in rows], pa.int32()),
            "choices": pa.array([len(each.candidates or ()) for each in instances], pa.int32()),
            "lengths": ragged(lengths),
            "ids": ragged([np.concatenate([np.zeros(0, np.int32), *ids]) for _, ids, _ in rows]),
        }
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def _cut(self, texts: Sequence[str]) -> list[Any]:
        if not texts:
            return []
        found = self._encoder.tokenizer(list(texts), truncation=True, max_length=self._longest, return_attention_mask=False)
        return [np.array(ids, np.int32) for ids in found["input_ids"]]

    def _choices(self, instance: Instance) -> tuple[list[str], int]:
        """The candidates, or the answer among others that were drawn for this question; and which is right, -1 for none."""
        if instance.candidates:
            right = right_candidate(instance)
            return [each.text for each in instance.candidates], right
        if not instance.answers:
            return [], -1
        rng = np.random.default_rng(int(key_of(instance.id)[:15], 16))
        drawn = rng.permutation(len(self._answers))[:OTHERS].tolist()
        own = set(instance.answers)
        return [instance.answers[0], *(self._answers[place] for place in drawn if self._answers[place] not in own)], 0

    def collate(self, table: pa.Table) -> Batch:
        """All texts behind each other."""
        lengths = table.column("lengths").combine_chunks()
        texts = np.diff(lengths.offsets.to_numpy())
        return {
            "ids": torch.from_numpy(table.column("ids").combine_chunks().flatten().to_numpy().astype(np.int64)),
            "lengths": torch.from_numpy(lengths.flatten().to_numpy().astype(np.int64)),
            "texts": torch.from_numpy(texts.astype(np.int64)),
            "right": torch.from_numpy(table.column("right").to_numpy().astype(np.int64)),
            "choices": torch.from_numpy(table.column("choices").to_numpy().astype(np.int64)),
        }

    def _scores(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Score and example of each choice of all examples, and the vectors of the questions."""
        vectors = self._embedded(batch["ids"], batch["lengths"])
        example = torch.repeat_interleave(torch.arange(len(batch["texts"]), device=vectors.device), batch["texts"])
        first = torch.cumsum(batch["texts"], 0) - batch["texts"]
        is_question = torch.zeros(len(vectors), dtype=torch.bool, device=vectors.device)
        is_question[first] = True
        questions, of = vectors[first], example[~is_question]
        return SHARPNESS * (vectors[~is_question] * questions[of]).sum(1), of, questions

    def _embedded(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """A vector of length 1 for each text (texts, width), float32."""
        padded = nn.utils.rnn.pad_sequence(list(torch.split(ids, lengths.tolist())), batch_first=True)
        inside = torch.arange(padded.shape[1], device=ids.device) < lengths[:, None]
        states = self._encoder.network(input_ids=padded, attention_mask=inside.long()).last_hidden_state.float()
        return nn.functional.normalize((states * inside[..., None]).sum(1) / lengths[:, None], dim=1)

    def losses(self, batch: Batch) -> torch.Tensor:
        """-log of the right choice's share."""
        self._vectors = None
        scores, example, _ = self._scores(batch)
        count = len(batch["texts"])
        choices = batch["texts"] - 1
        right = torch.cumsum(choices, 0) - choices + batch["right"].clamp_min(0)
        return segment_logsumexp(scores, example, count) - scores[right]

    def read(self, batch: Batch) -> list[Choice]:
        """The best candidate, or the best of all known answers."""
        scores, example, questions = self._scores(batch)
        count = len(batch["texts"])
        best = segment_best(scores, example, count).clamp_max(max(0, len(scores) - 1))
        whole = segment_logsumexp(scores, example, count)
        among = (scores[best] - whole).exp() if len(scores) else torch.zeros(count)
        share, number = self._best_known(questions)
        first = torch.cumsum(batch["texts"] - 1, 0) - (batch["texts"] - 1)
        has = batch["choices"] > 0
        numbers, shares = torch.where(has, best - first, number).tolist(), torch.where(has, among.to(share.device), share).tolist()
        return [Choice(number=chosen, probability=share) for chosen, share in zip(numbers, shares, strict=True)]

    def _best_known(self, questions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """For each question the probability of the best known answer, and its number; some questions at a time, as answers are many."""
        if not self._answers:
            return questions.new_zeros(len(questions)), torch.zeros(len(questions), dtype=torch.int64, device=questions.device)
        known = self._known().T
        # In bfloat16 thousands of answers would have the same few scores.
        with torch.autocast(questions.device.type, enabled=False):
            found = [(SHARPNESS * some @ known).softmax(1).max(1) for some in torch.split(questions, AT_ONCE)]
        return torch.cat([share for share, _ in found]), torch.cat([number for _, number in found])

    def _forget(self, *_: object) -> None:
        """Other weights, other vectors."""
        self._vectors = None

    def _known(self) -> torch.Tensor:
        """The vectors of all known answers, of the network as it is; the thread that asks first computes them."""
        with self._lock:
            if self._vectors is None:
                device = next(self.network.parameters()).device
                found = []
                for first in range(0, len(self._answers), AT_ONCE):
                    cut = [torch.from_numpy(ids.astype(np.int64)) for ids in self._cut(self._answers[first : first + AT_ONCE])]
                    lengths = torch.tensor([len(ids) for ids in cut], device=device)
                    found.append(self._embedded(torch.cat(cut).to(device), lengths))
                self._vectors = torch.cat(found)
        return self._vectors

    def answer(self, instance: Instance, reading: Choice) -> Prediction:
        """As the candidate, or the training question, spells it."""
        if instance.candidates:
            chosen = instance.candidates[reading.number]
            return Prediction(id=instance.id, answer=chosen.text, candidate=chosen.id, confidence=reading.probability)
        text = self._answers[reading.number] if self._answers else ""
        return Prediction(id=instance.id, answer=text, confidence=reading.probability)

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """See ``answer_score``; without a context nothing can be said of sufficiency."""
        return answer_score(instance, replace(prediction, answerable=True))


class RankingReader(NeuralReader):
    """Knows the training answers."""

    settings: RankingSettings

    def new_task(self, train: Questions) -> Task:
        """On the pretrained encoder, with the answers of ``train``, the most frequent first."""
        return self._made(load_encoder(self.settings.encoder), _by_frequency(train)[:MOST_ANSWERS])

    def task_from(self, folder: Path, state: Mapping[str, Any], train: Questions) -> Task:
        """With the answers of ``train``, and then those that it knew before."""
        answers = list(dict.fromkeys([*_by_frequency(train), *_known_before(folder)]))
        return self._made(saved_encoder(folder / ENCODER), answers[:MOST_ANSWERS])

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """With the answers that it learned."""
        return self._made(saved_encoder(folder / ENCODER), _known_before(folder))

    def _made(self, encoder: Encoder, answers: Sequence[str]) -> Task:
        self._encoder, self._answers = encoder, answers
        return RankingTask(encoder, self.settings, answers)

    def save_beside(self, folder: Path) -> None:
        """The encoder's shape and tokenizer, and the answers."""
        self._encoder.save(folder / ENCODER)
        with storage_errors(folder):
            (folder / ANSWERS).write_text(json.dumps(self._answers, ensure_ascii=False), "utf-8")


def _by_frequency(train: Questions) -> list[str]:
    """The answers of questions without candidates, the most frequent first."""
    counts = Counter(each.answers[0] for each in train if each.answers and not each.candidates)
    return sorted(counts, key=lambda text: (-counts[text], text))


def _known_before(folder: Path) -> list[str]:
    """The answers that a saved reader learned. Raises MissingInput, BrokenInput."""
    path = folder / ANSWERS
    if not path.is_file():
        raise MissingInput(f"{path}: the answers that this reader learned are not there; train it again.")
    try:
        with storage_errors(path):
            answers = json.loads(read_small(path))
    except (ValueError, RecursionError):
        answers = None
    if not isinstance(answers, list) or not all(isinstance(text, str) for text in answers):
        raise BrokenInput(f"{path}: this is no list of answers; train the reader again.")
    return answers


def question_only(name: str, settings: RankingSettings, training: Any) -> RankingReader:
    """Make the question-only reader."""
    return RankingReader(name, settings, training)

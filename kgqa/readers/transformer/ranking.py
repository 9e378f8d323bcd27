"""Question only: rank the candidates, or all training answers, by the question alone, without any context.

This measures prior knowledge and memorisation (Kaushik and Lipton 2018; Trivedi et al. 2022, section 7.2.2). The paper generates answers;
this reader ranks, and cannot give an answer that no training question has. One encoder embeds questions and answers as the mean of their
token vectors, and compares them by dot product.
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
from kgqa.readers.answers import right_candidate
from kgqa.readers.neural import NeuralReader
from kgqa.readers.scores import answer_score
from kgqa.readers.transformer.encoder import ENCODER, Encoder, saved_encoder
from kgqa.readers.transformer.examples import ragged, without_right
from kgqa.readers.transformer.resizing import pretrained
from kgqa.readers.transformer.segments import segment_best, segment_logsumexp
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.reader import RankingSettings
from kgqa.settings.small_files import read_small
from kgqa.training.questions import Questions
from kgqa.training.reader import Prediction
from kgqa.training.task import FAULT, ID, TOKENS, Batch, Task

OTHERS = 15
"""Negative answers, from other questions, for a question without candidates."""
MOST_ANSWERS = 50_000
AT_ONCE = 512
SHARPNESS = 20.0
"""Scale of cosines before the softmax, as for sentence encoders (Reimers and Gurevych 2019)."""
ANSWERS = "answers.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The best answer to a question."""

    number: int
    """Index among the candidates, or among the known answers."""
    probability: float


class RankingTask:
    """One encoder for questions and answers."""

    def __init__(self, encoder: Encoder, settings: RankingSettings, answers: Sequence[str]) -> None:
        """``answers``: the distinct answers of the training questions."""
        self._encoder, self._settings, self._answers = encoder, settings, list(answers)
        self._longest = min(settings.question_tokens, encoder.longest)
        self.network: torch.nn.Module = nn.ModuleDict({ENCODER: encoder.network})
        self._vectors: torch.Tensor | None = None
        self._lock = Lock()
        self.network.register_load_state_dict_post_hook(self._forget)  # type: ignore[no-untyped-call]
        self.encoding = key_of("ranking", 2, encoder.tokenizer.backend_tokenizer.to_str(), self._longest, key_of(self._answers))

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """Concatenated texts: the question, then its choices."""
        choices = [self._choices(instance) for instance in instances]
        texts = [
            text
            for instance, (texts_of_question, _) in zip(instances, choices, strict=True)
            for text in (instance.question, *texts_of_question)
        ]
        token_ids = self._tokenise(texts)
        rows, first = [], 0
        for instance, (texts_of_question, gold) in zip(instances, choices, strict=True):
            ids = token_ids[first : first + 1 + len(texts_of_question)]
            first += len(ids)
            rows.append((instance.id, ids, gold))
        faults = [None if gold >= 0 else without_right(instance) for instance, (_, gold) in zip(instances, choices, strict=True)]
        lengths = [[len(text) for text in ids] for _, ids, _ in rows]
        columns = {
            ID: pa.array([name for name, _, _ in rows], pa.string()),
            TOKENS: pa.array([len(lengths_of_row) * max(lengths_of_row) for lengths_of_row in lengths], pa.int32()),  # as they are padded
            FAULT: pa.array(faults, pa.string()),
            "right": pa.array([gold for _, _, gold in rows], pa.int32()),
            "choices": pa.array([len(instance.candidates or ()) for instance in instances], pa.int32()),
            "lengths": ragged(lengths),
            "ids": ragged([np.concatenate([np.zeros(0, np.int32), *ids]) for _, ids, _ in rows]),
        }
        return pa.RecordBatch.from_pydict(columns)

    def _tokenise(self, texts: Sequence[str]) -> list[Any]:
        if not texts:
            return []
        encoding = self._encoder.tokenizer(list(texts), truncation=True, max_length=self._longest, return_attention_mask=False)
        # A tokenizer without special tokens has none for an empty text.
        return [np.array(ids or [self._encoder.tokenizer.eos_token_id], np.int32) for ids in encoding["input_ids"]]

    def _choices(self, instance: Instance) -> tuple[list[str], int]:
        """The candidates, or the answer and random other answers; and the index of the right one, -1 for none."""
        if instance.candidates:
            gold = right_candidate(instance)
            return [candidate.text for candidate in instance.candidates], gold
        if not instance.answers:
            return [], -1
        rng = np.random.default_rng(int(key_of(instance.id)[:15], 16))
        other_answers = rng.permutation(len(self._answers))[:OTHERS].tolist()
        own_answers = set(instance.answers)
        return [instance.answers[0], *(self._answers[place] for place in other_answers if self._answers[place] not in own_answers)], 0

    def collate(self, table: pa.Table) -> Batch:
        """The texts of all examples, the question of each before its choices.

        ``ids`` (texts × tokens), 0 where there is none; ``lengths`` (texts); ``question`` (examples) and ``choice`` (choices), their
        numbers among the texts; ``example`` (choices); ``texts``, ``right``, ``choices`` (examples).
        """
        lengths = table.column("lengths").combine_chunks()
        texts = torch.from_numpy(np.diff(lengths.offsets.to_numpy()).astype(np.int64))
        sizes = torch.from_numpy(lengths.flatten().to_numpy().astype(np.int64))
        ids = torch.from_numpy(table.column("ids").combine_chunks().flatten().to_numpy().astype(np.int64))
        question = torch.cumsum(texts, 0) - texts
        is_choice = torch.ones(len(sizes), dtype=torch.bool)
        is_choice[question] = False
        return {
            "ids": nn.utils.rnn.pad_sequence(list(torch.split(ids, sizes.tolist())), batch_first=True),
            "lengths": sizes,
            "question": question,
            "choice": torch.nonzero(is_choice).squeeze(1),
            "example": torch.repeat_interleave(torch.arange(len(texts)), texts - 1),
            "texts": texts,
            "right": torch.from_numpy(table.column("right").to_numpy().astype(np.int64)),
            "choices": torch.from_numpy(table.column("choices").to_numpy().astype(np.int64)),
        }

    def _scores(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Score and example of each choice (choices), and the vectors of the questions (examples, width)."""
        vectors = self._embed(batch["ids"], batch["lengths"])
        example, questions = batch["example"], vectors[batch["question"]]
        return SHARPNESS * (vectors[batch["choice"]] * questions[example]).sum(1), example, questions

    def _embed(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """A unit vector per text (texts, width), float32, from its padded tokens (texts, tokens)."""
        is_token = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        states = self._encoder.network(input_ids=ids, attention_mask=is_token.long()).last_hidden_state.float()
        return nn.functional.normalize((states * is_token[..., None]).sum(1) / lengths[:, None], dim=1)

    def losses(self, batch: Batch) -> torch.Tensor:
        """The negative log-probability of the right choice."""
        self._vectors = None
        scores, example, _ = self._scores(batch)
        count = len(batch["texts"])
        choices = batch["texts"] - 1
        gold = torch.cumsum(choices, 0) - choices + batch["right"].clamp_min(0)
        return segment_logsumexp(scores, example, count) - scores[gold]

    def read(self, batch: Batch) -> list[Choice]:
        """The best candidate, or the best of all known answers."""
        scores, example, questions = self._scores(batch)
        count = len(batch["texts"])
        best = segment_best(scores, example, count).clamp_max(max(0, len(scores) - 1))
        normaliser = segment_logsumexp(scores, example, count)
        share_of_candidate = (scores[best] - normaliser).exp() if len(scores) else torch.zeros(count)
        share, number = self._best_known(questions)
        first = torch.cumsum(batch["texts"] - 1, 0) - (batch["texts"] - 1)
        has_candidates = batch["choices"] > 0
        numbers, shares = (
            torch.where(has_candidates, best - first, number).tolist(),
            torch.where(has_candidates, share_of_candidate.to(share.device), share).tolist(),
        )
        return [Choice(number=index, probability=share) for index, share in zip(numbers, shares, strict=True)]

    def _best_known(self, questions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """For each question the probability and index of the best known answer; in parts, as there are many answers."""
        if not self._answers:
            return questions.new_zeros(len(questions)), torch.zeros(len(questions), dtype=torch.int64, device=questions.device)
        answer_vectors = self._answer_vectors().T
        # In bfloat16 thousands of answers would have the same few scores.
        with torch.autocast(questions.device.type, enabled=False):
            parts = [(SHARPNESS * questions_ @ answer_vectors).softmax(1).max(1) for questions_ in torch.split(questions, AT_ONCE)]
        return torch.cat([share for share, _ in parts]), torch.cat([number for _, number in parts])

    def _forget(self, *_: object) -> None:
        """Drop the answers' vectors, because the weights have changed."""
        self._vectors = None

    def _answer_vectors(self) -> torch.Tensor:
        """The vectors of all known answers with the present weights, computed by the first thread that needs them."""
        with self._lock:
            if self._vectors is None:
                device = next(self.network.parameters()).device
                parts = []
                for first in range(0, len(self._answers), AT_ONCE):
                    token_ids = [torch.from_numpy(ids.astype(np.int64)) for ids in self._tokenise(self._answers[first : first + AT_ONCE])]
                    lengths = torch.tensor([len(ids) for ids in token_ids], device=device)
                    parts.append(self._embed(nn.utils.rnn.pad_sequence(token_ids, batch_first=True).to(device), lengths))
                self._vectors = torch.cat(parts)
        return self._vectors

    def answer(self, instance: Instance, reading: Choice) -> Prediction:
        """The answer in the spelling of the candidate, or of the training question."""
        if instance.candidates:
            best = instance.candidates[reading.number]
            return Prediction(id=instance.id, answer=best.text, candidate=best.id, confidence=reading.probability)
        text = self._answers[reading.number] if self._answers else ""
        return Prediction(id=instance.id, answer=text, confidence=reading.probability)

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """:func:`answer_score`; sufficiency does not count, as there is no context."""
        return answer_score(instance, replace(prediction, answerable=True))


class RankingReader(NeuralReader):
    """Keeps the training answers."""

    settings: RankingSettings

    def new_task(self, train: Questions) -> Task:
        """The task on the pretrained encoder, with the answers of ``train`` by falling frequency."""
        return self._make_task(pretrained(self.settings), _by_frequency(train)[:MOST_ANSWERS])

    def task_from(self, folder: Path, state: Mapping[str, Any], train: Questions) -> Task:
        """The task with the answers of ``train``, followed by those of the saved reader."""
        answers = list(dict.fromkeys([*_by_frequency(train), *_saved_answers(folder)]))
        return self._make_task(saved_encoder(folder / ENCODER), answers[:MOST_ANSWERS])

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The task with the saved answers."""
        return self._make_task(saved_encoder(folder / ENCODER), _saved_answers(folder))

    def _make_task(self, encoder: Encoder, answers: Sequence[str]) -> Task:
        self._encoder, self._answers = encoder, answers
        return RankingTask(encoder, self.settings, answers)

    def save_beside(self, folder: Path) -> None:
        """Write the encoder's configuration and tokenizer, and the answers."""
        self._encoder.save(folder / ENCODER)
        with storage_errors(folder):
            (folder / ANSWERS).write_text(json.dumps(self._answers, ensure_ascii=False), "utf-8")


def _by_frequency(train: Questions) -> list[str]:
    """The answers of questions without candidates, by falling frequency."""
    counts = Counter(instance.answers[0] for instance in train if instance.answers and not instance.candidates)
    return sorted(counts, key=lambda text: (-counts[text], text))


def _saved_answers(folder: Path) -> list[str]:
    """The answers of a saved reader. Raises MissingInput, BrokenInput."""
    path = folder / ANSWERS
    if not path.is_file():
        raise MissingInput(f"{path}: the answers that this reader learned are missing; train it again.")
    try:
        with storage_errors(path):
            answers = json.loads(read_small(path))
    except (ValueError, RecursionError):
        answers = None
    if not isinstance(answers, list) or not all(isinstance(text, str) for text in answers):
        raise BrokenInput(f"{path}: this is not a list of answers; train the reader again.")
    return answers

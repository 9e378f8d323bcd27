"""A pretrained encoder's second opinion on what texts state (the setting ``qangaroo.paths.encoder``).

The log-linear model (:mod:`kgqa.statements.model`) knows only the words of the training texts. An encoder also knows what words mean.
It reads the names of the two entities and of the relation, and then the sentence in which both mentions are marked (Baldini Soares et al.
2019). It is fine-tuned as a binary classifier on the statements about training subjects, with the facts as labels. There are two networks:
each learns from one half of the documents, and scores the other half, so that no network scores a text that it learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import expit

from kgqa.arrays.rows import IntArray, Rows
from kgqa.arrays.sentences import sentence_starts
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.statements.calibration import NEWTON, Calibration
from kgqa.statements.contexts import MENTIONS

FUNCTION = 0.5
"""Minimum functionality of a relation whose statements are asked about if they are no facts: others are never read from texts."""
FOLDS = 2
EXAMPLES = 20_000
"""Maximum number of examples per network."""
LENGTH = 96
"""Maximum number of tokens that the encoder reads of a statement; that of the encoder, if it is less."""
BATCH, SCORED = 32, 64
"""Number of statements per training step, and per step of scoring."""
POOL = 40
"""Number of batches whose examples are sorted by length together."""
CHUNK = 1 << 13
"""Number of statements whose texts are in memory at once."""
RATE, HEAD_RATE, WARM_UP = 6e-5, 1e-3, 0.06
"""Learning rates of the network and of the classifier on top, and the share of steps over which they rise; then they fall to zero."""
BEFORE, AFTER, OPENING = 160, 120, 140
"""Characters before the first mention, after the second one, and of the document's first sentence that the encoder reads, at most."""
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Statements to be judged, one entry each."""

    document: IntArray
    before: IntArray
    after: IntArray
    role: IntArray

    def __len__(self) -> int:
        """The number of statements."""
        return len(self.document)

    def take(self, rows: npt.NDArray[np.integer]) -> Asked:
        """The statements at ``rows``."""
        return Asked(document=self.document[rows], before=self.before[rows], after=self.after[rows], role=self.role[rows])


class Wording:
    """Writes statements as the two texts that the encoder reads."""

    def __init__(self, tables: Mapping[str, pa.Table], mentions: Places, subjects: IntArray) -> None:
        """``tables``: ``entities, relations, documents``. ``subjects``: the entity that each document is about, or -1."""
        self._texts, self._mentions, self._subjects = tables["documents"]["text"], mentions, subjects
        self._sentences: Rows = sentence_starts(self._texts)
        self._entities, self._relations = tables["entities"]["label"].combine_chunks(), tables["relations"]["label"].to_pylist()

    def of(self, asked: Asked) -> tuple[list[str], list[str]]:
        """For each statement the names in the order of the relation, and the sentence with marked mentions after the document's opening.

        The sentence is the first one that names both entities. If there is none, the document is about the first entity, and the sentence
        is the first one that names the second entity.
        """
        first, second = (self._entities.take(pa.array(column)).to_pylist() for column in (asked.before, asked.after))
        names, texts, text, document = [], [], "", -1
        for row, (number, x, z, role) in enumerate(
            zip(*(column.tolist() for column in (asked.document, asked.before, asked.after, asked.role)), strict=True)
        ):
            if number != document:
                text, document = self._texts[number].as_py(), number
            ends = (first[row], second[row]) if role % 2 == 0 else (second[row], first[row])
            names.append(f"{ends[0]} ; {self._relations[role // 2]} ; {ends[1]}")
            texts.append(self._text(text, number, x, z, is_inverse=role % 2 == 1))
        return names, texts

    def _text(self, text: str, document: int, x: int, z: int, *, is_inverse: bool) -> str:
        rows = slice(*self._mentions.offsets[document : document + 2])
        entity, start, end = self._mentions.entity[rows], self._mentions.start[rows], self._mentions.end[rows]
        starts = self._sentences.targets[slice(*self._sentences.offsets[document : document + 2])]
        sentence = np.searchsorted(starts, start, side="right") - 1
        of_first = np.flatnonzero(entity == x)
        places = []
        for second in np.flatnonzero(entity == z)[:MENTIONS]:
            beside = of_first[sentence[of_first] == sentence[second]]
            if len(beside):
                places.append((second, beside[np.argmin(np.abs(start[beside] - start[second]))]))
            elif self._subjects[document] == x:
                places.append((second, None))
        # The first sentence with both mentions; every statement has at least one place, as the text model reads contexts by the same rule.
        second, first = min(places, key=lambda place: place[1] is None)
        marks = ("#", "*") if is_inverse else ("*", "#")  # the head's and the tail's
        shown = sorted((int(start[m]), int(end[m]), mark) for m, mark in zip((first, second), marks, strict=True) if m is not None)
        begin = int(starts[sentence[second]])
        stop = int(starts[sentence[second] + 1]) if sentence[second] + 1 < len(starts) else len(text)
        at = left = max(begin, shown[0][0] - BEFORE)
        parts = []
        for mention_start, mention_end, mark in shown:
            parts.append(f"{text[at:mention_start]} {mark} {text[mention_start:mention_end]} {mark} ")
            at = mention_end
        parts.append(text[at : min(stop, at + AFTER)])
        if left:
            parts.insert(0, f"{text[: min(int(starts[1]) if len(starts) > 1 else len(text), OPENING)]} | ")
        return " ".join("".join(parts).split())


def second_opinion(
    name: str, wording: Wording, statements: Asked, labels: npt.NDArray[np.bool_], *, is_example: npt.NDArray[np.bool_],
    is_asked: npt.NDArray[np.bool_], seed: int, advance: Callable[[int], None],
) -> FloatArray:  # fmt: skip
    """The log-odds of each statement in ``is_asked``, in order, by a network that did not learn from its document.

    O(examples + asked) steps of the encoder on one core, in single precision: the result does not depend on the number of cores. Memory: a
    network with its gradients and moments, and the texts of ``EXAMPLES`` or ``CHUNK`` statements.
    """
    import torch

    # By the row of the document, so that the statements of a document, in both directions, are in one fold.
    fold = np.random.default_rng([seed, FOLDS]).integers(FOLDS, size=1 + max(statements.document, default=0))[statements.document]
    asked = np.flatnonzero(is_asked)
    out, threads = np.zeros(len(statements)), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for number in range(FOLDS):
            rng = np.random.default_rng([seed, FOLDS, number])
            examples = rng.permutation(np.flatnonzero(is_example & (fold != number)))[:EXAMPLES]
            classifier = _Classifier(name)
            classifier.fit(*wording.of(statements.take(examples)), labels[examples], rng)
            rows = asked[fold[asked] == number]
            for first in range(0, len(rows), CHUNK):
                part = rows[first : first + CHUNK]
                out[part] = classifier.scores(*wording.of(statements.take(part)))
            advance(1)
    finally:
        torch.set_num_threads(threads)
    return out[asked]


def weighed(opinions: FloatArray, labels: npt.NDArray[np.bool_], *, is_fitted: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Calibrated probabilities from several log-odds of each statement (one per column).

    A logistic regression weighs the columns, and isotonic regression calibrates the sum; both are fitted on the rows in ``is_fitted``.
    """
    inputs = np.column_stack([np.ones(len(opinions)), opinions])
    weights = np.zeros(inputs.shape[1])
    fitted, true = inputs[is_fitted], labels[is_fitted]
    for _ in range(NEWTON):
        chance = expit(fitted @ weights)
        hessian = (fitted.T * (chance * (1 - chance))) @ fitted + 1e-3 * np.eye(len(weights))
        weights -= np.linalg.solve(hessian, fitted.T @ (chance - true) + 1e-3 * weights)
    scores = inputs @ weights
    return Calibration.fitted(scores[is_fitted], true).of(scores)


class _Classifier:
    """An encoder with one linear layer over its first token and the mean of its tokens."""

    def __init__(self, name: str) -> None:
        """``name``: of the encoder, see :func:`kgqa.readers.transformer.encoder.load_encoder`. Raises MissingInput, BrokenInput."""
        import torch

        from kgqa.readers.transformer.encoder import load_encoder

        self._encoder = load_encoder(name)
        self._length = min(LENGTH, self._encoder.longest)
        self._head = torch.nn.Linear(2 * self._encoder.width, 1)
        torch.nn.init.zeros_(self._head.weight)
        torch.nn.init.zeros_(self._head.bias)
        # No dropout: one pass over the examples does not overfit, and torch's random state stays as it is.
        self._encoder.network.eval()

    def fit(self, names: list[str], texts: list[str], labels: npt.NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Fine-tune on one pass over the examples."""
        import torch

        pieces = self._pieces(names, texts)
        targets = torch.from_numpy(labels.astype(np.float32))
        batches = list(_batches(pieces, rng))
        groups = [{"params": self._encoder.network.parameters(), "lr": RATE}, {"params": self._head.parameters(), "lr": HEAD_RATE}]
        optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        rise = max(1, int(WARM_UP * len(batches)))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min((step + 1) / rise, (len(batches) - step) / max(1, len(batches) - rise))
        )
        for batch in batches:
            logits = self._logits([pieces[row] for row in batch])
            loss: Any = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets[torch.from_numpy(batch)])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._encoder.network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()

    def scores(self, names: list[str], texts: list[str]) -> FloatArray:
        """The log-odds of statements."""
        import torch

        pieces = self._pieces(names, texts)
        order, out = _by_length(pieces), np.zeros(len(pieces))
        with torch.inference_mode():
            for first in range(0, len(order), SCORED):
                rows = order[first : first + SCORED]
                out[rows] = self._logits([pieces[row] for row in rows]).double().numpy()
        return out

    def _pieces(self, names: list[str], texts: list[str]) -> list[Any]:
        """The tokens of each pair of texts."""
        encoded = self._encoder.tokenizer(names, texts, truncation=True, max_length=self._length)
        return list(encoded.encodings)

    def _logits(self, pieces: list[Any]) -> Any:
        import torch

        longest = max(len(piece.ids) for piece in pieces)
        inputs = torch.zeros((3, len(pieces), longest), dtype=torch.long)
        inputs[0] += self._encoder.tokenizer.pad_token_id or 0
        for row, piece in enumerate(pieces):
            for part, values in enumerate((piece.ids, piece.attention_mask, piece.type_ids)):
                inputs[part, row, : len(values)] = torch.tensor(values)
        ids, mask, types = inputs
        typed = {"token_type_ids": types} if "token_type_ids" in self._encoder.tokenizer.model_input_names else {}
        states = self._encoder.network(input_ids=ids, attention_mask=mask, **typed).last_hidden_state
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self._head(torch.cat([states[:, 0], mean], -1))[:, 0]


def _by_length(pieces: list[Any]) -> npt.NDArray[np.intp]:
    return np.argsort([len(piece.ids) for piece in pieces], kind="stable")


def _batches(pieces: list[Any], rng: np.random.Generator) -> Iterator[npt.NDArray[np.intp]]:
    """The rows of each training step: examples of about one length, in random order."""
    order = rng.permutation(len(pieces))
    for first in range(0, len(order), BATCH * POOL):
        pool = order[first : first + BATCH * POOL]
        pool = pool[_by_length([pieces[row] for row in pool])]
        batches = [pool[at : at + BATCH] for at in range(0, len(pool), BATCH)]
        for number in rng.permutation(len(batches)):
            yield batches[number]

"""The link selector: which links of a passage lead to what a question needs (Ferguson et al. 2020, section 3.2.1).

The encoder reads question and passage. A linear layer scores each link by the vectors of its first and its last token; an article to which
several links lead has the score of the best one. A link is selected if its probability exceeds a threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from kgqa.readers.linked_articles import link_question, link_targets, needed_links, title_key
from kgqa.readers.neural import NeuralReader
from kgqa.readers.transformer import examples
from kgqa.readers.transformer.batch import ReadingBatch
from kgqa.readers.transformer.encoder import ENCODER, Encoder, saved_encoder
from kgqa.readers.transformer.examples import UNKNOWN, Targets, ragged, ragged_values
from kgqa.readers.transformer.network import SingleLinear, SpanNetwork
from kgqa.readers.transformer.reading import ReadingTask, Supervision
from kgqa.readers.transformer.resizing import pretrained
from kgqa.readers.transformer.segments import LEAST, segment_max, segment_mean
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.reader import EncoderSettings, LinkSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction
from kgqa.training.task import FAULT, Batch, Task

VERSION = 1
"""Version of the encoding."""
LABELS = "link_labels"
"""Column with a label for each article that the passage links to: 1 needed, 0 not, ``UNKNOWN``."""
NO_LINKS = "its passage has no links"
NOT_LINKED = "no link of its passage leads to what it needs"
NOT_KNOWN = "nothing says which links it needs"
THRESHOLD = 0.5
"""The paper's, for want of dev questions."""
THRESHOLDS = tuple(step / 20 for step in range(1, 20))


class LinkNetwork(SpanNetwork):
    """The reading network with one more head."""

    def __init__(self, encoder: Encoder) -> None:
        """The heads are initialised at random."""
        super().__init__(encoder)
        self.link = SingleLinear(2 * encoder.width, 1)
        nn.init.normal_(self.link.weight, std=0.02)
        nn.init.zeros_(self.link.bias)


class LinkTask(ReadingTask):
    """One encoder that scores links."""

    def __init__(self, encoder: Encoder, settings: LinkSettings) -> None:
        """The network's heads are initialised from torch's random state."""
        reading = EncoderSettings(**settings.model_dump(exclude={"threshold"}))
        supervision = Supervision(options=False, support=False, sentences=False, sufficiency=False)
        super().__init__(encoder, reading, supervision, Targets(answer=False))
        self.network = self._links = LinkNetwork(encoder)
        self.threshold = settings.threshold or THRESHOLD
        self.encoding = key_of("links", VERSION, self.encoding)

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """The passages with their links as rows of token ids; see ``examples.encode``."""
        batch = examples.encode([link_question(instance) for instance in instances], self._cutter, self._targets)
        targets = [list(link_targets(instance)) for instance in instances]
        gold_links = [needed_links(instance) for instance in instances]
        # A question without links has one owner that no span names.
        labels = [_labels(keys, keys_needed) or [UNKNOWN] for keys, keys_needed in zip(targets, gold_links, strict=True)]
        faults = [_fault(keys, keys_needed) for keys, keys_needed in zip(targets, gold_links, strict=True)]
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        columns |= {FAULT: pa.array(faults, pa.string()), LABELS: ragged(labels)}
        return pa.RecordBatch.from_pydict(columns)

    def collate(self, table: pa.Table) -> Batch:
        """The fields of a :class:`ReadingBatch`, and the labels of all owners."""
        return {**super().collate(table), LABELS: torch.from_numpy(ragged_values(table, LABELS)[0])}

    def losses(self, tensors: Batch) -> torch.Tensor:
        """The mean cross-entropy of a question's links, in nats (B)."""
        logits, example, count = self._logits(tensors)
        labels = tensors[LABELS]
        is_known = (labels != UNKNOWN) & (logits > LEAST / 2)
        losses = binary_cross_entropy_with_logits(logits, labels.clamp_min(0).float(), reduction="none")
        return segment_mean(losses, example, count, among=is_known)

    def _logits(self, tensors: Batch) -> tuple[torch.Tensor, torch.Tensor, int]:
        """Logit (O), :data:`LEAST` if no window has a whole link, and question of each article; and the number of questions."""
        batch = ReadingBatch(**{name: tensor for name, tensor in tensors.items() if name != LABELS})
        hidden = self._links.hidden(batch)
        ends = torch.cat([hidden[batch.span_first], hidden[batch.span_last]], 1)
        logits = self._links.link(ends).squeeze(1)
        by_owner = segment_max(logits, batch.owner_base[batch.span_example] + batch.span_owner, len(batch.owner_example))
        return by_owner, batch.owner_example, batch.count

    def read(self, tensors: Batch) -> list[Any]:
        """The probability of each article."""
        logits, _, _ = self._logits(tensors)
        return [part.tolist() for part in torch.split(logits.sigmoid(), tensors["owners"].tolist())]

    def answer(self, instance: Instance, reading: Any) -> Prediction:
        """``reading``: the probability of each article. The selected links are ``supporting``: the titles of their articles."""
        titles = list(link_targets(instance).values())
        return Prediction(
            id=instance.id,
            answer="",
            supporting=tuple(compress(titles, [probability > self.threshold for probability in reading])),
            paragraph_scores=tuple(zip(titles, reading, strict=False)),
        )

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """R-precision, which needs no threshold: the share of needed links among as many top-ranked ones; NaN if none is needed."""
        gold = (needed_links(instance) or frozenset()) & link_targets(instance).keys()
        top_links = sorted(prediction.paragraph_scores, key=lambda entry: -entry[1])[: len(gold)]
        return sum(title_key(title) in gold for title, _ in top_links) / len(gold) if gold else np.nan


def _labels(keys: Sequence[str], gold_links: frozenset[str] | None) -> list[int]:
    return [UNKNOWN if gold_links is None else int(key in gold_links) for key in keys]


def _fault(keys: Sequence[str], gold_links: frozenset[str] | None) -> str | None:
    if not keys:
        return NO_LINKS
    if gold_links is None:
        return NOT_KNOWN
    return NOT_LINKED if gold_links and gold_links.isdisjoint(keys) else None


class LinkSelector(NeuralReader):
    """Selects links. A Prediction's ``paragraph_scores`` are the probabilities of all links, ``supporting`` the selected ones."""

    settings: LinkSettings

    def __init__(self, name: str, settings: LinkSettings, training: TrainingSettings) -> None:
        """Of ``training``, prediction uses device and precision only."""
        super().__init__(name, settings, training)
        self._encoder: Encoder | None = None
        self._links: LinkTask | None = None

    def new_task(self, train: Questions) -> Task:
        """The task on the pretrained encoder."""
        return self._make_task(pretrained(self.settings))

    def saved_task(self, folder: Path, state: Mapping[str, Any]) -> Task:
        """The task on an encoder of the saved configuration."""
        task = self._make_task(saved_encoder(folder / ENCODER))
        task.threshold = float(state["threshold"])
        return task

    def _make_task(self, encoder: Encoder) -> LinkTask:
        self._encoder, self._links = encoder, LinkTask(encoder, self.settings)
        return self._links

    def state(self) -> Mapping[str, Any]:
        """The threshold that was chosen on dev, which is saved with the reader."""
        assert self._links is not None
        return {"threshold": self._links.threshold}

    def save_beside(self, folder: Path) -> None:
        """Write the encoder's configuration and tokenizer."""
        assert self._encoder is not None
        self._encoder.save(folder / ENCODER)

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Train the network, then choose the threshold on dev if the settings have none."""
        super().fit(train, dev, fitting)
        assert self._links is not None
        if self.settings.threshold is None and dev is not None:
            self._links.threshold = best_threshold(dev, list(self.predict(dev, fitting.progress)))


def best_threshold(questions: Questions, predictions: Sequence[Prediction]) -> float:
    """The one of :data:`THRESHOLDS` with the highest mean F1 of a question's links, the one next to 0.5 in a tie; 0.5 if no question
    says which links it needs.

    A question that needs none and gets none scores 1.
    """
    scores = np.zeros(len(THRESHOLDS))
    thresholds = np.array(THRESHOLDS)[:, None]
    is_known = False
    for instance, prediction in zip(questions, predictions, strict=True):
        gold_links = needed_links(instance)
        if gold_links is None:
            continue
        is_known = True
        is_selected = np.array([probability for _, probability in prediction.paragraph_scores])[None, :] > thresholds
        is_needed = np.array([title_key(title) in gold_links for title, _ in prediction.paragraph_scores], np.bool_)
        true_positives = (is_selected & is_needed).sum(1)
        total = is_selected.sum(1) + len(gold_links)
        scores += np.where(total > 0, 2 * true_positives / np.maximum(total, 1), 1.0)
    best = [threshold for threshold, score in zip(THRESHOLDS, scores, strict=True) if score == scores.max()]
    return min(best, key=lambda threshold: abs(threshold - THRESHOLD)) if is_known else THRESHOLD

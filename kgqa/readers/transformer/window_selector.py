"""The window selector: ranks overlapping windows of articles for a question (Ferguson et al. 2020, section 3.2.2).

Every window is read with the question; a window that contains all of an article's evidence is a positive example, every other one a
negative. The next window begins a quarter of a window later, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from kgqa.errors import storage_errors
from kgqa.progress import Progress
from kgqa.readers import saved
from kgqa.readers.linked_articles import articles_of, evidence_places, part_of, whole_of
from kgqa.readers.transformer.encoder import ENCODER, is_trained, load_tokenizer, place_of
from kgqa.readers.transformer.end_to_end import SpanReader
from kgqa.readers.transformer.examples import Targets
from kgqa.readers.transformer.windows import title_prefix
from kgqa.records import Instance, Paragraph
from kgqa.runs.files import key_of
from kgqa.settings.reader import ArticleSettings, EncoderSettings, RankingSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.loop import FitResult
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Prediction

RANKER = "ranker"
"""Subfolder of the saved reader with its network."""
SPECIAL = 8
"""Tokens of a window besides question, title and text, at most: special ones, yes and no."""
LEAST = 8
"""Minimum tokens of text in a window, however long question and title are."""
KEPT = 4096
"""Texts whose tokens stay in memory: an article is shown in several questions."""
Span = tuple[int, int]


def window_spans(ends: list[Span], size: int, step: int, most: int) -> list[Span]:
    """Start and end, in characters, of windows of ``size`` tokens, each beginning ``step`` tokens after the last; at most ``most``.

    ``ends``: start and end of each token. The last window ends with the text, and no window lies within another.

    >>> window_spans([(0, 2), (3, 5), (6, 8), (9, 11)], 2, 1, 9)
    [(0, 5), (3, 8), (6, 11)]
    """
    last = max(0, len(ends) - size)
    firsts = [*range(0, last, step), last][:most] if ends else []
    return [(ends[first][0], ends[min(first + size, len(ends)) - 1][1]) for first in firsts]


class ArticleWindows:
    """A view that shows a question's articles as windows, each a paragraph; the passage is left out."""

    def __init__(self, tokenizer: Any, settings: ArticleSettings, longest: int) -> None:
        """``longest``: tokens of a window, with question and title."""
        self._tokenizer, self._settings, self._longest = tokenizer, settings, longest
        self._spans = lru_cache(KEPT)(self._token_spans)

    def _token_spans(self, text: str) -> list[Span]:
        encoding = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [(start, end) for start, end in encoding["offset_mapping"]]

    def __call__(self, instance: Instance) -> Instance:
        """The question with the windows of its articles, and with which of them hold evidence, if that is known."""
        windows = tuple(window for article in articles_of(instance) for window in self._windows(instance, article))
        return replace(instance, paragraphs=windows, candidates=None, chains=None, grades=None)

    def _windows(self, instance: Instance, article: Paragraph) -> Iterator[Paragraph]:
        question = min(len(self._spans(instance.question)), self._settings.question_tokens, self._longest // 3)
        title = min(len(self._spans(title_prefix(article.title))), self._settings.question_tokens) if article.title else 0
        size = max(LEAST, self._longest - question - title - SPECIAL)
        step = max(1, round(size * self._settings.step))
        spans = window_spans(self._spans(article.text), size, step, self._settings.article_windows)
        overlaps = [_overlap(span, evidence_places(instance, article)) for span in spans]
        for (start, end), overlap in zip(spans, overlaps, strict=True):
            # If the evidence is longer than a window, the one with the most of it is right.
            holds = None if article.supporting is None else overlap > 0 and overlap == max(overlaps)
            yield part_of(article, start, end, supporting=holds)


def _overlap(span: Span, places: list[Span]) -> int:
    return sum(max(0, min(span[1], end) - max(span[0], start)) for start, end in places)


class WindowSelector:
    """Ranks windows. A Prediction's ``paragraph_scores`` have the best window's probability of each article."""

    def __init__(self, name: str, settings: ArticleSettings, training: TrainingSettings) -> None:
        """Of ``training``, prediction uses device and precision only."""
        self.name, self.settings, self._training = name, settings, training
        self._make_ranker()

    def _make_ranker(self) -> None:
        shared = {name: getattr(self.settings, name) for name in RankingSettings.model_fields}
        reading = EncoderSettings(**shared, max_length=self.settings.window)
        self._ranker = SpanReader(f"{self.name}-{RANKER}", reading, self._training, targets=Targets(answer=False))
        self._view: ArticleWindows | None = None

    @property
    def fitted(self) -> FitResult | None:
        """The result of the fit."""
        return self._ranker.fitted

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Train on the windows of the articles that the questions show."""
        place = Path(place_of(self.settings.encoder))
        self._load_view(str(place / ENCODER if is_trained(place) else place))
        ranking = replace(fitting, start=None if fitting.start is None else fitting.start / RANKER)
        self._ranker.fit(self._windows(train), None if dev is None else self._windows(dev), ranking)

    def _load_view(self, place: str) -> None:
        tokenizer = load_tokenizer(place, self.settings.encoder)
        self._view = ArticleWindows(tokenizer, self.settings, min(self.settings.window, int(tokenizer.model_max_length)))

    def _windows(self, questions: Questions) -> Questions:
        assert self._view is not None, "fit or load comes first"
        return questions.shown(self._view, key_of("article windows", self.settings.model_dump(mode="json")))

    def ranked(self, questions: Questions, progress: Progress) -> Iterator[list[tuple[str, float]]]:
        """For each question, in order, the ids of its articles' windows (``linked_articles.part_of``) with their probabilities, the best
        first, earlier ones first in a tie.
        """
        for prediction in self._ranker.predict(self._windows(questions), progress):
            yield sorted(prediction.paragraph_scores, key=lambda entry: -entry[1])

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in their order."""
        for instance, windows in zip(questions, self.ranked(questions, progress), strict=True):
            best: dict[str, float] = {}
            for window, probability in windows:
                best.setdefault(whole_of(window), probability)
            scores = tuple((article.id, best[article.id]) for article in articles_of(instance) if article.id in best)
            supporting = tuple(name for name, probability in scores if probability > 0.5)
            yield Prediction(id=instance.id, answer="", supporting=supporting, paragraph_scores=scores)

    def save(self, folder: Path) -> None:
        """Write the settings, and the network to a folder of its own."""
        with storage_errors(folder):
            (folder / RANKER).mkdir()
        self._ranker.save(folder / RANKER)
        saved.write(folder, self.name, settings=self.settings.model_dump(mode="json"))

    def load(self, folder: Path) -> None:
        """Load what :meth:`save` wrote. Raises InputError."""
        description: Mapping[str, Any] = saved.read(folder, self.name)
        with saved.described(folder):
            self.settings = ArticleSettings.model_validate(description["settings"])
        self._make_ranker()
        self._ranker.load(folder / RANKER)
        self._load_view(str(folder / RANKER / ENCODER))

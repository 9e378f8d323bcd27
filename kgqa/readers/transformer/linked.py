"""IIRC's pipeline: links of a passage, windows of their articles, an answer from both (Ferguson et al. 2020, section 3.2).

Each stage can be replaced by the gold of the dataset, in training and prediction by the settings, and in a fitted reader by
:meth:`Linked.with_stages`. As in the paper, the answerer learns from the marked sentences where a question has any, and from what the
earlier stages select where it has none, as an unanswerable one. It is any registered reader of paragraphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kgqa.errors import MissingInput, SettingsError
from kgqa.formats.iirc import articles as context_articles
from kgqa.formats.iirc.questions import main_of
from kgqa.formats.question_set import open_dataset
from kgqa.progress import Progress
from kgqa.readers.linked_articles import (
    evidence_places,
    link_targets,
    linked_articles,
    needed_links,
    part_of,
    title_key,
    whole_of,
)
from kgqa.readers.registry import find_reader
from kgqa.readers.specification import specification
from kgqa.readers.stages import StagedReader
from kgqa.readers.transformer.link_selector import LinkSelector
from kgqa.readers.transformer.window_selector import WindowSelector
from kgqa.records import Instance, Paragraph
from kgqa.runs.files import key_of
from kgqa.settings.reader import ArticleSettings, LinkedSettings, LinkSettings, RankingSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.intermediate import Lists, kept
from kgqa.training.mixture import mixture
from kgqa.training.questions import Questions, of_split
from kgqa.training.reader import Fitting, Prediction, Reader

LINKS, WINDOWS, ANSWERER = "links", "windows", "answerer"
"""Subfolders of the saved reader with its stages."""
Keys = Callable[[Instance], frozenset[str]]
"""The keys of the articles to read for a question."""


class Linked(StagedReader):
    """Up to three networks that are fitted one after another. Raises SettingsError for an answerer that no reader is."""

    settings: LinkedSettings

    def _make_stages(self) -> None:
        settings, training = self.settings, self._training
        self._links: LinkSelector | None = None
        self._windows: WindowSelector | None = None
        if settings.links == "selected":
            own = {name: getattr(settings, name) for name in LinkSettings.model_fields}
            self._links = LinkSelector(f"{self.name}-{LINKS}", LinkSettings(**own), training)
        if settings.links != "none":
            own = {name: getattr(settings, name) for name in ArticleSettings.model_fields}
            self._windows = WindowSelector(f"{self.name}-{WINDOWS}", ArticleSettings(**own), training)
        self._answerer = _make_answerer(settings, training)

    def with_stages(
        self, *, links: Literal["selected", "gold", "none"] | None = None, context: Literal["selected", "gold"] | None = None
    ) -> Linked:
        """This reader with the same networks, but with other stages in prediction. Raises SettingsError for a stage without a network."""
        copied_reader = copy(self)
        stages = {"links": links or self.settings.links, "context": context or self.settings.context}
        copied_reader.settings = LinkedSettings.model_validate(self.settings.model_dump() | stages)
        if (copied_reader.settings.links == "selected" and self._links is None) or (
            copied_reader.settings.links != "none" and self._windows is None
        ):
            raise SettingsError(f"{self.name}: this reader was trained with links = {self.settings.links}; train it with links = selected.")
        return copied_reader

    @property
    def connects(self) -> bool | None:
        """Whether the answerer connects paragraphs; None if it does not say."""
        return getattr(self._answerer, "connects", None)

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Fit the link selector on all passages, the window selector on the needed articles, then the answerer on what is read."""
        train = self._with_others(train, fitting.seed)
        if self._links is not None:
            self._links.fit(train, dev, fitting.part(LINKS))
        if self._windows is not None:
            gold_view = partial(self._showing, keys=lambda instance: needed_links(instance) or frozenset(), name="needed")
            self._windows.fit(gold_view(train), None if dev is None else gold_view(dev), fitting.part(WINDOWS))
        find = partial(self._contexts, progress=fitting.progress)
        train_part = self._read(train, kept(fitting.place / "train.json", partial(find, train, training=True)))
        dev_part = None if dev is None else self._read(dev, kept(fitting.place / "dev.json", partial(find, dev)))
        self._answerer.fit(train_part, dev_part, fitting.part(ANSWERER))

    def _with_others(self, train: Questions, seed: int) -> Questions:
        """The training questions with those of the datasets ``beside``."""
        mixed = []
        for path, weight in self.settings.beside.items():
            source = open_dataset(path)
            split = "train" if "train" in source.files else next(iter(source.files))
            mixed.append((of_split(source, split), weight))
        return mixture(train, mixed, share=self.settings.beside_share, seed=seed) if mixed else train

    def _contexts(self, questions: Questions, *, progress: Progress, training: bool = False) -> Lists:
        """Question → ids of the parts of articles that are read (``linked_articles.part_of``), in the order of the articles."""
        if self.settings.links == "none":
            return {instance.id: [] for instance in questions}
        gold = {instance.id: _marked_parts(instance) for instance in questions} if training or self.settings.context == "gold" else {}
        is_open = np.zeros(questions.count, np.bool_)
        is_open[questions.rows()] = [not gold.get(instance.id) for instance in questions]
        selection = self._selected_windows(questions.only(is_open), progress)
        return {instance.id: gold.get(instance.id) or selection[instance.id] for instance in questions}

    def _selected_windows(self, questions: Questions, progress: Progress) -> Lists:
        """The best windows of each article to which a link leads that is needed or selected."""
        assert self._windows is not None
        if self.settings.links == "gold":
            view = self._showing(questions, keys=lambda instance: needed_links(instance) or frozenset(), name="needed")
        else:
            assert self._links is not None
            predictions = self._links.predict(questions, progress)
            keys = {prediction.id: frozenset(map(title_key, prediction.supporting)) for prediction in predictions}
            state = key_of([(name, sorted(of_question)) for name, of_question in keys.items()])
            view = self._showing(questions, keys=lambda instance: keys.get(instance.id, frozenset()), name=state)
        lists = {}
        for instance, windows in zip(questions, self._windows.ranked(view, progress), strict=True):
            of_article: dict[str, list[str]] = {}
            for window, _ in windows:
                of_article.setdefault(whole_of(window), []).append(window)
            # In the order of the articles and of their texts: the rank must not tell which is the best.
            lists[instance.id] = [
                window for article in sorted(of_article) for window in sorted(of_article[article][: self.settings.read], key=_place)
            ]
        return lists

    def _showing(self, questions: Questions, *, keys: Keys, name: str) -> Questions:
        """The questions with their passage and the articles of these ``keys`` alone."""
        texts = self._texts(questions)

        def view(instance: Instance) -> Instance:
            passage = main_of(instance)
            articles = linked_articles(instance, keys(instance), texts)
            return replace(instance, paragraphs=articles if passage is None else (passage, *articles))

        return questions.shown(view, key_of("linked articles", name, _key(texts)))

    def _read(self, questions: Questions, contexts: Mapping[str, list[str]]) -> Questions:
        """The questions as the answerer reads them."""
        texts = self._texts(questions)
        view = partial(_reading, contexts=contexts, texts=texts)
        return questions.shown(view, key_of("parts of articles", list(contexts.items()), _key(texts)))

    def _texts(self, questions: Questions) -> Mapping[str, str]:
        """Key of a title → text, of the articles in the file of the settings to which passages link; in memory. Raises InputError."""
        if self.settings.articles is None:
            return {}
        path = Path(self.settings.articles)
        if not path.is_file():
            raise MissingInput(f"articles = {path}: there is no such file; give IIRC's file of linked articles, title → text.")
        titles = {key for instance in questions for key in (*link_targets(instance), *(needed_links(instance) or ()))}
        return context_articles.read(path, titles)

    def predict(self, questions: Questions, progress: Progress) -> Iterator[Prediction]:
        """One Prediction per question, in their order; its paragraphs are those of the question.

        Memory: all networks, one at work, and the ids of what is read.
        """
        predictions = self._answerer.predict(self._read(questions, self._contexts(questions, progress=progress)), progress)
        yield from map(_with_whole_articles, predictions)

    def _stages(self) -> Iterator[tuple[str, Reader]]:
        if self._links is not None:
            yield LINKS, self._links
        if self._windows is not None:
            yield WINDOWS, self._windows
        yield ANSWERER, self._answerer


def _make_answerer(settings: LinkedSettings, training: TrainingSettings) -> Reader:
    """The reader that answers, with the encoder of the pipeline. Raises SettingsError."""
    name = settings.answerer
    kind = find_reader(name)
    if not kind.answers or kind.settings is LinkedSettings:  # a pipeline would look for links in what this one selected
        raise SettingsError(f"answerer = {name!r}: it does not answer from paragraphs; choose one that does, as ee.")
    shared: dict[str, Any] = {
        field: getattr(settings, field) for field in RankingSettings.model_fields if field in kind.settings.model_fields
    }
    request = specification(name, settings={**shared, **settings.answering}, training={})
    return kind.make(name, request.settings, training)


def _marked_parts(instance: Instance) -> list[str]:
    """The ids of what the dataset marks in the question's articles; empty if it marks nothing."""
    gold_links = needed_links(instance) or frozenset()
    return [
        part_of(article, start, end, supporting=True).id
        for article in linked_articles(instance, gold_links, {})
        for start, end in dict.fromkeys(evidence_places(instance, article))
    ]


def _place(part_id: str) -> tuple[int, int]:
    start, _, end = part_id.removeprefix(f"{whole_of(part_id)}@").partition("-")
    return int(start), int(end)


def _reading(instance: Instance, *, contexts: Mapping[str, list[str]], texts: Mapping[str, str]) -> Instance:
    """The question with its passage, and the parts of articles that are read."""
    passage = main_of(instance)
    articles = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    parts = []
    for part_id in contexts[instance.id]:
        name = whole_of(part_id)
        article = articles.get(name) or Paragraph(id=name, title=name, text=texts[title_key(name)], supporting=None)
        start, end = _place(part_id)
        places = evidence_places(instance, article)
        holds = None if article.supporting is None else any(start < last and first < end for first, last in places)
        parts.append(part_of(article, start, end, supporting=holds))
    return replace(instance, paragraphs=(*(() if passage is None else (passage,)), *parts))


def _with_whole_articles(prediction: Prediction) -> Prediction:
    """The prediction with articles in place of their parts; the best part's probability is the article's."""
    scores: dict[str, float] = {}
    for part, score in prediction.paragraph_scores:
        scores[whole_of(part)] = max(score, scores.get(whole_of(part), 0.0))
    return replace(
        prediction,
        supporting=tuple(dict.fromkeys(map(whole_of, prediction.supporting))),
        supporting_sentences=tuple(place for place in prediction.supporting_sentences if whole_of(place[0]) == place[0]),
        paragraph_scores=tuple(scores.items()),
    )


def _key(texts: Mapping[str, Any]) -> str:
    return key_of(sorted(texts.items()))

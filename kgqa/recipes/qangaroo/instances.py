"""Samples become Instances and their masked twins, column by column."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.column_draws import deal, shuffling
from kgqa.arrays.int32 import narrow
from kgqa.arrays.rows import Adjacency, Rows, row_bounds
from kgqa.formats.columns import GRADE, MENTION, OF_RECIPES, PARAGRAPH
from kgqa.formats.qangaroo import PLACEHOLDER
from kgqa.recipes.qangaroo.corpus import Places, expression_numbers, places, row_numbers
from kgqa.recipes.qangaroo.evidence import path_texts
from kgqa.recipes.qangaroo.masking import MaskedTexts, mask_texts
from kgqa.recipes.qangaroo.readable import Forms, find_forms, left_readable
from kgqa.recipes.qangaroo.samples import CANDIDATES, CHAINS, DOCUMENTS, NODES, Samples, list_array
from kgqa.rules.roles import TEXT_ROLES
from kgqa.settings.domain import DomainSettings
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.sources.tables import frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What masking did, and what the check after it found; for the card and the manifest."""

    places: int = 0
    """Places in texts and titles at which a placeholder stands for a candidate's name."""
    readable: int = 0
    """Places in the masked texts and titles at which some form of a candidate's name can still be read."""

    def __add__(self, other: Hidden) -> Hidden:
        """Both together."""
        return Hidden(places=self.places + other.places, readable=self.readable + other.readable)


class InstanceMaker:
    """Everything about a corpus that the Instances of ``samples`` show, prepared once. Memory: the texts and mentions of the corpus."""

    def __init__(self, tables: Mapping[str, pa.Table], settings: DomainSettings, *, samples: Samples, seed: int) -> None:
        """``tables`` are those of the workspace, with mentions and occurrences; the samples' candidates can be masked."""
        self._settings = settings
        self._seed = seed
        self._entities = tables["entities"]["id"].combine_chunks()
        self._labels = tables["entities"]["label"].combine_chunks()
        self._relations = tables["relations"]
        self._documents = tables["documents"].combine_chunks()
        self._mentions = places(tables["mentions"], tables)
        wanted = np.zeros(len(self._entities), np.bool_)
        wanted[samples.candidates.targets] = True
        self._answers, self._answer_row = _answers(tables, wanted), np.cumsum(wanted) - 1
        self._forms = Forms.of(tables, wanted, language=settings.linking.language)
        texts, titles, shown = tables["documents"]["text"], tables["documents"]["title"], samples.documents.targets
        self._occurrences = joined(places(tables["occurrences"], tables), find_forms(texts, self._forms, rows=shown))
        self._title_occurrences = joined(places(tables["title_occurrences"], tables), find_forms(titles, self._forms, rows=shown))
        self._title_mentions = whole_titles(tables)
        self._mention_lists = mention_lists(self._mentions, self._entities)
        self._expressions = expression_numbers(tables["entities"], settings.section(QangarooSettings).surface)

    def plain(self, samples: Samples) -> pa.Table:
        """The Instances of ``samples``."""
        samples = samples.with_candidates_by(self._expressions[samples.candidates.targets])
        documents = self._shuffled(samples)
        texts = self._documents["text"].take(pa.array(documents.targets))
        titles = self._documents["title"].take(pa.array(documents.targets))
        mentions = self._mention_lists.take(pa.array(documents.targets))
        candidates = self._labels.take(pa.array(samples.candidates.targets))
        answers = self._answers.take(pa.array(self._answer_row[samples.questions.answer]))
        return self._table(samples, documents, texts, titles, mentions, candidates, answers)

    def masked(self, samples: Samples) -> tuple[pa.Table, Hidden]:
        """Their masked twins: same ids, candidates' names replaced by placeholders, shown in the order of these; and what that hid."""
        size = self._settings.section(QangarooSettings).placeholders
        names = pa.array([f"{PLACEHOLDER}{number}___" for number in range(size)])
        text_rank = np.argsort(np.argsort(np.array(names.to_pylist()))).astype(np.int32)
        numbers = deal(samples.candidates, samples.questions.id, numbers=size, seed=self._seed)
        order = np.lexsort((text_rank[numbers], samples.question_of_candidate()))
        samples, numbers = samples.with_candidates_by(text_rank[numbers]), numbers[order]
        documents = self._shuffled(samples)
        text = mask_texts(self._documents["text"], self._occurrences, self._mentions, documents, samples.candidates, numbers)
        title = mask_texts(self._documents["title"], self._title_occurrences, self._title_mentions, documents, samples.candidates, numbers)
        hidden = self._checked(text, samples, documents) + self._checked(title, samples, documents)
        answer = names.take(pa.array(numbers[samples.is_answer()]))
        answers = pa.ListArray.from_arrays(np.arange(len(samples) + 1, dtype=np.int32), answer)
        mentions = mention_lists(text.mentions, self._entities)
        shown = names.take(pa.array(numbers))
        return self._table(samples, documents, text.texts, title.texts.cast(pa.string()), mentions, shown, answers), hidden

    def _checked(self, masked: MaskedTexts, samples: Samples, documents: Rows) -> Hidden:
        """What is hidden in the masked texts, and what can still be read there."""
        left = left_readable(masked.texts, documents.sources(), samples.candidates, self._forms)
        return Hidden(places=masked.hidden, readable=int(left.sum()))

    def _shuffled(self, samples: Samples) -> Rows:
        """The documents in the order shown: drawn by hash, so that it says nothing and never changes."""
        sample = samples.documents.sources()
        drawn = shuffling(samples.questions.id[sample], samples.documents.targets, purpose="documents shown", seed=self._seed)
        order = np.lexsort((drawn, sample))
        return Rows(offsets=samples.documents.offsets, targets=samples.documents.targets[order])

    def _table(
        self,
        samples: Samples,
        documents: Rows,
        texts: pa.Array,
        titles: pa.Array,
        mentions: pa.Array,
        candidates: pa.Array,
        answers: pa.Array,
    ) -> pa.Table:
        count = len(samples)
        shown = len(documents.targets)
        no_list = pa.nulls(shown, pa.list_(pa.int32()))
        paragraphs = pa.StructArray.from_arrays(
            [
                self._documents["id"].take(pa.array(documents.targets)).combine_chunks(),
                _one(titles),
                _one(texts).cast(pa.string()),
                pa.array(self._supporting(samples, documents)),
                mentions,
                no_list,
                no_list,
            ],
            fields=list(PARAGRAPH),
        )
        entity_ids = self._entities.take(pa.array(samples.candidates.targets))
        choices = pa.StructArray.from_arrays([entity_ids, candidates], names=["id", "text"])
        ids = instance_ids(samples.questions.id, self._settings.dataset)
        columns = {
            "id": ids,
            "question": self._questions(samples),
            "paragraphs": list_array(documents, paragraphs, DOCUMENTS),
            "answers": answers,
            "answer_id": self._entities.take(pa.array(samples.questions.answer)),
            "answer_type": pa.repeat("candidate", count),
            "candidates": list_array(samples.candidates, choices, CANDIDATES),
            "chains": self._chains(samples),
            "grades": self._grades(samples),
            "decomposition": pa.nulls(count, OF_RECIPES.field("decomposition").type),
            "answerable": pa.repeat(True, count),
            "group": ids,
            "provenance": self._provenance(samples),
        }
        return pa.table(columns).cast(OF_RECIPES)

    def _supporting(self, samples: Samples, documents: Rows) -> npt.NDArray[np.bool_]:
        """For each shown document whether it is on a chain to the answer."""
        candidate = samples.chains.sources()[samples.nodes.sources()]
        wanted = (samples.nodes.places() % 2 == 1) & samples.is_answer()[candidate]
        sample = samples.question_of_candidate()[candidate[wanted]]
        true = Adjacency.from_pairs(sample, samples.nodes.targets[wanted], len(samples))
        return true.contains(documents.sources(), documents.targets)

    def _chains(self, samples: Samples) -> pa.Array:
        """Per candidate and chain the ids of entities and documents in turn."""
        both = pa.concat_arrays([self._entities, self._documents["id"].combine_chunks()])
        nodes = both.take(pa.array(samples.nodes.targets + np.where(samples.nodes.places() % 2 == 1, len(self._entities), 0)))
        per_candidate = list_array(samples.chains, list_array(samples.nodes, nodes, NODES), CHAINS)
        return list_array(samples.candidates, per_candidate, CANDIDATES)

    def _grades(self, samples: Samples) -> pa.Array:
        """Per candidate the grade of its best chain; null where chains are not graded."""
        if samples.grades is None:
            return pa.nulls(len(samples), OF_RECIPES.field("grades").type)
        columns = [
            np.ascontiguousarray(samples.grades["confidence"]),
            pa.array(path_texts(samples.grades, self._relations["label"].to_pylist()), pa.string()),
            pa.array(TEXT_ROLES).take(pa.array(samples.grades["text"])),
        ]
        return list_array(samples.candidates, pa.StructArray.from_arrays(columns, fields=list(GRADE)), CANDIDATES)

    def _questions(self, samples: Samples) -> pa.Array:
        subjects = self._labels.take(pa.array(samples.questions.head))
        return question_texts(self._settings, self._relations["label"], pa.array(samples.questions.relation), subjects)

    def _provenance(self, samples: Samples) -> pa.Array:
        """JSON: the subject and relation, and the query as the official format shows it where that is with ids."""
        heads = self._entities.take(pa.array(samples.questions.head)).to_pylist()
        ids = self._relations["id"].to_pylist()
        texts = [relation_text(label) for label in self._relations["label"].to_pylist()]
        settings = self._settings.section(QangarooSettings)
        rows = []
        for head, row in zip(heads, samples.questions.relation.tolist(), strict=True):
            note = {"recipe": "qangaroo", "surface": settings.surface, "head": head, "relation": ids[row]}
            if settings.surface == "id":
                note["query"] = settings.question.format(relation=texts[row], subject=head)
            rows.append(json.dumps(note))
        return pa.array(rows, pa.string())


@lru_cache(maxsize=1 << 14)
def relation_text(label: str) -> str:
    """A relation's label as the official queries write it: lower case, underscores between words."""
    return "_".join("".join(c if c.isalnum() else " " for c in label.lower()).split())


def question_texts(settings: DomainSettings, labels: pa.ChunkedArray, relation: pa.Array, subject: pa.Array) -> pa.Array:
    """What is asked of each ``subject`` (a label) about its ``relation`` (a row, whose label is in ``labels``)."""
    template, place = settings.section(QangarooSettings).question, "\0"  # which no label has
    asked = pa.array([template.format(relation=relation_text(label), subject=place) for label in labels.to_pylist()], pa.string())
    texts = pl.DataFrame({"asked": pl.Series(asked.take(relation)), "subject": pl.Series(subject)})
    return texts.select(pl.col("asked").str.replace_all(place, pl.col("subject"), literal=True)).to_series().to_arrow().cast(pa.string())


def instance_ids(hashes: npt.NDArray[np.uint64], dataset: str) -> pa.Array:
    """``dataset-0123456789abcdef`` for each hash."""
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    nibbles = (hashes[:, None] >> np.arange(60, -4, -4, dtype=np.uint64)) & np.uint64(15)
    text = np.ascontiguousarray(digits[nibbles.astype(np.int64)]).view("S16").ravel()
    return pc.binary_join_element_wise(dataset, pa.array(text).cast(pa.string()), "-")


def joined(one: Places, other: Places) -> Places:
    """Both, in each text first those of ``one``."""
    texts = np.arange(len(one.offsets) - 1)
    text = np.concatenate([np.repeat(texts, np.diff(one.offsets)), np.repeat(texts, np.diff(other.offsets))])
    order = np.argsort(text, kind="stable")
    entity, start, end = (np.concatenate([getattr(one, name), getattr(other, name)])[order] for name in ("entity", "start", "end"))
    return Places(offsets=one.offsets + other.offsets, entity=entity, start=start, end=end)


def whole_titles(tables: Mapping[str, pa.Table]) -> Places:
    """A mention for each title of an article: all of it means the entity that the article is about."""
    titles, about = tables["documents"]["title"], tables["documents"]["about"]
    lengths = pc.utf8_length(titles).combine_chunks().to_numpy().astype(np.int32)
    document = np.flatnonzero(np.asarray(pc.is_valid(about)) & (lengths > 0))
    entity = row_numbers(about.take(pa.array(document)), tables["entities"]["id"])
    offsets = row_bounds(document, len(titles))
    return Places(offsets=offsets, entity=entity, start=np.zeros_like(entity), end=lengths[document])


def _answers(tables: Mapping[str, pa.Table], wanted: npt.NDArray[np.bool_]) -> pa.Array:
    """For each entity for which ``wanted`` holds, in turn, its label, then its other names."""
    rows = frame(tables["entities"]).select(entity="id", label="label").filter(pl.Series(wanted, dtype=pl.Boolean))
    names = frame(tables["names"]).join(rows.select("entity"), on="entity", how="semi").group_by("entity").agg(name=pl.col("name").sort())
    both = rows.join(names, on="entity", how="left", maintain_order="left")
    lists = both.select(pl.concat_list("label", pl.col("name").fill_null([])).list.unique(maintain_order=True)).to_series()
    return lists.to_arrow().cast(pa.list_(pa.string()))


def mention_lists(mentions: Places, entities: pa.Array) -> pa.Array:
    """For each text its mentions, as the column of an Instance holds them."""
    rows = pa.StructArray.from_arrays(
        [entities.take(pa.array(mentions.entity)), pa.array(mentions.start), pa.array(mentions.end)], fields=list(MENTION)
    )
    return pa.ListArray.from_arrays(narrow(mentions.offsets, "mentions", "make the dataset from fewer documents"), rows)


def _one(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

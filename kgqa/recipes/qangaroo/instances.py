"""Turns samples into Instances and their masked twins, column by column."""

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
from kgqa.recipes.qangaroo.questions import ARROW
from kgqa.recipes.qangaroo.samples import CANDIDATES, CHAINS, DOCUMENTS, NODES, Samples, list_array
from kgqa.recipes.qangaroo.surface import function_words_at, without_function_words
from kgqa.recipes.qangaroo.surface_search import Forms, find_forms, left_readable
from kgqa.rules.roles import TEXT_ROLES
from kgqa.settings.domain import DomainSettings
from kgqa.settings.linking import is_english
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.sources.tables import frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Counts of the mask and of the check after it, for the card and the manifest.

    >>> Hidden(places=2) + Hidden(places=3, readable=1)
    Hidden(places=5, readable=1)
    """

    places: int = 0
    """Number of placeholders in texts and titles."""
    readable: int = 0
    """Number of places in masked texts and titles where some form of a candidate's name can still be read."""

    def __add__(self, other: Hidden) -> Hidden:
        """The sums of both counts."""
        return Hidden(places=self.places + other.places, readable=self.readable + other.readable)


class InstanceMaker:
    """Makes Instances from samples; prepares the corpus once. Memory: the texts and mentions of the corpus."""

    def __init__(self, tables: Mapping[str, pa.Table], settings: DomainSettings, *, samples: Samples, seed: int) -> None:
        """``tables``: ``entities, names, documents, relations, mentions, occurrences, title_occurrences``.

        Only candidates of ``samples`` can be masked.
        """
        self._settings = settings
        self._seed = seed
        self._entities = tables["entities"]["id"].combine_chunks()
        self._labels = tables["entities"]["label"].combine_chunks()
        self._relations = tables["relations"]
        self._documents = tables["documents"].combine_chunks()
        self._mentions = places(tables["mentions"], tables)
        is_candidate = np.zeros(len(self._entities), np.bool_)
        is_candidate[samples.candidates.targets] = True
        self._answers, self._answer_row = _answers(tables, is_candidate), np.cumsum(is_candidate) - 1
        self._forms = Forms.of(tables, is_candidate, language=settings.linking.language)
        texts, titles, document_rows = tables["documents"]["text"], tables["documents"]["title"], samples.documents.targets
        occurrences, title_occurrences = (places(tables[name], tables) for name in ("occurrences", "title_occurrences"))
        if is_english(settings.linking.language):
            # Occurrences have all names, also "in" for India, which no reader takes for one: a mask of it would only damage the text.
            linked = function_words_at(self._mentions, texts)
            occurrences = without_function_words(occurrences, texts, linked=linked)
            title_occurrences = without_function_words(title_occurrences, titles, linked=linked)
        self._occurrences = joined(occurrences, find_forms(texts, self._forms, rows=document_rows))
        self._title_occurrences = joined(title_occurrences, find_forms(titles, self._forms, rows=document_rows))
        self._title_mentions = whole_titles(tables)
        self._mention_lists = mention_lists(self._mentions, self._entities)
        self._expressions = expression_numbers(tables["entities"], settings.section(QangarooSettings).surface)

    def plain(self, samples: Samples) -> pa.Table:
        """The Instances of ``samples`` with their texts as they are, not masked."""
        samples = samples.with_candidates_by(self._expressions[samples.candidates.targets])
        documents = self._shuffled(samples)
        texts = self._documents["text"].take(pa.array(documents.targets))
        titles = self._documents["title"].take(pa.array(documents.targets))
        mentions = self._mention_lists.take(pa.array(documents.targets))
        candidates = self._labels.take(pa.array(samples.candidates.targets))
        answers = self._answers.take(pa.array(self._answer_row[samples.questions.answer]))
        return self._table(samples, documents, texts, titles, mentions, candidates, answers)

    def masked(self, samples: Samples) -> tuple[pa.Table, Hidden]:
        """The masked twins of ``samples``: same ids, names replaced by placeholders, candidates in the order of the placeholders' texts."""
        size = self._settings.section(QangarooSettings).placeholders
        names = pa.array([f"{PLACEHOLDER}{number}___" for number in range(size)])
        text_rank = np.argsort(np.argsort(np.array(names.to_pylist()))).astype(np.int32)
        numbers = deal(samples.candidates, samples.questions.id, numbers=size, seed=self._seed)
        order = np.lexsort((text_rank[numbers], samples.question_of_candidate()))
        samples, numbers = samples.with_candidates_by(text_rank[numbers]), numbers[order]
        documents = self._shuffled(samples)
        text = mask_texts(self._documents["text"], self._occurrences, self._mentions, documents, samples.candidates, numbers)
        title = mask_texts(self._documents["title"], self._title_occurrences, self._title_mentions, documents, samples.candidates, numbers)
        hidden_counts = self._checked(text, samples, documents) + self._checked(title, samples, documents)
        answer = names.take(pa.array(numbers[samples.is_answer()]))
        answers = pa.ListArray.from_arrays(np.arange(len(samples) + 1, dtype=np.int32), answer)
        mentions = mention_lists(text.mentions, self._entities)
        placeholders = names.take(pa.array(numbers))
        return self._table(samples, documents, text.texts, title.texts.cast(pa.string()), mentions, placeholders, answers), hidden_counts

    def _checked(self, masked: MaskedTexts, samples: Samples, documents: Rows) -> Hidden:
        """The number of placeholders in the masked texts, and of names that can still be read."""
        counts = left_readable(masked.texts, documents.sources(), samples.candidates, self._forms)
        return Hidden(places=masked.hidden, readable=int(counts.sum()))

    def _shuffled(self, samples: Samples) -> Rows:
        """The documents of each sample in the order shown, drawn by hash: it carries no information and is reproducible."""
        sample = samples.documents.sources()
        draws = shuffling(samples.questions.id[sample], samples.documents.targets, purpose="documents shown", seed=self._seed)
        order = np.lexsort((draws, sample))
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
        """The table of Instances; ``texts``, ``titles`` and ``mentions`` are per paragraph, ``answers`` per sample."""
        count = len(samples)
        paragraph_count = len(documents.targets)
        no_list = pa.nulls(paragraph_count, pa.list_(pa.int32()))
        paragraphs = pa.StructArray.from_arrays(
            [
                self._documents["id"].take(pa.array(documents.targets)).combine_chunks(),
                _combined(titles),
                _combined(texts).cast(pa.string()),
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
        """For each paragraph whether its document is on a chain to the answer."""
        candidate = samples.chains.sources()[samples.nodes.sources()]
        mask = (samples.nodes.places() % 2 == 1) & samples.is_answer()[candidate]
        sample = samples.question_of_candidate()[candidate[mask]]
        chain_documents = Adjacency.from_pairs(sample, samples.nodes.targets[mask], len(samples))
        return chain_documents.contains(documents.sources(), documents.targets)

    def _chains(self, samples: Samples) -> pa.Array:
        """The ids of entities and documents in turn, for each chain of each candidate."""
        ids = pa.concat_arrays([self._entities, self._documents["id"].combine_chunks()])
        nodes = ids.take(pa.array(samples.nodes.targets + np.where(samples.nodes.places() % 2 == 1, len(self._entities), 0)))
        per_candidate = list_array(samples.chains, list_array(samples.nodes, nodes, NODES), CHAINS)
        return list_array(samples.candidates, per_candidate, CANDIDATES)

    def _grades(self, samples: Samples) -> pa.Array:
        """The grade of each candidate's best chain; null if chains are not graded."""
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
        """JSON with the subject and the relation; with the query of the official format too, if candidates are shown as ids."""
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
    """A relation's label as the official queries write it: lower case, underscores between words; a dot between the relations of a path.

    Freebase joins two relations of an unnamed node in one label. If they differ only in spaces or a plural, one of them is enough.

    >>> relation_text("Place of birth"), relation_text("cast member → place of birth"), relation_text("adjoin s / adjoins")
    ('place_of_birth', 'cast_member.place_of_birth', 'adjoins')
    """
    return ".".join(map(_words_of_relation, label.lower().split(ARROW)))


def _words_of_relation(label: str) -> str:
    parts = ["".join(c if c.isalnum() else " " for c in part).split() for part in label.split(" / ")]
    stems = ["".join(part).removesuffix("of").removesuffix("s") for part in parts]  # an inverse relation ends with "of"
    kept = [part for part, stem, following in zip(parts, stems, [*stems[1:], None], strict=True) if stem != following]
    return "_".join(word for part in kept for word in part)


def question_texts(settings: DomainSettings, labels: pa.ChunkedArray, relation: pa.Array, subject: pa.Array) -> pa.Array:
    """The question about each ``subject`` (label) and ``relation`` (row of ``labels``)."""
    template, place = settings.section(QangarooSettings).question, "\0"  # no label contains this character
    templates = pa.array([template.format(relation=relation_text(label), subject=place) for label in labels.to_pylist()], pa.string())
    texts = pl.DataFrame({"asked": pl.Series(templates.take(relation)), "subject": pl.Series(subject)})
    return texts.select(pl.col("asked").str.replace_all(place, pl.col("subject"), literal=True)).to_series().to_arrow().cast(pa.string())


def instance_ids(hashes: npt.NDArray[np.uint64], dataset: str) -> pa.Array:
    """The id ``dataset-HASH`` for each hash, as 16 hexadecimal digits.

    >>> instance_ids(np.array([255], np.uint64), "wikihop").to_pylist()
    ['wikihop-00000000000000ff']
    """
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    nibbles = (hashes[:, None] >> np.arange(60, -4, -4, dtype=np.uint64)) & np.uint64(15)
    text = np.ascontiguousarray(digits[nibbles.astype(np.int64)]).view("S16").ravel()
    return pc.binary_join_element_wise(dataset, pa.array(text).cast(pa.string()), "-")


def joined(first: Places, second: Places) -> Places:
    """The places of both, text by text, those of ``first`` before those of ``second``."""
    texts = np.arange(len(first.offsets) - 1)
    text = np.concatenate([np.repeat(texts, np.diff(first.offsets)), np.repeat(texts, np.diff(second.offsets))])
    order = np.argsort(text, kind="stable")
    entity, start, end = (np.concatenate([getattr(first, name), getattr(second, name)])[order] for name in ("entity", "start", "end"))
    return Places(offsets=first.offsets + second.offsets, entity=entity, start=start, end=end)


def whole_titles(tables: Mapping[str, pa.Table]) -> Places:
    """One mention for each title of an article: the whole title names the entity that the article is about."""
    titles, about = tables["documents"]["title"], tables["documents"]["about"]
    lengths = pc.utf8_length(titles).combine_chunks().to_numpy().astype(np.int32)
    document = np.flatnonzero(np.asarray(pc.is_valid(about)) & (lengths > 0))
    entity = row_numbers(about.take(pa.array(document)), tables["entities"]["id"])
    offsets = row_bounds(document, len(titles))
    return Places(offsets=offsets, entity=entity, start=np.zeros_like(entity), end=lengths[document])


def _answers(tables: Mapping[str, pa.Table], mask: npt.NDArray[np.bool_]) -> pa.Array:
    """The names of each entity with a true entry in ``mask``: its label, then its other names, sorted."""
    rows = frame(tables["entities"]).select(entity="id", label="label").filter(pl.Series(mask, dtype=pl.Boolean))
    names = frame(tables["names"]).join(rows.select("entity"), on="entity", how="semi").group_by("entity").agg(name=pl.col("name").sort())
    entities = rows.join(names, on="entity", how="left", maintain_order="left")
    lists = entities.select(pl.concat_list("label", pl.col("name").fill_null([])).list.unique(maintain_order=True)).to_series()
    return lists.to_arrow().cast(pa.list_(pa.string()))


def mention_lists(mentions: Places, entities: pa.Array) -> pa.Array:
    """The mentions of each text, as a column of Instances."""
    rows = pa.StructArray.from_arrays(
        [entities.take(pa.array(mentions.entity)), pa.array(mentions.start), pa.array(mentions.end)], fields=list(MENTION)
    )
    return pa.ListArray.from_arrays(narrow(mentions.offsets, "mentions", "make the dataset from fewer documents"), rows)


def _combined(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

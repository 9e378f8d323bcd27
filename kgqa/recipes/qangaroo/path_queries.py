"""Queries about paths: two relations in a row, each stated by a text, are asked as one.

``director → educated at`` of a film asks for the university of its director. The answer is true because both hops are, and it takes two
documents to find it where the article about the subject does not state it. Chains, candidates and filters are those of the paper (Welbl
et al. 2018, section 2.1); what differs is where the query comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import Adjacency, IntArray, Rows, distinct, paired, row_bounds, spread
from kgqa.arrays.search import count_shared
from kgqa.arrays.tokens import word_hashes
from kgqa.errors import EmptyResult
from kgqa.recipes.qangaroo.corpus import Facts, article_of
from kgqa.recipes.qangaroo.distractors import HOPS, Hops, Types, named_together
from kgqa.recipes.qangaroo.questions import joined, splits_of
from kgqa.recipes.qangaroo.reading import Statements
from kgqa.recipes.qangaroo.samples import GRADE, Questions, Samples
from kgqa.recipes.qangaroo.stems import RARE_WORD, SHARED_WORD, shares_stem
from kgqa.rules.roles import RoleGraph
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.splits.groups import assign_splits

POSSIBLE = 0.1
"""From this probability on a statement may be true, and what it makes true is no wrong answer."""
RIVAL = 0.05
"""A role is not stated where another one of the same two entities in the same document is more probable by more than this."""
FUNCTION = 0.5
"""From this functionality on a relation has one object for each subject, as a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathQueries:
    """One entry a query, ordered by (subject, path, answer)."""

    questions: Questions
    """``relation`` is a row of ``relations``."""
    hops: Hops
    """A ``HOPS`` for each query."""
    confidence: npt.NDArray[np.float32]
    """How probably both hops are stated."""
    relations: pa.Table
    """The relations of the graph, then one row for each path: ``id, label, symmetric``."""
    paths: npt.NDArray[np.int32]
    """For each path its two roles, which stand for their synonyms too."""

    def select(self, kept: npt.NDArray[np.bool_]) -> PathQueries:
        """The queries for which ``kept`` holds."""
        return replace(self, questions=self.questions.select(kept), hops=self.hops[kept], confidence=self.confidence[kept])


class PathFinder:
    """What paths are made of: statements that are sure enough, and how functional their roles are."""

    def __init__(
        self, tables: Mapping[str, pa.Table], statements: Statements, facts: RoleGraph, forwards: npt.NDArray[np.float64],
        synonyms: IntArray, settings: QangarooSettings, *, seed: int,
    ) -> None:  # fmt: skip
        """``forwards`` is the functionality of each role, ``synonyms`` the role that stands for it
        (:func:`~kgqa.rules.synonyms.synonyms_of`); ``tables`` are ``entities, relations, documents, occurrences, links``."""
        self._tables, self._statements, self._facts, self._forwards = tables, statements, facts, forwards
        self._settings, self._paths, self._seed = settings, settings.paths, seed
        self._synonyms = synonyms

    def queries(self, stated: Adjacency, linked: Adjacency, mentioning: Adjacency) -> tuple[PathQueries, list[FunnelRow]]:
        """All queries about paths, and what was left out on the way.

        ``stated`` are the entities of which each document has an occurrence, ``linked`` those that it mentions; ``mentioning`` are
        ``linked`` the other way round.
        """
        hops = self._hops()
        both = _joined(
            hops.filter(pl.col("functional") >= self._paths.first_functional), hops.filter(pl.col("functional") >= self._paths.functional)
        )
        both = both.with_columns(
            one=pl.Series(self._synonyms[both["first"].to_numpy()]), two=pl.Series(self._synonyms[both["second"].to_numpy()])
        ).filter(pl.col("one") // 2 != pl.col("two") // 2)
        rows = [_row("two stated hops in a row lead there", None, len(both), "qangaroo.paths.stated")]
        articles = article_of(self._tables)

        def leave_out(kept: npt.NDArray[np.bool_], reason: str, setting: str) -> None:
            nonlocal both
            rows.append(_row(reason, int((~kept).sum()), int(kept.sum()), setting))
            both = both.filter(pl.Series(kept, dtype=pl.Boolean))

        def names(documents: IntArray, entities: IntArray) -> npt.NDArray[np.bool_]:
            """Whether the document has a mention or an occurrence; these are of possible candidates alone."""
            at = np.maximum(documents, 0)
            return (documents >= 0) & (stated.contains(at, entities) | linked.contains(at, entities))

        document, answer = both["document"].to_numpy(), both["answer"].to_numpy()
        leave_out(~names(articles[both["subject"].to_numpy()], answer) & ~names(document, answer), SUBJECT_STATES, "qangaroo.answer_stated")
        leave_out(~names(both["answer_document"].to_numpy(), both["subject"].to_numpy()), ONE_DOCUMENT, "qangaroo.answer_stated")
        words, answer = rare_words(self._tables["entities"]["label"]), both["answer"].to_numpy()
        told = _share_words(words, answer, both["bridge"].to_numpy()) | _share_words(words, answer, both["subject"].to_numpy())
        leave_out(~told, NAMED, "qangaroo.bias.named_answer")
        subject_article = articles[both["subject"].to_numpy()]
        guessed = shares_stem(
            self._tables["entities"]["label"], both["answer"].to_numpy(), self._tables["documents"]["text"], subject_article
        )
        leave_out(~guessed, STEM, "qangaroo.bias.named_answer")
        together = named_together(mentioning, both["bridge"].to_numpy(), both["answer"].to_numpy(), self._paths.common)
        leave_out(together <= self._paths.common, COMMON, "qangaroo.paths.common")
        both = both.with_columns(confidence_tenth=(pl.col("confidence") * 10).floor())
        # One query per subject and answer: the surest, then the more functional one, then the first.
        better = ["confidence_tenth", "functional", "confidence"]
        both = both.sort(["subject", "answer", *better, "first", "second", "bridge"], descending=[False, False, *[True] * 3, *[False] * 3])
        leave_out(_first_of(both, "subject", "answer"), ONCE, "qangaroo.paths")
        both = both.sort(
            ["subject", "one", "two", *better, "answer", "first", "second", "bridge"], descending=[*[False] * 3, *[True] * 3, *[False] * 4]
        )
        leave_out(_first_of(both, "subject", "one", "two"), ONCE, "qangaroo.paths")
        leave_out(
            _place_of(both, "document", "answer_document") < self._paths.per_documents, SAME_DOCUMENTS, "qangaroo.paths.per_documents"
        )
        enough = both.select(pl.len().over("one", "two")).to_series().to_numpy() >= self._paths.min_queries
        leave_out(enough, RARE, "qangaroo.paths.min_queries")
        # What is asked too often about one answer is guessed: on a path, and of one document.
        most = np.maximum(1, both.select(pl.len().over("one", "two")).to_series().to_numpy() * self._paths.answer_share).astype(int)
        leave_out(_place_of(both, "one", "two", "answer") < most, OFTEN, "qangaroo.paths.answer_share")
        leave_out(_place_of(both, "answer_document", "answer") < self._paths.per_hop, SAME_HOP, "qangaroo.paths.per_hop")
        if self._settings.splits.by == "bridge":
            splits = self._splits(both)
            both = both.with_columns(split=pl.Series(splits))
            ordered = both.with_row_index("row").sort(["subject", "confidence", "row"], descending=[False, True, False])
            first = ordered.select("row", one=pl.col("split").first().over("subject")).sort("row")["one"].to_numpy()
            leave_out(first == splits, APART, "qangaroo.splits.by")
        if not len(both):
            raise EmptyResult(_empty(rows))
        return self._asked(both), rows

    def _hops(self) -> pl.DataFrame:
        """The statements that may stand on a chain, with the functionality of their roles."""
        s, paths = self._statements, self._paths
        functional = self._forwards[s.role]
        # Where a subject has one object, those that a text may state compete; of several objects too much is read.
        sure = np.where(s.fact, s.probability >= paths.stated, (s.probability >= paths.read) & (functional >= FUNCTION))
        sure &= (functional >= min(paths.functional, paths.first_functional)) & (s.lift >= paths.lift)
        # Of what the same words may state of two entities they state what is most probable: who acts in a film may well be nominated for
        # it, and the text says the one.
        sure &= s.probability >= _best(s, s.document, s.before, s.after) - RIVAL
        # A function has one object: of those that texts may state of a subject, the most probable.
        sure &= (functional < FUNCTION) | (s.probability >= _best(s, s.before, s.role))
        if self._settings.relations:
            ids = np.asarray(self._tables["relations"]["id"].to_pylist())
            sure &= np.isin(ids, self._settings.relations)[s.role // 2]
        return pl.DataFrame(
            {
                "document": s.document, "before": s.before, "after": s.after, "role": s.role, "probability": s.probability,
                "functional": functional.astype(np.float32),
            }
        ).filter(pl.Series(sure, dtype=pl.Boolean))  # fmt: skip

    def _splits(self, both: pl.DataFrame) -> npt.NDArray[np.int8]:
        """The split of each query: of its subject, of the pair of subject and answer, or of its bridge."""
        entities, splits = self._tables["entities"]["id"].combine_chunks(), self._settings.splits
        if splits.by == "bridge":
            shares = (splits.train, splits.dev, splits.test)
            return assign_splits(entities.take(both["bridge"].to_arrow()), shares, seed=self._seed)
        head, tail = (entities.take(both[name].to_arrow()) for name in ("subject", "answer"))
        return splits_of(head, tail, splits, seed=self._seed)

    def _asked(self, both: pl.DataFrame) -> PathQueries:
        paths = both.select("one", "two").unique().sort("one", "two").with_row_index("path")
        both = both.join(paths, on=["one", "two"], how="left").sort("subject", "path", "answer")
        relations, roles = self._tables["relations"], (paths["one"].to_list(), paths["two"].to_list())
        label = path_names(*roles, relations["label"].to_pylist(), of=True)
        id_ = path_names(*roles, relations["id"].to_pylist(), of=False)
        more = pa.table(
            {"id": pa.array(id_, pa.string()), "label": pa.array(label, pa.string()), "symmetric": np.zeros(len(label), np.bool_)}
        )
        relation = (both["path"].to_numpy() + relations.num_rows).astype(np.int32)
        entities = self._tables["entities"]["id"].combine_chunks()
        head = entities.take(both["subject"].to_arrow())
        named = more["id"].combine_chunks().take(both["path"].to_arrow())
        questions = Questions(
            id=text_hashes(joined(head, named)), split=self._splits(both),
            head=both["subject"].to_numpy().astype(np.int32), relation=relation, answer=both["answer"].to_numpy().astype(np.int32),
        )  # fmt: skip
        both_roles = paths.select("one", "two").cast(pl.Int32).to_numpy()
        hops = np.empty(len(both), HOPS)
        for name in HOPS.names or ():
            hops[name] = both[name].to_numpy()
        return PathQueries(
            questions=questions, hops=hops, confidence=both["confidence"].to_numpy(),
            relations=pa.concat_tables([relations, more.cast(relations.schema)]), paths=both_roles,
        )  # fmt: skip

    def end_points(self, queries: PathQueries) -> Adjacency:
        """Entity → the paths whose end point it is: the entities that the path's second role reaches in the facts."""
        pairs = distinct(paired(self._facts.targets, self._synonyms[self._facts.roles]))
        entity, role = pairs >> 32, pairs & 0xFFFFFFFF
        order = np.argsort(queries.paths[:, 1], kind="stable")
        bounds = row_bounds(queries.paths[order, 1], self._facts.role_count)
        counts = (bounds[1:] - bounds[:-1])[role]
        rows = Rows(offsets=bounds, targets=order.astype(np.int32)).take(role)
        relation = rows.targets + (len(queries.relations) - len(queries.paths))
        return Adjacency.from_pairs(np.repeat(entity, counts), relation, self._facts.entities)

    def possible(self) -> Adjacency:
        """Entity → those that a fact, or a text that may state one, joins to it."""
        s, facts = self._statements, self._facts
        may = s.probability >= POSSIBLE
        one = np.concatenate([facts.sources(), s.before[may], s.after[may]])
        return Adjacency.from_pairs(one, np.concatenate([facts.targets, s.after[may], s.before[may]]), facts.entities)

    def several_bridges(self, hops: Hops) -> npt.NDArray[np.bool_]:
        """For each query whether its first relation has several objects, as a rule."""
        several: npt.NDArray[np.bool_] = self._forwards[hops["first"]] < FUNCTION
        return several

    def bridges(self, queries: PathQueries, linked: Adjacency, types: Types) -> Rows:
        """For each query the entities that its first role reaches, or may reach: by a fact, by a text, or because the subject's document
        names them and they are of the bridge's type."""
        s, facts = self._statements, self._facts
        may = s.probability >= POSSIBLE
        first = self._synonyms[np.concatenate([facts.roles, s.role[may]])]
        known = pl.DataFrame(
            {
                "subject": np.concatenate([facts.sources(), s.before[may]]), "first": first,
                "bridge": np.concatenate([facts.targets, s.after[may]]),
            }
        )  # fmt: skip
        asked = pl.DataFrame(
            {"query": np.arange(len(queries.questions)), "subject": queries.hops["subject"], "first": self._synonyms[queries.hops["first"]]}
        )
        found = asked.join(known, on=["subject", "first"]).select("query", "bridge")
        named = Rows(offsets=linked.offsets, targets=linked.targets).take(queries.hops["document"])
        of = named.sources()
        alike = types.alike(named.targets, queries.hops["bridge"][of]) >= self._paths.alike
        more = pl.DataFrame({"query": of[alike].astype(np.int64), "bridge": named.targets[alike]})
        found = pl.concat([found.cast(more.schema), more]).unique().sort("query", "bridge")
        return Rows(offsets=row_bounds(found["query"].to_numpy(), len(asked)), targets=found["bridge"].to_numpy().astype(np.int32))


SUBJECT_STATES = "the subject's own article states the answer"
ONE_DOCUMENT = "the document that states the answer names the subject, so one document is enough"
NAMED = "the answer's name shares a rare word with that of the bridge or the subject"
STEM = "the subject's own article has a word that begins as a rare one of the answer's name"
COMMON = "so many documents name bridge and answer together that it is common knowledge"
ONCE = "the same subject and answer, or the same query, is asked with a surer path"
SAME_DOCUMENTS = "other queries stand on the same two documents"
OFTEN = "the path is asked about often enough with this answer"
SAME_HOP = "the hop to the answer is asked about often enough"
RARE = "too few queries have this path"
APART = "surer queries about the subject have bridges of another split"


def path_names(first: Sequence[int], second: Sequence[int], names: Sequence[str], *, of: bool) -> list[str]:
    """Each path by the names of its relations; one that is read backwards is the ``NAME of`` (``of``), or ``^NAME``."""

    def name(role: int) -> str:
        text = names[role // 2]
        return text if role % 2 == 0 else f"{text} of" if of else f"^{text}"

    return [f"{name(one)} → {name(other)}" if of else f"{name(one)}/{name(other)}" for one, other in zip(first, second, strict=True)]


def no_facts() -> Facts:
    """No true objects but the answer: what may be true as well leaves later, by :func:`chosen_candidates`."""
    none = np.zeros(0, np.int32)
    return Facts(head=none, relation=none, tail=none)


def with_stated_chains(samples: Samples, hops: Hops) -> Samples:
    """The same samples with the chain of each answer over the two hops of ``hops`` (a ``HOPS`` for each sample)."""
    answer = np.flatnonzero(samples.is_answer())
    counts = samples.nodes.counts()
    chain = np.stack([hops[name] for name in ("subject", "document", "bridge", "answer_document", "answer")], axis=1)
    assert (samples.chains.counts() == 1).all(), "each candidate has the chain of the breadth-first tree"
    lengths = counts.copy()
    lengths[answer] = chain.shape[1]
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    nodes = np.empty(offsets[-1], np.int32)
    nodes[spread(offsets[answer], lengths[answer])] = chain.ravel()
    others = np.flatnonzero(~samples.is_answer())
    nodes[spread(offsets[others], lengths[others])] = samples.nodes.take(others).targets
    return Samples(
        questions=samples.questions, candidates=samples.candidates, chains=samples.chains,
        nodes=Rows(offsets=offsets, targets=nodes), documents=samples.documents,
    ).with_documents()  # fmt: skip


def with_stated_grades(samples: Samples, hops: Hops, confidence: npt.NDArray[np.float32]) -> Samples:
    """The same samples, the answer of each with the probability and the roles of its hops, other candidates with 0."""
    grades = np.zeros(len(samples.candidates.targets), GRADE)
    for name in ("first", "second", "third", "implied"):
        grades[name] = -1
    answer = samples.is_answer()
    grades["confidence"][answer] = confidence
    grades["text"][answer] = 2
    grades["first"][answer], grades["second"][answer] = hops["first"], hops["second"]
    return samples.with_grades(grades)


def _joined(firsts: pl.DataFrame, seconds: pl.DataFrame) -> pl.DataFrame:
    """All pairs of hops of which the second begins where the first ends, in another document."""
    first = firsts.select("document", subject="before", bridge="after", first="role", one="probability", functional="functional")
    second = seconds.select(
        answer_document="document", bridge="before", answer="after", second="role", other="probability", more="functional"
    )
    both = first.join(second, on="bridge").filter(
        (pl.col("answer") != pl.col("subject")) & (pl.col("document") != pl.col("answer_document"))
        & (pl.col("first") // 2 != pl.col("second") // 2)
    )  # fmt: skip
    return both.with_columns(confidence=pl.col("one") * pl.col("other"), functional=pl.col("functional") * pl.col("more")).drop(
        "one", "other", "more"
    )


def _best(statements: Statements, *keys: IntArray) -> npt.NDArray[np.float32]:
    """For each statement the highest probability of those with the same ``keys``."""
    frame = pl.DataFrame({f"key{number}": key for number, key in enumerate(keys)})
    frame = frame.with_columns(probability=pl.Series(statements.probability))
    best: npt.NDArray[np.float32] = (
        frame.select(pl.col("probability").max().over([f"key{n}" for n in range(len(keys))])).to_series().to_numpy()
    )
    return best


def _first_of(frame: pl.DataFrame, *columns: str) -> npt.NDArray[np.bool_]:
    """For each row whether it is the first with its values in ``columns``."""
    first: npt.NDArray[np.bool_] = frame.select(pl.struct(columns).is_first_distinct()).to_series().to_numpy()
    return first


def rare_words(labels: pa.ChunkedArray) -> Adjacency:
    """Entity → numbers of the words of its label that fewer than ``RARE_WORD`` of all labels have."""
    bounds, hashes = word_hashes(labels)
    entity = np.repeat(np.arange(len(labels)), np.diff(bounds))
    _, number, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    rare = counts[number] <= max(SHARED_WORD, RARE_WORD * len(labels))
    return Adjacency.from_pairs(entity[rare], number[rare], len(labels))


def _share_words(words: Adjacency, one: IntArray, other: IntArray) -> npt.NDArray[np.bool_]:
    """For each pair of entities whether they have a word in common."""
    shared: npt.NDArray[np.bool_] = count_shared(words.offsets, words.targets, one, other, 0) > 0
    return shared


def _place_of(frame: pl.DataFrame, *columns: str) -> npt.NDArray[np.int64]:
    """For each row its place among those with its values in ``columns``, the surest first."""
    keys = [name for name in ("confidence", "subject", "document", "first", "second", "bridge") if name not in columns]
    ordered = frame.select(*columns, *keys).with_row_index("row")
    ordered = ordered.sort([*columns, *keys, "row"], descending=[name == "confidence" for name in (*columns, *keys, "row")])
    place = ordered.select("row", place=pl.int_range(pl.len(), dtype=pl.Int64).over(columns)).sort("row")["place"]
    found: npt.NDArray[np.int64] = place.to_numpy()
    return found


def _row(reason: str, removed: int | None, left: int, setting: str) -> FunnelRow:
    return FunnelRow(stage="traverse", what="paths", reason=reason, removed=removed, left=left, setting=setting)


def _empty(rows: Sequence[FunnelRow]) -> str:
    counts = "; ".join(f"{row.removed:,} because {row.reason}" for row in rows if row.removed)
    if not counts:
        return (
            "no sample is left: no two stated hops in a row lead from a subject to an answer. Lower qangaroo.paths.stated or "
            'qangaroo.paths.functional, or set qangaroo.queries = "relations".'
        )
    return f"no sample is left of {rows[0].left:,} paths: {counts}. Change {rows[-1].setting} first, or add documents and facts."

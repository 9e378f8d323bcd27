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
from kgqa.rules.implied import ImpliedRelations
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
SAME = 0.7
"""How surely two roles must imply each other to say the same."""


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

    def select(self, mask: npt.NDArray[np.bool_]) -> PathQueries:
        """The queries for which ``mask`` holds."""
        return replace(self, questions=self.questions.select(mask), hops=self.hops[mask], confidence=self.confidence[mask])


class PathFinder:
    """What paths are made of: statements that are sure enough, and how functional their roles are."""

    def __init__(
        self, tables: Mapping[str, pa.Table], statements: Statements, facts: RoleGraph, forwards: npt.NDArray[np.float64],
        synonyms: IntArray, settings: QangarooSettings, *, seed: int,
    ) -> None:  # fmt: skip
        """``forwards`` is the functionality of each role, ``synonyms`` the role that stands for it (:func:`synonyms_of`); ``tables`` are
        ``entities, relations, documents, occurrences, links``."""
        self._tables, self._statements, self._facts, self._forwards = tables, statements, facts, forwards
        self._settings, self._paths, self._seed = settings, settings.paths, seed
        self._synonyms = synonyms

    def queries(self, stated: Adjacency, linked: Adjacency, mentioning: Adjacency) -> tuple[PathQueries, list[FunnelRow]]:
        """All queries about paths, and what was left out on the way.

        ``stated`` are the entities of which each document has an occurrence, ``linked`` those that it mentions; ``mentioning`` are
        ``linked`` the other way round.
        """
        hops = self._hops()
        chains = _joined(
            hops.filter(pl.col("functional") >= self._paths.first_functional), hops.filter(pl.col("functional") >= self._paths.functional)
        )
        chains = chains.with_columns(
            first_class=pl.Series(self._synonyms[chains["first"].to_numpy()]),
            second_class=pl.Series(self._synonyms[chains["second"].to_numpy()]),
        ).filter(pl.col("first_class") // 2 != pl.col("second_class") // 2)
        rows = [_row("two stated hops in a row lead there", None, len(chains), "qangaroo.paths.stated")]
        articles = article_of(self._tables)

        def leave_out(mask: npt.NDArray[np.bool_], reason: str, setting: str) -> None:
            nonlocal chains
            rows.append(_row(reason, int((~mask).sum()), int(mask.sum()), setting))
            chains = chains.filter(pl.Series(mask, dtype=pl.Boolean))

        def names(documents: IntArray, entities: IntArray) -> npt.NDArray[np.bool_]:
            """Whether the document has a mention or an occurrence; these are of possible candidates alone."""
            at = np.maximum(documents, 0)
            return (documents >= 0) & (stated.contains(at, entities) | linked.contains(at, entities))

        document, answer = chains["document"].to_numpy(), chains["answer"].to_numpy()
        leave_out(
            ~names(articles[chains["subject"].to_numpy()], answer) & ~names(document, answer), SUBJECT_STATES, "qangaroo.answer_stated"
        )
        leave_out(~names(chains["answer_document"].to_numpy(), chains["subject"].to_numpy()), ONE_DOCUMENT, "qangaroo.answer_stated")
        words, answer = rare_words(self._tables["entities"]["label"]), chains["answer"].to_numpy()
        shares_name = _share_words(words, answer, chains["bridge"].to_numpy()) | _share_words(words, answer, chains["subject"].to_numpy())
        leave_out(~shares_name, NAMED, "qangaroo.bias.named_answer")
        subject_article = articles[chains["subject"].to_numpy()]
        guessable = shares_stem(
            self._tables["entities"]["label"], chains["answer"].to_numpy(), self._tables["documents"]["text"], subject_article
        )
        leave_out(~guessable, STEM, "qangaroo.bias.named_answer")
        together = named_together(mentioning, chains["bridge"].to_numpy(), chains["answer"].to_numpy(), self._paths.common)
        leave_out(together <= self._paths.common, COMMON, "qangaroo.paths.common")
        chains = chains.with_columns(confidence_tenth=(pl.col("confidence") * 10).floor())
        # One query per subject and answer: the surest, then the more functional one, then the first.
        better = ["confidence_tenth", "functional", "confidence"]
        chains = chains.sort(
            ["subject", "answer", *better, "first", "second", "bridge"], descending=[False, False, *[True] * 3, *[False] * 3]
        )
        leave_out(_first_of(chains, "subject", "answer"), ONCE, "qangaroo.paths")
        chains = chains.sort(
            ["subject", "first_class", "second_class", *better, "answer", "first", "second", "bridge"],
            descending=[*[False] * 3, *[True] * 3, *[False] * 4],
        )
        leave_out(_first_of(chains, "subject", "first_class", "second_class"), ONCE, "qangaroo.paths")
        leave_out(
            _place_of(chains, "document", "answer_document") < self._paths.per_documents, SAME_DOCUMENTS, "qangaroo.paths.per_documents"
        )
        enough = chains.select(pl.len().over("first_class", "second_class")).to_series().to_numpy() >= self._paths.min_queries
        leave_out(enough, RARE, "qangaroo.paths.min_queries")
        # What is asked too often about one answer is guessed: on a path, and of one document.
        most = np.maximum(
            1, chains.select(pl.len().over("first_class", "second_class")).to_series().to_numpy() * self._paths.answer_share
        ).astype(int)
        leave_out(_place_of(chains, "first_class", "second_class", "answer") < most, OFTEN, "qangaroo.paths.answer_share")
        leave_out(_place_of(chains, "answer_document", "answer") < self._paths.per_hop, SAME_HOP, "qangaroo.paths.per_hop")
        if self._settings.splits.by == "bridge":
            splits = self._splits(chains)
            chains = chains.with_columns(split=pl.Series(splits))
            ordered = chains.with_row_index("row").sort(["subject", "confidence", "row"], descending=[False, True, False])
            first = ordered.select("row", subject_split=pl.col("split").first().over("subject")).sort("row")["subject_split"].to_numpy()
            leave_out(first == splits, APART, "qangaroo.splits.by")
        if not len(chains):
            raise EmptyResult(_empty(rows))
        return self._path_queries(chains), rows

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

    def _splits(self, chains: pl.DataFrame) -> npt.NDArray[np.int8]:
        """The split of each query: of its subject, of the pair of subject and answer, or of its bridge."""
        entities, splits = self._tables["entities"]["id"].combine_chunks(), self._settings.splits
        if splits.by == "bridge":
            shares = (splits.train, splits.dev, splits.test)
            return assign_splits(entities.take(chains["bridge"].to_arrow()), shares, seed=self._seed)
        head, tail = (entities.take(chains[name].to_arrow()) for name in ("subject", "answer"))
        return splits_of(head, tail, splits, seed=self._seed)

    def _path_queries(self, chains: pl.DataFrame) -> PathQueries:
        paths = chains.select("first_class", "second_class").unique().sort("first_class", "second_class").with_row_index("path")
        chains = chains.join(paths, on=["first_class", "second_class"], how="left").sort("subject", "path", "answer")
        relations, roles = self._tables["relations"], (paths["first_class"].to_list(), paths["second_class"].to_list())
        label = path_names(*roles, relations["label"].to_pylist(), of=True)
        id_ = path_names(*roles, relations["id"].to_pylist(), of=False)
        path_relations = pa.table(
            {"id": pa.array(id_, pa.string()), "label": pa.array(label, pa.string()), "symmetric": np.zeros(len(label), np.bool_)}
        )
        relation = (chains["path"].to_numpy() + relations.num_rows).astype(np.int32)
        entities = self._tables["entities"]["id"].combine_chunks()
        head = entities.take(chains["subject"].to_arrow())
        path_ids = path_relations["id"].combine_chunks().take(chains["path"].to_arrow())
        questions = Questions(
            id=text_hashes(joined(head, path_ids)), split=self._splits(chains),
            head=chains["subject"].to_numpy().astype(np.int32), relation=relation, answer=chains["answer"].to_numpy().astype(np.int32),
        )  # fmt: skip
        both_roles = paths.select("first_class", "second_class").cast(pl.Int32).to_numpy()
        hops = np.empty(len(chains), HOPS)
        for name in HOPS.names or ():
            hops[name] = chains[name].to_numpy()
        return PathQueries(
            questions=questions, hops=hops, confidence=chains["confidence"].to_numpy(),
            relations=pa.concat_tables([relations, path_relations.cast(relations.schema)]), paths=both_roles,
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
        first = np.concatenate([facts.sources(), s.before[may], s.after[may]])
        return Adjacency.from_pairs(first, np.concatenate([facts.targets, s.after[may], s.before[may]]), facts.entities)

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
        edges = pl.DataFrame(
            {
                "subject": np.concatenate([facts.sources(), s.before[may]]), "first": first,
                "bridge": np.concatenate([facts.targets, s.after[may]]),
            }
        )  # fmt: skip
        query_frame = pl.DataFrame(
            {"query": np.arange(len(queries.questions)), "subject": queries.hops["subject"], "first": self._synonyms[queries.hops["first"]]}
        )
        reached = query_frame.join(edges, on=["subject", "first"]).select("query", "bridge")
        mentions = Rows(offsets=linked.offsets, targets=linked.targets).take(queries.hops["document"])
        of = mentions.sources()
        same_type = types.alike(mentions.targets, queries.hops["bridge"][of]) >= self._paths.alike
        typed = pl.DataFrame({"query": of[same_type].astype(np.int64), "bridge": mentions.targets[same_type]})
        reached = pl.concat([reached.cast(typed.schema), typed]).unique().sort("query", "bridge")
        return Rows(
            offsets=row_bounds(reached["query"].to_numpy(), len(query_frame)), targets=reached["bridge"].to_numpy().astype(np.int32)
        )


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


def synonyms_of(facts: RoleGraph, implied: ImpliedRelations, labels: Sequence[str]) -> IntArray:
    """For each role the one that stands for it and its synonym, as two sources have the same relation.

    Two relations say the same if their labels end alike ("spouse s / spouse" and "spouse") and each implies the other with a confidence of
    ``SAME``. Without the labels, "director" and "written by" would be one, as most directors of the graph wrote their films too.
    """
    roles = np.arange(facts.role_count, dtype=np.int32)
    edges = np.bincount(facts.roles, minlength=facts.role_count)
    source, target, sure = implied.relations.sources(), implied.relations.targets, implied.confidence
    forwards = (source % 2 == 0) & (source < 2 * facts.relations)
    confidences = {
        (a // 2, b): c for a, b, c in zip(source[forwards].tolist(), target[forwards].tolist(), sure[forwards].tolist(), strict=True)
    }
    pairs = ((-min(forth, confidences.get((second, first), 0.0)), first, second) for (first, second), forth in confidences.items())
    ends = [label.rpartition("/")[2].strip().casefold() for label in labels]
    best: dict[int, int] = {}
    for _, first, second in sorted(pair for pair in pairs if -pair[0] >= SAME and ends[pair[1]] == ends[pair[2]]):
        best.setdefault(first, second)
    for first, second in sorted(best.items()):
        if first < second and best.get(second) == first:
            representative, dropped = (first, second) if edges[2 * first] >= edges[2 * second] else (second, first)
            roles[2 * dropped], roles[2 * dropped + 1] = 2 * representative, 2 * representative + 1
    return roles


def path_names(first: Sequence[int], second: Sequence[int], names: Sequence[str], *, of: bool) -> list[str]:
    """Each path by the names of its relations; one that is read backwards is the ``NAME of`` (``of``), or ``^NAME``."""

    def name(role: int) -> str:
        text = names[role // 2]
        return text if role % 2 == 0 else f"{text} of" if of else f"^{text}"

    return [f"{name(head)} → {name(tail)}" if of else f"{name(head)}/{name(tail)}" for head, tail in zip(first, second, strict=True)]


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
    distractors = np.flatnonzero(~samples.is_answer())
    nodes[spread(offsets[distractors], lengths[distractors])] = samples.nodes.take(distractors).targets
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
    first = firsts.select(
        "document", subject="before", bridge="after", first="role", first_probability="probability", functional="functional"
    )
    second = seconds.select(
        answer_document="document",
        bridge="before",
        answer="after",
        second="role",
        second_probability="probability",
        second_functional="functional",
    )
    chains = first.join(second, on="bridge").filter(
        (pl.col("answer") != pl.col("subject")) & (pl.col("document") != pl.col("answer_document"))
        & (pl.col("first") // 2 != pl.col("second") // 2)
    )  # fmt: skip
    return chains.with_columns(
        confidence=pl.col("first_probability") * pl.col("second_probability"), functional=pl.col("functional") * pl.col("second_functional")
    ).drop("first_probability", "second_probability", "second_functional")


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


def _share_words(words: Adjacency, first: IntArray, second: IntArray) -> npt.NDArray[np.bool_]:
    """For each pair of entities whether they have a word in common."""
    shared: npt.NDArray[np.bool_] = count_shared(words.offsets, words.targets, first, second, 0) > 0
    return shared


def _place_of(frame: pl.DataFrame, *columns: str) -> npt.NDArray[np.int64]:
    """For each row its place among those with its values in ``columns``, the surest first."""
    keys = [name for name in ("confidence", "subject", "document", "first", "second", "bridge") if name not in columns]
    ordered = frame.select(*columns, *keys).with_row_index("row")
    ordered = ordered.sort([*columns, *keys, "row"], descending=[name == "confidence" for name in (*columns, *keys, "row")])
    place = ordered.select("row", place=pl.int_range(pl.len(), dtype=pl.Int64).over(columns)).sort("row")["place"]
    places: npt.NDArray[np.int64] = place.to_numpy()
    return places


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

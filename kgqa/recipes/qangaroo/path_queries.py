"""Queries about paths: one question about two relations in a row, each stated by a text.

``director → educated at`` of a film asks for the university of its director. The answer is true because both hops are. It takes two
documents to find it, unless the article about the subject states it. Chains, candidates and filters are those of the paper (Welbl et al.
2018, section 2.1); only the source of the queries is different.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import Adjacency, IntArray, Rows, distinct, find, paired, row_bounds, spread
from kgqa.arrays.search import count_shared
from kgqa.arrays.tokens import word_hashes
from kgqa.errors import EmptyResult
from kgqa.recipes.qangaroo.corpus import Facts, article_of
from kgqa.recipes.qangaroo.distractors import HOPS, Hops, OneObject
from kgqa.recipes.qangaroo.questions import ARROW, joined, splits_of
from kgqa.recipes.qangaroo.reading import Statements
from kgqa.recipes.qangaroo.rejected import FilteredChains, empty_sentence, traverse_row
from kgqa.recipes.qangaroo.samples import GRADE, BoolArray, Questions, Samples
from kgqa.recipes.qangaroo.stems import RARE_WORD, SHARED_WORD, shares_stem
from kgqa.recipes.qangaroo.types import Types
from kgqa.recipes.qangaroo.usefulness import Usefulness
from kgqa.rules.implied import ImpliedRelations
from kgqa.rules.roles import RoleGraph
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.splits.groups import assign_splits

POSSIBLE = 0.1
"""Minimum probability of a statement that may be true; candidates that such a statement would make true are no distractors."""
PROBABLE = 0.5
"""The same for candidates that would be a second object of a relation that usually has one: its object is known to be the answer."""
IMPLIED = 0.5
"""Minimum share of the pairs of one relation that another one joins too, for the first to imply the second."""
RIVAL = 0.05
"""Maximum lead in probability of another role between the same two entities in the same document."""
BETTER = ("useful", "confidence")
"""The columns that order chains, the best ones first."""
FUNCTION = 0.5
"""Minimum functionality of a relation that usually has one object per subject."""
EDGES = 1 << 17
"""Number of edges whose implied roles are in memory at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathQueries:
    """Queries about paths, one entry each, ordered by (subject, path, answer)."""

    questions: Questions
    """``relation`` is a row of ``relations``."""
    hops: Hops
    """The ``HOPS`` of each query."""
    confidence: npt.NDArray[np.float32]
    """Probability that both hops are stated."""
    useful: npt.NDArray[np.float32]
    """Estimated probability that the query is useful (:mod:`kgqa.recipes.qangaroo.usefulness`)."""
    relations: pa.Table
    """The relations of the graph, then one row per path: ``id, label, symmetric``."""
    paths: npt.NDArray[np.int32]
    """Shape (paths, 2): the two roles of each path, each of which also represents its synonyms."""

    def select(self, mask: npt.NDArray[np.bool_]) -> PathQueries:
        """The queries with a true entry in ``mask``."""
        return replace(
            self, questions=self.questions.select(mask), hops=self.hops[mask], confidence=self.confidence[mask],
            useful=self.useful[mask],
        )  # fmt: skip


class PathFinder:
    """Composes queries about paths from the statements in texts."""

    def __init__(
        self, tables: Mapping[str, pa.Table], statements: Statements, facts: RoleGraph, forwards: npt.NDArray[np.float64],
        synonyms: IntArray, settings: QangarooSettings, *, seed: int,
    ) -> None:  # fmt: skip
        """``tables``: ``entities, relations, documents, occurrences, links``.

        ``forwards`` is the functionality of each role, ``synonyms`` the role that represents it (:func:`kgqa.rules.synonyms.synonyms_of`).
        """
        self._tables, self._statements, self._facts, self._forwards = tables, statements, facts, forwards
        self._settings, self._paths, self._seed = settings, settings.paths, seed
        self._synonyms = synonyms

    def queries(self, stated: Adjacency, linked: Adjacency, usefulness: Usefulness) -> tuple[PathQueries, list[FunnelRow]]:
        """All queries about paths, and the funnel rows of their filters. Raises EmptyResult if no query is left.

        ``stated`` and ``linked`` as for :meth:`chains`.
        """
        chains = self.chains(stated, linked)
        chains.frame = chains.frame.with_columns(useful=pl.Series(usefulness.of(chains.frame), dtype=pl.Float64))
        chains.keep(chains["useful"] >= self._paths.useful, SELDOM_USEFUL, "qangaroo.paths.useful")
        self._keep_best(chains)
        self._keep_varied(chains)
        if self._settings.splits.by == "bridge":
            self._keep_one_split(chains)
        if not len(chains.frame):
            raise EmptyResult(empty_sentence(chains.rows, what=("paths",), nothing=NOTHING_STATED))
        return self._path_queries(chains.frame), chains.rows

    def chains(self, stated: Adjacency, linked: Adjacency) -> FilteredChains:
        """The chains of two stated hops that take two documents, with the funnel rows of the others.

        ``stated``: document → entities with an occurrence in its text; ``linked``: document → entities that it mentions.
        """
        chains = FilteredChains("paths", self._stated_chains())
        chains.rows.append(traverse_row("paths", STATED, "qangaroo.paths.stated", left=len(chains.frame)))
        articles, labels, texts = article_of(self._tables), self._tables["entities"]["label"], self._tables["documents"]["text"]
        words = rare_words(labels)

        def names(documents: IntArray, entities: IntArray) -> BoolArray:
            """Whether each document (-1: none) names the entity; occurrences cover only possible candidates, so mentions count too."""
            at = np.maximum(documents, 0)
            return (documents >= 0) & (stated.contains(at, entities) | linked.contains(at, entities))

        # Each filter looks at one chain at a time: the chains that it keeps, the reason for rejecting the others, and its setting.
        filters: tuple[tuple[Callable[[FilteredChains], BoolArray], str, str], ...] = (
            (
                lambda c: ~names(articles[c["subject"]], c["answer"]) & ~names(c["document"], c["answer"]),
                SUBJECT_STATES, "qangaroo.answer_stated",
            ),
            (lambda c: ~names(c["answer_document"], c["subject"]), ONE_DOCUMENT, "qangaroo.answer_stated"),
            (
                lambda c: ~_share_words(words, c["answer"], c["bridge"]) & ~_share_words(words, c["answer"], c["subject"]),
                NAMED, "qangaroo.bias.named_answer",
            ),
            (lambda c: ~_share_words(words, c["bridge"], c["subject"]), BRIDGE_NAMED, "qangaroo.bias.named_answer"),
            (lambda c: ~shares_stem(labels, c["answer"], texts, articles[c["subject"]]), STEM, "qangaroo.bias.named_answer"),
        )  # fmt: skip
        for kept, reason, setting in filters:
            chains.keep(kept(chains), reason, setting)
        return chains

    def _stated_chains(self) -> pl.DataFrame:
        """Two stated hops in a row, one per row, whose relations differ; ``*_class`` are the roles that represent their synonyms."""
        hops, paths = self._hops(), self._paths
        chains = _joined(hops.filter(pl.col("functional") >= paths.first_functional), hops.filter(pl.col("functional") >= paths.functional))
        return chains.with_columns(
            first_class=pl.Series(self._synonyms[chains["first"].to_numpy()]),
            second_class=pl.Series(self._synonyms[chains["second"].to_numpy()]),
        ).filter(pl.col("first_class") // 2 != pl.col("second_class") // 2)

    def _keep_best(self, chains: FilteredChains) -> None:
        """Keep one chain for each subject and answer, then one for each name of a subject and path: namesakes have the same question.

        The best one is the most probably useful one, then the one with the highest confidence.
        """
        names = pl.Series(self._tables["entities"]["label"]).gather(chains["subject"])
        chains.frame = chains.frame.with_columns(subject_name=names.rank("dense"))
        for query, ties, reason in (
            (("subject", "answer"), ("first", "second", "bridge"), SAME_ANSWER),
            (("subject_name", "first_class", "second_class"), ("subject", "answer", "first", "second", "bridge"), SAME_QUERY),
        ):
            is_descending = [name in BETTER for name in (*query, *BETTER, *ties)]
            chains.frame = chains.frame.sort([*query, *BETTER, *ties], descending=is_descending)
            chains.keep(_first_of(chains.frame, *query), reason, "qangaroo.paths")

    def _keep_varied(self, chains: FilteredChains) -> None:
        """Limit the repetition of documents, paths and answers: an answer that is frequent on a path or for a document can be guessed."""
        paths, path = self._paths, ("first_class", "second_class")
        places = _place_of(chains.frame, "document", "answer_document")
        chains.keep(places < paths.per_documents, SAME_DOCUMENTS, "qangaroo.paths.per_documents")
        chains.keep(_group_size(chains.frame, *path) >= paths.min_queries, RARE, "qangaroo.paths.min_queries")
        max_alike = max(1, int(len(chains.frame) * paths.relation_share))
        chains.frame = chains.frame.with_columns(last_relation=pl.col("second_class") // 2)
        chains.keep(_place_of(chains.frame, "last_relation") < max_alike, SAME_RELATION, "qangaroo.paths.relation_share")
        max_queries = np.maximum(1, _group_size(chains.frame, *path) * paths.answer_share).astype(int)
        chains.keep(_place_of(chains.frame, *path, "answer") < max_queries, OFTEN, "qangaroo.paths.answer_share")
        chains.keep(_place_of(chains.frame, "answer_document", "answer") < paths.per_hop, SAME_HOP, "qangaroo.paths.per_hop")

    def _keep_one_split(self, chains: FilteredChains) -> None:
        """Keep the chains of a subject that are in the split of its best one: splits are drawn by bridge, but must not share subjects."""
        splits = self._splits(chains.frame)
        chain_rows = chains.frame.with_columns(split=pl.Series(splits)).with_row_index("row")
        chain_rows = chain_rows.sort(["subject", *BETTER, "row"], descending=[False, *(True for _ in BETTER), False])
        best = chain_rows.select("row", split=pl.col("split").first().over("subject")).sort("row")["split"].to_numpy()
        chains.keep(best == splits, APART, "qangaroo.splits.by")

    def _hops(self) -> pl.DataFrame:
        """The statements that are certain enough for a hop, with the functionality of their roles."""
        s, paths = self._statements, self._paths
        functional = self._forwards[s.role]
        # Statements that are no facts are used only for functional roles: there, the possible objects of a subject compete (see below).
        sure = np.where(s.fact, s.probability >= paths.stated, (s.probability >= paths.read) & (functional >= FUNCTION))
        sure &= (functional >= min(paths.functional, paths.first_functional)) & (s.lift >= paths.lift)
        # The same words may fit several roles of two entities; only the most probable ones count. An actor in a film is often nominated for
        # it too, but the text states only that they act in it.
        sure &= s.probability >= _best(s, s.document, s.before, s.after) - RIVAL
        # A functional role has one object: the most probable one over all texts about the subject.
        sure &= (functional < FUNCTION) | (s.probability >= _best(s, s.before, s.role))
        if self._settings.relations:
            ids = np.asarray(self._tables["relations"]["id"].to_pylist())
            sure &= np.isin(ids, self._settings.relations)[s.role // 2]
        return pl.DataFrame(
            {
                "document": s.document, "before": s.before, "after": s.after, "role": s.role, "probability": s.probability,
                "functional": functional.astype(np.float32), "fact": s.fact.astype(np.int8),
            }
        ).filter(pl.Series(sure, dtype=pl.Boolean))  # fmt: skip

    def _splits(self, chains: pl.DataFrame) -> npt.NDArray[np.int8]:
        """The split of each query, by its subject, by the pair of subject and answer, or by its bridge, as the settings say."""
        entities, splits = self._tables["entities"]["id"].combine_chunks(), self._settings.splits
        if splits.by == "bridge":
            shares = (splits.train, splits.dev, splits.test)
            return assign_splits(entities.take(chains["bridge"].to_arrow()), shares, seed=self._seed)
        head, tail = (entities.take(chains[name].to_arrow()) for name in ("subject", "answer"))
        return splits_of(head, tail, splits, seed=self._seed)

    def _path_queries(self, chains: pl.DataFrame) -> PathQueries:
        """The queries of the remaining chains; paths are numbered in the order of their roles."""
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
            useful=chains["useful"].to_numpy().astype(np.float32),
            relations=pa.concat_tables([relations, path_relations.cast(relations.schema)]), paths=both_roles,
        )  # fmt: skip

    def end_points(self, queries: PathQueries) -> Adjacency:
        """Entity → the paths for which it is an end point: those whose second role reaches it in some fact."""
        pairs = distinct(paired(self._facts.targets, self._synonyms[self._facts.roles]))
        entity, role = pairs >> 32, pairs & 0xFFFFFFFF
        order = np.argsort(queries.paths[:, 1], kind="stable")
        bounds = row_bounds(queries.paths[order, 1], self._facts.role_count)
        counts = (bounds[1:] - bounds[:-1])[role]
        rows = Rows(offsets=bounds, targets=order.astype(np.int32)).take(role)
        relation = rows.targets + (len(queries.relations) - len(queries.paths))
        return Adjacency.from_pairs(np.repeat(entity, counts), relation, self._facts.entities)

    def possible(self) -> Adjacency:
        """Entity → the entities that a fact joins to it, or a statement that may be true."""
        edges = self._edges(POSSIBLE)
        return Adjacency.from_pairs(edges["source"].to_numpy(), edges["target"].to_numpy(), self._facts.entities)

    def usually_one(self, hops: Hops) -> OneObject:
        """For each query whether its relations usually have one object."""
        return OneObject(first=self._forwards[hops["first"]] >= FUNCTION, second=self._forwards[hops["second"]] >= FUNCTION)

    def objects(self, queries: PathQueries, implied: ImpliedRelations) -> Adjacency:
        """Query → the entities that may be objects of its bridge and second relation.

        A fact or a probable statement (``PROBABLE``) joins them to the bridge, with the second role or one that implies it (``IMPLIED``).
        """
        pairs = paired(queries.hops["bridge"], self._synonyms[queries.hops["second"]])
        wanted = distinct(pairs)
        edges, classes = self._edges(PROBABLE), self._implications(implied)
        edges = edges.filter(pl.col("source").is_in(pl.Series(wanted >> 32).unique().cast(pl.Int32).implode())).unique()
        implications = classes.sort("role", "class")
        implied_by = Rows(
            offsets=row_bounds(implications["role"].to_numpy(), self._facts.role_count), targets=implications["class"].to_numpy()
        )
        # A role may imply hundreds of others, and only few of them are asked for.
        object_parts = []
        for part in edges.iter_slices(EDGES):
            source, target, role = (part[name].to_numpy() for name in ("source", "target", "role"))
            rows = implied_by.take(role)
            edge = rows.sources()
            at = find(wanted, paired(source[edge], rows.targets))
            object_parts.append(paired(at[at >= 0], target[edge][at >= 0]))
        objects = distinct(np.concatenate([np.zeros(0, np.int64), *object_parts]))
        of_pair = Rows(offsets=row_bounds(objects >> 32, len(wanted)), targets=(objects & 0xFFFFFFFF).astype(np.int32))
        rows = of_pair.take(find(wanted, pairs))
        return Adjacency(offsets=rows.offsets, targets=rows.targets)

    def _edges(self, probability: float) -> pl.DataFrame:
        """``source, target, role`` of all facts and of statements with at least this ``probability``, in both directions."""
        s, facts = self._statements, self._facts
        may = s.probability >= probability
        role = s.role[may]
        return pl.DataFrame(
            {
                "source": np.concatenate([facts.sources(), s.before[may], s.after[may]]),
                "target": np.concatenate([facts.targets, s.after[may], s.before[may]]),
                "role": np.concatenate([facts.roles, role, role ^ 1]),
            }
        )

    def _implications(self, implied: ImpliedRelations) -> pl.DataFrame:
        """``role, class``: each role, and the roles that represent those that it may imply."""
        likely = implied.relations.keep(implied.share >= IMPLIED)
        roles = np.arange(self._facts.role_count, dtype=np.int32)
        # "x has role r to y" is "y has role r ^ 1 to x", so an implied relation is also implied in the other direction.
        role = np.concatenate([roles, likely.sources(), likely.sources() ^ 1])
        is_role = role < len(roles)
        implied_role = np.concatenate([roles, 2 * likely.targets, 2 * likely.targets + 1])
        return pl.DataFrame({"role": role[is_role].astype(np.int32), "class": self._synonyms[implied_role[is_role]]}).unique()

    def bridges(self, queries: PathQueries, linked: Adjacency, types: Types) -> Rows:
        """The possible bridges of each query, one row each.

        The query's first role reaches them by a fact or by a statement that may be true; or, unless this role usually has one object, the
        subject's document mentions them and they have the same type as the bridge.
        """
        s, facts = self._statements, self._facts
        may = s.probability >= POSSIBLE
        roles = self._synonyms[np.concatenate([facts.roles, s.role[may]])]
        edges = pl.DataFrame(
            {
                "subject": np.concatenate([facts.sources(), s.before[may]]), "first": roles,
                "bridge": np.concatenate([facts.targets, s.after[may]]),
            }
        )  # fmt: skip
        query_frame = pl.DataFrame(
            {"query": np.arange(len(queries.questions)), "subject": queries.hops["subject"], "first": self._synonyms[queries.hops["first"]]}
        )
        bridges_by_fact = query_frame.join(edges, on=["subject", "first"]).select("query", "bridge")
        mentions = linked.take(queries.hops["document"])
        of = mentions.sources()
        same_type = types.alike(mentions.targets, queries.hops["bridge"][of]) >= self._paths.alike
        same_type &= ~self.usually_one(queries.hops).first[of]
        bridges_by_type = pl.DataFrame({"query": of[same_type].astype(np.int64), "bridge": mentions.targets[same_type]})
        bridges_by_fact = pl.concat([bridges_by_fact.cast(bridges_by_type.schema), bridges_by_type]).unique().sort("query", "bridge")
        return Rows(
            offsets=row_bounds(bridges_by_fact["query"].to_numpy(), len(query_frame)),
            targets=bridges_by_fact["bridge"].to_numpy().astype(np.int32),
        )


STATED = "chains of two stated hops"
NOTHING_STATED = (
    "no sample is left: no two stated hops in a row lead from a subject to an answer. Lower qangaroo.paths.stated or "
    'qangaroo.paths.functional, or set qangaroo.queries = "relations".'
)
SUBJECT_STATES = "the subject's own article states the answer"
ONE_DOCUMENT = "the document that states the answer names the subject, so one document is enough"
NAMED = "the answer's name shares a rare word with that of the bridge or the subject"
BRIDGE_NAMED = "the subject's name shares a rare word with that of the bridge, so the first hop is not needed"
STEM = "the subject's own article has a word with the stem of a rare word of the answer's name"
SELDOM_USEFUL = "queries like it are seldom useful: their hops are common knowledge, or other answers are as right"
SAME_ANSWER = "a more useful path has the same subject and answer"
SAME_QUERY = "a more useful query has the same path and a subject of the same name"
SAME_DOCUMENTS = "too many queries use the same two documents"
SAME_RELATION = "too many queries end with the same relation"
OFTEN = "too many queries about the path have this answer"
SAME_HOP = "too many queries have the same hop to the answer"
RARE = "too few queries have this path"
APART = "the best query about the subject has its bridge in another split"


def path_names(first: Sequence[int], second: Sequence[int], names: Sequence[str], *, of: bool) -> list[str]:
    """The name of each path, from the names of its relations. An inverse relation is ``NAME of`` if ``of`` is set, else ``^NAME``.

    >>> path_names([0], [3], ["director", "employer"], of=True), path_names([0], [3], ["P57", "P108"], of=False)
    (['director → employer of'], ['P57/^P108'])
    """

    def name(role: int) -> str:
        text = names[role // 2]
        return text if role % 2 == 0 else f"{text} of" if of else f"^{text}"

    return [f"{name(head)}{ARROW}{name(tail)}" if of else f"{name(head)}/{name(tail)}" for head, tail in zip(first, second, strict=True)]


def no_facts() -> Facts:
    """An empty set of facts: the search excludes no candidate. :class:`Distractors` removes those that may be true as well."""
    no_rows = np.zeros(0, np.int32)
    return Facts(head=no_rows, relation=no_rows, tail=no_rows)


def with_stated_chains(samples: Samples, hops: Hops) -> Samples:
    """The same samples, but the chain to each answer consists of the stated ``hops`` (one ``HOPS`` per sample)."""
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


def with_stated_grades(samples: Samples, queries: PathQueries) -> Samples:
    """The same samples with grades: the probabilities and the roles of the stated hops for answers, confidence 0 for distractors."""
    grades = np.zeros(len(samples.candidates.targets), GRADE)
    for name in ("first", "second", "third", "implied"):
        grades[name] = -1
    answer = samples.is_answer()
    grades["confidence"][answer], grades["useful"][answer] = queries.confidence, queries.useful
    grades["text"][answer] = 2
    grades["first"][answer], grades["second"][answer] = queries.hops["first"], queries.hops["second"]
    return samples.with_grades(grades)


def _joined(firsts: pl.DataFrame, seconds: pl.DataFrame) -> pl.DataFrame:
    """All pairs of hops where the second begins at the end of the first, in another document and with another relation."""
    first_hops = firsts.select(
        "document", subject="before", bridge="after", first="role", first_probability="probability", first_fact="fact"
    )
    second_hops = seconds.select(
        answer_document="document",
        bridge="before",
        answer="after",
        second="role",
        second_probability="probability",
        second_fact="fact",
    )
    chains = first_hops.join(second_hops, on="bridge").filter(
        (pl.col("answer") != pl.col("subject")) & (pl.col("document") != pl.col("answer_document"))
        & (pl.col("first") // 2 != pl.col("second") // 2)
    )  # fmt: skip
    return chains.with_columns(
        confidence=pl.col("first_probability") * pl.col("second_probability"), facts=pl.col("first_fact") + pl.col("second_fact")
    ).drop("first_probability", "second_probability", "first_fact", "second_fact")


def _best(statements: Statements, *keys: IntArray) -> npt.NDArray[np.float32]:
    """For each statement the highest probability among those with the same ``keys``."""
    frame = pl.DataFrame({f"key{number}": key for number, key in enumerate(keys)})
    frame = frame.with_columns(probability=pl.Series(statements.probability))
    best: npt.NDArray[np.float32] = (
        frame.select(pl.col("probability").max().over([f"key{n}" for n in range(len(keys))])).to_series().to_numpy()
    )
    return best


def _first_of(frame: pl.DataFrame, *columns: str) -> npt.NDArray[np.bool_]:
    """For each row whether it is the first one with its values in ``columns``.

    >>> _first_of(pl.DataFrame({"a": [7, 8, 7]}), "a").tolist()
    [True, True, False]
    """
    is_first: npt.NDArray[np.bool_] = frame.select(pl.struct(columns).is_first_distinct()).to_series().to_numpy()
    return is_first


def rare_words(labels: pa.ChunkedArray) -> Adjacency:
    """Entity → numbers of the rare words in its label: those in at most a share ``RARE_WORD`` of all labels, or in ``SHARED_WORD``."""
    bounds, hashes = word_hashes(labels)
    entity = np.repeat(np.arange(len(labels)), np.diff(bounds))
    _, number, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    is_rare = counts[number] <= max(SHARED_WORD, RARE_WORD * len(labels))
    return Adjacency.from_pairs(entity[is_rare], number[is_rare], len(labels))


def _share_words(words: Adjacency, first: IntArray, second: IntArray) -> npt.NDArray[np.bool_]:
    """For each pair of entities whether they have a word in common."""
    shared: npt.NDArray[np.bool_] = count_shared(words.offsets, words.targets, first, second, 0) > 0
    return shared


def _group_size(frame: pl.DataFrame, *columns: str) -> npt.NDArray[np.integer]:
    """For each row the number of rows with the same values in ``columns``.

    >>> _group_size(pl.DataFrame({"a": [7, 8, 7]}), "a").tolist()
    [2, 1, 2]
    """
    sizes: npt.NDArray[np.integer] = frame.select(pl.len().over(columns)).to_series().to_numpy()
    return sizes


def _place_of(frame: pl.DataFrame, *columns: str) -> npt.NDArray[np.int64]:
    """For each row its rank, from 0, among the rows with the same values in ``columns``, the most useful first."""
    keys = [name for name in (*BETTER, "subject", "document", "first", "second", "bridge") if name not in columns]
    sorted_rows = frame.select(*columns, *keys).with_row_index("row")
    sorted_rows = sorted_rows.sort([*columns, *keys, "row"], descending=[name in BETTER for name in (*columns, *keys, "row")])
    place = sorted_rows.select("row", place=pl.int_range(pl.len(), dtype=pl.Int64).over(columns)).sort("row")["place"]
    places: npt.NDArray[np.int64] = place.to_numpy()
    return places

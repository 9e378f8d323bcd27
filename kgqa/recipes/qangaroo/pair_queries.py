"""Queries about pairs: a fact joins two entities of one kind, and two texts relate both of them to the same third entity.

One abstract says that a drug acts on a protein, another that a second drug does. So the two drugs may interact, and the graph has that fact
(Welbl et al. 2018, section 4). The answer differs from the distractors in that both hops of its chain are *stated*. Every distractor has a
chain of the same length over an entity that the subject's document also mentions, but one of its hops is only a co-mention. Counting links
therefore does not identify the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, IntArray, Rows, row_bounds
from kgqa.arrays.search import NO_LIMIT, count_shared
from kgqa.recipes.qangaroo.corpus import row_numbers, stated, true_facts
from kgqa.recipes.qangaroo.reading import Statements
from kgqa.recipes.qangaroo.rejected import FilteredChains, traverse_row
from kgqa.recipes.qangaroo.samples import CHAINS, GRADE, Questions, Samples
from kgqa.rules.roles import RoleGraph
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.sources.tables import frame

BESIDE = 1.5
"""Bonus of a distractor that shares a sentence with its bridge, as the answer does."""
OFTEN_ANSWER = 1.5
"""Bonus of a distractor per doubling of the queries that it answers."""
HOP = 5.0
"""Bonus of a distractor that is the answer to another query over the same document."""
OFTEN_NAMED = 0.15
"""The score of a chain is divided by the number of mentions to this power: few distractors are mentioned as often as some answers."""
FACT = 0.25
"""Relative bonus of a chain for each hop that is a fact of the graph."""
NOTHING_STATED = (
    "no sample is left: no two documents state a hop from subject and answer to the same entity. Lower qangaroo.pairs.stated or "
    "qangaroo.pairs.read, or add documents and facts."
)
STATED = "two documents relate subject and answer to the same entity"
SHOWN = "a document of the chain names subject and answer"
TOGETHER = "some document names subject and answer"
ONCE = "the pair has a query with a better chain"
OFTEN = "too many queries use its documents, its answer or its bridge"
NAMED = "no fact joins the candidate to the subject, and another document mentions it with an entity of the subject's document"
TRUE_TOO = "texts or facts may relate subject and candidate to the same entity, so the candidate may be true as well"
LIKELY = "the facts of similar candidates make it likely that the candidate is true as well, or the graph has too few facts of it"
FEW = "too few candidates near the subject's document would be wrong"
BESIDE_ANSWER = "no document of the answer's chain names the candidate, and its document does not name the answer"
MANY = "the sample has enough candidates that are harder to tell from the answer by counting"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTables:
    """Mentions and documents for queries about pairs, as rows of the entity and document tables."""

    ends: npt.NDArray[np.bool_]
    """For each entity whether it has the kind of end points."""
    in_graph: npt.NDArray[np.bool_]
    """For each document whether it has an edge in the graph; others are not used."""
    linked: Adjacency
    """Document → entities that it mentions."""
    named: Adjacency
    """Document → entities that it mentions or that occur in its text."""
    mentions: pl.DataFrame
    """``document, entity, count``: the number of mentions of each entity in each document in the graph."""


def pair_tables(tables: Mapping[str, pa.Table], settings: QangarooSettings) -> PairTables:
    """From ``entities, documents, edges, links, occurrences``."""
    documents = tables["documents"].num_rows
    in_graph = np.zeros(documents, np.bool_)
    in_graph[row_numbers(tables["edges"]["document"], tables["documents"]["id"])] = True
    links, occurring = stated(tables["links"], tables), stated(tables["occurrences"], tables)
    # Count mentions as a reader would: all occurrences of possible candidates, including those that are not linked.
    link_rows, occurrence_rows = (_with_numbers(tables[name], tables) for name in ("links", "occurrences"))
    readable = occurrence_rows.group_by("document", "entity").agg(read=pl.col("start").n_unique())
    counts = link_rows.join(readable, on=["document", "entity"], how="left", maintain_order="left")
    mentions = counts.select("document", "entity", count=pl.max_horizontal("count", pl.col("read").fill_null(0).cast(pl.Int64)))
    return PairTables(
        ends=np.asarray(pc.equal(tables["entities"]["kind"], settings.endpoint_kind)), in_graph=in_graph, linked=links,
        named=Adjacency.from_pairs(
            np.concatenate([links.sources(), occurring.sources()]), np.concatenate([links.targets, occurring.targets]), documents
        ),
        mentions=mentions.filter(pl.Series(in_graph[mentions["document"].to_numpy()], dtype=pl.Boolean)),
    )  # fmt: skip


def _with_numbers(table: pa.Table, tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """``table`` with the rows of its documents and entities in place of their ids."""
    numbers = {name: row_numbers(table[name], tables[ids]["id"]) for name, ids in (("document", "documents"), ("entity", "entities"))}
    return frame(table.drop_columns(list(numbers))).with_columns(**{name: pl.Series(rows) for name, rows in numbers.items()})


class PairFinder:
    """Composes queries about pairs, and their candidates."""

    def __init__(
        self, tables: Mapping[str, pa.Table], pairs: PairTables, statements: Statements, facts: RoleGraph, settings: QangarooSettings, *,
        seed: int,
    ) -> None:  # fmt: skip
        """``tables``: ``entities, relations, facts``. In ``statements``, ``before`` is an end point and ``after`` another entity."""
        self._pairs, self._facts, self._all, self._settings = pairs, facts, settings, settings.pairs
        self._seed, self._entities = seed, len(pairs.ends)
        s = statements
        self._hops = pl.DataFrame(
            {"document": s.document, "end": s.before, "bridge": s.after, "role": s.role, "sure": s.probability, "fact": s.fact}
        ).filter(pl.Series(pairs.in_graph[s.document], dtype=pl.Boolean))
        facts_known = true_facts(tables, settings)
        self._true = Adjacency.from_pairs(facts_known.head, facts_known.tail, self._entities)

    def queries(self, questions: Questions) -> tuple[pl.DataFrame, list[FunnelRow]]:
        """The queries, and the funnel rows of their filters.

        Columns: ``question`` (index into ``questions``), ``subject, document, bridge, answer_document, answer``, the roles ``first`` and
        ``second``, and ``confidence``, the probability that both hops are stated.
        """
        chains = FilteredChains("chains", self._stated_chains(questions))
        chains.rows.append(traverse_row("chains", STATED, "qangaroo.pairs.stated", left=len(chains.frame)))
        naming_documents = self._pairs.named
        one_document = naming_documents.contains(chains["document"], chains["answer"])
        one_document |= naming_documents.contains(chains["answer_document"], chains["subject"])
        chains.keep(~one_document, SHOWN, "qangaroo.answer_stated")
        if self._all.answer_stated == "any_document":
            naming = naming_documents.reversed(self._entities)
            is_co_mention = count_shared(naming.offsets, naming.targets, chains["subject"], chains["answer"], 0) > 0
            chains.keep(~is_co_mention, TOGETHER, "qangaroo.answer_stated")
        near = self._near(chains.frame)[0].group_by("subject", "document").agg(rivals=pl.col("rival").n_unique())
        rivals = chains.frame.join(near, on=["subject", "document"], how="left", maintain_order="left")["rivals"].fill_null(0)
        chains.keep((rivals >= self._all.min_candidates - 1).to_numpy(), FEW, "qangaroo.min_candidates")
        chains.frame = self._ranked(chains.frame)
        pairs = chains.frame.select(("low", "high") if self._settings.per_pair == 1 else ("subject", "answer")).to_numpy()
        pair = np.unique(pairs, axis=0, return_inverse=True)[1] if len(pairs) else np.zeros(0, int)
        is_selected, is_repeat = _select_chains(
            pair.ravel().astype(np.int64), chains["subject"], chains["answer"], chains["document"], chains["answer_document"],
            chains["bridge"], self._entities, len(naming_documents.offsets) - 1,
            self._settings.per_document, self._settings.per_answer, self._settings.per_bridge,
        )  # fmt: skip
        # The kernel applies both limits in one pass, so the second filter is told which chains the first one keeps.
        chains.keep(is_selected | is_repeat, OFTEN, "qangaroo.pairs.per_document")
        chains.keep(is_selected[is_selected | is_repeat], ONCE, "qangaroo.pairs")
        return chains.frame.sort("question"), chains.rows

    def _stated_chains(self, questions: Questions) -> pl.DataFrame:
        """All chains of two stated hops from the subject and from the answer of a question to the same bridge, in two documents."""
        settings, hops = self._settings, self._hops
        sure = hops.filter((pl.col("fact") & (pl.col("sure") >= settings.stated)) | (~pl.col("fact") & (pl.col("sure") >= settings.read)))
        first_hops = sure.select("document", "bridge", subject="end", first="role", first_sure="sure", first_fact="fact")
        second_hops = sure.select("bridge", answer_document="document", answer="end", second="role", second_sure="sure", second_fact="fact")
        numbers = np.arange(len(questions))
        query_frame = pl.DataFrame({"subject": questions.head, "answer": questions.answer, "question": numbers, "id": questions.id})
        chains = first_hops.join(second_hops, on="bridge").join(query_frame, on=["subject", "answer"])
        facts = pl.col("first_fact").cast(int) + pl.col("second_fact").cast(int)
        return chains.filter((pl.col("document") != pl.col("answer_document")) & (facts >= settings.facts))

    def _ranked(self, chains: pl.DataFrame) -> pl.DataFrame:
        """The chains, best first: by the confidence of their hops, with a bonus for facts and a malus for frequently mentioned ends.

        The two directions of a chain follow each other.
        """
        chains = chains.with_columns(
            confidence=pl.col("first_sure") * pl.col("second_sure"), facts=pl.col("first_fact").cast(int) + pl.col("second_fact").cast(int)
        )
        counts = self._pairs.mentions
        chains = chains.join(counts, left_on=["document", "subject"], right_on=["document", "entity"], how="left").join(
            counts, left_on=["answer_document", "answer"], right_on=["document", "entity"], how="left"
        ).with_columns(pl.col("count", "count_right").fill_null(1))  # fmt: skip
        return chains.with_columns(
            low=pl.min_horizontal("subject", "answer"), high=pl.max_horizontal("subject", "answer"),
            surely=pl.col("confidence") * (1 + FACT * pl.col("facts")) * pl.max_horizontal("count", "count_right").pow(-OFTEN_NAMED),
            first_document=pl.min_horizontal("document", "answer_document"),
            second_document=pl.max_horizontal("document", "answer_document"),
        ).sort("surely", "low", "high", "bridge", "first_document", "second_document", "id", descending=[True, *[False] * 6])  # fmt: skip

    def samples(self, questions: Questions, queries: pl.DataFrame) -> tuple[Samples, list[FunnelRow]]:
        """A sample for each of ``queries``, with at most ``qangaroo.balance.candidates`` candidates and one chain of two documents each."""
        rivals, rows = self._rivals(questions, queries)
        answers = queries.select(
            "subject", "document", "bridge", "answer_document", "answer", query=pl.int_range(pl.len()), order=pl.lit(-1.0)
        )
        entries = pl.concat([answers, rivals.select(answers.columns)]).sort("query", "order", "answer")
        max_candidates = self._all.balance.candidates or self._all.max_candidates
        place = entries.select(pl.int_range(pl.len()).over("query")).to_series()
        rows.append(traverse_row("candidates", MANY, "qangaroo.balance", removed=int((place >= max_candidates).sum())))
        entries = entries.filter(place < max_candidates).sort("query", "answer")
        chain = entries.select("subject", "document", "bridge", "answer_document", "answer").cast(pl.Int32).to_numpy()
        candidates = Rows(
            offsets=row_bounds(entries["query"].to_numpy(), len(queries)), targets=entries["answer"].cast(pl.Int32).to_numpy()
        )
        samples = Samples(
            questions=questions.select(queries["question"].to_numpy()), candidates=candidates,
            chains=Rows.numbering(np.ones(len(chain), np.int64), *CHAINS),
            nodes=Rows.from_counts(np.full(len(chain), chain.shape[1]), chain.ravel()),
            documents=Rows.from_counts(np.zeros(len(queries), np.int64), np.zeros(0, np.int32)),
        ).with_documents()  # fmt: skip
        grades = np.zeros(len(chain), GRADE)
        for name in ("first", "second", "third", "implied"):
            grades[name] = -1
        answer = samples.is_answer()
        grades["confidence"][answer], grades["text"][answer] = queries["confidence"].to_numpy(), 2
        grades["first"][answer], grades["second"][answer] = queries["first"].to_numpy(), queries["second"].to_numpy()
        return samples.with_grades(grades), rows

    def _rivals(self, questions: Questions, queries: pl.DataFrame) -> tuple[pl.DataFrame, list[FunnelRow]]:
        """The distractors: ``query, subject, document, bridge, answer_document, answer, order``; those with the lowest ``order`` are kept.

        A rival is no distractor if a document of its chain or of the answer's also names the end of the other chain.
        """
        q = queries.select(
            "subject",
            "document",
            "answer",
            "answer_document",
            query=pl.int_range(pl.len()),
            id=pl.Series(questions.id[queries["question"].to_numpy()]),
        )
        near, rows = self._near(queries)
        chains = q.join(near, on=["subject", "document"]).filter(
            (pl.col("rival") != pl.col("answer")) & (pl.col("at") != pl.col("answer_document"))
        )
        one_document = self._pairs.named.contains(chains["at"].to_numpy(), chains["answer"].to_numpy())
        one_document |= self._pairs.named.contains(chains["answer_document"].to_numpy(), chains["rival"].to_numpy())
        chains = chains.filter(pl.Series(~one_document, dtype=pl.Boolean))
        rows.append(traverse_row("candidates", BESIDE_ANSWER, "qangaroo.answer_stated", left=chains.select("query", "rival").n_unique()))
        return self._ordered(queries, q, chains), rows

    def _near(self, chains: pl.DataFrame) -> tuple[pl.DataFrame, list[FunnelRow]]:
        """The possible distractors for each ``subject`` and ``document`` of ``chains``, and the funnel rows of their filters.

        A rival is an end point in another document that shares an entity with the subject's document, if nothing makes it true as well.
        Columns: ``subject, document, bridge, rival, at, count, second_sure``, one row per chain to a rival.
        """
        pairs, settings = self._pairs, self._settings
        hops = self._hops.select("document", "end", "bridge", "sure")
        shown_mentions = pairs.mentions.select("document", "entity")
        bridges = shown_mentions.filter(pl.Series(~pairs.ends[shown_mentions["entity"].to_numpy()], dtype=pl.Boolean)).rename(
            {"entity": "bridge"}
        )
        ends = pairs.mentions.filter(pl.Series(pairs.ends[shown_mentions["entity"].to_numpy()], dtype=pl.Boolean)).rename({"entity": "end"})
        # All pairs of an end point and another entity in a document, with the probability that the document states a relation; 0 if the two
        # share no sentence.
        hops_of_ends = ends.join(bridges, on="document").join(hops, on=["document", "end", "bridge"], how="left").with_columns(
            sure=pl.col("sure").fill_null(0.0)
        )  # fmt: skip
        starts = chains.select("subject", "document").unique(maintain_order=True)
        first_hops = starts.join(hops_of_ends.select("document", "bridge", subject="end"), on=["subject", "document"])
        rival_hops = hops_of_ends.select("bridge", "count", rival="end", at="document", second_sure="sure")
        # A bridge in hundreds of documents would give too many rivals, so ``per_entity`` of them are drawn by hash.
        draws = shuffling(
            np.zeros(len(rival_hops), np.uint64),
            (rival_hops["at"].to_numpy().astype(np.int64) * 65537 + rival_hops["rival"].to_numpy()) & 0x7FFFFFFF,
            purpose="rivals", seed=self._seed,
        )  # fmt: skip
        rival_hops = rival_hops.with_columns(drawn=draws).sort("bridge", "drawn", "at", "rival")
        rival_hops = rival_hops.filter(pl.int_range(pl.len()).over("bridge") < settings.per_entity).drop("drawn")
        near = FilteredChains("candidates", first_hops.join(rival_hops, on="bridge").filter(
            (pl.col("rival") != pl.col("subject")) & (pl.col("at") != pl.col("document"))
        ))  # fmt: skip
        # No document of the chain may name both of its ends: it would link them without the bridge.
        one_document = pairs.named.contains(near["at"], near["subject"]) | pairs.named.contains(near["document"], near["rival"])
        near.frame = near.frame.filter(pl.Series(~one_document & ~self._true.contains(near["subject"], near["rival"]), dtype=pl.Boolean))
        near.rows.append(traverse_row("candidates", NAMED, "qangaroo.pairs.per_entity", left=len(near.frame)))
        near.keep(~self._joined(near["subject"], near["rival"]), TRUE_TOO, "qangaroo.pairs.possible")
        near.keep(self._are_unlikely(near["subject"], near["rival"]), LIKELY, "qangaroo.pairs.likely")
        return near.frame, near.rows

    def _ordered(self, queries: pl.DataFrame, q: pl.DataFrame, chains: pl.DataFrame) -> pl.DataFrame:
        """The rivals of each query with their best chain each; ``order`` ranks them.

        Good rivals have as many shared entities and mentions as the answer, so that counting does not separate the two. They are also
        answers to other queries, so that frequency does not either.
        """
        pairs = self._pairs
        # ``mine``: mentions of the answer in its document; ``shared``: entities that the two documents of its chain share.
        answer_counts = q.join(
            pairs.mentions.select("document", answer="entity", mine="count"),
            left_on=["answer_document", "answer"],
            right_on=["document", "answer"],
            how="left",
        )
        shared_counts = count_shared(
            pairs.linked.offsets,
            pairs.linked.targets,
            answer_counts["document"].to_numpy(),
            answer_counts["answer_document"].to_numpy(),
            NO_LIMIT,
        )
        answer_counts = answer_counts.select("query", mine=pl.col("mine").fill_null(1), shared=pl.Series(shared_counts))
        chains = chains.join(answer_counts, on="query")
        shared_by_rival = count_shared(
            pairs.linked.offsets, pairs.linked.targets, chains["document"].to_numpy(), chains["at"].to_numpy(), NO_LIMIT
        )
        answers = queries.group_by("answer_document", "answer").agg(hop=pl.lit(1.0)).rename({"answer_document": "at", "answer": "rival"})
        often = queries.group_by("answer").agg(often=pl.len()).rename({"answer": "rival"})
        chains = chains.join(answers, on=["at", "rival"], how="left").join(often, on="rival", how="left")
        draws = shuffling(chains["id"].to_numpy(), chains["rival"].to_numpy(), purpose="distractors", seed=self._seed) / 2.0**64
        # The terms: difference in shared entities, difference in mentions, answers to other queries over the same document, a sentence with
        # the bridge, answers to other queries, and a random number.
        order = (
            2.0 * (pl.Series(shared_by_rival) - pl.col("shared")).abs().clip(0, 3) + (pl.col("count").log(2) - pl.col("mine").log(2)).abs()
            - HOP * pl.col("hop").fill_null(0.0) - BESIDE * (pl.col("second_sure") > 0).cast(float)
            - (1.0 + pl.col("often").fill_null(0)).log(2) * OFTEN_ANSWER + pl.Series(draws) / 2
        )  # fmt: skip
        chains = chains.with_columns(order=order).sort("query", "rival", "order", "at", "bridge")
        chains = chains.filter(pl.struct("query", "rival").is_first_distinct()).sort("query", "order", "rival")
        # Alternate between rivals that are mentioned at least as often as the answer and rivals that are mentioned less often.
        chains = chains.with_columns(more=pl.col("count") >= pl.col("mine"))
        chains = chains.with_columns(order=pl.int_range(pl.len()).over("query", "more") + 0.5 * (~pl.col("more")).cast(float))
        return chains.select("query", "subject", "document", "bridge", "order", answer_document="at", answer="rival")

    def _are_unlikely(self, subjects: IntArray, rivals: IntArray) -> npt.NDArray[np.bool_]:
        """For each pair whether the graph has enough facts of the rival, and few entities like one of the two have a fact with the other.

        A graph lacks many facts, and entities with the same facts tend to have the same missing ones. Two entities are as similar as the
        squared cosine of their facts (of the relations asked about).
        """
        if not len(subjects):
            return np.zeros(0, np.bool_)
        counts, ends = self._true.counts(), np.unique(np.concatenate([subjects, rivals]))
        facts = sp.csr_array(
            (np.ones(len(self._true.targets)), self._true.targets, self._true.offsets), shape=(self._entities, self._entities)
        )  # fmt: skip
        unit = sp.diags_array(1 / np.sqrt(np.maximum(counts, 1))) @ facts
        similar = (unit[ends] @ unit.T).power(2).tocsr()
        similar.data[similar.indices == ends[np.repeat(np.arange(len(ends)), np.diff(similar.indptr))]] = 0  # an entity is not its own like
        shares = sp.diags_array(1 / np.maximum(similar.sum(axis=1), 1e-9)) @ similar @ facts
        first, second = np.searchsorted(ends, subjects), np.searchsorted(ends, rivals)
        share = (shares[first, rivals] + shares[second, subjects]) / 2
        return (share <= self._settings.likely) & (counts[rivals] >= self._settings.known)

    def _joined(self, first: IntArray, second: IntArray) -> npt.NDArray[np.bool_]:
        """For each pair whether facts, or hops that texts may state, join both entities to the same entity of another kind."""
        source, target = self._facts.sources(), self._facts.targets
        bridges = ~self._pairs.ends[target]
        possible = self._hops.filter(pl.col("sure") >= self._settings.possible)
        neighbours = Adjacency.from_pairs(
            np.concatenate([source[bridges], possible["end"].to_numpy()]), np.concatenate([target[bridges], possible["bridge"].to_numpy()]),
            self._entities,
        )  # fmt: skip
        return count_shared(neighbours.offsets, neighbours.targets, first, second, 0) > 0


@kernel
def _select_chains(  # type: ignore[no-untyped-def]
    pair, subject, answer, document, answer_document, bridge, entities, documents, per_document, per_answer, per_bridge
):
    """Select chains greedily, best first: one per ``pair``, within limits on documents, answers and bridges.

    All arrays have one entry per chain; the two directions of a chain follow each other. Returns two bool arrays: the selected chains, and
    the others whose pair has a selected chain.
    """
    is_selected, is_repeat = np.zeros(len(pair), np.bool_), np.zeros(len(pair), np.bool_)
    asked_pairs = np.zeros(pair.max() + 1 if len(pair) else 1, np.bool_)
    document_counts, answers, over = np.zeros(documents, np.int64), np.zeros(entities, np.int64), np.zeros(entities, np.int64)
    # The limit per document doubles from round to round, so that rarely used documents are preferred: a document in many queries with one
    # answer would reveal it.
    limit = 0
    while limit < per_document:
        limit = min(max(2, 2 * limit), per_document)
        for i in range(len(pair)):
            if asked_pairs[pair[i]]:
                continue
            # If the other direction of the chain follows, select the direction whose end has been an answer less often.
            at = i
            if i + 1 < len(pair) and pair[i + 1] == pair[i] and bridge[i + 1] == bridge[i] and document[i + 1] == answer_document[i]:
                at += answers[answer[i + 1]] < answers[answer[i]]
            if (
                document_counts[document[at]] >= limit or document_counts[answer_document[at]] >= limit or answers[answer[at]] >= per_answer
                or over[bridge[at]] >= per_bridge
            ):  # fmt: skip
                continue
            is_selected[at] = asked_pairs[pair[i]] = True
            document_counts[document[at]] += 1
            document_counts[answer_document[at]] += 1
            answers[answer[at]] += 1
            over[bridge[at]] += 1
    is_repeat[:] = asked_pairs[pair]
    return is_selected, is_repeat & ~is_selected

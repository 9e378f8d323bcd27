"""Queries about pairs: a fact joins two entities of one kind, and two texts state something of each with the same third entity.

One abstract says that a drug acts on a protein, another one that a second drug does: so the two may well interact, and the graph says that
they do (Welbl et al. 2018, section 4). What makes the answer the answer is that both hops are *stated*. So every distractor has a chain as
long, over an entity that the subject's document names as well, of which one hop is only named: who counts links sees no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, IntArray, Rows, row_bounds
from kgqa.arrays.search import NO_LIMIT, count_shared
from kgqa.errors import EmptyResult
from kgqa.recipes.qangaroo.corpus import row_numbers, stated, true_facts
from kgqa.recipes.qangaroo.reading import Statements
from kgqa.recipes.qangaroo.samples import CHAINS, GRADE, Questions, Samples
from kgqa.rules.roles import RoleGraph
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.sources.tables import frame

BESIDE = 1.5
"""How much rather one is taken that stands in one sentence with what joins it to the subject's document, as the answer does."""
HOP = 3.0
"""How much rather a distractor is taken that answers another query over the same document."""
OFTEN_NAMED = 0.15
"""How much rather a document is taken that does not mention its end often, as few distractors are: a power of the number of mentions."""
FACT = 0.25
"""So much more a hop counts that is a fact of the graph, when chains are chosen."""
STATED = "two documents state that subject and answer have to do with the same entity"
SHOWN = "a document of the chain names subject and answer"
TOGETHER = "some document names subject and answer"
ONCE = "the pair is asked about with a surer chain, or from its other end"
OFTEN = "its documents, its answer or its subject serve enough queries"
NAMED = "no fact joins the candidate to the subject, and the subject's document names what another document names with it"
TRUE_TOO = "texts or facts bring subject and candidate to the same entity, so the candidate may be true as well"
MANY = "the sample has enough candidates that counting cannot tell from the answer better"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTables:
    """What pairs are made of, as rows of the entity and document tables."""

    ends: npt.NDArray[np.bool_]
    """For each entity whether it is of the kind of the end points."""
    in_graph: npt.NDArray[np.bool_]
    """For each document whether it takes part."""
    linked: Adjacency
    """Document → entities that it mentions."""
    named: Adjacency
    """Document → entities that its text names in any way."""
    mentions: pl.DataFrame
    """``document, entity, count``: how often each document that takes part mentions each entity."""


def pair_tables(tables: Mapping[str, pa.Table], settings: QangarooSettings) -> PairTables:
    """From ``entities, documents, edges, links, occurrences``; only documents with an edge take part."""
    documents = tables["documents"].num_rows
    in_graph = np.zeros(documents, np.bool_)
    in_graph[row_numbers(tables["edges"]["document"], tables["documents"]["id"])] = True
    linked, occurring = stated(tables["links"], tables), stated(tables["occurrences"], tables)
    # As a reader counts them: every name of what may be a candidate, also where it made no mention.
    occurrences = frame(tables["occurrences"]).with_columns(pl.col("document", "entity").cast(pl.String))
    readable = occurrences.group_by("document", "entity").agg(read=pl.col("start").n_unique())
    counts = frame(tables["links"]).join(readable, on=["document", "entity"], how="left", maintain_order="left")
    mentions = pl.DataFrame(
        {
            "document": row_numbers(tables["links"]["document"], tables["documents"]["id"]),
            "entity": row_numbers(tables["links"]["entity"], tables["entities"]["id"]),
            "count": counts.select(pl.max_horizontal("count", pl.col("read").fill_null(0).cast(pl.Int64))).to_series(),
        }
    )
    return PairTables(
        ends=np.asarray(pc.equal(tables["entities"]["kind"], settings.endpoint_kind)), in_graph=in_graph, linked=linked,
        named=Adjacency.from_pairs(
            np.concatenate([linked.sources(), occurring.sources()]), np.concatenate([linked.targets, occurring.targets]), documents
        ),
        mentions=mentions.filter(pl.Series(in_graph[mentions["document"].to_numpy()], dtype=pl.Boolean)),
    )  # fmt: skip


class PairFinder:
    """Queries about pairs, and the candidates of each."""

    def __init__(
        self, tables: Mapping[str, pa.Table], pairs: PairTables, statements: Statements, facts: RoleGraph, settings: QangarooSettings, *,
        seed: int,
    ) -> None:  # fmt: skip
        """``statements`` have ends as ``before`` and other entities as ``after``; ``tables`` are ``entities, relations, facts``."""
        self._pairs, self._facts, self._all, self._settings = pairs, facts, settings, settings.pairs
        self._seed, self._entities = seed, len(pairs.ends)
        s = statements
        self._hops = pl.DataFrame(
            {"document": s.document, "end": s.before, "bridge": s.after, "role": s.role, "sure": s.probability, "fact": s.fact}
        ).filter(pl.Series(pairs.in_graph[s.document], dtype=pl.Boolean))
        true = true_facts(tables, settings)
        self._true = Adjacency.from_pairs(true.head, true.tail, self._entities)

    def queries(self, questions: Questions) -> tuple[pl.DataFrame, list[FunnelRow]]:
        """One row a query: ``question`` (its place in ``questions``), ``subject, document, bridge, answer_document, answer``, the roles and
        how surely both hops are stated."""
        settings, hops = self._settings, self._hops
        sure = hops.filter((pl.col("fact") & (pl.col("sure") >= settings.stated)) | (~pl.col("fact") & (pl.col("sure") >= settings.read)))
        query_frame = pl.DataFrame(
            {"subject": questions.head, "answer": questions.answer, "question": np.arange(len(questions)), "id": questions.id}
        )  # fmt: skip
        chains = (
            sure.select("document", "bridge", subject="end", first="role", first_sure="sure", first_fact="fact")
            .join(
                sure.select("bridge", answer_document="document", answer="end", second="role", second_sure="sure", second_fact="fact"),
                on="bridge",
            )
            .join(query_frame, on=["subject", "answer"])
            .filter(
                (pl.col("document") != pl.col("answer_document"))
                & (pl.col("first_fact").cast(int) + pl.col("second_fact").cast(int) >= settings.facts)
            )
        )
        rows = [_row(STATED, None, len(chains), "qangaroo.pairs.stated")]

        def leave_out(mask: npt.NDArray[np.bool_], reason: str, setting: str) -> None:
            nonlocal chains
            rows.append(_row(reason, int((~mask).sum()), int(mask.sum()), setting))
            chains = chains.filter(pl.Series(mask, dtype=pl.Boolean))

        naming_documents = self._pairs.named
        one_document = naming_documents.contains(chains["document"].to_numpy(), chains["answer"].to_numpy())
        one_document |= naming_documents.contains(chains["answer_document"].to_numpy(), chains["subject"].to_numpy())
        leave_out(~one_document, SHOWN, "qangaroo.answer_stated")
        if self._all.answer_stated == "any_document":
            naming = naming_documents.reversed(self._entities)
            together = count_shared(naming.offsets, naming.targets, chains["subject"].to_numpy(), chains["answer"].to_numpy(), 0) > 0
            leave_out(~together, TOGETHER, "qangaroo.answer_stated")
        # A fact that is stated is surer than what the words alone say.
        chains = chains.with_columns(
            confidence=pl.col("first_sure") * pl.col("second_sure"), facts=pl.col("first_fact").cast(int) + pl.col("second_fact").cast(int)
        )
        counts = self._pairs.mentions
        chains = chains.join(counts, left_on=["document", "subject"], right_on=["document", "entity"], how="left").join(
            counts, left_on=["answer_document", "answer"], right_on=["document", "entity"], how="left"
        ).with_columns(pl.col("count", "count_right").fill_null(1))  # fmt: skip
        # The two directions of a chain stand side by side.
        chains = chains.with_columns(
            low=pl.min_horizontal("subject", "answer"), high=pl.max_horizontal("subject", "answer"),
            surely=pl.col("confidence") * (1 + FACT * pl.col("facts")) * pl.max_horizontal("count", "count_right").pow(-OFTEN_NAMED),
            first_document=pl.min_horizontal("document", "answer_document"),
            second_document=pl.max_horizontal("document", "answer_document"),
        ).sort("surely", "low", "high", "bridge", "first_document", "second_document", "id", descending=[True, *[False] * 6])  # fmt: skip
        _, pair = (
            np.unique(chains.select("low", "high").to_numpy(), axis=0, return_inverse=True) if len(chains) else (None, np.zeros(0, int))
        )
        subject, answer, document, answer_document, bridge = (
            chains[name].to_numpy() for name in ("subject", "answer", "document", "answer_document", "bridge")
        )
        selected, again = _select_chains(
            pair.ravel().astype(np.int64), subject, answer, document, answer_document, bridge, self._entities,
            len(naming_documents.offsets) - 1,
            settings.per_document, settings.per_answer, settings.per_bridge,
        )  # fmt: skip
        rows.append(_row(OFTEN, int((~selected & ~again).sum()), int((selected | again).sum()), "qangaroo.pairs.per_document"))
        rows.append(_row(ONCE, int(again.sum()), int(selected.sum()), "qangaroo.pairs"))
        return chains.filter(pl.Series(selected, dtype=pl.Boolean)).sort("question"), rows

    def samples(self, questions: Questions, queries: pl.DataFrame) -> tuple[Samples, list[FunnelRow]]:
        """A sample for each of ``queries``, with at most ``qangaroo.balance.candidates`` candidates, each of one chain of two documents."""
        rivals, rows = self._rivals(questions, queries)
        answers = queries.select(
            "subject", "document", "bridge", "answer_document", "answer", query=pl.int_range(pl.len()), order=pl.lit(-1.0)
        )
        entries = pl.concat([answers, rivals.select(answers.columns)]).sort("query", "order", "answer")
        most = self._all.balance.candidates or self._all.max_candidates
        place = entries.select(pl.int_range(pl.len()).over("query")).to_series()
        rows.append(_candidates(MANY, int((place >= most).sum()), "qangaroo.balance"))
        entries = entries.filter(place < most).sort("query", "answer")
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
        """Distractors: ``query, subject, document, bridge, answer_document, answer, order``, those that should stay first."""
        pairs, settings = self._pairs, self._settings
        q = queries.select(
            "subject",
            "document",
            "answer",
            "answer_document",
            query=pl.int_range(pl.len()),
            id=pl.Series(questions.id[queries["question"].to_numpy()]),
        )
        hops = self._hops.select("document", "end", "bridge", "sure", "fact")
        shown_mentions = pairs.mentions.select("document", "entity")
        bridges = shown_mentions.filter(pl.Series(~pairs.ends[shown_mentions["entity"].to_numpy()], dtype=pl.Boolean)).rename(
            {"entity": "bridge"}
        )
        ends = pairs.mentions.filter(pl.Series(pairs.ends[shown_mentions["entity"].to_numpy()], dtype=pl.Boolean)).rename({"entity": "end"})
        # What each document says, or does not say, of each end and each other entity that it mentions.
        hops_of_ends = ends.join(bridges, on="document").join(hops, on=["document", "end", "bridge"], how="left").with_columns(
            sure=pl.col("sure").fill_null(0.0), fact=pl.col("fact").fill_null(False)
        )  # fmt: skip
        subject_hops = hops_of_ends.select("document", "bridge", subject="end", first_sure="sure")
        first = q.join(subject_hops, on=["subject", "document"])
        rival_hops = hops_of_ends.select("bridge", "count", rival="end", at="document", second_sure="sure")
        # Of an entity that hundreds of documents name, some serve.
        draws = shuffling(
            np.zeros(len(rival_hops), np.uint64),
            (rival_hops["at"].to_numpy().astype(np.int64) * 65537 + rival_hops["rival"].to_numpy()) & 0x7FFFFFFF,
            purpose="rivals", seed=self._seed,
        )  # fmt: skip
        rival_hops = rival_hops.with_columns(drawn=draws).sort("bridge", "drawn", "at", "rival")
        rival_hops = rival_hops.filter(pl.int_range(pl.len()).over("bridge") < settings.per_entity).drop("drawn")
        chains = first.join(rival_hops, on="bridge").filter(
            (pl.col("rival") != pl.col("subject")) & (pl.col("rival") != pl.col("answer"))
            & (pl.col("at") != pl.col("document")) & (pl.col("at") != pl.col("answer_document"))
        )  # fmt: skip
        subject, rival, at = (chains[name].to_numpy() for name in ("subject", "rival", "at"))
        named = pairs.named
        one_document = (
            named.contains(at, subject)
            | named.contains(chains["document"].to_numpy(), rival)
            | named.contains(at, chains["answer"].to_numpy())
        )
        one_document |= named.contains(chains["answer_document"].to_numpy(), rival)
        chains = chains.filter(pl.Series(~one_document & ~self._true.contains(subject, rival), dtype=pl.Boolean))
        rows = [_candidates(NAMED, None, "qangaroo.pairs.per_entity", left=chains.select("query", "rival").n_unique())]
        # A candidate may be true as well where the texts may bring it and the subject to the same entity, or facts do.
        may = (pl.col("first_sure") >= settings.possible) & (pl.col("second_sure") >= settings.possible)
        chains = chains.with_columns(may=may.any().over("query", "rival", "at"))
        joined = self._joined_by_facts(chains["subject"].to_numpy(), chains["rival"].to_numpy())
        true_too = chains["may"].to_numpy() | joined
        rows.append(
            _candidates(
                TRUE_TOO,
                chains.filter(pl.Series(true_too, dtype=pl.Boolean)).select("query", "rival").n_unique(),
                "qangaroo.pairs.possible",
            )
        )
        chains = chains.filter(pl.Series(~true_too, dtype=pl.Boolean))
        return self._ordered(queries, q, chains), rows

    def _ordered(self, queries: pl.DataFrame, q: pl.DataFrame, chains: pl.DataFrame) -> pl.DataFrame:
        """The rivals of each query, each with one chain, in the order in which they should stay."""
        pairs = self._pairs
        answer_counts = q.join(
            pairs.mentions.select("document", answer="entity", mine="count"),
            left_on=["answer_document", "answer"],
            right_on=["document", "answer"],
            how="left",
        )
        shared = count_shared(
            pairs.linked.offsets,
            pairs.linked.targets,
            answer_counts["document"].to_numpy(),
            answer_counts["answer_document"].to_numpy(),
            NO_LIMIT,
        )
        answer_counts = answer_counts.select("query", mine=pl.col("mine").fill_null(1), shared=pl.Series(shared))
        chains = chains.join(answer_counts, on="query")
        shared_by_rival = count_shared(
            pairs.linked.offsets, pairs.linked.targets, chains["document"].to_numpy(), chains["at"].to_numpy(), NO_LIMIT
        )
        answers = queries.group_by("answer_document", "answer").agg(hop=pl.lit(1.0)).rename({"answer_document": "at", "answer": "rival"})
        often = queries.group_by("answer").agg(often=pl.len()).rename({"answer": "rival"})
        chains = chains.join(answers, on=["at", "rival"], how="left").join(often, on="rival", how="left")
        draws = shuffling(chains["id"].to_numpy(), chains["rival"].to_numpy(), purpose="distractors", seed=self._seed) / 2.0**64
        # As many shared entities and mentions as the answer has, so that counting tells nothing; then what answers other queries.
        order = (
            2.0 * (pl.Series(shared_by_rival) - pl.col("shared")).abs().clip(0, 3) + (pl.col("count").log(2) - pl.col("mine").log(2)).abs()
            - HOP * pl.col("hop").fill_null(0.0) - BESIDE * (pl.col("second_sure") > 0).cast(float)
            - (1.0 + pl.col("often").fill_null(0)).log(2) / 2 + pl.Series(draws) / 2
        )  # fmt: skip
        chains = chains.with_columns(order=order).sort("query", "rival", "order", "at", "bridge")
        chains = chains.filter(pl.struct("query", "rival").is_first_distinct()).sort("query", "order", "rival")
        # Those that are mentioned as often or more, and those that are mentioned less, take turns.
        chains = chains.with_columns(more=pl.col("count") >= pl.col("mine"))
        chains = chains.with_columns(order=pl.int_range(pl.len()).over("query", "more") + 0.5 * (~pl.col("more")).cast(float))
        return chains.select("query", "subject", "document", "bridge", "order", answer_document="at", answer="rival")

    def _joined_by_facts(self, first: IntArray, second: IntArray) -> npt.NDArray[np.bool_]:
        """For each pair whether facts join both to the same entity of another kind."""
        source, target = self._facts.sources(), self._facts.targets
        bridges = ~self._pairs.ends[target]
        joined = Adjacency.from_pairs(source[bridges], target[bridges], self._entities)
        return count_shared(joined.offsets, joined.targets, first, second, 0) > 0  # type: ignore[no-any-return]


def _row(reason: str, removed: int | None, left: int, setting: str) -> FunnelRow:
    return FunnelRow(stage="traverse", what="chains", reason=reason, removed=removed, left=left, setting=setting)


def _candidates(reason: str, removed: int | None, setting: str, *, left: int | None = None) -> FunnelRow:
    return FunnelRow(stage="traverse", what="candidates", reason=reason, removed=removed, left=left, setting=setting)


@kernel
def _select_chains(  # type: ignore[no-untyped-def]
    pair, subject, answer, document, answer_document, bridge, entities, documents, per_document, per_answer, per_bridge
):
    """Which chains are asked about, surest first: one a pair, within the limits; and which are left out as their pair is asked about."""
    selected, again = np.zeros(len(pair), np.bool_), np.zeros(len(pair), np.bool_)
    asked_pairs = np.zeros(pair.max() + 1 if len(pair) else 1, np.bool_)
    served, answers, over = np.zeros(documents, np.int64), np.zeros(entities, np.int64), np.zeros(entities, np.int64)
    # Documents that serve few queries first, so that no document gives its answer away: the limit doubles from round to round.
    limit = 0
    while limit < per_document:
        limit = min(max(2, 2 * limit), per_document)
        for i in range(len(pair)):
            if asked_pairs[pair[i]]:
                continue
            # The other direction of the same chain comes next: that one is asked whose answer is asked for less.
            at = i
            if i + 1 < len(pair) and pair[i + 1] == pair[i] and bridge[i + 1] == bridge[i] and document[i + 1] == answer_document[i]:
                at += answers[answer[i + 1]] < answers[answer[i]]
            if (
                served[document[at]] >= limit or served[answer_document[at]] >= limit or answers[answer[at]] >= per_answer
                or over[bridge[at]] >= per_bridge
            ):  # fmt: skip
                continue
            selected[at] = asked_pairs[pair[i]] = True
            served[document[at]] += 1
            served[answer_document[at]] += 1
            answers[answer[at]] += 1
            over[bridge[at]] += 1
    again[:] = asked_pairs[pair]
    return selected, again & ~selected


def require_samples(rows: list[FunnelRow], samples: Samples) -> None:
    """Raises EmptyResult, with what was left out, where no sample is left."""
    if len(samples):
        return
    counts = "; ".join(f"{row.removed:,} because {row.reason}" for row in rows if row.removed and row.what == "chains")
    raise EmptyResult(
        "no sample is left: no two documents state a hop from subject and answer to the same entity"
        + (f" ({counts})" if counts else "")
        + ". Lower qangaroo.pairs.stated or qangaroo.pairs.read, or add documents and facts."
    )

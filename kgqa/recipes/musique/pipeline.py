"""Steps S1 to S7 (Trivedi et al. 2022) as stages; each reads tables, writes tables, and reports what it dropped.

Raise a stage's ``version`` whenever its output changes for the same input: workspaces then redo it, and the changelog says so under "Data".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.chat.connection import Connection
from kgqa.errors import EmptyResult
from kgqa.formats.question_set import open_dataset
from kgqa.readers.trained import reader_hashes
from kgqa.recipes.musique.answerable import drop_unanswered
from kgqa.recipes.musique.balance import REASONS as UNEVEN, SETTINGS as UNEVEN_SETTINGS, excluded_chains, features
from kgqa.recipes.musique.chains import Chains
from kgqa.recipes.musique.comparison import MOST, two_hops
from kgqa.recipes.musique.composing import choose_expressible, compose_questions, depends_on, expressible_pairs, was_changed
from kgqa.recipes.musique.contexts import Stating, masked_texts
from kgqa.recipes.musique.disconnection import FILTER_RECORDING, can_judge, connected, identity, judge, readers_of
from kgqa.recipes.musique.from_graph import graph_questions
from kgqa.recipes.musique.from_sets import set_questions
from kgqa.recipes.musique.heads_and_tails import names_and_answers
from kgqa.recipes.musique.in_cypher import InStore, asked_texts
from kgqa.recipes.musique.leakage import shared_items
from kgqa.recipes.musique.needless import REASONS as NEEDLESS, Shortcuts, needless_chains, needless_pairs
from kgqa.recipes.musique.pairs import composable_pairs
from kgqa.recipes.musique.pool import REFUSED, STATED
from kgqa.recipes.musique.rivals import NO_RIVAL, Rivals
from kgqa.recipes.musique.shapes import build_chains, chain_hops
from kgqa.recipes.musique.shortcut_baselines import NOTHING_LEARNED, hop_figures, set_figures, unlearned
from kgqa.recipes.musique.split_contexts import FEW_PARAGRAPHS, SplitContexts
from kgqa.recipes.musique.splitting import spread
from kgqa.recipes.musique.tags import pipeline_version
from kgqa.recipes.musique.unasked_relations import SilentRelation
from kgqa.recipes.musique.wording import BOTH
from kgqa.recipes.values.language import language_of
from kgqa.recipes.values.stage import stages_with_values
from kgqa.recipes.values.table import one_each
from kgqa.records import SPLITS
from kgqa.runs.domain import Domain
from kgqa.runs.funnel import FunnelRow, count_list, reasons_of, removals
from kgqa.runs.stage import Run, Stage, StageOutput, settings_and_seed
from kgqa.settings.defaults import STORE
from kgqa.settings.musique import SHAPES, MusiqueSettings
from kgqa.sources.tables import frame
from kgqa.splits.cut import DROPPED
from kgqa.splits.groups import assign_splits

READERS = "readers"
"""Folder of a workspace for the filter's readers; they stay valid when thresholds change."""


def single_hop_from_graph(run: Run) -> StageOutput:
    """Facts → single_hop, paragraphs (step S1), without dates and quantities, which other recipes ask for themselves."""
    return _from_graph(run, None)


def single_hop_with_values(run: Run) -> StageOutput:
    """Facts, values → single_hop, paragraphs (step S1)."""
    factors = language_of(_settings(run).values, run.domain.settings.linking.language).factors
    return _from_graph(run, one_each(frame(run.table("values")), factors)[0])


def _from_graph(run: Run, values: pl.DataFrame | None) -> StageOutput:
    tables = run.tables("entities", "names", "relations", "facts", "documents", "mentions", "links")
    run.progress.start("Asking single-hop questions", tables["facts"].num_rows, "facts")
    name = run.domain.settings.name
    single_hop, paragraphs, statements, funnel, silent = graph_questions(tables, _settings(run), source=name, seed=run.seed, values=values)
    run.progress.advance(tables["facts"].num_rows)
    return _single_hop(run, single_hop, paragraphs, REFUSED.empty_table(), funnel, statements, silent)


def single_hop_from_sets(run: Run) -> StageOutput:
    """Question sets → single_hop, paragraphs (step S1)."""
    run.progress.start("Reading single-hop questions", None, "questions")
    sets = [open_dataset(path) for path in run.sets]
    single_hop, paragraphs, refusals, funnel = set_questions(sets, _settings(run).single_hop, advance=run.progress.advance)
    return _single_hop(run, single_hop, paragraphs, refusals, funnel, STATED.empty_table())


def _single_hop(
    run: Run, single_hop: pa.Table, paragraphs: pa.Table, refusals: pa.Table, funnel: list[FunnelRow], statements: pa.Table,
    silent: Sequence[SilentRelation] = (),
) -> StageOutput:  # fmt: skip
    tables = {"single_hop": single_hop, "refused_single_hop": refusals, "paragraphs": paragraphs}
    single_hop, refusals = drop_unanswered(tables, funnel, _settings(run).single_hop.readers, run.progress)
    single_hop, paragraphs = _used_paragraphs(single_hop, paragraphs, statements)
    if not single_hop.num_rows:
        raise EmptyResult(f"no single-hop question qualifies: {reasons_of(funnel)}; provide others, or change [musique.single_hop].")
    note = f"{single_hop.num_rows:,} questions on {paragraphs.num_rows:,} paragraphs"
    report = {"questions": single_hop.num_rows, "paragraphs": paragraphs.num_rows, "silent": [asdict(relation) for relation in silent]}
    tables = {"single_hop": single_hop, "paragraphs": paragraphs, "refused_single_hop": refusals, "stated": statements}
    return StageOutput(tables=tables, funnel=funnel, report=report, note=note)


def _used_paragraphs(single_hop: pa.Table, paragraphs: pa.Table, statements: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Drop the paragraphs of refused questions: each distractor must support a good question or rival an answer."""
    supports = single_hop["paragraph"].to_numpy()
    rivals = np.flatnonzero(pc.is_in(paragraphs["id"], pc.unique(statements["paragraph"])).to_numpy()) if len(statements) else supports[:0]
    rows = np.union1d(supports, rivals)
    place = single_hop.schema.get_field_index("paragraph")
    questions = single_hop.set_column(place, single_hop.schema.field(place), pa.array(np.searchsorted(rows, supports).astype(np.int32)))
    return questions, paragraphs.take(rows)


def find_pairs(run: Run) -> StageOutput:
    """single_hop → pairs (step S2)."""
    tables = run.tables("single_hop", "paragraphs")
    run.progress.start("Finding composable pairs", tables["single_hop"].num_rows, "questions")
    settings = _settings(run)
    pairs, funnel = composable_pairs(
        tables["single_hop"], tables["paragraphs"], settings.pairs, settings.shapes, seed=run.seed,
        ask=InStore(run).pairs if run.traversal == "cypher" else None,
    )  # fmt: skip
    if not pairs.num_rows:
        reasons = reasons_of(funnel, none="none names the answer to another one")
        raise EmptyResult(f"no two questions can be composed: {reasons}; provide more questions, or change [musique.pairs].")
    if run.limit is not None and pairs.num_rows > run.limit:
        pairs = _limited(pairs, tables["single_hop"], run.limit, run.seed)
        reason = "only so many pairs are wanted for a try (--limit)"
        funnel.append(FunnelRow(stage="pairs", what="pairs", reason=reason, removed=(funnel[-1].left or 0) - len(pairs), left=len(pairs)))
    return StageOutput(tables={"pairs": pairs}, funnel=funnel, report={"pairs": pairs.num_rows}, note=f"{pairs.num_rows:,} pairs")


def _limited(pairs: pa.Table, single_hop: pa.Table, limit: int, seed: int) -> pa.Table:
    """The first pairs by bridges in random order, so that the remaining pairs still form chains."""
    table = frame(pairs).with_row_index("row")
    ids = text_hashes(single_hop["id"])[pairs["head"].to_numpy()]
    draw = shuffling(ids & np.uint64(0), pairs["bridge"].to_numpy(), purpose="bridges of a try", seed=seed)
    rows = table.with_columns(draw=pl.Series(draw)).sort("draw", "row").head(limit)["row"].sort()
    return pairs.take(rows.to_arrow())


def filter_pairs(run: Run) -> StageOutput:
    """pairs → connected, judged_heads, judged_tails (step S3)."""
    settings = _settings(run).disconnection
    tables = run.tables("single_hop", "paragraphs", "stated", "pairs")
    if settings.use == "none":
        row = FunnelRow(
            stage="disconnection", what="pairs", reason="all pairs stay, as no filter is used", removed=0, left=tables["pairs"].num_rows,
            setting="musique.disconnection.use",
        )  # fmt: skip
        return StageOutput(tables={"connected": tables["pairs"]}, funnel=[row], report={"filter": "none"}, note="not filtered")
    if not can_judge(tables["pairs"]):
        row = FunnelRow(
            stage="disconnection", what="pairs", setting="musique.disconnection",
            reason=f"the {tables['pairs'].num_rows:,} pairs have too few different questions to fit the filter's readers, so nothing is "
            "filtered; provide more documents and facts",
        )  # fmt: skip
        return StageOutput(tables={"connected": tables["pairs"]}, funnel=[row], report={"filter": "none"}, note="too few to filter")
    judgements = judge(
        tables["pairs"], tables["single_hop"], tables["paragraphs"], settings, stated=tables["stated"],
        place=run.workspace.path / READERS, seed=run.seed, engine=run.engine, progress=run.progress,
        connection=Connection(path=run.workspace.path / FILTER_RECORDING, address=run.endpoint),
    )  # fmt: skip
    connected_pairs, funnel = connected(tables["pairs"], judgements, settings)
    if not connected_pairs.num_rows:
        raise EmptyResult(f"no pair is connected: {reasons_of(funnel)}; provide more questions, or change [musique.disconnection].")
    outputs = {"connected": connected_pairs, "judged_heads": judgements.heads.to_arrow(), "judged_tails": judgements.tails.to_arrow()}
    run.progress.start("Comparing pairs before and after the filter", None, "pairs")
    sides = {
        name: two_hops(
            side_pairs,
            tables["single_hop"],
            tables["paragraphs"],
            count=min(connected_pairs.num_rows, MOST),
            seed=run.seed,
            engine=run.engine,
        )
        for name, side_pairs in (("before", tables["pairs"]), ("after", connected_pairs))
    }
    hops = hop_figures(judgements, frame(connected_pairs), seed=run.seed)
    guess_figures = {
        "hops": hops,
        "tells_support": judgements.tells_support,
        "pairs": {side: set_figures(side_pairs, seed=run.seed) for side, side_pairs in sides.items()},
    }
    return StageOutput(
        tables=outputs,
        funnel=funnel,
        report={"filter": settings.use, "guessed": guess_figures},
        note=f"{connected_pairs.num_rows:,} connected pairs" + "".join(NOTHING_LEARNED[name] for name in unlearned(hops)),
    )


def make_chains(run: Run) -> StageOutput:
    """connected → chains (step S4)."""
    settings = _settings(run)
    tables = run.tables("single_hop", "paragraphs", "stated", "connected")
    single_hop, pairs = tables["single_hop"], tables["connected"]
    run.progress.start("Building reasoning graphs", pairs.num_rows, "pairs")
    funnel: list[FunnelRow] = []
    usable = expressible_pairs(run, tables, funnel)
    shortcuts = None
    if settings.shapes.needed:
        shortcuts = Shortcuts.of(single_hop, tables["paragraphs"], None if run.sets else run.table("facts"))
        usable = _needed_pairs(usable, needless_pairs(pairs, single_hop, shortcuts, settings.shapes.implied), "pairs", funnel)
    mentions, groups = names_and_answers(single_hop, single_hop["question"].combine_chunks())
    ask = partial(InStore(run).chains, pairs) if run.traversal == "cypher" else None
    candidates = build_chains(single_hop, pairs, usable, mentions, groups, settings.shapes, seed=run.seed, ask=ask)
    funnel.append(FunnelRow(stage="shapes", what="chains", reason="of short questions, in six shapes", left=len(candidates)))
    if shortcuts is not None:
        is_needless = needless_chains(chain_hops(candidates, pairs), shortcuts)
        candidates = candidates.filter(pa.array(_needed_pairs(np.ones(len(candidates), np.bool_), is_needless, "chains", funnel)))
    if settings.contexts.branches and BOTH in pc.unique(single_hop["kind"]).to_pylist():
        # The contexts would drop these after the splits were balanced.
        rivals = Rivals.of(single_hop, tables["paragraphs"], tables["stated"], Stating.of(single_hop, tables["paragraphs"]))
        has_rivals = ~rivals.lone(chain_hops(candidates, pairs))
        row = FunnelRow(
            stage="shapes", what="chains", reason=NO_RIVAL, removed=int((~has_rivals).sum()), left=int(has_rivals.sum()),
            setting="musique.contexts.branches",
        )  # fmt: skip
        funnel.append(row)
        candidates = candidates.filter(pa.array(has_rivals))
    choice, unkept = choose_expressible(run, candidates, tables)
    funnel += unkept
    chains = candidates.take(choice)
    if not len(chains):
        reasons = reasons_of(funnel, none="all questions of a pair, or of more, are too long together")
        raise EmptyResult(f"no reasoning graph can be built: {reasons}; change {_worst(funnel)}, or give more questions.")
    counts = Counter(SHAPES[number] for number in chains["shape"].to_pylist())
    note = ", ".join(f"{name} {counts[name]:,}" for name in SHAPES if counts[name])
    return StageOutput(tables={"chains": chains}, funnel=funnel, report={"shapes": dict(counts)}, note=note)


def _needed_pairs(
    mask: npt.NDArray[np.bool_], needless: Mapping[str, npt.NDArray[np.bool_]], unit: str, funnel: list[FunnelRow]
) -> npt.NDArray[np.bool_]:
    """Those of ``mask`` that no reason speaks against; each reason has its row."""
    entering, counts = int(mask.sum()), {}
    for name, is_needless in needless.items():
        counts[NEEDLESS[name]] = int((mask & is_needless).sum())
        mask = mask & ~is_needless
    settings = {NEEDLESS[name]: f"musique.shapes.{'implied' if name == 'implied' else 'needed'}" for name in needless}
    funnel += removals("shapes", unit, counts, entering=entering, settings=settings)
    return mask


def _worst(funnel: list[FunnelRow]) -> str:
    """The setting that removed most."""
    rows = [row for row in funnel if row.removed and row.setting]
    return max(rows, key=lambda row: row.removed or 0).setting if rows else "musique.shapes.max_tokens"


def split_chains(run: Run) -> StageOutput:
    """chains → parted (``chain``, ``split``), without chains that would leak (step S5)."""
    settings = _settings(run).split
    tables = run.tables("single_hop", "paragraphs", "connected", "chains")
    chains = tables["chains"]
    run.progress.start("Splitting", len(chains), "chains")
    hops = chain_hops(chains, tables["connected"])
    shares = (settings.train, settings.dev, settings.test)
    chain_features = features(Chains(chains, tables["connected"], tables["single_hop"], tables["paragraphs"]))
    if settings.leak_free:
        items = shared_items(hops, tables["single_hop"])
        split = spread(items, shares, chain_features, chains["shape"].to_numpy(), seed=run.seed).split
    else:
        split = assign_splits(pa.array([str(draw) for draw in chains["draw"].to_pylist()]), shares, seed=run.seed)
    leak_count = int((split == DROPPED).sum())
    exclusions = excluded_chains(split, chains["draw"].to_numpy(), chain_features, settings)
    split[list(exclusions)] = DROPPED
    split_rows = np.flatnonzero(split != DROPPED)
    reason = "some of it is shared with another split" if settings.leak_free else "split at random: splits share questions and answers"
    frequency = Counter(exclusions.values())
    drops = {reason: leak_count, **{sentence: frequency[name] for name, sentence in UNEVEN.items()}}
    setting_of = {reason: "musique.split.leak_free"}
    setting_of |= {sentence: f"musique.split.{UNEVEN_SETTINGS[name]}" for name, sentence in UNEVEN.items()}
    rows = removals("split", "chains", drops, entering=len(chains), settings=setting_of)
    counts = {name: int((split == number).sum()) for number, name in enumerate(SPLITS)}
    split_table = pa.table({"chain": pa.array(split_rows.astype(np.int32)), "split": pa.array(split[split_rows])})
    excluded_rows = sorted(exclusions)
    left_out = pa.table(
        {"chain": pa.array(excluded_rows, pa.int32()), "reason": pa.array([UNEVEN[exclusions[row]] for row in excluded_rows], pa.string())}
    )
    return StageOutput(
        tables={"parted": split_table, "capped": left_out},
        funnel=rows,
        report={"split": counts, "leaking": leak_count},
        note=count_list(counts),
    )


def show_paragraphs(run: Run) -> StageOutput:
    """parted → contexts (``chain``, ``paragraphs``) (step S6)."""
    settings = _settings(run).contexts
    tables = run.tables("single_hop", "paragraphs", "stated", "connected", "chains", "parted")
    single_hop, paragraphs = tables["single_hop"], tables["paragraphs"]
    chain_rows = tables["parted"]["chain"].combine_chunks()
    shown_chains = tables["chains"].take(chain_rows)
    run.progress.start("Building contexts", len(shown_chains), "questions")
    chains = Chains(shown_chains, tables["connected"], single_hop, paragraphs)
    stating = Stating.of(single_hop, paragraphs)
    showing = SplitContexts(
        queries=masked_texts(single_hop, tables["connected"], chains.hops, chains.edges), hops=chains.hops,
        ids=shown_chains["draw"].to_numpy(), split=tables["parted"]["split"].to_numpy(), features=features(chains),
        single_hop=single_hop, paragraphs=paragraphs, stating=stating,
        rivals=Rivals.of(single_hop, paragraphs, tables["stated"], stating), settings=settings, seed=run.seed, engine=run.engine,
    )  # fmt: skip
    funnel: list[FunnelRow] = []
    for count in _context_sizes(settings.paragraphs, chains.hops.shape[1]):
        paragraph_rows = showing.contexts(count, run.progress.advance if count == settings.paragraphs else lambda _: None)
        is_complete = np.asarray((paragraph_rows >= 0).all(axis=1))
        if 2 * is_complete.sum() >= len(is_complete):
            break
    if not is_complete.any():
        raise EmptyResult(
            f"there are too few paragraphs to show {count} with a question ({len(paragraphs):,} in all); provide more documents or "
            "questions."
        )
    if count < settings.paragraphs:
        reason = (
            f"the pool has {len(paragraphs):,} paragraphs, too few to show {settings.paragraphs} with a question, so "
            f"each shows {count}; provide more documents for harder contexts"
        )
        setting = "musique.contexts.paragraphs"
        funnel.append(FunnelRow(stage="contexts", what="chains", reason=reason, setting=setting))
    lacks_rival = is_complete & showing.lacking(paragraph_rows) & settings.branches
    drops = {FEW_PARAGRAPHS: int((~is_complete).sum()), NO_RIVAL: int(lacks_rival.sum())}
    setting_of = {FEW_PARAGRAPHS: "musique.contexts.paragraphs", NO_RIVAL: "musique.contexts.branches"}
    funnel += removals("contexts", "chains", drops, entering=len(is_complete), settings=setting_of)
    complete = is_complete & ~lacks_rival
    if not complete.any():
        raise EmptyResult(
            f"no question has a complete context: {reasons_of(funnel)}; provide more documents, or change [musique.contexts]."
        )
    contexts = pa.table(
        {"chain": chain_rows.filter(pa.array(complete)), "paragraphs": pa.array(list(paragraph_rows[complete]), pa.list_(pa.int32()))}
    )
    unshown_chains = pa.table({"chain": chain_rows.filter(pa.array(lacks_rival))})
    return StageOutput(tables={"contexts": contexts, "unshown": unshown_chains}, funnel=funnel, note=f"{int(complete.sum()):,} contexts")


def _context_sizes(largest: int, hops: int) -> list[int]:
    """Context sizes to try: ``largest`` first, then a quarter fewer each time, down to one more than a chain needs."""
    sizes = [largest]
    while sizes[-1] > hops + 1:
        sizes.append(max(hops + 1, 3 * sizes[-1] // 4))
    return sizes


def _settings(run: Run) -> MusiqueSettings:
    return run.section(MusiqueSettings)


_only = partial(settings_and_seed, MusiqueSettings)


def _with_readers(*names: str) -> Callable[[Run], object]:
    """The settings, and the content hashes of the trained readers that they name."""
    return lambda run: [_only(*names)(run), *map(reader_hashes, _settings(run).single_hop.readers)]


def _tagger(run: Run) -> list[object]:
    """The version of the spaCy pipeline that the settings name."""
    name = _settings(run).pairs.spacy
    return [pipeline_version(name)] if name else []


def _judges(run: Run) -> list[object]:
    """The filter's settings, and the identities of its readers: what requests may cost and how they are sent does not count."""
    settings = _settings(run).disconnection
    plain = _settings(run).model_dump(mode="json", include={"disconnection": set(type(settings).model_fields) - {"llm"}})
    return [[plain, run.seed], *(identity(reader) for reader in readers_of(settings).values())]


def _lengths(run: Run) -> object:
    return _settings(run).shapes.model_dump(mode="json", include={"max_tokens", "max_tokens_short", "max_tokens_long"})


def _searched(depends_on: Callable[[Run], object]) -> Callable[[Run], object]:
    """The settings and the search method: all methods find the same, but changing it must run the stage again."""
    return lambda run: depends_on(run) if run.traversal == "kernel" else [depends_on(run), run.store, asked_texts()]


UNWRITTEN = "show_paragraphs"
"""The last stage that needs no composer."""
COMPOSITION = (
    Stage(
        name="find_pairs",
        version=3,
        doing="Finding composable pairs",
        depends_on=_searched(lambda run: [_only("pairs")(run), _lengths(run), run.limit, *_tagger(run)]),
        run=find_pairs,
    ),
    Stage(
        name="filter_pairs",
        version=4,
        doing="Filtering disconnected pairs",
        depends_on=_judges,
        run=filter_pairs,
    ),
    Stage(
        name="make_chains",
        version=6,
        doing="Building reasoning graphs",
        depends_on=_searched(
            lambda run: [
                _only("shapes")(run),
                _settings(run).composition.model_dump(include={"composer", "max_words", "max_clauses"}),
                _settings(run).contexts.branches,
            ]
        ),
        run=make_chains,
    ),
    Stage(name="split_chains", version=10, doing="Splitting", depends_on=_only("split"), run=split_chains),
    Stage(name=UNWRITTEN, version=4, doing="Building contexts", depends_on=_only("contexts"), run=show_paragraphs),
    Stage(name="compose_questions", version=4, doing="Composing", depends_on=depends_on, run=compose_questions, outside=was_changed),
)


def _in_workspace(stage: Stage) -> Stage:
    """The stage with the embedded store; a run's other store is for its questions, since a database holds one graph."""
    return replace(
        stage,
        depends_on=lambda run: stage.depends_on(replace(run, store=STORE)),
        run=lambda run: stage.run(replace(run, store=STORE)),
        outside=lambda run: stage.outside(replace(run, store=STORE)),
    )


SINGLE_HOP = Stage(
    name="single_hop",
    version=13,
    doing="Asking single-hop questions",
    depends_on=_with_readers("templates", "forms", "neutral", "unasked", "single_hop", "contexts"),
    run=single_hop_from_graph,
)
FROM_GRAPH = (
    *map(_in_workspace, stages_with_values(lambda run: _settings(run).values)),
    replace(SINGLE_HOP, version=SINGLE_HOP.version + 1, run=single_hop_with_values),
    *COMPOSITION,
)
FROM_SETS = (
    Stage(
        name="single_hop", version=5, doing="Reading single-hop questions", depends_on=_with_readers("single_hop"), run=single_hop_from_sets
    ),
    *COMPOSITION,
)


def asked_queries(domain: Domain, traversal: str) -> list[str]:
    """Empty: the searches are over the questions, not over the graph of documents."""
    return []

"""Which two single-hop questions can be composed: the answer to the first is an entity that the second one names (step S2).

pairs   ``head``, ``tail`` (rows of ``single_hop``), ``bridge`` (number of the answer that joins them), ``start``, ``end`` (of its name in
        the tail's question, in characters), ``slot`` (which of the tail's ``entities`` it is, -1 where nobody says); sorted by tail,
        start, head
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, paired
from kgqa.arrays.texts import text_buffers
from kgqa.recipes.musique.mentions import Mentions, find_names
from kgqa.recipes.musique.pool import tokens_of
from kgqa.recipes.musique.wording import ASKED
from kgqa.recipes.names.kinds import END, Kind, answer_kinds, split_title, title_kinds
from kgqa.records import Paragraph
from kgqa.retrieval.bm25 import Bm25
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.musique import PairSettings, ShapeSettings
from kgqa.sources.tables import arrow, frame

PAIRS = pa.schema([(name, pa.int32()) for name in ("head", "tail", "bridge", "start", "end", "slot")])
STAGE = "pairs"
ARTICLE = len("the ")
CONDITIONS = {
    "raw": "the second question names the answer to the first",
    "long": "one of the questions has too many words",
    "entity": "the answer is no named entity: a number, a date, a phrase, an adjective, or a word that texts write small",
    "whole": "the name is a part of a longer one",
    "many": "more questions than are paired have this answer, or name it; or both together are too long",
    "itself": "both are one question",
    "paragraph": "both questions have one paragraph",
    "circle": "the first question names the answer to the second",
    "given": "both questions are about one entity, so that the first tells little that the second does not",
    "linked": "the answer and the name are different entities of the graph",
    "type": "the answer and the name are of different types",
    "search": "a search for the answer and one for the name have different first results",
}
"""What a pair must not be → the sentence that reports show; the first is what pairs begin with."""
BEFORE_NAME = frozenset({"a", "an", "the", "each", "every", "any", "no", "this", "that", "his", "her", "its", "their", "most"})
AFTER_NAMES = END | {
    "had",
    "has",
    "have",
    "then",
    "also",
    "not",
    "would",
    "could",
    "did",
    "does",
    "after",
    "before",
    "until",
    "since",
    "when",
}
"""Words that follow a name and no adjective."""
MODIFIER_SHARE = 0.6
"""What stands before a noun in this share of its places, or what looks like one, is an adjective."""
_CAPITAL = re.compile(r"[^\W\d_]")
Bools = npt.NDArray[np.bool_]


def composable_pairs(
    single_hop: pa.Table,
    paragraphs: pa.Table,
    settings: PairSettings,
    lengths: ShapeSettings,
    *,
    seed: int,
    ask: Callable[[Sides], pl.DataFrame] | None = None,
) -> tuple[pa.Table, list[FunnelRow]]:
    """``pairs`` and the funnel of the conditions. O(questions and pairs): no question is compared with all others.

    What is too long for any chain (``lengths``) is left out at once, so that no reader has to judge it. ``ask`` finds the pairs elsewhere:
    ``head``, ``tail``, ``bridge``, ``start``, ``end``, and as ``fault`` the first of ``KNOWN`` that speaks against one, else an empty text.
    """
    sides = Sides.of(single_hop, paragraphs, settings, lengths, seed=seed)
    rows, left = _counted(sides)
    found = _joined(sides, settings, lengths) if ask is None else ask(sides)
    pairs = found.sort("tail", "start", "head", "bridge").unique(["head", "tail"], keep="first", maintain_order=True)
    rows.append(_row("many", left - pairs.height, pairs.height, "musique.pairs.max_heads"))
    pairs = _without_faults(pairs, sides.work, rows) if ask is None else _without_known(pairs, single_hop, rows)
    pairs = _filtered(pairs, same_type(pairs, single_hop, paragraphs), "type", rows)
    pairs = _filtered(pairs, same_search_result(pairs, single_hop, paragraphs), "search", rows)
    return arrow(pairs.select(PAIRS.names)).cast(PAIRS), rows


KNOWN = ("itself", "paragraph", "circle", "linked", "given")
"""Those of ``CONDITIONS`` that a graph of the questions knows, in order."""


def _without_faults(pairs: pl.DataFrame, work: _Work, rows: list[FunnelRow]) -> pl.DataFrame:
    for name, kept in (("itself", _different), ("paragraph", _two_paragraphs), ("circle", _no_circle)):
        pairs = _filtered(pairs, kept(pairs, work), name, rows)
    pairs, kept_linked = _linked(pairs, work.single_hop)
    pairs = _filtered(pairs, kept_linked, "linked", rows)
    return _filtered(pairs, _two_subjects(pairs, work.single_hop), "given", rows)


def _without_known(pairs: pl.DataFrame, single_hop: pa.Table, rows: list[FunnelRow]) -> pl.DataFrame:
    """The same for pairs whose faults are known."""
    for name in KNOWN:
        pairs = _filtered(pairs, (pairs["fault"] != name).to_numpy(), name, rows)
    return _linked(pairs.drop("fault"), single_hop)[0]


@dataclass(frozen=True, slots=True)
class _Work:
    """The pool, and which of its questions name which answers."""

    single_hop: pa.Table
    mentions: Mentions
    group_of_question: npt.NDArray[np.int32]
    """For each question the group of its answer; -1 where it has no word."""
    groups: npt.NDArray[np.int32]
    """The groups of all names of the answers; ``owners`` are their questions."""
    owners: npt.NDArray[np.int32]

    @classmethod
    def of(cls, single_hop: pa.Table) -> _Work:
        names, owners = answer_names(single_hop)
        mentions, groups = find_names(names, single_hop["question"].combine_chunks())
        return cls(single_hop, mentions, groups[: len(single_hop)], groups, owners)


def answer_names(single_hop: pa.Table) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """All names of the answers and the question of each: first every question's answer; of entities of a graph then their other names.

    What a set lists as further answers are other spans for the same, which need not name it.
    """
    answers = single_hop["answer"].combine_chunks()
    is_entity = pc.and_(pc.is_valid(single_hop["answer_entity"]), pc.not_equal(single_hop["kind"], ASKED))
    rows = np.flatnonzero(is_entity.to_numpy()).astype(np.int32)
    lists = single_hop["aliases"].combine_chunks().take(pa.array(rows))
    owners = rows[lists.value_parent_indices().to_numpy()] if len(rows) else np.zeros(0, np.int32)
    return pa.concat_arrays([answers, lists.flatten()]), np.concatenate([np.arange(len(answers), dtype=np.int32), owners])


def _row(reason: str, removed: int, left: int, setting: str = "") -> FunnelRow:
    return FunnelRow(stage=STAGE, what="pairs", reason=CONDITIONS[reason], removed=removed, left=left, setting=setting)


def _filtered(pairs: pl.DataFrame, kept: Bools, reason: str, rows: list[FunnelRow]) -> pl.DataFrame:
    rows.append(_row(reason, int((~kept).sum()), int(kept.sum())))
    return pairs.filter(pl.Series(kept, dtype=pl.Boolean))


def entity_answers(single_hop: pa.Table, paragraphs: pa.Table, settings: PairSettings) -> Bools:
    """For each question whether its answer is a named entity."""
    answers = single_hop["answer"].combine_chunks()
    written = _name_like(answers, paragraphs["text"], settings.capital_share)
    kinds = [kind == ASKED for kind in single_hop["kind"].to_pylist()]
    texts, titles = paragraphs["text"].to_pylist(), paragraphs["title"].to_pylist()
    own = single_hop["paragraph"].to_pylist()
    found = np.zeros(len(answers), np.bool_)
    for row, (answer, asked, question) in enumerate(zip(answers.to_pylist(), kinds, single_hop["question"].to_pylist(), strict=True)):
        capital = next((letter.group().isupper() for letter in _CAPITAL.finditer(answer)), False)
        if settings.capital_share and not (capital and written[row]):
            continue
        found[row] = not asked or _is_entity(answer_kinds(question, answer, [_shown(titles[own[row]], texts[own[row]])]), answer)
    return found


def _shown(title: str, text: str) -> Paragraph:
    return Paragraph(id="", title=title, text=text, supporting=None)


def _is_entity(kinds: list[Kind], answer: str) -> bool:
    """What figures, phrases and adjectives are not; a name of which nothing is known is one if it has no small content word."""
    if kinds:
        return kinds[0][0] not in {"figures", "phrase"}
    words = answer.split()
    return not any(word[0].isdigit() for word in words) and not any(word[0].islower() and len(word) > 3 for word in words)


def _name_like(names: pa.Array, texts: pa.ChunkedArray, capital_share: float) -> Bools:
    """For each name whether the texts write it as one: with a capital, and not before nouns, as an adjective ("the French army").

    Of the places that begin a text or a sentence the capital is not counted; names that stand nowhere else are taken for names.
    """
    places, group = find_names(names, texts.combine_chunks())
    size = int(group.max(initial=-1)) + 1
    if not size:
        return np.zeros(len(names), np.bool_)
    data, offsets = text_buffers(texts)
    last = len(data) - 1
    at = offsets[places.text] + places.start
    before = np.where(places.start > 1, data[np.maximum(at - 2, 0)], np.uint8(ord(".")))
    inner = ~np.isin(before, np.frombuffer(b'.?!:"', np.uint8))
    small = _is_small(data[np.minimum(at, last)])
    seen = np.bincount(places.name[inner], minlength=size)
    capital = np.bincount(places.name[inner & ~small], minlength=size)
    words, _ = find_names(pa.array(sorted(AFTER_NAMES)), texts.combine_chunks())
    ends = places.end + 1
    follows = _is_small(data[np.minimum(offsets[places.text] + ends, last)]) & (
        data[np.minimum(ends - 1 + offsets[places.text], last)] == ord(" ")
    )
    known = np.isin(paired(places.text, ends), paired(words.text, words.start))
    every = np.bincount(places.name, minlength=size)
    modifies = np.bincount(places.name[follows & ~known], minlength=size)
    as_name = (seen == 0) | (capital >= capital_share * seen)
    as_noun = (every < 3) | (modifies < MODIFIER_SHARE * every)
    found: Bools = (group >= 0) & (as_name & as_noun)[np.maximum(group, 0)]
    return found


def _is_small(letters: npt.NDArray[np.uint8]) -> Bools:
    return (letters >= ord("a")) & (letters <= ord("z"))


@dataclass(frozen=True, slots=True)
class Sides:
    """Which questions have which answers, and which name them, before both are joined to pairs.

    ``turn`` is the place among the questions with the answer, or among those that name it: first those that can be in a pair, as drawn.
    """

    work: _Work
    tokens: npt.NDArray[np.int32]
    """Words of each question."""
    is_entity: Bools
    """For each question whether its answer is a named entity."""
    heads: pl.DataFrame
    """``head``, ``group`` (the answer), ``short``, ``entity`` (and short), ``turn``."""
    tails: pl.DataFrame
    """``tail``, ``group``, ``start``, ``end``, ``alone`` (no part of a longer name), ``short``, ``whole`` (alone and short), ``turn``."""

    @classmethod
    def of(cls, single_hop: pa.Table, paragraphs: pa.Table, settings: PairSettings, lengths: ShapeSettings, *, seed: int) -> Sides:
        """Look for all answers in all questions, once. O(bytes)."""
        work, tokens = _Work.of(single_hop), tokens_of(single_hop)
        is_entity = entity_answers(single_hop, paragraphs, settings)
        short = pl.Series(tokens <= lengths.max_tokens)
        heads = pl.DataFrame({"head": work.owners, "group": work.groups}).filter(pl.col("group") >= 0).unique()
        heads = heads.with_columns(short=short.gather(heads["head"]))
        heads = heads.with_columns(entity=pl.col("short") & pl.Series(is_entity).gather(heads["head"]))
        named = work.mentions
        start, end = _characters(single_hop["question"], named)
        alone = ~named.inside & _stands_alone(named, single_hop["question"])
        tails = pl.DataFrame({"tail": named.text, "group": named.name, "start": start, "end": end, "alone": alone})
        tails = tails.sort("tail", "group", ~pl.col("alone"), "start").unique(["tail", "group"], keep="first", maintain_order=True)
        tails = tails.with_columns(short=short.gather(tails["tail"]))
        tails = tails.with_columns(whole=pl.col("short") & pl.col("alone"))
        heads, tails = _drawn(heads, "head", "entity", single_hop, seed), _drawn(tails, "tail", "whole", single_hop, seed)
        return cls(work=work, tokens=tokens, is_entity=is_entity, heads=heads, tails=tails)


def _counted(sides: Sides) -> tuple[list[FunnelRow], int]:
    """The funnel of what is known of each side by itself, and how many pairs it leaves: they are counted without being made."""
    left = _products(sides.heads, sides.tails, None, None)
    rows = [FunnelRow(stage=STAGE, what="pairs", reason=CONDITIONS["raw"], removed=None, left=left)]
    for reason, head, tail, setting in (
        ("long", "short", "short", "musique.shapes.max_tokens"),
        ("entity", "entity", "short", "musique.pairs.capital_share"),
        ("whole", "entity", "whole", ""),
    ):
        fewer = _products(sides.heads, sides.tails, head, tail)
        rows.append(_row(reason, left - fewer, fewer, setting))
        left = fewer
    return rows, left


def _joined(sides: Sides, settings: PairSettings, lengths: ShapeSettings) -> pl.DataFrame:
    """Heads and tails over each bridge, those of common ones drawn."""
    heads = sides.heads.filter(pl.col("entity") & (pl.col("turn") < settings.max_heads))
    tails = sides.tails.filter(pl.col("whole") & (pl.col("turn") < settings.max_tails))
    pairs = heads.join(tails, on="group")
    tokens = pl.Series(sides.tokens)
    pairs = pairs.filter(tokens.gather(pairs["head"]) + tokens.gather(pairs["tail"]) <= most_tokens(lengths))
    return pairs.select("head", "tail", "start", "end", bridge="group")


def most_tokens(lengths: ShapeSettings) -> int:
    """Words that two questions can have together in any shape."""
    return max(lengths.max_tokens_short, lengths.max_tokens_long)


def _products(heads: pl.DataFrame, tails: pl.DataFrame, head: str | None, tail: str | None) -> int:
    """How many pairs of a head and a tail over one bridge there are, of those for which the columns hold."""
    ones = heads.filter(head) if head else heads
    others = tails.filter(tail) if tail else tails
    return int(
        ones.group_by("group")
        .len("ones")
        .join(others.group_by("group").len("others"), on="group")
        .select(pl.col("ones") * pl.col("others"))
        .sum()
        .item()
    )


def _drawn(table: pl.DataFrame, column: str, first: str, single_hop: pa.Table, seed: int) -> pl.DataFrame:
    """Adds ``turn``: the place in the group, those for which ``first`` holds before the others, as drawn by the question's id."""
    ids = text_hashes(single_hop["id"])[table[column].to_numpy()]
    draws = shuffling(ids, table["group"].to_numpy(), purpose=f"{column}s of a bridge", seed=seed)
    ordered = table.with_columns(drawn=pl.Series(draws)).sort("group", ~pl.col(first), "drawn", column)
    return ordered.with_columns(turn=pl.int_range(pl.len()).over("group")).drop("drawn")


def _stands_alone(named: Mentions, questions: pa.ChunkedArray) -> Bools:
    """Whether no capital letter or figure goes on before or after the name, nor a hyphen; in a question without capitals nobody knows."""
    data, offsets = text_buffers(questions)
    begin, end = offsets[named.text], offsets[named.text + 1]
    start, stop = begin + named.start, begin + named.end
    joined = np.frombuffer(b"-&/", np.uint8)
    after = data[np.minimum(stop, len(data) - 1)]
    then = data[np.minimum(stop + 1, len(data) - 1)]
    left = data[np.maximum(start - 1, 0)]
    alone = ~((stop < end) & np.isin(after, joined)) & ~((start > begin) & np.isin(left, joined))
    goes_on = (
        (stop + 1 < end) & (after == ord(" ")) & (((then >= ord("A")) & (then <= ord("Z"))) | ((then >= ord("0")) & (then <= ord("9"))))
    )
    found: Bools = alone & ~goes_on & ~_name_before(data, begin, start)
    return found


@kernel
def _name_before(data, begin, start):  # type: ignore[no-untyped-def]
    """Whether the word before begins with a capital and is not the question's first."""
    found = np.zeros(len(start), np.bool_)
    for i in range(len(start)):
        at = start[i] - 2
        if at < begin[i] or data[start[i] - 1] != 32:
            continue
        while at > begin[i] and data[at - 1] != 32:
            at -= 1
        found[i] = at > begin[i] and 65 <= data[at] <= 90
    return found


def _characters(texts: pa.ChunkedArray, places: Mentions) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Starts and ends in characters."""
    data, offsets = text_buffers(texts)
    leads = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])
    base = leads[offsets[places.text]]
    start, end = offsets[places.text] + places.start, offsets[places.text] + places.end
    return (leads[start] - base).astype(np.int32), (leads[end] - base).astype(np.int32)


def _different(pairs: pl.DataFrame, work: _Work) -> Bools:
    return (pairs["head"] != pairs["tail"]).to_numpy()


def _two_paragraphs(pairs: pl.DataFrame, work: _Work) -> Bools:
    own = work.single_hop["paragraph"].to_numpy()
    return own[pairs["head"].to_numpy()] != own[pairs["tail"].to_numpy()]  # type: ignore[no-any-return]


def names_and_answers(single_hop: pa.Table) -> tuple[Adjacency, Adjacency]:
    """Question → the groups of names that it names, and question → those of its answer."""
    names, owners = answer_names(single_hop)
    mentions, groups = find_names(names, single_hop["question"].combine_chunks())
    known = groups >= 0
    return (
        Adjacency.from_pairs(mentions.text, mentions.name, len(single_hop)),
        Adjacency.from_pairs(owners[known], groups[known], len(single_hop)),
    )


def _no_circle(pairs: pl.DataFrame, work: _Work) -> Bools:
    """Neither any name of the second answer in the first question, nor one answer to both."""
    said = paired(work.mentions.text, work.mentions.name)
    said.sort()
    of = Adjacency.from_pairs(work.owners[work.groups >= 0], work.groups[work.groups >= 0], len(work.single_hop))
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    names = of.take(tail)
    asked = np.repeat(head, names.counts())
    named = np.isin(paired(asked, names.targets), said)
    bad = np.zeros(len(head), np.bool_)
    bad[names.sources()[named]] = True
    group = work.group_of_question
    found: Bools = ~bad & (group[head] != group[tail])
    return found


def _linked(pairs: pl.DataFrame, single_hop: pa.Table) -> tuple[pl.DataFrame, Bools]:
    """Adds ``slot``; a pair stays if one of the tail's entities is the head's answer, or where nobody knows one of them.

    Where they are known, the place becomes that of the whole name, its article included.
    """
    pool = (
        frame(single_hop.select(["question", "answer_entity", "entities", "names"]))
        .with_row_index("row")
        .with_columns(pl.col("row").cast(pl.Int32))
    )
    asked = pool.filter(pl.col("entities").list.len() > 0)
    slots = asked.select("question", "entities", "names", tail="row").explode("entities", "names")
    slots = slots.with_columns(slot=pl.int_range(pl.len(), dtype=pl.Int32).over("tail")).rename({"entities": "entity", "names": "name"})
    rows = pairs.with_row_index("pair").join(pool.select(head="row", entity="answer_entity"), on="head", maintain_order="left")
    known = rows["entity"].is_not_null() & rows["tail"].is_in(asked["row"].implode())
    found = rows.filter(known).join(slots, on=["tail", "entity"]).unique("pair", keep="first", maintain_order=True)
    told = found.select("question", "name", "start").unique(maintain_order=True)
    begins = [question.find(name, max(0, start - ARTICLE)) for question, name, start in told.iter_rows()]
    told = told.with_columns(begin=pl.Series(begins, dtype=pl.Int32), length=pl.col("name").str.len_chars().cast(pl.Int32))
    found = found.join(told, on=["question", "name", "start"]).select("pair", "slot", "begin", "length")
    both = rows.join(found, on="pair", how="left", maintain_order="left")
    kept: Bools = (~known | both["slot"].is_not_null()).to_numpy()
    placed = both.with_columns(
        slot=pl.col("slot").fill_null(-1),
        start=pl.coalesce("begin", "start"),
        end=pl.coalesce(pl.col("begin") + pl.col("length"), "end"),
    )
    return placed.select("head", "tail", "start", "end", "bridge", "slot"), kept


def _two_subjects(pairs: pl.DataFrame, single_hop: pa.Table) -> Bools:
    """Whether no entity of the graph is asked about in both questions."""
    entities = frame(single_hop.select(["entities"])).with_row_index("row").explode("entities").drop_nulls()
    entities = entities.with_columns(pl.col("row").cast(pl.Int32))
    rows = pairs.select("head", "tail").with_row_index("pair")
    ones = rows.join(entities.rename({"row": "head"}), on="head")
    both = ones.join(entities.rename({"row": "tail"}), on=["tail", "entities"], how="semi")["pair"].unique()
    kept = np.ones(pairs.height, np.bool_)
    kept[both.to_numpy()] = False
    return kept


def same_type(pairs: pl.DataFrame, single_hop: pa.Table, paragraphs: pa.Table) -> Bools:
    """Whether nothing says that answer and name are of different types: what the head asks for, and what texts called so are about."""
    numbers: dict[str, int] = {}
    about: dict[str, int] = {}
    for title, text in zip(paragraphs["title"].to_pylist(), paragraphs["text"].to_pylist(), strict=True):
        known = title_kinds(title or "", text)
        if known and known[0][0]:
            name = split_title(title)[0].lower()
            about[name] = about.get(name, 0) | 1 << numbers.setdefault(known[0][0], len(numbers))
    asked = pc.equal(single_hop["kind"], ASKED).to_numpy()
    of_head, of_name = np.zeros(len(asked), np.int64), np.zeros(len(asked), np.int64)
    some = pairs["head"].unique().filter(pl.Series(asked).gather(pairs["head"].unique()))
    for row, values in zip(
        some.to_list(), single_hop.select(["question", "answer", "paragraph"]).take(some.to_arrow()).to_pylist(), strict=True
    ):
        of_name[row] = about.get(values["answer"].lower(), 0)
        shown = {name: paragraphs[name][values["paragraph"]].as_py() for name in ("title", "text")} if of_name[row] else None
        told = answer_kinds(values["question"], values["answer"], [_shown(shown["title"], shown["text"])]) if shown else []
        of_head[row] = next((1 << numbers[kind[0]] for kind in told if len(kind) > 1 and kind[0] in numbers), 0)
    heads = pairs["head"].to_numpy()
    kept: Bools = (of_head[heads] == 0) | (of_name[heads] == 0) | ((of_head[heads] & of_name[heads]) != 0)
    return kept


def same_search_result(pairs: pl.DataFrame, single_hop: pa.Table, paragraphs: pa.Table) -> Bools:
    """Whether answer and name, each searched with its own question among the texts that have the name in their title, find the same one.

    What no title or only one has can find nothing else, and entities of a graph are compared by their ids.
    """
    asked = pc.equal(single_hop["kind"], ASKED).to_numpy()
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    kept = np.ones(len(head), np.bool_)
    answers, titles = single_hop["answer"].combine_chunks(), paragraphs["title"].combine_chunks()
    found, group = find_names(answers, titles)
    titled = Adjacency.from_pairs(found.name, found.text, int(group.max(initial=-1)) + 1)
    own = group[head]
    several = (own >= 0) & (titled.counts()[np.maximum(own, 0)] > 1) if len(titled.offsets) > 1 else np.zeros(len(head), np.bool_)
    look = np.flatnonzero((asked[head] | asked[tail]) & several)
    if not len(look):
        return kept
    index = Bm25(pc.binary_join_element_wise(titles, paragraphs["text"].combine_chunks().cast(pa.string()), "\n"))
    queries = index.queries(single_hop["question"])
    names = frame(paragraphs)["title"].rank("dense").to_numpy()
    # A question is searched once for each name, however many pairs it is in.
    sides = [paired(rows[look], own[look]) for rows in (head, tail)]
    once, where = np.unique(np.concatenate(sides), return_inverse=True)
    candidates = titled.take(once & 0xFFFFFFFF)
    first = names[index.best_of(queries.take(once >> 32), candidates)]
    kept[look] = first[where[: len(look)]] == first[where[len(look) :]]
    return kept

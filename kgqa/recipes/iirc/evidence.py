"""Which sentence states a fact: the one whose words around the name are those of other texts that state facts of the relation.

A text may name the tail of a fact several times, and state the fact nowhere. The words before and after a name are compared with those of
texts that name the tail of a fact of the graph just once: for each relation, how much more frequent is the word there than at the tails of
all relations? The sum of the logarithms (naive Bayes) ranks the places of one text, and a place whose words do not speak for the relation
states nothing.
"""

from __future__ import annotations

import polars as pl

BEFORE, AFTER = 60, 30
"""Characters before and after a name whose words count."""
NEAR = 2
"""The words next to the name count as different ones from those farther away."""
FAR = 6
SMOOTHING = 20.0
"""Words at the tails of all relations that a relation gets on top of its own."""
LEARNED = 20
"""Facts of the graph that a relation needs to learn from; one with fewer has no places."""
TESTED = 200
"""Facts of the graph, in all relations, with which learning begins."""
LEAST_SEEN = 3
"""A word counts if it is in the texts of this many facts."""
WORD = r"\b\p{Ll}[\p{L}'’]*|[()]"
KEY = ["document", "entity", "relation"]


def stating_places(
    facts: pl.DataFrame, known_facts: pl.DataFrame, places: pl.DataFrame, texts: pl.DataFrame, *, least: float
) -> pl.DataFrame:
    """``document, entity, relation, start, end`` of the best place of each fact that has one with a score of ``least`` or more.

    ``facts``: ``document, entity, relation, rival``, where ``entity`` is what the document names. A fact with a ``rival``, something else
    of which the document states the same, has no place. ``known_facts`` are facts of the graph, to learn from. ``places``: ``document,
    entity, start, end``; ``texts``: ``document, text``. With few known facts nothing is learned: the first place counts, and no rival.
    O(places); memory: the words around them.
    """
    keys_of_facts = pl.concat([facts.select(KEY), known_facts.select(KEY)]).unique().sort(KEY)
    rows = keys_of_facts.join(places, on=["document", "entity"]).sort(*KEY, "start").with_row_index("row")
    lone = rows.join(known_facts.select(KEY).unique(), on=KEY, how="semi").filter(pl.len().over(KEY) == 1)
    asked_facts = facts.filter(~pl.col("rival")).select(KEY).unique()
    if lone.height < TESTED:
        first = rows.join(asked_facts, on=KEY, how="semi").unique(KEY, keep="first", maintain_order=True)
        return first.select(*KEY, "start", "end")
    words = _words(rows, texts)
    weights = _weights(words.join(lone.select("row", "relation"), on="row"))
    learned_relations = lone.group_by("relation").len().filter(pl.col("len") >= LEARNED)
    scores = words.join(rows.select("row", "relation"), on="row").join(weights, on=["relation", "word"], how="left")
    scores = scores.group_by("row").agg(score=pl.col("weight").fill_null(0.0).sum())
    candidates = rows.join(scores, on="row", how="left").join(learned_relations, on="relation", how="semi")
    candidates = candidates.with_columns(pl.col("score").fill_null(0.0).round(6)).filter(pl.col("score") >= least)
    best = candidates.sort(*KEY, -pl.col("score"), "start").unique(KEY, keep="first", maintain_order=True)
    rivals = best.join(facts.filter("rival").select(KEY).unique(), on=KEY, how="semi").select("document", "relation").unique()
    best = best.join(asked_facts, on=KEY, how="semi", maintain_order="left").join(
        rivals, on=["document", "relation"], how="anti", maintain_order="left"
    )
    return best.select(*KEY, "start", "end")


def _words(rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """``row, word``: the words around each place, marked by their side and distance; each once."""
    around = rows.join(texts, on="document", maintain_order="left")
    begin = (pl.col("start") - BEFORE).clip(lower_bound=0)
    around = around.select(
        "row",
        # A sentence ends at a full stop before a space, and what is before it does not count.
        before=pl.col("text").str.slice(begin, pl.col("start") - begin).str.replace(r"(?s)^.*[.!?\n]\s", ""),
        after=pl.col("text").str.slice("end", AFTER).str.replace(r"(?s)[.!?\n](?:\s.*)?$", ""),
    )
    parts = []
    for side in ("before", "after"):
        words = around.select("row", word=pl.col(side).str.extract_all(WORD))
        words_in_order = words.with_columns(pl.col("word").list.reverse()) if side == "before" else words
        words_in_order = words_in_order.with_columns(pl.col("word").list.head(FAR)).explode("word", empty_as_null=False).drop_nulls()
        place = pl.int_range(pl.len()).over("row")
        mark = pl.when(place < NEAR).then(pl.lit(f"{side} ")).otherwise(pl.lit(f"far {side} "))
        parts.append(words_in_order.select("row", word=mark + pl.col("word")))
    return pl.concat(parts).unique()


def _weights(words: pl.DataFrame) -> pl.DataFrame:
    """``relation, word, weight``: the logarithm of how much more frequent a word is at the tails of a relation than of any."""
    all_words = words.group_by("word").agg(seen=pl.len()).filter(pl.col("seen") >= LEAST_SEEN)
    total = words["row"].n_unique()
    counts = words.join(all_words, on="word").group_by("relation", "word").agg(count=pl.len())
    sizes = words.group_by("relation").agg(size=pl.col("row").n_unique())
    # Words that a relation never has speak against it, so each relation meets each word.
    table = sizes.join(all_words, how="cross").join(counts, on=["relation", "word"], how="left").with_columns(pl.col("count").fill_null(0))
    overall = pl.col("seen") / total
    table = table.with_columns(share=(pl.col("count") + SMOOTHING * overall) / (pl.col("size") + SMOOTHING))
    # All relations count the same, or the words of a frequent one would not speak for it.
    return table.select("relation", "word", weight=(pl.col("share") / pl.col("share").mean().over("word")).log())

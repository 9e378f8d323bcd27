"""Facts that articles state and the graph lacks: patterns of words that known facts have shown to state a relation (part of step S1).

A pattern is what stands between the beginning of a sentence about the article's subject and a name, its last words: "was born in". How
often it states a relation is counted over subjects of which the graph knows what they have (distant supervision, Mintz et al. 2009): a
fact that the graph lacks counts against a pattern, so that its precision is no less than what is counted. Whatever the language is, its
patterns are learned; only where a sentence goes on with a pronoun are its words (``SUBJECTS``) those of English.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pyarrow as pa
from scipy.stats import beta

from kgqa.arrays.rows import paired
from kgqa.arrays.sentences import sentence_starts
from kgqa.recipes.names.kinds import title_kinds
from kgqa.settings.musique import ReadingSettings
from kgqa.sources.tables import frame

SUBJECTS = ("he", "she", "it", "they")
LONGEST = 5
"""Words of a pattern at most."""
BEFORE = 160
"""Letters before a name that are looked at; a name further on in its sentence is not."""
LOWER = 0.05
"""The part of the posterior of a pattern's precision below the bound that must be high enough."""
COMMON = 30
"""So many of the commonest words say nothing by themselves: "at the" stands before a school and before a contest."""
KNOWN_KIND = 0.03
"""Of a relation's heads, or tails, this share must be of a kind; else another thing of this kind is none."""
_DATE = r"month \d+ , \d+|\d+ month \d+|month \d+|\d{4}"
_MONTH = r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"


def read_facts(facts: pl.DataFrame, tables: Mapping[str, pa.Table], documents: pl.DataFrame, settings: ReadingSettings) -> pl.DataFrame:
    """``head``, ``template``, ``tail`` of facts that are not among ``facts`` (the same columns), each read in the article about its head.

    ``documents``: ``document`` and ``about`` of those that may be read. Of a head and a relation of which the graph has a fact none is
    read: that one would be right, or a mistake. O(mentions). Memory: ``LONGEST`` patterns for each mention.
    """
    places = _places(tables, documents)
    if not places.height or not facts.height:
        return facts.select("head", "template", "tail").clear()
    known = facts.select("head", "template").unique()
    right = facts.select("head", "template", "tail").unique().with_columns(right=pl.lit(True))
    patterns = (
        places.select("row", "head", "tail", pattern=_patterns())
        .explode("pattern")
        .with_columns(length=pl.col("pattern").str.count_matches(" "))
    )
    learned = _learned(patterns.filter(_says_something(patterns)), known, right, settings)
    # Of a mention's patterns the longest that was seen often enough decides, for each relation.
    found = patterns.join(learned, on="pattern").sort("row", "template", "length", descending=[False, False, True])
    found = found.unique(["row", "template"], keep="first", maintain_order=True).filter(pl.col("bound") >= settings.precision)
    found = found.sort("row", pl.col("bound"), "template", descending=[False, True, False]).unique("row", keep="first", maintain_order=True)
    fresh = found.join(known, on=["head", "template"], how="anti").select("head", "template", "tail").unique()
    fresh = _of_kinds(fresh, facts, tables)
    return fresh.sort("head", "template", "tail")


def _places(tables: Mapping[str, pa.Table], documents: pl.DataFrame) -> pl.DataFrame:
    """``row``, ``head``, ``tail``, ``before``: names in sentences about the subject of their article, and what stands before them."""
    starts = sentence_starts(tables["documents"]["text"])
    texts = frame(tables["documents"]).select("text", "title", document="id").with_row_index("number")
    good = texts.join(
        documents.filter(pl.col("about").is_not_null()).select("document", head="about"), on="document", maintain_order="left"
    )
    named = (
        frame(tables["mentions"]).join(good.select("document", "number", "head"), on="document").sort("number", "start", "end", "entity")
    )
    at = paired(named["number"].to_numpy(), named["start"].to_numpy())
    every = paired(starts.sources(), starts.targets)
    sentence = np.searchsorted(every, at, side="right") - 1
    begin = starts.targets[sentence]
    first = pl.Series(starts.offsets[:-1][named["number"].to_numpy()] == sentence)
    named = named.with_columns(begin=pl.Series(begin), first=first)
    # The sentence begins with the subject, with a pronoun, or is the first one.
    own = named.filter((pl.col("entity") == pl.col("head")) & (pl.col("start") - pl.col("begin") <= len("the ")))
    own = own.select("number", "begin").unique().with_columns(own=pl.lit(True))
    named = named.join(own, on=["number", "begin"], how="left", maintain_order="left")
    named = named.filter((pl.col("entity") != pl.col("head")) & (pl.col("start") - pl.col("begin") <= BEFORE))
    named = named.join(texts.select("number", "text"), on="number", maintain_order="left")
    before = pl.col("text").str.slice("begin", pl.col("start") - pl.col("begin")).str.to_lowercase()
    named = named.with_columns(before=before).drop("text")
    begins = pl.col("before").str.contains(rf"^(?:{'|'.join(SUBJECTS)})\b")
    named = named.filter(pl.col("first") | pl.col("own").fill_null(value=False) | begins)
    return named.unique(["number", "start"], keep="none", maintain_order=True).select("head", "before", tail="entity").with_row_index("row")


def _patterns() -> pl.Expr:
    """For each place its last words, from one to ``LONGEST``; figures and dates are alike."""
    plain = pl.col("before").str.replace_all(_MONTH, "month").str.replace_all(r"([^\w\s])", " $1 ").str.replace_all(r"\s+", " ")
    words = plain.str.replace_all(_DATE, "date").str.replace_all(r"\d+", "0").str.strip_chars().str.split(" ")
    return pl.concat_list([words.list.tail(count).list.join(" ") for count in range(1, LONGEST + 1)]).list.unique(maintain_order=True)


def _says_something(patterns: pl.DataFrame) -> pl.Expr:
    """Whether a pattern has a word that is none of the commonest."""
    words = patterns.filter(pl.col("length") == 0)["pattern"].value_counts().sort(["count", "pattern"], descending=[True, False])
    common = words["pattern"].head(COMMON)
    return pl.col("pattern").str.split(" ").list.eval(~pl.element().is_in(common.implode())).list.any()


def _learned(patterns: pl.DataFrame, known: pl.DataFrame, right: pl.DataFrame, settings: ReadingSettings) -> pl.DataFrame:
    """``pattern``, ``template``, ``bound``: the lower bound of the share of its places that state a fact of the relation."""
    tried = patterns.join(known, on="head").join(right, on=["head", "template", "tail"], how="left")
    counts = tried.group_by("pattern", "template").agg(
        seen=pl.col("head").n_unique(), hits=pl.col("head").filter(pl.col("right")).n_unique()
    )
    counts = counts.filter(pl.col("seen") >= settings.least).sort("pattern", "template")
    hits, seen = (counts[name].to_numpy().astype(np.float64) for name in ("hits", "seen"))
    return counts.select("pattern", "template", bound=pl.Series(beta.ppf(LOWER, hits + 1, seen - hits + 1)))


def _of_kinds(found: pl.DataFrame, facts: pl.DataFrame, tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """Those whose head and tail are of kinds that heads and tails of the relation mostly are; a head of no known kind is none."""
    ends = pl.concat([found["head"], found["tail"], facts["head"], facts["tail"]]).unique()
    told = frame(tables["documents"]).filter(pl.col("about").is_in(ends.implode())).unique("about", keep="first", maintain_order=True)
    rows = [
        (about, (title_kinds(title, text) or [("",)])[0][0]) for about, title, text in told.select("about", "title", "text").iter_rows()
    ]
    kinds = pl.DataFrame(rows, schema={"entity": pl.String, "kind": pl.String}, orient="row")
    for side in ("head", "tail"):
        of = facts.join(kinds.rename({"entity": side}), on=side).group_by("template", "kind").len()
        good = of.filter(pl.col("len") >= KNOWN_KIND * pl.col("len").sum().over("template")).select("template", "kind")
        good = good.filter(pl.col("kind") != "") if side == "head" else good
        typed = found.join(kinds.rename({"entity": side}), on=side, how="left").with_columns(pl.col("kind").fill_null(""))
        seen = facts.select("template", side).unique()  # whoever was a head or tail of the relation can be one again
        found = (
            pl.concat([typed.join(good, on=["template", "kind"], how="semi"), typed.join(seen, on=["template", side], how="semi")])
            .drop("kind")
            .unique()
        )
    return found

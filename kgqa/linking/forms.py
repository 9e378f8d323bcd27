"""Other English forms of a possible answer's name: plurals ("actors"), and adjectives and peoples of places ("Scottish", "Germans").

A form states the answer and would leak it, so it counts as an occurrence. The plural of a common noun links like the noun. There are two
sources and no list of countries: a morphological rule, whose results must be capitalised words of the tables' names; and the graph, where a
fact joins a place to an entity that its adjective abbreviates ("Spanish language").
"""

from __future__ import annotations

import polars as pl

ENDINGS = (
    (("ish", "ese", "ian", "ean", "an"), ("", "a", "e", "o", "y", "ia", "en", "ey", "land", "lands", "an", "es")),
    (("n", "i", "ic"), ("",)),
    (("i",), ("ia",)),
)
"""English adjective endings, and the endings of names that they replace: Scot(land)+ish, Ital(y)+ian, Iraq+i."""
ADJECTIVE = r"(?:sh|ch|ss|an|ese|ic|i|ek)$"
"""Endings of adjectives among the short names of entities that a fact joins to a place: French, Swiss, Greek."""
SHORTEST = 4
"""Letters that a name needs to have forms; too many words resemble a shorter one."""
STEM = 3
"""Minimum number of letters of a stem."""


def adjectives(names: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """``entity, name, of``: adjectives and peoples for the capitalised one-word names of possible candidates.

    ``names`` has ``entity, name, candidate, word, adds, main, links``; ``facts`` has ``head, tail``.
    """
    of = names.filter(
        pl.col("candidate") & pl.col("word") & pl.col("links") & pl.col("main") & pl.col("name").str.contains(r"^\p{Lu}\p{Ll}+$")
        & (pl.col("name").str.len_chars() >= SHORTEST)
    ).select("entity", of="name")  # fmt: skip
    words = names.select(name=pl.col("name").str.extract_all(r"\p{Lu}\p{Ll}{3,}")).explode("name").drop_nulls().unique()
    # "Indian" is short for "Indian people", but "Francis" is a name of its own.
    short_names = names.filter("adds")["name"].unique().implode()
    names_in_use = names.filter(pl.col("main") & ~pl.col("name").is_in(short_names))["name"].unique().implode()
    forms = pl.concat([_derived(of, words.filter(~pl.col("name").is_in(names_in_use))), _joined(of, names, facts)]).unique()
    peoples = (
        forms.filter(pl.col("name").str.contains(r"(?:n|i|k)$")).with_columns(name=pl.col("name") + "s").join(words, on="name", how="semi")
    )
    return pl.concat([forms, peoples]).filter(pl.col("name") != pl.col("of")).unique().sort("entity", "name", "of")


def _derived(of: pl.DataFrame, words: pl.DataFrame) -> pl.DataFrame:
    """Words that consist of the name's stem, its last letter doubled or not ("Scottish"), and a suffix."""
    parts = []
    for suffixes, ends in ENDINGS:
        variants = [of.filter(pl.col("of").str.ends_with(end)).with_columns(stem=pl.col("of").str.strip_suffix(end)) for end in ends]
        stems = pl.concat(variants).filter(pl.col("stem").str.len_chars() >= STEM).unique()
        doubled_stems = stems.with_columns(stem=pl.col("stem") + pl.col("stem").str.slice(-1))
        parts += [pl.concat([stems, doubled_stems]).with_columns(name=pl.col("stem") + suffix) for suffix in suffixes]
    return pl.concat(parts).join(words, on="name", how="semi").select("entity", "name", "of")


def _joined(of: pl.DataFrame, names: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Short names of entities that a fact joins to the place, if they begin like the place and end like an adjective."""
    short_names = names.filter(pl.col("adds") & pl.col("name").str.contains(r"^\p{Lu}\p{Ll}+" + ADJECTIVE)).select(
        other="entity", name="name"
    )
    pairs = pl.concat([facts.select(entity="head", other="tail"), facts.select(entity="tail", other="head")])
    place_pairs = pairs.unique().join(short_names.unique(), on="other").join(of, on="entity")
    return place_pairs.filter(_skeleton(pl.col("name")) == _skeleton(pl.col("of"))).select("entity", "name", "of")


def _skeleton(name: pl.Expr) -> pl.Expr:
    """The first letter and the next consonant: D and n of Danish and Denmark, but not of German and Gossau."""
    return name.str.slice(0, 1) + name.str.slice(1).str.replace_all("[aeiouy]", "").str.slice(0, 1)


def plural(name: pl.Expr) -> pl.Expr:
    """The regular plural of an English noun; null for a plural, or where the name is no word."""
    endings = (
        pl.when(name.str.contains(r"[^aeiou]y$")).then(name.str.replace(r"y$", "ies"))
        .when(name.str.contains(r"(?:x|z|ch|sh)$")).then(name + "es")
        .otherwise(name + "s")
    )  # fmt: skip
    return pl.when(name.str.contains(r"\p{Ll}{2}$") & ~name.str.contains("s$")).then(endings)

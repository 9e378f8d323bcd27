"""Other spellings of names with numbers, from the texts: "5-HT(1A)" for 5HT1A, "beta 2-adrenoceptor" for beta-2 adrenoceptor.

Two names are spelt alike if they have the same letters and digits in the same order, with nothing, spaces, hyphens or brackets between. A
Greek letter equals its name. Only spellings that the texts have are used.
"""

from __future__ import annotations

import polars as pl

MOST = 8
"""Maximum number of runs of letters or digits in a name."""
SHORTEST, LETTERS = 4, 2
"""Minimum numbers of letters and digits together, and of letters, in a name."""
GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "κ": "kappa",
    "λ": "lambda", "μ": "mu", "µ": "mu", "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
_RUN = r"\p{L}+|\p{N}+|[^\p{L}\p{N}]+"
_BETWEEN = r"^[\s()\[\]-]{1,3}$"
_WORD = r"^[\p{L}\p{N}]"


def spellings(names: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """``entity, name, source``: the other spellings of ``names`` (same columns) in ``texts``.

    O(runs of letters or digits in the texts); memory: some 100 bytes for each.
    """
    name_runs = _runs(names["name"])
    counts = name_runs.group_by("text").agg(count=pl.len())
    usable = counts.filter(pl.col("count").is_between(2, MOST)).sort("text")
    name_runs = name_runs.join(usable, on="text", maintain_order="left").with_columns(place=pl.int_range(pl.len()).over("text"))
    prefixes = _prefixes(name_runs)
    whole = prefixes.filter(pl.col("place") == pl.col("count") - 1)
    whole = whole.filter(
        (pl.col("key").str.len_chars() >= SHORTEST) & (pl.col("key").str.count_matches(r"\p{L}") >= LETTERS)
        & pl.col("key").str.contains(r"\p{N}")
    )  # fmt: skip
    keys = whole.select("key", entity=names["entity"].gather(whole["text"]), source=names["source"].gather(whole["text"]))
    prefixes = prefixes.join(whole.select("text"), on="text", how="semi")
    hits = _search(_runs(texts), prefixes.select("place", "key").unique(), keys.select("key").unique())
    table = hits.join(keys.unique(["key", "entity"], keep="first", maintain_order=True), on="key").select("entity", "name", "source")
    folded = pl.col("name").str.to_lowercase().alias("folded")
    table = table.unique().with_columns(folded).join(names.select("entity", folded), on=["entity", "folded"], how="anti")
    return table.drop("folded").sort("entity", "name", "source")


def _runs(texts: pl.Series) -> pl.DataFrame:
    """``text, run, same, before, after, starts, ends``: the runs of letters or digits of each text.

    ``same``: the form for comparison. ``before``: the gap before it (null where no name can continue over it, empty where there is none).
    ``after``: the signs behind it. ``starts``, ``ends``: whether a name may begin or end here.
    """
    runs = pl.DataFrame({"text": pl.int_range(len(texts), eager=True), "run": texts.str.extract_all(_RUN)}).explode("run").drop_nulls()
    word = pl.col("run").str.contains(_WORD)
    before, behind = (pl.when(pl.col("text") == pl.col("text").shift(step)).then(pl.col("run").shift(step)) for step in (1, -1))
    runs = runs.with_columns(before=before, behind=behind, word=word)
    return runs.filter("word").select(
        "text", "run",
        same=pl.col("run").str.to_lowercase().str.replace_many(list(GREEK), list(GREEK.values())),
        before=_gap(pl.col("before")), after=pl.col("behind").fill_null(" "),
        starts=pl.col("before").is_null() | ~pl.col("before").str.contains(_WORD),
        ends=pl.col("behind").is_null() | ~pl.col("behind").str.contains(_WORD),
    )  # fmt: skip


def _gap(between: pl.Expr) -> pl.Expr:
    return pl.when(between.str.contains(_WORD)).then(pl.lit("")).when(between.str.contains(_BETWEEN)).then(between)


def _prefixes(name_runs: pl.DataFrame) -> pl.DataFrame:
    """``text, place, count, key``: the concatenated first runs of each text, for each number of runs."""
    now = name_runs.filter(pl.col("place") == 0).select("text", "place", "count", key="same")
    parts = [now]
    for place in range(1, MOST):
        following = name_runs.filter(pl.col("place") == place).select("text", "count", "place", "same")
        now = following.join(now.select("text", "key"), on="text").select("text", "place", "count", key=pl.col("key") + pl.col("same"))
        parts.append(now)
    return pl.concat([part.cast({"place": pl.Int64}) for part in parts])


def _search(runs: pl.DataFrame, prefixes: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """``key, name``: the places in the texts whose runs equal those of a name."""
    runs = runs.with_row_index("at").with_columns(pl.col("at").cast(pl.Int64))
    following = runs.select(
        pl.col("at") - 1, next_run="run", next_same="same", next_text="text", next_after="after", next_ends="ends", gap="before"
    )
    now = runs.filter("starts").select("at", "text", key="same", name="run")
    parts = []
    for place in range(MOST):
        now = now.join(prefixes.filter(pl.col("place") == place).select("key"), on="key", how="semi")
        now = now.join(following, on="at").filter((pl.col("text") == pl.col("next_text")) & pl.col("gap").is_not_null())
        now = now.select(
            pl.col("at") + 1, "text", "next_after", "next_ends", key=pl.col("key") + pl.col("next_same"),
            name=pl.col("name") + pl.col("gap") + pl.col("next_run"),
        )  # fmt: skip
        open_, closed = pl.col("name").str.count_matches(r"\("), pl.col("name").str.count_matches(r"\)")
        whole = now.filter("next_ends").join(keys, on="key", how="semi").with_columns(
            name=pl.when((open_ > closed) & pl.col("next_after").str.starts_with(")")).then(pl.col("name") + ")").otherwise("name")
        )  # fmt: skip
        parts.append(whole.filter(open_ == closed).select("key", "name").unique())
        now = now.select("at", "text", "key", "name")
    return pl.concat(parts).unique().sort("key", "name")

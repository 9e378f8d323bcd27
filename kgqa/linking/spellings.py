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
    # Compare runs of letters or digits, so that what stands between them does not matter.
    name_runs = _runs(names["name"])
    counts = name_runs.group_by("text").agg(count=pl.len())
    name_sizes = counts.filter(pl.col("count").is_between(2, MOST)).sort("text")
    name_runs = name_runs.join(name_sizes, on="text", maintain_order="left").with_columns(place=pl.int_range(pl.len()).over("text"))
    prefixes = _prefixes(name_runs)
    full_keys = prefixes.filter(pl.col("place") == pl.col("count") - 1)
    full_keys = full_keys.filter(
        (pl.col("key").str.len_chars() >= SHORTEST) & (pl.col("key").str.count_matches(r"\p{L}") >= LETTERS)
        & pl.col("key").str.contains(r"\p{N}")
    )  # fmt: skip
    keys = full_keys.select("key", entity=names["entity"].gather(full_keys["text"]), source=names["source"].gather(full_keys["text"]))
    # Prefixes of names that cannot match would only slow the search down.
    prefixes = prefixes.join(full_keys.select("text"), on="text", how="semi")
    hits = _search(_runs(texts), prefixes.select("place", "key").unique(), keys.select("key").unique())
    table = hits.join(keys.unique(["key", "entity"], keep="first", maintain_order=True), on="key").select("entity", "name", "source")
    lower_name = pl.col("name").str.to_lowercase().alias("folded")
    table = table.unique().with_columns(lower_name).join(names.select("entity", lower_name), on=["entity", "folded"], how="anti")
    return table.drop("folded").sort("entity", "name", "source")


def _runs(texts: pl.Series) -> pl.DataFrame:
    """``text, run, same, before, after, starts, ends``: the runs of letters or digits of each text.

    ``same``: the form for comparison. ``before``: the gap before it (null where no name can continue over it, empty where there is none).
    ``after``: the signs behind it. ``starts``, ``ends``: whether a name may begin or end here.
    """
    runs = pl.DataFrame({"text": pl.int_range(len(texts), eager=True), "run": texts.str.extract_all(_RUN)}).explode("run").drop_nulls()
    is_word = pl.col("run").str.contains(_WORD)
    previous_run, next_run = (pl.when(pl.col("text") == pl.col("text").shift(step)).then(pl.col("run").shift(step)) for step in (1, -1))
    runs = runs.with_columns(before=previous_run, behind=next_run, word=is_word)
    return runs.filter("word").select(
        "text", "run",
        same=pl.col("run").str.to_lowercase().str.replace_many(list(GREEK), list(GREEK.values())),
        before=_gap(pl.col("before")), after=pl.col("behind").fill_null(" "),
        starts=pl.col("before").is_null() | ~pl.col("before").str.contains(_WORD),
        ends=pl.col("behind").is_null() | ~pl.col("behind").str.contains(_WORD),
    )  # fmt: skip


def _gap(gap: pl.Expr) -> pl.Expr:
    return pl.when(gap.str.contains(_WORD)).then(pl.lit("")).when(gap.str.contains(_BETWEEN)).then(gap)


def _prefixes(name_runs: pl.DataFrame) -> pl.DataFrame:
    """``text, place, count, key``: the concatenated first runs of each text, for each number of runs."""
    prefix = name_runs.filter(pl.col("place") == 0).select("text", "place", "count", key="same")
    parts = [prefix]
    for place in range(1, MOST):
        next_runs = name_runs.filter(pl.col("place") == place).select("text", "count", "place", "same")
        prefix = next_runs.join(prefix.select("text", "key"), on="text").select(
            "text", "place", "count", key=pl.col("key") + pl.col("same")
        )
        parts.append(prefix)
    return pl.concat([part.cast({"place": pl.Int64}) for part in parts])


def _search(runs: pl.DataFrame, prefixes: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """``key, name``: the places in the texts whose runs equal those of a name."""
    runs = runs.with_row_index("at").with_columns(pl.col("at").cast(pl.Int64))
    next_runs = runs.select(
        pl.col("at") - 1, next_run="run", next_same="same", next_text="text", next_after="after", next_ends="ends", gap="before"
    )
    # Extend all candidates by one run at a time, and keep those that are a prefix of some name: a join instead of a trie.
    candidates = runs.filter("starts").select("at", "text", key="same", name="run")
    parts = []
    for place in range(MOST):
        candidates = candidates.join(prefixes.filter(pl.col("place") == place).select("key"), on="key", how="semi")
        candidates = candidates.join(next_runs, on="at").filter((pl.col("text") == pl.col("next_text")) & pl.col("gap").is_not_null())
        candidates = candidates.select(
            pl.col("at") + 1, "text", "next_after", "next_ends", key=pl.col("key") + pl.col("next_same"),
            name=pl.col("name") + pl.col("gap") + pl.col("next_run"),
        )  # fmt: skip
        openings, closings = pl.col("name").str.count_matches(r"\("), pl.col("name").str.count_matches(r"\)")
        matches = candidates.filter("next_ends").join(keys, on="key", how="semi").with_columns(
            name=pl.when((openings > closings) & pl.col("next_after").str.starts_with(")")).then(pl.col("name") + ")").otherwise("name")
        )  # fmt: skip
        parts.append(matches.filter(openings == closings).select("key", "name").unique())
        candidates = candidates.select("at", "text", "key", "name")
    return pl.concat(parts).unique().sort("key", "name")

"""Names → what the matcher may match: which names take part, how strictly their case counts, which entity wins a shared name.

The rules are data (:class:`~kgqa.settings.linking.LinkingSettings`); every rule counts the names it removed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.narrow import check_fits
from kgqa.arrays.rows import row_bounds
from kgqa.arrays.tokens import spellings
from kgqa.linking.trie import Trie, build_trie
from kgqa.linking.usage import small_shares
from kgqa.linking.words import plain_words
from kgqa.settings.linking import LinkingSettings, PlainWordSettings
from kgqa.sources.tables import arrow, frame

FREE, INITIAL, EXACT = 0, 1, 2
NO_LINK = -1
"""The priority of a name that is seen but makes no link."""
EVERYDAY = 4.0
"""A word of at least this Zipf frequency states nobody's name where a rule has kept it from linking."""
CASES = {"free": FREE, "initial": INITIAL, "exact": EXACT}

NAME_RULES = {
    "excluded name": "the settings list the name (linking.exclude_names)",
    "only digits": "the name consists of digits and punctuation",
    "too short": "the name has fewer letters and digits than its source needs (linking.minimum_letters)",
    "undescribed": "the name is a single word, and the entity has neither an article nor a description (linking.undescribed_words)",
    "shortened title": "the title of the entity's article adds a qualifier to the name, so others share it (linking.shortened_titles)",
    "list of meanings": "the article about the entity lists what the name may mean (linking.list_pages)",
    "plain word": "the name is an everyday English word and not the entity's main name (linking.plain_words)",
    "mostly small": "the texts write the word mostly with a small letter, so it is no name there (linking.small_share)",
}
"""Rule → the sentence that the funnel shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dictionary:
    """The trie and, for each of its groups, the entries that end there: ``offsets[g]:offsets[g + 1]``, one per (entity, name)."""

    trie: Trie
    offsets: npt.NDArray[np.int64]
    entity: npt.NDArray[np.int32]
    """Row of the entity table."""
    case: npt.NDArray[np.uint8]
    spelling: npt.NDArray[np.uint64]
    """How a matching text must be spelt (:func:`kgqa.arrays.tokens.spellings`); unused where case is free."""
    priority: npt.NDArray[np.int32]
    """Among the entities of a shared name the lowest wins, a draw leaves the name out; ``NO_LINK``: an occurrence, but never a mention."""
    candidate: npt.NDArray[np.bool_]
    """Whether the entity can be a candidate, so that all its occurrences are recorded."""
    removed: dict[str, int]
    """Rule → names removed."""


def build_dictionary(
    names: pa.Table,
    entities: pa.Table,
    settings: LinkingSettings,
    candidates: npt.NDArray[np.bool_],
    *,
    documents: pa.Table | None = None,
) -> Dictionary:
    """Apply the name rules and build the trie; ``candidates`` says for each row of ``entities`` whether it can be a candidate.

    ``documents`` (``about, text``) show how names are written; without them the rules that look at texts find nothing.
    """
    check_fits(max(names.num_rows, entities.num_rows), "names or entities", "make the dataset from fewer")
    rows = frame(entities).select(entity="id", kind="kind", description="description").with_row_index("row")
    rows = rows.with_columns(candidate=pl.Series(candidates, dtype=pl.Boolean))
    table = frame(names).join(rows, on="entity", how="left", maintain_order="left")
    texts = frame(documents) if documents is not None else pl.DataFrame(schema={"about": pl.String, "text": pl.String})
    table, removed = _apply_rules(table, texts, settings)
    table = _with_namesakes(table, len(rows), settings)
    kept = arrow(table.select("name"))["name"]
    trie, group = build_trie(kept)
    case = table["case"].to_numpy()
    table = table.with_columns(group=pl.Series(group), spelling=pl.Series(_spelling(kept, case)), priority=_priority(settings))
    table = table.filter(pl.col("group") >= 0).sort("group", "priority", "row", "case", "spelling")
    entity = table["row"].cast(pl.Int32).to_numpy()
    return Dictionary(
        trie=trie,
        offsets=row_bounds(table["group"].to_numpy(), int(trie.nodes["group"].max(initial=-1)) + 1),
        entity=entity,
        case=table["case"].to_numpy(),
        spelling=table["spelling"].to_numpy(),
        priority=table["priority"].cast(pl.Int32).to_numpy(),
        candidate=table["candidate"].to_numpy(),
        removed=removed,
    )


def _apply_rules(table: pl.DataFrame, texts: pl.DataFrame, settings: LinkingSettings) -> tuple[pl.DataFrame, dict[str, int]]:
    """Say which names link and how strictly their case counts; the first rule that speaks against a name counts it."""
    table = _with_features(table, texts, settings)
    lower = pl.col("name").str.to_lowercase()
    minimum = pl.col("source").replace_strict(settings.minimum_letters, default=1, return_dtype=pl.Int64)
    has_text = (pl.col("source") == "title").any().over("entity") | (pl.col("description") != "")
    rules = {
        "excluded name": lower.is_in([name.lower() for name in settings.exclude_names]),
        "only digits": ~pl.col("name").str.contains(r"\p{L}") if not settings.keep_numbers else pl.lit(False),
        "too short": pl.col("letters") < minimum,
        "undescribed": pl.col("word") & ~has_text if settings.undescribed_words else pl.lit(False),
        "list of meanings": _lists_meanings(texts, settings),
        "plain word": pl.any_horizontal(pl.lit(False), *(_plain(words) for words in settings.plain_words)),
    }
    table = table.with_columns(rule=pl.coalesce(*(pl.when(test).then(pl.lit(rule)) for rule, test in rules.items())))
    linked, speaks_against = table.filter(pl.col("rule").is_null()), table.filter(pl.col("rule").is_not_null())
    usual = _mostly_small(linked, texts, settings)
    mostly_small = linked.filter(usual).with_columns(rule=pl.lit("mostly small"))
    linked = linked.filter(~usual).with_columns(shortened=_shortened(settings))
    against = pl.concat([speaks_against, mostly_small])
    removed = {rule: int((against["rule"] == rule).sum()) for rule in [*rules, "mostly small"]}
    removed["shortened title"] = int(linked["shortened"].sum())
    linked = linked.filter(~pl.col("shortened") | pl.col("candidate")).with_columns(links=pl.lit(True))
    seen = against.filter(_seen_all_the_same()).with_columns(shortened=pl.lit(False), links=pl.lit(False))
    return pl.concat([linked, seen]).drop("rule"), removed


def _seen_all_the_same() -> pl.Expr:
    """Names of possible candidates that make no link, but that a reader sees: they count as stated and are masked.

    Not so everyday words, numbers and what the settings exclude by name: a text that says "body" states no drug.
    """
    everyday = pl.col("name").str.to_lowercase().is_in(sorted(plain_words(EVERYDAY)))
    return pl.col("candidate") & ~pl.col("rule").is_in(["excluded name", "only digits"]) & ~everyday


def _with_features(table: pl.DataFrame, texts: pl.DataFrame, settings: LinkingSettings) -> pl.DataFrame:
    """What the rules look at: ``letters`` (and digits), whether the name is one ``word``, its ``case``."""
    table = table.with_columns(
        letters=pl.col("name").str.replace_all(r"[^\p{L}\p{N}]", "").str.len_chars(),
        word=pl.col("name").str.contains(r"^[\p{L}\p{M}'’-]+$"),
        small=pl.col("name").str.to_lowercase().str.slice(0, 1) + pl.col("name").str.slice(1),
    )
    as_written = pl.col("source").is_in([source for source, case in settings.case.items() if case == "as_written"])
    either = _written_small(table.filter(as_written), texts)
    table = table.join(either, on=["entity", "name"], how="left", maintain_order="left")
    of_source = pl.col("source").replace_strict(
        {source: CASES[case] for source, case in settings.case.items() if case in CASES}, default=FREE, return_dtype=pl.UInt8
    )
    written = pl.when(pl.col("either").fill_null(False)).then(pl.lit(INITIAL, pl.UInt8)).otherwise(pl.lit(EXACT, pl.UInt8))
    exact = (pl.col("letters") <= settings.exact_letters) & ~pl.col("either").fill_null(False)
    case = pl.when(exact).then(pl.lit(EXACT, pl.UInt8)).when(as_written).then(written).otherwise(of_source)
    return table.with_columns(case=case).drop("small", "either")


def _written_small(table: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """``entity, name, either``: names that may begin with a small letter.

    The label tells it. Where only an article is known, whose title always has a capital, the article's own text does, but for what can be
    an answer only if another of its names is a common noun.
    """
    listed = table.select("entity", name="small").unique()
    listed = listed.join(table.select("entity", "name"), on=["entity", "name"], how="semi").with_columns(listed=pl.lit(True))
    articles = texts.filter(pl.col("about").is_not_null()).select(entity="about", text="text")
    table = table.join(listed, left_on=["entity", "small"], right_on=["entity", "name"], how="left")
    table = table.join(articles, on="entity", how="left")
    common = pl.col("name").str.contains(r"^\p{Ll}").any().over("entity")
    in_article = pl.col("text").str.contains(pl.lit(" ") + pl.col("small"), literal=True).fill_null(False)
    small = pl.col("listed").fill_null(False) | (in_article & (common | ~pl.col("candidate")))
    return table.filter(small).select("entity", "name", either=pl.lit(True)).unique()


def _lists_meanings(texts: pl.DataFrame, settings: LinkingSettings) -> pl.Expr:
    """Names of what an article is about that only says what its title may mean."""
    if not settings.list_pages:
        return pl.lit(False)
    begin = pl.col("text").str.slice(0, 160)
    lists = texts.filter(pl.col("about").is_not_null() & begin.str.contains(settings.list_pages))
    return pl.col("entity").is_in(lists["about"].implode()) & ~pl.col("candidate")


def _plain(words: PlainWordSettings) -> pl.Expr:
    """Names in the reach of one ``plain_words`` rule."""
    common = sorted((plain_words(words.zipf) | set(words.words)) - set(words.keep))
    bare = pl.col("name").str.to_lowercase().str.strip_prefix("the ")
    test = pl.col("source").is_in(words.sources) & bare.is_in(common)
    if words.kinds:
        test &= pl.col("kind").is_in(words.kinds)
    return test & ~pl.col("candidate") if words.spare_candidates else test


def _shortened(settings: LinkingSettings) -> pl.Expr:
    """Words to which the title of the same entity's article adds a qualifier: "Union" of "Union (American Civil War)"."""
    if not settings.shortened_titles:
        return pl.lit(False)
    lower = pl.col("name").str.to_lowercase()
    stems = pl.when(pl.col("source") == "title").then(lower).str.extract(f"^(.+)(?:{settings.shortened_titles})$")
    return pl.col("word") & (lower == stems.max().over("entity")).fill_null(False)


def _mostly_small(table: pl.DataFrame, texts: pl.DataFrame, settings: LinkingSettings) -> pl.Expr:
    """Capitalised words that the texts write with a small letter more often than ``small_share`` allows."""
    if settings.small_share == 1 or texts.is_empty():
        return pl.lit(False)
    asked = pl.col("name").str.extract(r"^(?:(?:[Tt]he|[Aa]n?) )?(\p{Lu}[\p{L}\p{M}'’-]*)$").str.extract(r"^(.+\p{Ll}.*)$")
    asked = pl.when((pl.col("case") == EXACT) | pl.col("name").str.contains(" ")).then(asked)
    words = table.select(name=asked).drop_nulls().unique()
    shares = small_shares(arrow(words)["name"], arrow(texts.select("text"))["text"])
    usual = words.filter(pl.Series(shares > settings.small_share))
    return asked.is_in(usual["name"].implode()).fill_null(False)


def _with_namesakes(table: pl.DataFrame, nobody: int, settings: LinkingSettings) -> pl.DataFrame:
    """Give shortened titles and ``shared.others`` a second bearer that no table knows, so that the name counts as shared.

    Dropping the names of possible candidates would be wrong: a reader sees them stated, and a mask must hide them.
    """
    others = [name.lower() for name in settings.shared.others]
    twins = table.filter(pl.col("links") & (pl.col("shortened") | pl.col("name").str.to_lowercase().is_in(others)))
    return pl.concat([table, twins.with_columns(row=pl.lit(nobody, pl.UInt32), candidate=pl.lit(False))])


def _priority(settings: LinkingSettings) -> pl.Expr:
    """Preferred kinds first, then preferred sources; what is not listed shares the last place."""
    kinds, sources = settings.shared.prefer_kinds, settings.shared.prefer_sources
    kind = pl.col("kind").replace_strict({k: i for i, k in enumerate(kinds)}, default=len(kinds), return_dtype=pl.Int32)
    source = pl.col("source").replace_strict({s: i for i, s in enumerate(sources)}, default=len(sources), return_dtype=pl.Int32)
    return pl.when("links").then(kind * 16 + source).otherwise(NO_LINK)


def _spelling(names: pa.ChunkedArray, case: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """How a text must be spelt to match each name: wholly, or (INITIAL) but for the first character."""
    whole, but_first = spellings(names).T
    spelling: npt.NDArray[np.uint64] = np.where(case == INITIAL, but_first, whole)
    return spelling

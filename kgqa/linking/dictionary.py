"""Names → dictionary: the names that take part, how strictly their case counts, and their features.

Rules remove only what can never be a name. :mod:`kgqa.linking.belief` decides the rest from the measures of each name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.int32 import check_fits
from kgqa.arrays.rows import row_bounds
from kgqa.arrays.tokens import spellings
from kgqa.linking.forms import adjectives, plural
from kgqa.linking.inflections import inflections
from kgqa.linking.trie import Trie, build_trie
from kgqa.settings.linking import LinkingSettings, is_english
from kgqa.sources.tables import arrow, frame

FREE, INITIAL, EXACT = 0, 1, 2
NO_LINK = -1
"""Priority of a name that is an occurrence but never a mention."""
CASES = {"free": FREE, "initial": INITIAL, "exact": EXACT}
BEARERS = 32
"""Maximum number of entities compared for one name: those with the best claim."""

_NO_FACTS = pl.DataFrame(schema={"head": pl.String, "tail": pl.String})

NAME_RULES = {
    "excluded name": "the settings list the name (linking.exclude_names)",
    "only digits": "the name consists of digits and punctuation",
    "too short": "the name has fewer letters and digits than its source needs (linking.minimum_letters)",
    "list of meanings": "the article about the entity lists what the name may mean (linking.list_pages)",
    "index form": "the name is another name of the entity turned round at a comma, as registers have it",
    "too many bearers": "32 other entities have a better claim to the name",
}
"""Rule → the sentence that the funnel shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dictionary:
    """The trie, and its groups' entries, one per (entity, name): ``offsets[g]:offsets[g + 1]`` are those of group g."""

    trie: Trie
    offsets: npt.NDArray[np.int64]
    entity: npt.NDArray[np.int32]
    """Row of the entity table."""
    case: npt.NDArray[np.uint8]
    spelling: npt.NDArray[np.uint64]
    """Hash of the required spelling (:func:`kgqa.arrays.tokens.spellings`); unused where the case is free."""
    priority: npt.NDArray[np.int32]
    """Rank among the entities of a shared name, lowest first; ``NO_LINK``: an occurrence, but never a mention."""
    candidate: npt.NDArray[np.bool_]
    """Whether the entity can be a candidate; all its occurrences are then recorded."""
    skip: npt.NDArray[np.uint8]
    """Leading tokens outside the mention, such as the article of "the United Kingdom"."""
    cut: npt.NDArray[np.uint8]
    """Trailing characters outside the mention: the ending of an inflected name."""
    name: npt.NDArray[np.uint32]
    """Row of :attr:`names`, for each entry."""
    names: pl.DataFrame
    """The names in use: ``entity`` (row), ``name``, ``source``, ``candidate``, ``described``, ``article``, ``shortened``, ``links`` and
    more."""
    removed: dict[str, int]
    """Rule → names removed."""
    endings: tuple[str, ...]
    """The endings that inflected names have in the texts."""


def build_dictionary(
    names: pa.Table,
    entities: pa.Table,
    settings: LinkingSettings,
    candidates: npt.NDArray[np.bool_],
    *,
    documents: pa.Table | None = None,
    facts: pa.Table | None = None,
) -> Dictionary:
    """Apply the name rules and build the trie; ``candidates``: mask over the rows of ``entities`` that can be a candidate.

    ``documents`` (``about, text``) show how names are written; without them the rules that read texts find nothing. ``facts`` (``head,
    tail``) show which adjective belongs to which place.
    """
    check_fits(max(names.num_rows, entities.num_rows), "names or entities", "make the dataset from fewer")
    rows = frame(entities).select(entity="id", kind="kind", description="description").with_row_index("row")
    rows = rows.with_columns(candidate=pl.Series(candidates, dtype=pl.Boolean))
    table = frame(names).join(rows, on="entity", how="left", maintain_order="left")
    texts = frame(documents) if documents is not None else pl.DataFrame(schema={"about": pl.String, "text": pl.String})
    # Rules run before forms are added, since a form links only if its name does.
    table, removed_counts = _apply_rules(table, texts, settings)
    table = _with_forms(table, frame(facts) if facts is not None else _NO_FACTS, settings)
    table, endings = _with_inflections(table, documents, settings)
    table = _without_articles(table, settings)
    kept_names = arrow(table.select("name"))["name"]
    trie, group = build_trie(kept_names)
    case = table["case"].to_numpy()
    table = table.with_columns(group=pl.Series(group), spelling=pl.Series(_spelling(kept_names, case)), priority=_priority(settings))
    table = table.with_row_index("at")
    name_table = table.select(
        "name", "source", "candidate", "described", "article", "shortened", "links", "letters", "word", "case", "group", "adjective",
        entity="row",
        rank=pl.when(pl.col("priority") >= 0).then(pl.col("priority") % 16 + 4 * (pl.col("priority") // 16)).otherwise(NO_LINK),
    )  # fmt: skip
    table = table.filter(pl.col("group") >= 0).sort("group", "priority", "row", "case", "spelling", "at")
    # A name that is written exactly so beats another name with an ending cut off.
    if endings:
        table = table.filter(pl.col("cut") == pl.col("cut").min().over("group"))
    is_surplus = _crowded(table)
    removed_counts["too many bearers"] = int(is_surplus.sum())
    table = table.with_columns(priority=pl.when(is_surplus).then(NO_LINK).otherwise("priority")).filter(
        (pl.col("priority") >= 0) | pl.col("candidate")
    )
    table = table.sort("group", "priority", "row", "case", "spelling", "at")
    return Dictionary(
        trie=trie,
        offsets=row_bounds(table["group"].to_numpy(), int(trie.nodes["group"].max(initial=-1)) + 1),
        entity=table["row"].cast(pl.Int32).to_numpy(),
        case=table["case"].to_numpy(),
        spelling=table["spelling"].to_numpy(),
        priority=table["priority"].cast(pl.Int32).to_numpy(),
        candidate=table["candidate"].to_numpy(),
        skip=table["skip"].to_numpy(),
        cut=table["cut"].to_numpy(),
        name=table["at"].to_numpy(),
        names=name_table,
        removed=removed_counts,
        endings=endings,
    )


def _crowded(table: pl.DataFrame) -> pl.Series:
    """Entries to leave out because 32 other entities have a better claim; only names with that many entities are ranked."""
    groups = table["group"].to_numpy()
    is_link = pl.col("priority") >= 0
    large_groups = table.filter(pl.Series(np.bincount(groups)[groups] > BEARERS)) if len(groups) else table
    surplus = large_groups.filter(is_link & (pl.col("row").rank("dense").over("group", is_link) > BEARERS))
    return table["at"].is_in(surplus["at"].implode())


def _apply_rules(table: pl.DataFrame, texts: pl.DataFrame, settings: LinkingSettings) -> tuple[pl.DataFrame, dict[str, int]]:
    """Decide which names link and how strictly their case counts; a removed name counts for the first rule that applies."""
    table = _with_features(table, texts, settings)
    minimum = pl.col("source").replace_strict(settings.minimum_letters, default=1, return_dtype=pl.Int64)
    rules = {
        "excluded name": pl.col("name").str.to_lowercase().is_in([name.lower() for name in settings.exclude_names]),
        "only digits": ~pl.col("name").str.contains(r"\p{L}") if not settings.keep_numbers else pl.lit(False),
        "too short": pl.col("letters") < minimum,
        "list of meanings": _lists_meanings(texts, settings),
        "index form": _turned_round(table),
    }
    table = table.with_columns(rule=pl.coalesce(*(pl.when(test).then(pl.lit(rule)) for rule, test in rules.items())))
    removed_counts = {rule: int((table["rule"] == rule).sum()) for rule in rules}
    links = pl.col("rule").is_null()
    # Names that a reader sees stated are masked even if they do not link; but only in exact case, or "body" would state Body.
    visible = pl.col("candidate") & ~pl.col("rule").is_in(["excluded name", "only digits"])
    table = table.with_columns(links=links, case=pl.when(links).then("case").otherwise(pl.lit(EXACT, pl.UInt8)))
    return table.filter(links | visible).drop("rule"), removed_counts


def _turned_round(table: pl.DataFrame) -> pl.Expr:
    """Names "B, A" of entities that also have the name "A B"; in a text they are two items of a list."""
    # "Paris, Texas" stays a name unless the entity is also called "Texas Paris".
    inversions = table.filter(pl.col("name").str.contains(", ", literal=True)).select(
        "entity", listed="name", name=pl.col("name").str.replace(r"^([^,]+), ([^,]+)$", "$2 $1")
    )
    pairs = inversions.join(table.select("entity", "name"), on=["entity", "name"], how="semi")
    return pl.struct("entity", "name").is_in(pairs.select("entity", name="listed").to_struct("pair").implode())


def _with_features(table: pl.DataFrame, texts: pl.DataFrame, settings: LinkingSettings) -> pl.DataFrame:
    """Adds the features of the names for the rules and for disambiguation.

    ``letters`` (and digits), ``word`` (whether the name is one word), ``case``, ``article``, ``shortened``, ``adds``, ``main``,
    ``described``.
    """
    about = texts.filter(pl.col("about").is_not_null())["about"].unique().implode()
    lower = pl.col("name").str.to_lowercase()
    article = pl.col("entity").is_in(about)
    table = table.with_columns(
        # A Hangul syllable consists of at least two letters.
        letters=pl.col("name").str.replace_all(r"[^\p{L}\p{N}]", "").str.len_chars() + pl.col("name").str.count_matches("[가-힣]"),
        word=pl.col("name").str.contains(r"^[\p{L}\p{M}\p{N}'’-]+$"),
        small=lower.str.slice(0, 1) + pl.col("name").str.slice(1),
        article=article,
    )
    titles = table.filter(pl.col("source") == "title").group_by("row").agg(title=lower.max())
    table = table.join(titles, on="row", how="left", maintain_order="left")
    title = pl.col("title")
    main = list(settings.shared.prefer_sources)
    table = table.with_columns(
        shortened=(pl.col("word") & title.str.starts_with(lower + " ")).fill_null(False),
        adds=(pl.col("word") & title.str.contains(r"^\S+ \p{L}") & title.str.starts_with(lower + " ")).fill_null(False),
        main=pl.col("source").is_in(main) if main else pl.lit(True),
        described=pl.col("article") | title.is_not_null() | (pl.col("description") != ""),
    ).drop("title")
    source_decides = pl.col("source").is_in([source for source, case in settings.case.items() if case == "as_written"])
    lower_names = _written_small(table.filter(source_decides), texts)
    table = table.join(lower_names, on=["entity", "name"], how="left", maintain_order="left")
    of_source = pl.col("source").replace_strict(
        {source: CASES[case] for source, case in settings.case.items() if case in CASES}, default=FREE, return_dtype=pl.UInt8
    )
    written_case = pl.when(pl.col("either").fill_null(False)).then(pl.lit(INITIAL, pl.UInt8)).otherwise(pl.lit(EXACT, pl.UInt8))
    is_exact = (pl.col("letters") <= settings.exact_letters) & ~pl.col("either").fill_null(False)
    case = pl.when(is_exact).then(pl.lit(EXACT, pl.UInt8)).when(source_decides).then(written_case).otherwise(of_source)
    return table.with_columns(case=case, skip=pl.lit(0, pl.UInt8), cut=pl.lit(0, pl.UInt8)).drop("small", "either")


def _written_small(table: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """``entity, name, either``: names that may begin with a small letter.

    The label decides. Where only an article is known, whose title always has a capital, the article's text decides; possible answers also
    need another name that is a common noun.
    """
    lower_names = table.select("entity", name="small").unique()
    lower_names = lower_names.join(table.select("entity", "name"), on=["entity", "name"], how="semi").with_columns(listed=pl.lit(True))
    articles = texts.filter(pl.col("about").is_not_null()).select(entity="about", text="text")
    table = table.join(lower_names, left_on=["entity", "small"], right_on=["entity", "name"], how="left")
    table = table.join(articles, on="entity", how="left")
    has_common_noun = pl.col("name").str.contains(r"^\p{Ll}").any().over("entity")
    in_article = pl.col("text").str.contains(pl.lit(" ") + pl.col("small"), literal=True).fill_null(False)
    may_be_lower = pl.col("listed").fill_null(False) | (in_article & (has_common_noun | ~pl.col("candidate")))
    may_be_lower &= ~pl.col("name").str.contains(r"^\p{L}\b")  # "A minor" differs from "a minor"
    return table.filter(may_be_lower).select("entity", "name", either=pl.lit(True)).unique()


def _lists_meanings(texts: pl.DataFrame, settings: LinkingSettings) -> pl.Expr:
    """Names of entities whose article only lists the meanings of its title."""
    if not settings.list_pages:
        return pl.lit(False)
    begin = pl.col("text").str.slice(0, 160)
    lists = texts.filter(pl.col("about").is_not_null() & begin.str.contains(settings.list_pages))
    return pl.col("entity").is_in(lists["about"].implode()) & ~pl.col("candidate")


def _with_forms(table: pl.DataFrame, facts: pl.DataFrame, settings: LinkingSettings) -> pl.DataFrame:
    """Add the other forms of possible answers' names; the plural of a common noun links unless it is a name itself."""
    if not is_english(settings.language):
        return table.with_columns(adjective=pl.lit(False))
    known_names = table.select(lower=pl.col("name").str.to_lowercase()).unique()
    nouns = pl.col("candidate") | ((pl.col("case") != EXACT) & ~pl.col("word"))
    plurals = table.filter(nouns).with_columns(name=plural(pl.col("name"))).drop_nulls("name")
    is_free = ~pl.col("name").str.to_lowercase().is_in(known_names["lower"].implode())
    plurals = plurals.with_columns(links=pl.col("links") & is_free & (pl.col("case") != EXACT)).filter(
        pl.col("links") | pl.col("candidate")
    )
    forms = adjectives(table, facts)
    adjective_forms = forms.filter(~pl.col("name").str.ends_with("s"))["name"]
    derivations = table.join(forms.rename({"name": "form"}), left_on=["entity", "name"], right_on=["entity", "of"], maintain_order="left")
    derivations = derivations.with_columns(name="form", links=pl.lit(False), case=pl.lit(EXACT, pl.UInt8)).select(table.columns)
    derivations = derivations.unique(["row", "name"], keep="first", maintain_order=True)
    return pl.concat([table, plurals, derivations]).with_columns(adjective=pl.col("name").is_in(adjective_forms.unique().implode()))


def _with_inflections(table: pl.DataFrame, documents: pa.Table | None, settings: LinkingSettings) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Add the inflected forms that the texts have, and return the endings; none for English, where an apostrophe separates them."""
    if documents is None or not settings.inflections or is_english(settings.language):
        return table, ()
    inflection_forms = inflections(table["name"], documents["text"])
    forms = (
        table.drop("cut")
        .join(inflection_forms.forms, on="name", how="inner", maintain_order="left")
        .with_columns(name="form")
        .select(table.columns)
    )
    return pl.concat([table, forms]), inflection_forms.endings


def _without_articles(table: pl.DataFrame, settings: LinkingSettings) -> pl.DataFrame:
    """Let all entities of "United Kingdom" compete for "the United Kingdom" too, where that is a name.

    The article is no part of their mention.
    """
    article = f"^(?:{settings.articles}) "  # lower case only: "The Sun" is a whole name
    if not settings.articles:
        return table
    full_names = table.filter(pl.col("links") & pl.col("name").str.contains(article)).select(
        longer="name", shorter=pl.col("name").str.replace(article, "")
    )
    bare_names = table.select("entity", shorter="name").unique()
    stems = table.select("entity", shorter=pl.col("name").str.replace(article, "")).with_columns(bare=pl.col("shorter") != table["name"])
    matches = stems.join(bare_names.with_columns(both=True), on=["entity", "shorter"], how="left", maintain_order="left")
    table = table.with_columns(skip=pl.Series((matches["bare"] & matches["both"].fill_null(False)).cast(pl.UInt8)))
    article_names = table.filter("links").join(full_names.unique(), left_on="name", right_on="shorter", maintain_order="left")
    article_names = article_names.join(
        table.select("entity", "name"), left_on=["entity", "longer"], right_on=["entity", "name"], how="anti"
    )
    article_names = article_names.with_columns(name="longer", skip=pl.lit(1, pl.UInt8), candidate=pl.lit(False)).select(table.columns)
    return pl.concat([table, article_names.unique(["row", "name"], keep="first", maintain_order=True)])


def _priority(settings: LinkingSettings) -> pl.Expr:
    """Preferred kinds first, then preferred sources; unlisted ones share the last rank."""
    kinds, sources = settings.shared.prefer_kinds, settings.shared.prefer_sources
    kind = pl.col("kind").replace_strict({k: i for i, k in enumerate(kinds)}, default=len(kinds), return_dtype=pl.Int32)
    source = pl.col("source").replace_strict({s: i for i, s in enumerate(sources)}, default=len(sources), return_dtype=pl.Int32)
    return pl.when("links").then(kind * 16 + source).otherwise(NO_LINK)


def _spelling(names: pa.ChunkedArray, case: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Hash of the spelling that a text must have: of the whole name or, for INITIAL, of all but the first character."""
    full_hash, rest_hash = spellings(names).T
    spelling: npt.NDArray[np.uint64] = np.where(case == INITIAL, rest_hash, full_hash)
    return spelling

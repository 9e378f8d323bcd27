"""What questions are made of: linked entities that the passage describes, groups of them, and what the linked articles say about each."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pyarrow as pa

from kgqa.recipes.iirc.evidence import KEY, stating_places
from kgqa.recipes.musique.wording import FORWARD, INVERSE
from kgqa.recipes.names.kinds import LEAD, subject_kinds
from kgqa.settings.iirc import GroupSettings
from kgqa.sources.tables import frame

ANYTHING = "?"
"""The doubt about an article that may be about a member of any group."""
WORDS = r"[\p{L}\p{N}]+"
GOES_ON = r"^ (?:[\"“(]|, )?\p{Lu}"
A_YEAR = r"^.{0,150}\b\d{3,4}s?\b"
MARGIN = 120
"""Characters before the first and after the last member of a group in which another link of its kind counts."""
LEAST_KNOWN, TELLING = 20, 0.8
"""A relation tells the class of its heads, or tails, if this many are known, and at least this share is of one class."""
ENTITY, TIME, QUANTITY = "entity", "time", "quantity"
ATTRIBUTE_COLUMNS = (
    "entity", "article", "name", "kind", "hop", "start", "end", "said", "answer_entity", "time", "calendar", "number", "unit", "base",
)  # fmt: skip


def asked_hops(tables: Mapping[str, pa.Table], related: pl.DataFrame, *, least: float) -> pl.DataFrame:
    """The single-hop questions about the subject of their own document, where a sentence states the answer and none states another one.

    Columns: ``hop`` (row of ``single_hop``), ``document``, ``entity`` (the subject), ``template``, ``kind``, ``answer_entity``, and
    ``start``, ``end``, ``said`` of the answer where the document states it best. ``least``: see :func:`stating_places`.
    """
    columns = ["paragraph", "answer_entity", "kind", "relations", "entities", "read"]
    rows = frame(tables["single_hop"].select(columns)).with_row_index("hop").filter(pl.col("kind").is_in([FORWARD, INVERSE]))
    ids = frame(tables["paragraphs"].select(["id"])).with_row_index("paragraph").select(pl.col("paragraph").cast(pl.Int32), document="id")
    documents = frame(tables["documents"].select(["id", "about", "text"])).select("text", document="id", entity="about")
    rows = rows.join(ids, on="paragraph", maintain_order="left").join(documents.drop("text"), on="document", maintain_order="left")
    rows = rows.with_columns(template=pl.col("relations").list.first(), hop=pl.col("hop").cast(pl.Int32))
    rows = rows.filter(pl.col("entities").list.first() == pl.col("entity"))
    rows = rows.with_columns(relation=pl.concat_str("kind", "template", separator=" "))
    facts = rows.select("document", "read", "relation", entity="answer_entity")
    texts = documents.select("document", "text").join(facts.select("document"), on="document", how="semi")
    named_places = _named_places(tables, texts)
    pairs = pl.concat([facts.select(*KEY, rival=pl.lit(value=False)), _rivals(facts, named_places, related)])
    places = stating_places(pairs, facts.filter(~pl.col("read")), named_places, texts, least=least)
    spellings = places.join(texts, on="document").with_columns(said=pl.col("text").str.slice("start", pl.col("end") - pl.col("start")))
    places_of_facts = spellings.select("document", "relation", "start", "end", "said", answer_entity="entity")
    return rows.join(places_of_facts, on=["document", "relation", "answer_entity"], maintain_order="left").drop(
        "paragraph", "relations", "entities"
    )


def _rivals(facts: pl.DataFrame, named_places: pl.DataFrame, related: pl.DataFrame) -> pl.DataFrame:
    """``document, entity, relation, rival``: what a document names too, and what answers the same question about other subjects.

    Without what a fact joins to the answer, as a city and its state.
    """
    answers = facts.select("relation", other="entity").unique()
    pairs = facts.select("document", "relation", "entity").join(named_places.select("document", other="entity").unique(), on="document")
    pairs = pairs.filter(pl.col("other") != pl.col("entity")).join(answers, on=["relation", "other"], how="semi")
    pairs = pairs.join(related, on=["entity", "other"], how="anti")
    return pairs.select("document", "relation", entity="other", rival=pl.lit(value=True)).unique().select(*KEY, "rival")


def _named_places(tables: Mapping[str, pa.Table], texts: pl.DataFrame) -> pl.DataFrame:
    """The places where a document names an entity by a listed name, and by no adjective of it."""
    places = (
        frame(tables["mentions"])
        .join(texts, on="document")
        .with_columns(name=pl.col("text").str.slice("start", pl.col("end") - pl.col("start")))
    )
    names = frame(tables["names"].select(["entity", "name"])).with_columns(pl.col("name").str.to_lowercase()).unique()
    places = places.with_columns(pl.col("name").str.to_lowercase()).join(names, on=["entity", "name"], how="semi")
    return places.select("document", "entity", "start", "end")


def roles(hops: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """``passage, subject, a, article, role, start``: a linked entity that the passage describes by the question ``role`` (row)."""
    return (
        hops.select("start", passage="document", subject="entity", a="answer_entity", role="hop", role_template="template")
        .join(links.select("passage", "article", a="entity"), on=["passage", "a"])
        .sort("passage", "role")
    )


def attributes(hops: pl.DataFrame, values: pl.DataFrame, documents: pa.Table) -> pl.DataFrame:
    """What an article says about its subject, with ``ATTRIBUTE_COLUMNS``: an entity in a relation, a date or a quantity.

    ``values``: one value for each entity and relation, as :mod:`kgqa.recipes.values` has them.
    """
    texts = frame(documents.select(["id", "about", "text"])).select("text", document="id", entity="about")
    of_facts = hops.filter(pl.col("kind") == FORWARD).select(
        "entity", "hop", "answer_entity", article="document", name="template", kind=pl.lit(ENTITY), start=pl.col("start").cast(pl.Int64),
        end=pl.col("end").cast(pl.Int64), said="said", time=pl.lit(None, pl.String),
        calendar=pl.lit(None, pl.String), number=pl.lit(None, pl.Float64), base=pl.lit(None, pl.Float64), unit=pl.lit(None, pl.String),
    )  # fmt: skip
    own = values.rename({"text": "value"}).filter(pl.col("document").is_not_null()).join(texts, on=["document", "entity"])
    own = own.filter(pl.col("end") <= pl.col("text").str.len_chars())
    is_date = pl.col("kind") == TIME
    of_values = own.select(
        "entity", "kind", "start", "end", hop=pl.lit(None, pl.Int32), article="document", name="relation",
        said=pl.col("text").str.slice("start", pl.col("end") - pl.col("start")), answer_entity=pl.lit(None, pl.String),
        time=pl.when(is_date).then("value"), calendar="calendar", number="number", unit="unit", base="base",
    )  # fmt: skip
    return pl.concat([part.select(ATTRIBUTE_COLUMNS) for part in (of_facts, of_values)]).sort("entity", "name", "article", "start")


def members(
    tables: Mapping[str, pa.Table], passages: pl.DataFrame, links: pl.DataFrame, groups: Mapping[str, GroupSettings], *, most: int
) -> pl.DataFrame:
    """``passage, subject, group, size, a, article, start``: what the passage names in a relation, or of a kind, in the order of the links.

    Only whole groups of two to ``most``: each named member has an article. A passage has no group of a kind if one of its links is
    doubtful: if the article may be of the kind or not (:func:`kinds_of`), if the name goes on ("Virgil" in "Virgil Grissom"), or if the
    name and the title of the article have no word in common.
    """
    of = pl.DataFrame(
        [(template, name) for name, group in groups.items() for template in group.templates],
        schema={"template": pl.String, "group": pl.String}, orient="row",
    )  # fmt: skip
    of_kind = pl.DataFrame(
        [(kind, name) for name, group in groups.items() for kind in group.kinds],
        schema={"kind": pl.String, "group": pl.String},
        orient="row",
    )
    links_with_kind = links.join(kinds_of(links, tables), on="article", how="left", maintain_order="left")
    related = frame(tables["stated"]).rename({"paragraph": "passage", "head": "subject", "tail": "a"}).join(of, on="template")
    related = related.join(passages, on=["passage", "subject"], how="semi").select("passage", "subject", "group", "a").unique()
    alike = links_with_kind.join(of_kind, on="kind")
    odd = alike.filter(pl.Series(_odd_names(alike, tables["documents"]))).select("passage", "group")
    anything = links_with_kind.filter(pl.col("doubt") == ANYTHING).select("passage").unique().join(of_kind.select("group"), how="cross")
    doubtful = links_with_kind.join(of_kind, left_on="doubt", right_on="kind").select("passage", "group")
    alike = alike.join(pl.concat([odd, anything, doubtful]).unique(), on=["passage", "group"], how="anti").join(passages, on="passage")
    alike = alike.select("passage", "subject", "group", a="entity")
    rows = pl.concat([_whole(related, links_with_kind), alike]).filter(pl.col("a") != pl.col("subject")).unique()
    rows = rows.with_columns(size=pl.len().over("passage", "group")).filter(pl.col("size").is_between(2, most))
    operands = rows.join(links.select("passage", "article", "start", a="entity"), on=["passage", "a"])
    return operands.filter(pl.len().over("passage", "group") == pl.col("size")).sort("passage", "group", "start", "a")


def _odd_names(alike: pl.DataFrame, documents: pa.Table) -> pl.Series:
    """Whether the name of each link goes on, or has no word of the article's title."""
    texts = frame(documents.select(["id", "text"])).select("text", passage="id")
    titles = frame(documents.select(["id", "title"])).select("title", article="id")
    rows = alike.join(texts, on="passage", maintain_order="left").join(titles, on="article", maintain_order="left")
    name = pl.col("text").str.slice("start", pl.col("end") - pl.col("start"))
    words, title = (text.str.to_lowercase().str.extract_all(WORDS) for text in (name, pl.col("title")))
    is_nickname = words.list.set_intersection(title).list.len() == 0
    return rows.select(pl.col("text").str.slice("end", 4).str.contains(GOES_ON) | is_nickname).to_series()


def _whole(related: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """The members of groups between whose first and last link the passage has no link to another thing of their kind.

    A graph that lacks a fact would leave out a member ("It stars A, B and C").
    """
    rows = related.join(links.select("passage", "start", "kind", a="entity"), on=["passage", "a"])
    spans = rows.group_by("passage", "subject", "group", "kind").agg(first=pl.col("start").min(), last=pl.col("start").max())
    between = spans.join(links.select("passage", "kind", "start", other="entity"), on=["passage", "kind"]).filter(pl.col("kind") != "")
    # The sentence may go on after the last member.
    between = between.filter(pl.col("start").is_between(pl.col("first") - MARGIN, pl.col("last") + MARGIN))
    outsiders = between.join(related.select("passage", "group", other="a"), on=["passage", "group", "other"], how="anti")
    return related.join(outsiders, on=["passage", "group"], how="anti")


def kinds_of(links: pl.DataFrame, tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """``article, kind, doubt``: the class of what each linked article is about, and the class of which it may be or not be.

    There is doubt if the article does not tell the class but the facts do, or if they tell another one. An article that begins with a
    year and tells no class, as some about people and works do, may be about ``ANYTHING``.
    """
    articles = frame(tables["documents"].select(["id", "title", "about", "text"]))
    articles = articles.filter(pl.col("id").is_in(links["article"].unique().implode()))
    articles = articles.select("title", article="id", entity="about", text=pl.col("text").str.slice(0, LEAD))
    entity_kinds = frame(tables["entities"]).select("kind", entity="id")
    articles = articles.join(entity_kinds, on="entity", how="left", maintain_order="left")
    subjects = articles.select("kind", "title", "text").iter_rows()
    classes = [next((kind[0] for kind in subject_kinds(*row)), "") for row in subjects]
    articles = articles.with_columns(kind=pl.Series(classes, dtype=pl.String))
    facts = frame(tables["facts"])
    ends = pl.concat([facts.select("relation", entity=side).unique().with_columns(side=pl.lit(side)) for side in ("head", "tail")])
    ends = ends.join(articles.select("entity", "kind"), on="entity")
    shares = ends.filter(pl.col("kind") != "").group_by("relation", "side", "kind").agg(count=pl.len())
    shares = shares.with_columns(total=pl.col("count").sum().over("relation", "side"))
    telling = shares.filter((pl.col("total") >= LEAST_KNOWN) & (pl.col("count") >= TELLING * pl.col("total")))
    by_facts = ends.join(telling.select("relation", "side", told="kind"), on=["relation", "side"])
    by_facts = by_facts.group_by("entity").agg(told=pl.col("told").sort().first(), agrees=(pl.col("told") == pl.col("kind")).any())
    rows = articles.join(by_facts, on="entity", how="left", maintain_order="left")
    is_unknown = pl.col("kind") == ""
    doubt = (
        pl.when(is_unknown & pl.col("told").is_not_null())
        .then("told")
        .when(is_unknown & pl.col("text").str.contains(A_YEAR))
        .then(pl.lit(ANYTHING))
        .when(~is_unknown & ~pl.col("agrees"))
        .then("kind")
    )
    return rows.select("article", "kind", doubt=doubt)

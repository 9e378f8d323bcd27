"""Step S1 (Trivedi et al. 2022): single-hop questions from facts that a document states, with one template per relation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import paired
from kgqa.arrays.sentences import sentence_starts
from kgqa.arrays.words import length, lengths
from kgqa.recipes.musique.article_paragraphs import divided, moved
from kgqa.recipes.musique.composers.forms import NO_RELATION
from kgqa.recipes.musique.languages import check_labels
from kgqa.recipes.musique.mentions import find_names
from kgqa.recipes.musique.pool import PARAGRAPHS, REASONS, SINGLE_HOP, STATED
from kgqa.recipes.musique.read_facts import kinds_of, of_kinds, read_texts
from kgqa.recipes.musique.same_relation import asked_once, synonymous_templates
from kgqa.recipes.musique.unasked_relations import SilentRelation, in_short, silent_relations
from kgqa.recipes.musique.wording import BOTH, FORWARD, INVERSE, question
from kgqa.recipes.names.kinds import NOUNS, PERSON, title_kinds
from kgqa.recipes.names.statements import CLOSED
from kgqa.records import REFERENCE
from kgqa.rules.roles import SYMMETRIC
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.musique import MusiqueSettings, NeutralSettings, ReadingSettings, SingleHopSettings, TemplateSettings
from kgqa.sources.tables import arrow, frame

STAGE = "single-hop"
READING = "musique.single_hop.reading.use"
ARTICLE_LENGTH = len("the ")
ARTICLE_SHARE = 0.6
"""Minimum share of a name's places with an article for the name to get one."""
PRIOR = {"head": (4.0, 1.0), "tail": (1.0, 24.0)}
"""Prior of a relation's functionality by the known end: assumed facts with one answer, and with several. Graphs list facts by their
head, mostly one per relation; that a tail has a single head needs some seventy facts without an exception."""
RIVALS = 12
"""Maximum number of pool paragraphs per branch that are there as rivals: they state the branch's fact of another entity."""
LOWER = 0.05
"""Lower quantile of the posterior, taken as the bound."""
NOUN_COUNT = 3
"""Heads of a relation that must have a noun before a question uses it."""


def neutral_template(label: str, form: NeutralSettings | bool = True) -> TemplateSettings | None:
    """A template for a relation without one, in the ``form`` of the settings or in English.

    In English it is None where the label is no noun ("owned by") or a plural ("colors"). The last part of a Freebase label ``a / b``
    describes the tail.
    """
    name = label.rpartition(" / ")[2]
    if isinstance(form, NeutralSettings):
        return form.template(name) if name else None
    if not name or NO_RELATION.search(name) or name.endswith("s"):
        return None
    return TemplateSettings(question=f"What is the {name} of {{head}}?", phrase=f"the {name} of {{head}}")


def templates_of(relations: pa.Table, settings: MusiqueSettings) -> dict[str, TemplateSettings]:
    """Name → template: those of the settings, and a neutral one, named by the relation's id, for each other relation.

    Relations in ``musique.unasked`` get none.
    """
    template_relations = {relation for template in settings.templates.values() for relation in (*template.relations, *template.reversed)}
    templates = dict(settings.templates)
    if settings.neutral:
        for relation, label in zip(relations["id"].to_pylist(), relations["label"].to_pylist(), strict=True):
            if relation not in template_relations and not {relation, label} & set(settings.unasked):
                template = neutral_template("".join(" " if letter in "{}" else letter for letter in label), settings.neutral)
                if template is not None:
                    templates[relation] = template.model_copy(update={"relations": (relation,)})
    return templates


def graph_questions(
    tables: Mapping[str, pa.Table], settings: MusiqueSettings, *, source: str, seed: int, values: pl.DataFrame | None = None
) -> tuple[pa.Table, pa.Table, pa.Table, list[FunnelRow], list[SilentRelation]]:
    """``single_hop``, ``paragraphs`` and ``stated`` (see ``pool.py``); the funnel of S1; the relations without a question.

    A question asks for the tail of a fact, for its head, or for the head of two facts; only where the graph knows a single answer. Others
    ask for a date or quantity, from ``values`` (:func:`kgqa.recipes.values.table.one_each`).
    """
    templates = templates_of(tables["relations"], settings)
    if settings.neutral is True:
        by_label = {name for name, template in templates.items() if template is not settings.templates.get(name)}
        check_labels(tables["relations"], by_label & set(tables["facts"]["relation"].unique().to_pylist()), name=source)
    facts, rows = _asked_facts(tables, templates)
    tables, places = divided(tables, settings.single_hop.paragraphs, rows)
    tables = shortened(tables, settings.single_hop, rows)
    documents = _good_documents(tables, settings.single_hop, rows)
    texts, _ = read_texts(
        facts,
        tables,
        documents,
        everywhere=settings.single_hop.documents == "any",
        precision=settings.single_hop.reading.precision,
        seed=seed,
    )
    facts = _with_read(facts, texts, tables, settings.single_hop.reading, rows)
    seconds = second_answers(facts, texts, settings.single_hop.reading)
    facts = _with_names(facts, tables)
    stated_pairs = _statements(facts, tables, documents, settings.single_hop)
    stated_facts = facts.join(stated_pairs, on=["head", "tail"], how="inner")
    located_count = stated_facts.select("head", "template", "tail").unique().height
    rows.append(_row("facts", "unnamed", facts.height - located_count, located_count, "musique.single_hop.documents"))
    stated_facts = _surely_stated(stated_facts, facts, texts, settings.single_hop.reading)
    stated_count = stated_facts.select("head", "template", "tail").unique().height
    rows.append(_row("facts", "unstated", located_count - stated_count, stated_count, "musique.single_hop.reading.stated"))
    stated_facts = _with_cues(stated_facts, tables, documents, templates)
    cued_count = stated_facts.select("head", "template", "tail").unique().height
    rows.append(_row("facts", "no cue", stated_count - cued_count, cued_count, "musique.templates"))
    candidates = pl.concat(
        [
            _questions(stated_facts, facts, seconds, settings, templates, FORWARD),
            _questions(stated_facts, facts, seconds, settings, templates, INVERSE),
            _two_fact_questions(stated_facts, facts, settings, templates, seed),
        ]
    )
    survivors = {"stated": stated_facts["template"].unique().to_list(), "unique": _templates(candidates.filter("unique"))}
    candidate_count = candidates.height
    candidates = candidates.filter("unique").drop("unique")
    rows.append(_row("questions", "several", candidate_count - candidates.height, candidates.height, "musique.single_hop.max_objects"))
    candidate_count = candidates.height
    candidates = candidates.filter("functional").drop("functional")
    rows.append(_row("questions", "incomplete", candidate_count - candidates.height, candidates.height, "musique.single_hop.functional"))
    survivors["functional"] = _templates(candidates)
    candidate_count = candidates.height
    candidates = asked_once(candidates, synonymous_templates(facts, tables["relations"], templates))
    rows.append(_row("questions", "copied", candidate_count - candidates.height, candidates.height, "musique.unasked"))
    survivors["unlike"] = _templates(candidates)
    questions = _with_spans(candidates, tables, rows)
    questions = _worded(questions, tables, templates, source, rows, seed=seed if settings.forms else None)
    questions = questions.with_columns(read=_read_of(questions, facts))
    rivals = questions.select("document").clear()
    if settings.contexts.branches:
        questions, rivals = _with_rivals(questions, stated_facts, rows)
    if values is not None:
        # A question for a value is the last hop or none, so other questions must lead to its entity.
        value_questions = _value_questions(
            moved(values.filter(pl.col("document").is_not_null()), places), questions["answer"].unique(), documents, tables, templates
        )
        value_questions = _worded(value_questions, tables, templates, source, [], seed=seed if settings.forms else None)
        value_questions = value_questions.with_columns(answer=pl.lit(None, pl.String), read=pl.lit(value=False))
        questions = pl.concat([questions, value_questions.select(questions.columns)]).sort("id")
        note = f"{value_questions.height:,} of them ask for a date or quantity that an article states"
        rows.append(FunnelRow(stage=STAGE, what="questions", reason=note, removed=None, left=questions.height, setting="musique.values"))
    single_hop, paragraphs = _as_tables(questions, documents, rivals)
    statements = stated_facts.select("template", "head", "tail", paragraph="document").filter(
        pl.col("paragraph").is_in(paragraphs["id"].to_pylist())
    )
    silent = silent_relations(tables, settings, templates, survivors, _templates(questions))
    if silent:
        rows.append(FunnelRow(stage=STAGE, what="relations", reason=in_short(silent), removed=None, left=None, setting="musique.templates"))
    return single_hop, paragraphs, arrow(statements.unique().sort(statements.columns)).cast(STATED), rows, silent


def _templates(questions: pl.DataFrame) -> list[str]:
    """The templates of some questions."""
    return questions["templates"].explode(empty_as_null=False).unique().to_list() if questions.height else []


def _row(unit: str, reason: str, removed_count: int, left_count: int, setting: str = "") -> FunnelRow:
    return FunnelRow(stage=STAGE, what=unit, reason=REASONS[reason], removed=removed_count, left=left_count, setting=setting)


def _asked_facts(tables: Mapping[str, pa.Table], templates: Mapping[str, TemplateSettings]) -> tuple[pl.DataFrame, list[FunnelRow]]:
    """``head``, ``template``, ``tail`` without repetition, in the direction of the template; and the funnel so far."""
    directions = [(relation, name, False) for name, template in templates.items() for relation in template.relations]
    directions += [(relation, name, True) for name, template in templates.items() for relation in template.reversed]
    template_of = pl.DataFrame(directions, schema={"relation": pl.String, "template": pl.String, "reversed": pl.Boolean}, orient="row")
    facts = frame(tables["facts"])
    symmetric = frame(tables["relations"]).filter("symmetric").select(relation="id")
    inverse_facts = facts.join(symmetric, on="relation", how="semi").select(head="tail", relation="relation", tail="head")
    directed_facts = pl.concat([facts, inverse_facts])
    matches = directed_facts.join(template_of, on="relation", how="inner")
    is_reversed = pl.col("reversed")
    matches = matches.select(
        head=pl.when(is_reversed).then("tail").otherwise("head"),
        template="template",
        tail=pl.when(is_reversed).then("head").otherwise("tail"),
    ).unique()
    matches = pl.concat([matches, _turned(matches, templates)])
    unasked_count = facts.join(template_of, on="relation", how="anti").height
    rows = [_row("facts", "not asked", unasked_count, facts.height - unasked_count, "musique.unasked")]
    return matches.unique().sort("head", "template", "tail"), rows


def _with_read(
    facts: pl.DataFrame, texts: pl.DataFrame, tables: Mapping[str, pa.Table], settings: ReadingSettings, rows: list[FunnelRow]
) -> pl.DataFrame:
    """Adds the column ``read``, and facts that ``texts`` state and the graph lacks.

    No fact is read for a head that already has one of the same relation in the graph.
    """
    table = facts.with_columns(read=pl.lit(value=False))
    if not settings.use:
        return table
    new_facts = texts.filter(~pl.col("fact") & pl.col("sure") & (pl.col("probability") >= settings.read))
    new_facts = new_facts.join(facts, on=["head", "template"], how="anti").select("head", "template", "tail").unique()
    new_facts = of_kinds(new_facts, facts, kinds_of(tables))
    note = f"{new_facts.height:,} facts are read out of texts, of which the graph has none"
    rows.append(FunnelRow(stage=STAGE, what="facts", reason=note, removed=None, left=table.height + new_facts.height, setting=READING))
    return pl.concat([table, new_facts.with_columns(read=pl.lit(value=True))]).sort("head", "template", "tail")


def _surely_stated(candidates: pl.DataFrame, facts: pl.DataFrame, texts: pl.DataFrame, settings: ReadingSettings) -> pl.DataFrame:
    """The facts and documents where the model is sure enough that the document states the fact.

    The model does not score a tail that no other head has in the relation; there it is enough that the document names both.
    """
    if not texts.height:
        return candidates
    key = ["document", "head", "template", "tail"]
    table = candidates.join(texts.select(*key, "probability"), on=key, how="left", maintain_order="left")
    bearers = facts.group_by("template", "tail").agg(having=pl.col("head").n_unique())
    table = table.join(bearers, on=["template", "tail"], how="left", maintain_order="left")
    is_sure = (pl.col("probability") >= settings.stated) | (pl.col("probability").is_null() & (pl.col("having") < 2))
    return table.filter(is_sure | (settings.stated == 0)).drop("probability", "having")


def second_answers(facts: pl.DataFrame, texts: pl.DataFrame, settings: ReadingSettings) -> pl.DataFrame:
    """``head``, ``template``, ``seconds``: the number of answers that the texts state, by the model, and the graph lacks.

    An entity that a fact connects to an answer of the graph does not count: it is often the larger place around it, or a part of it.
    """
    others = texts.filter(~pl.col("fact") & (pl.col("probability") >= settings.second)).select("head", "template", "tail").unique()
    known = facts.select("head", "template", known="tail")
    links = pl.concat([facts.select(tail="head", known="tail"), facts.select("tail", known="head")]).unique()
    near = others.join(known, on=["head", "template"]).join(links, on=["tail", "known"], how="semi")
    others = others.join(near, on=["head", "template", "tail"], how="anti").join(facts, on=["head", "template", "tail"], how="anti")
    return others.group_by("head", "template").agg(seconds=pl.len()).sort("head", "template")


def _with_cues(
    stated_facts: pl.DataFrame, tables: Mapping[str, pa.Table], documents: pl.DataFrame, templates: Mapping[str, TemplateSettings]
) -> pl.DataFrame:
    """The facts and documents where a sentence that names the fact's other end has one of the ``cues`` of its template."""
    patterns = {
        name: "|".join(rf"\b{re.escape(cue.lower())}" for cue in template.cues) for name, template in templates.items() if template.cues
    }
    asked = stated_facts.filter(pl.col("template").is_in(sorted(patterns)))
    if not asked.height:
        return stated_facts
    about = documents.select("document", "about", "text")
    key = ["document", "head", "template", "tail"]
    ends = asked.join(about.select("document", "about"), on="document").select(
        *key, entity=pl.when(pl.col("about") == pl.col("head")).then("tail").otherwise("head")
    )
    starts = sentence_starts(tables["documents"]["text"])
    rows = frame(tables["documents"]).select(document="id").with_row_index("row").join(ends.select("document").unique(), on="document")
    mentions = frame(tables["mentions"]).join(rows, on="document")
    mentions = mentions.join(ends.select("document", "entity").unique(), on=["document", "entity"], how="semi")
    places = np.searchsorted(
        paired(starts.sources(), starts.targets), paired(mentions["row"].to_numpy(), mentions["start"].to_numpy()), side="right"
    )
    last = starts.offsets[mentions["row"].to_numpy() + 1]
    begin = starts.targets[places - 1]
    end = np.where(places < last, starts.targets[np.minimum(places, len(starts.targets) - 1)], np.iinfo(np.int32).max)
    sentences = mentions.select("document", "entity").with_columns(begin=pl.Series(begin), stop=pl.Series(end)).unique()
    found = ends.join(sentences, on=["document", "entity"]).join(about.select("document", "text"), on="document")
    found = found.with_columns(sentence=pl.col("text").str.slice("begin", pl.col("stop") - pl.col("begin")).str.to_lowercase())
    has_cue = pl.any_horizontal(
        (pl.col("template") == name) & pl.col("sentence").str.contains(pattern) for name, pattern in sorted(patterns.items())
    )
    cued = found.filter(has_cue).select(key).unique()
    lacking = asked.join(cued, on=key, how="anti").select(key)
    return stated_facts.join(lacking, on=key, how="anti", maintain_order="left")


def _turned(facts: pl.DataFrame, templates: Mapping[str, TemplateSettings]) -> pl.DataFrame:
    """The reversed facts of symmetric templates: those declared symmetric, and those whose facts often hold in both directions.

    Tables list most facts of such a relation once, but a border, for instance, is often listed for both neighbours.
    """
    inverse_facts = facts.select(head="tail", template="template", tail="head")
    pair_counts = inverse_facts.join(facts, on=["head", "template", "tail"], how="semi").group_by("template").len("both")
    share = facts.group_by("template").len().join(pair_counts, on="template").filter(pl.col("both") >= SYMMETRIC * pl.col("len"))
    symmetric = {*share["template"], *(name for name, template in templates.items() if template.symmetric)}
    return inverse_facts.filter(pl.col("template").is_in(sorted(symmetric)))


def _with_names(facts: pl.DataFrame, tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """Adds ``head_name`` and ``tail_name``: a question has names only, and another entity of that name may have the answer ("Kingston")."""
    names = frame(tables["entities"]).select(entity="id", name=pl.col("label").str.to_lowercase())
    for side in ("head", "tail"):
        facts = facts.join(names.rename({"entity": side, "name": f"{side}_name"}), on=side, how="left", maintain_order="left")
    return facts


def shortened(tables: Mapping[str, pa.Table], settings: SingleHopSettings, rows: list[FunnelRow]) -> Mapping[str, pa.Table]:
    """The tables with long articles cut after the last whole sentence within ``max_words``, and the mentions and links that remain.

    The beginning of an article describes its subject best, and the articles about well-known subjects are long.
    """
    documents = frame(tables["documents"]).with_row_index("row")
    long_documents = documents.filter(pl.Series(lengths(documents["text"]) > settings.max_words))
    if not long_documents.height:
        return tables
    starts = sentence_starts(tables["documents"]["text"])
    texts = []
    for row, text in long_documents.select("row", "text").iter_rows():
        places = starts.targets[starts.offsets[row] : starts.offsets[row + 1]].tolist()
        end = next((place for place in reversed(places) if length(text[:place]) <= settings.max_words), 0)
        texts.append(text[:end].rstrip())
    short_texts = long_documents.select("id", short=pl.Series(texts))
    note = f"{long_documents.height:,} articles are shown only as far as whole sentences have no more words than may be"
    rows.append(
        FunnelRow(stage=STAGE, what="documents", reason=note, removed=None, left=documents.height, setting="musique.single_hop.max_words")
    )
    cut_documents = documents.drop("row").join(short_texts, on="id", how="left", maintain_order="left")
    cut_documents = cut_documents.with_columns(text=pl.coalesce("short", "text")).drop("short")
    ends = short_texts.select(document="id", last=pl.col("short").str.len_chars())
    mentions = frame(tables["mentions"]).join(ends, on="document", how="left", maintain_order="left")
    mentions = mentions.filter(pl.col("last").is_null() | (pl.col("end") <= pl.col("last"))).drop("last")
    links = frame(tables["links"]).join(mentions.select("document", "entity").unique(), on=["document", "entity"], how="semi")
    changes = {"documents": cut_documents, "mentions": mentions, "links": links}
    return {**tables, **{name: arrow(table).cast(tables[name].schema) for name, table in changes.items()}}


def _good_documents(tables: Mapping[str, pa.Table], settings: SingleHopSettings, rows: list[FunnelRow]) -> pl.DataFrame:
    """``document``, ``about``, ``links`` (entities that it names), ``title``, ``text``: the documents that can support a question."""
    documents = frame(tables["documents"])
    documents = documents.with_columns(words=lengths(documents["text"]))
    is_short = documents["words"] < settings.min_words  # also a document whose first sentence is too long
    rows.append(_row("documents", "short", int(is_short.sum()), int((~is_short).sum()), "musique.single_hop.min_words"))
    entity_counts = frame(tables["links"]).group_by("document").len("links")
    usable_documents = documents.filter(~is_short).join(
        entity_counts, left_on="id", right_on="document", how="inner", maintain_order="left"
    )
    return usable_documents.select("about", "links", "title", "text", document="id").unique("text", keep="first", maintain_order=True)


def _statements(facts: pl.DataFrame, tables: Mapping[str, pa.Table], documents: pl.DataFrame, settings: SingleHopSettings) -> pl.DataFrame:
    """``head``, ``tail``, ``document``, ``place``: the documents that name both; a lower ``place`` makes the fact more likely.

    The article about the head may name the tail anywhere, since all of it is about the head. Other documents must name both in one
    sentence. Documents about neither rarely state the fact ("the Jentink's dormouse is found in Liberia, Ghana").
    """
    pairs = facts.select("head", "tail").unique()
    links = frame(tables["links"]).join(documents, on="document", how="semi")
    about = documents.filter(pl.col("about").is_not_null()).select("document", head="about")
    about_head = pairs.join(about, on="head").join(links.select("document", tail="entity"), on=["document", "tail"], how="semi")
    co_mentions = _in_one_sentence(pairs, tables, documents)
    of_tail = co_mentions.join(about.rename({"head": "tail"}), on=["tail", "document"], how="semi")
    parts = [about_head.with_columns(place=pl.lit(0)), of_tail.with_columns(place=pl.lit(1))]
    if settings.documents == "any":
        parts.append(co_mentions.with_columns(place=pl.lit(2)))
    best_places = pl.concat(parts).group_by("head", "tail", "document").agg(pl.col("place").min())
    ranking = best_places.join(documents.select("document", "links"), on="document").sort("head", "tail", "place", "links", "document")
    return ranking.drop("links")


def _in_one_sentence(pairs: pl.DataFrame, tables: Mapping[str, pa.Table], documents: pl.DataFrame) -> pl.DataFrame:
    """``head``, ``tail``, ``document``: documents that name both in one sentence."""
    starts = sentence_starts(tables["documents"]["text"])
    rows = frame(tables["documents"]).select(document="id").with_row_index("row").join(documents, on="document", how="semi")
    mentions = frame(tables["mentions"]).join(rows.select("document", "row"), on="document")
    positions = paired(mentions["row"].to_numpy(), mentions["start"].to_numpy())
    sentence = np.searchsorted(paired(starts.sources(), starts.targets), positions, side="right")
    mentions = mentions.select("document", "entity").with_columns(sentence=pl.Series(sentence)).unique()
    heads = pairs.join(mentions.rename({"entity": "head"}), on="head")
    co_mentions = heads.join(mentions.select("sentence", tail="entity"), on=["sentence", "tail"], how="semi")
    return co_mentions.select("head", "tail", "document").unique()


def _questions(
    stated_facts: pl.DataFrame, facts: pl.DataFrame, seconds: pl.DataFrame, settings: MusiqueSettings,
    templates: Mapping[str, TemplateSettings], kind: str,
) -> pl.DataFrame:  # fmt: skip
    """Questions for the tail of a fact, or with ``INVERSE`` for its head: what does the other end have?

    A question for a tail has several answers, too, if the article about the head states another one (``seconds``).
    """
    known, asked = ("head", "tail") if kind == FORWARD else ("tail", "head")
    template_names = [name for name, template in templates.items() if (template.question if kind == FORWARD else template.clause)]
    questions = stated_facts.filter(pl.col("template").is_in(template_names)).unique(
        ["head", "template", "tail"], keep="first", maintain_order=True
    )
    counts = facts.group_by(f"{known}_name", "template").agg(answers=pl.col(asked).n_unique())
    questions = questions.join(counts, on=[f"{known}_name", "template"], maintain_order="left")
    questions = questions.join(_functionality(facts, known, settings.single_hop), on="template", maintain_order="left")
    if kind == FORWARD:
        questions = questions.join(seconds, on=["head", "template"], how="left", maintain_order="left").with_columns(
            answers=pl.col("answers") + pl.col("seconds").fill_null(0)
        )
    return questions.select(
        answer=asked, document="document", kind=pl.lit(kind), templates=pl.concat_list("template"), entities=pl.concat_list(known),
        unique=pl.col("answers") <= settings.single_hop.max_objects, functional=pl.col("share") >= settings.single_hop.functional,
    )  # fmt: skip


def _functionality(facts: pl.DataFrame, known_end: str, settings: SingleHopSettings) -> pl.DataFrame:
    """``template``, ``share``: of a relation the different heads, or tails, a fact (Suchanek, Abiteboul and Senellart 2011, section 4).

    The share is the lower bound of a Beta posterior with the prior ``PRIOR``. Few facts of a graph that lacks most of them look
    functional in both directions: of 24 towns it knows one person each who died there.
    """
    # Facts read from texts are one per head, which does not show how many there are.
    counts = _different(facts.filter(~pl.col("read")), known_end)
    if settings.complete:
        return counts.select("template", share=pl.col("different") / pl.col("facts"))
    from scipy.stats import beta  # the import takes half a second, and most runs do not need it

    single, several = PRIOR[known_end]
    end_counts, total = counts["different"].to_numpy().astype(np.float64), counts["facts"].to_numpy().astype(np.float64)
    return counts.select("template", share=pl.Series(beta.ppf(LOWER, single + end_counts, several + total - end_counts)))


def _different(facts: pl.DataFrame, side: str) -> pl.DataFrame:
    """``template``, ``different`` (heads, or tails), ``facts``."""
    return facts.group_by("template").agg(different=pl.col(side).n_unique(), facts=pl.len()).sort("template")


def _two_fact_questions(
    stated_facts: pl.DataFrame, facts: pl.DataFrame, settings: MusiqueSettings, templates: Mapping[str, TemplateSettings], seed: int
) -> pl.DataFrame:
    """Questions for the head of two facts that other heads have too, but not both; a sample of pairs per head.

    Tails with equal names count as one. Excluded: a relation where one fact nearly identifies the head (the capital of a country), and two
    templates without ``branch``. The graph must have no second head with both facts. Chance must not predict one either: if n of N heads
    have the first fact and m the second, n · m / N heads are expected to have both. If this expectation is large, the graph probably just
    lacks such a head.
    """
    functional_templates = (
        _different(facts, "tail").filter(pl.col("different") >= settings.single_hop.branch_below * pl.col("facts"))["template"].to_list()
    )
    nouns = {name: template.noun for name, template in templates.items() if template.clause and name not in functional_templates}
    order = {name: number for number, name in enumerate(templates)}
    noun_facts = facts.filter(pl.col("template").is_in(list(nouns))).with_columns(noun=pl.col("template").replace_strict(nouns))
    rows = noun_facts.select("template", "tail_name").unique().sort("template", "tail_name").with_row_index("row")
    noun_facts = (
        noun_facts.join(rows, on=["template", "tail_name"]).sort("row", "head").unique(["row", "head"], keep="first", maintain_order=True)
    )
    bounds = np.searchsorted(noun_facts["row"].to_numpy(), np.arange(rows.height + 1)).astype(np.int64)
    heads = noun_facts["head"].rank("dense").to_numpy().astype(np.int64)
    head_counts = np.diff(bounds)
    frequent_rows = rows.filter(pl.Series(head_counts >= settings.single_hop.min_both))
    noun_heads = noun_facts.group_by("noun").agg(pl.col("head").n_unique().alias("heads"))
    candidates = stated_facts.join(noun_facts.select("head", "template", "tail", "noun", "row"), on=["head", "template", "tail"])
    candidates = candidates.join(frequent_rows, on="row", how="semi").select(
        "head", "document", "template", "tail", "noun", "row", rank=pl.col("template").replace_strict(order)
    )
    pairs = candidates.join(candidates, on=["head", "document", "noun"], suffix="_2").filter(
        # The join gives both orders of a pair; keep the one in the order of the templates, and within a template of the tails.
        ((pl.col("rank") < pl.col("rank_2")) | ((pl.col("rank") == pl.col("rank_2")) & (pl.col("tail") < pl.col("tail_2"))))
        & (pl.col("tail") != pl.col("tail_2"))
    )
    vague_templates = [name for name in nouns if not templates[name].branch]
    pairs = pairs.filter(~(pl.col("template").is_in(vague_templates) & pl.col("template_2").is_in(vague_templates)))
    alike_templates = [name for name in nouns if templates[name].branch == "alike"]
    is_mixed = pl.col("template") != pl.col("template_2")
    pairs = pairs.filter(~(is_mixed & (pl.col("template").is_in(alike_templates) | pl.col("template_2").is_in(alike_templates))))
    pairs = pairs.join(_joined(facts), on=["tail", "tail_2"], how="anti")
    pairs = pairs.unique(["head", "row", "row_2"], keep="first", maintain_order=True).sort("head", "row", "row_2")
    firsts, seconds = (pairs[name].to_numpy() for name in ("row", "row_2"))
    totals = pairs.join(noun_heads, on="noun", maintain_order="left")["heads"].to_numpy()
    is_rare = head_counts[firsts] * head_counts[seconds] <= settings.single_hop.by_chance * totals
    pairs = pairs.filter(pl.Series((_shared_heads(bounds, heads, firsts, seconds) == 1) & is_rare))
    group = text_hashes(arrow(pairs.select("head"))["head"])
    draws = shuffling(
        group, pairs["row"].to_numpy().astype(np.int64) * rows.height + pairs["row_2"].to_numpy(), purpose="clauses", seed=seed
    )
    pairs = pairs.with_columns(drawn=pl.Series(draws)).sort("head", "drawn")
    pairs = pairs.filter(pl.int_range(pl.len()).over("head") < settings.single_hop.clauses)
    return pairs.select(
        answer="head", document="document", kind=pl.lit(BOTH), templates=pl.concat_list("template", "template_2"),
        entities=pl.concat_list("tail", "tail_2"), unique=pl.lit(True), functional=pl.lit(True),
    )  # fmt: skip


def _joined(facts: pl.DataFrame) -> pl.DataFrame:
    """``tail``, ``tail_2``, in both orders: the ends of facts that do not hold in the other direction too.

    A county implies its state, so everything in the county has both facts, and the estimate by chance fails.
    """
    inverse_facts = facts.select(head="tail", template="template", tail="head")
    asymmetric_facts = facts.join(inverse_facts, on=["head", "template", "tail"], how="anti").select(tail="head", tail_2="tail")
    return pl.concat([asymmetric_facts, asymmetric_facts.select(tail="tail_2", tail_2="tail")]).unique()


@kernel
def _shared_heads(bounds, heads, firsts, seconds):  # type: ignore[no-untyped-def]
    """The number of heads that two rows share, 2 for more than one; the heads of each row ascend."""
    out = np.zeros(len(firsts), np.int64)
    for i in range(len(firsts)):
        a, end_a = bounds[firsts[i]], bounds[firsts[i] + 1]
        b, end_b = bounds[seconds[i]], bounds[seconds[i] + 1]
        while a < end_a and b < end_b and out[i] < 2:
            if heads[a] == heads[b]:
                out[i] += 1
                a += 1
                b += 1
            elif heads[a] < heads[b]:
                a += 1
            else:
                b += 1
    return out


def _with_spans(questions: pl.DataFrame, tables: Mapping[str, pa.Table], rows: list[FunnelRow]) -> pl.DataFrame:
    """Adds ``start`` and ``span``: the first place in the document where the answer appears under one of its names."""
    answers = questions.select("document", entity="answer").unique()
    places = frame(tables["mentions"]).join(answers, on=["document", "entity"], how="semi")
    texts = frame(tables["documents"]).select("text", document="id")
    places = (
        places.join(texts, on="document").with_columns(span=pl.col("text").str.slice("start", pl.col("end") - pl.col("start"))).drop("text")
    )
    names = frame(tables["names"]).select("entity", name=pl.col("name").str.to_lowercase()).unique()
    places = places.with_columns(name=pl.col("span").str.to_lowercase()).join(names, on=["entity", "name"], how="semi")
    first_places = places.sort("document", "entity", "start").unique(["document", "entity"], keep="first", maintain_order=True)
    result = questions.join(
        first_places.select("document", "start", "span", answer="entity"), on=["document", "answer"], maintain_order="left"
    )
    rows.append(_row("questions", "span", questions.height - result.height, result.height))
    return result


def _value_questions(
    values: pl.DataFrame, entities: pl.Series, documents: pl.DataFrame, tables: Mapping[str, pa.Table],
    templates: Mapping[str, TemplateSettings],
) -> pl.DataFrame:  # fmt: skip
    """Questions for a date or quantity of one of these entities that its article states. No other entity of its name has such a value."""
    names = [(relation, name) for name, template in templates.items() for relation in template.values]
    of = pl.DataFrame(names, schema={"relation": pl.String, "template": pl.String}, orient="row")
    labels = frame(tables["entities"]).select(entity="id", name=pl.col("label").str.to_lowercase())
    asked_values = values.join(of, on="relation").join(labels, on="entity").sort("entity", "template", "document")
    asked_values = asked_values.unique(["entity", "template"], keep="first", maintain_order=True)
    articles = documents.select("document", article="text", entity="about")
    # An article may have been cut before the place.
    stated_values = asked_values.join(articles, on=["document", "entity"], maintain_order="left").with_columns(
        span=pl.col("article").str.slice("start", pl.col("end") - pl.col("start"))
    )
    stated_values = stated_values.filter(pl.col("span").str.len_chars() == pl.col("end") - pl.col("start"))
    stated_values = stated_values.filter(pl.col("entity").n_unique().over("name", "template") == 1)
    return stated_values.filter(pl.col("entity").is_in(entities.implode())).select(
        # The value stands in for an entity, which no id can be that begins so.
        answer=pl.lit("=") + pl.col("span"), document="document", kind=pl.lit(FORWARD), templates=pl.concat_list("template"),
        entities=pl.concat_list("entity"), start=pl.col("start").cast(pl.Int32), span="span",
    )  # fmt: skip


def _nouns(questions: pl.DataFrame, tables: Mapping[str, pa.Table], templates: Mapping[str, TemplateSettings]) -> list[str]:
    """The noun for each answer: the template's, or where that is vague the one of the first sentence of the answer's article."""
    documents = frame(tables["documents"]).join(questions.select(about="answer").unique(), on="about", how="semi")
    noun_of: dict[str, str] = {}
    for about, title, text in documents.unique("about", keep="first", maintain_order=True).select("about", "title", "text").iter_rows():
        kinds = title_kinds(title, text)
        if kinds and len(kinds[0]) > 1 and kinds[0][0] not in {"", PERSON} and not kinds[0][1].endswith("s"):  # no plural
            noun_of[about] = kinds[0][1]
    pairs = list(zip((row_templates[0] for row_templates in questions["templates"].to_list()), questions["answer"].to_list(), strict=True))
    # A noun that few heads of the relation have is an error of article or fact ("the movie that was founded by").
    frequency = Counter((name, noun_of[answer]) for name, answer in dict.fromkeys(pairs) if answer in noun_of)
    nouns = {name: {noun for (of, noun), count in frequency.items() if of == name and count >= NOUN_COUNT} for name in templates}
    result = []
    for name, answer in pairs:
        article_noun = noun_of.get(answer)
        result.append(
            article_noun if article_noun is not None and templates[name].vague and article_noun in nouns[name] else templates[name].noun
        )
    return result


def labels_of(questions: pl.DataFrame, tables: Mapping[str, pa.Table]) -> dict[str, str]:
    """Entity → its label, with "the" where most texts that use this name have it ("the Netherlands")."""
    entities = questions.select(pl.col("entities").explode().alias("entity")).unique()
    labels = frame(tables["entities"]).select("label", entity="id").join(entities, on="entity", how="semi")
    places = frame(tables["mentions"]).join(labels, on="entity")
    texts = frame(tables["documents"]).select("text", document="id")
    places = places.filter((pl.col("end") - pl.col("start") == pl.col("label").str.len_chars()) & (pl.col("start") >= ARTICLE_LENGTH))
    has_article = pl.col("text").str.slice(pl.col("start") - ARTICLE_LENGTH, ARTICLE_LENGTH).str.to_lowercase() == "the "
    # Before another name it is an adjective, and the article belongs to the other name ("the Jack Benny Program").
    is_separate = ~pl.col("text").str.slice("end", 2).str.contains(r"^[ -]\p{Lu}")
    share = (
        places.join(texts, on="document")
        .filter(is_separate)
        .group_by("entity")
        .agg(has_article.mean().alias("share"), pl.len().alias("places"))
    )
    takes_article = (pl.col("share") > ARTICLE_SHARE) & (pl.col("places") > 2) & ~pl.col("label").str.to_lowercase().str.starts_with("the ")
    table = labels.join(share, on="entity", how="left").with_columns(
        name=pl.when(takes_article).then("the " + pl.col("label")).otherwise("label")
    )
    return dict(zip(table["entity"].to_list(), table["name"].to_list(), strict=True))


def _worded(
    questions: pl.DataFrame, tables: Mapping[str, pa.Table], templates: Mapping[str, TemplateSettings], source: str, rows: list[FunnelRow],
    *, seed: int | None,
) -> pl.DataFrame:  # fmt: skip
    """Adds ``id``, ``question``, ``names`` and ``aliases``; drops questions that contain their answer or a wrong profession.

    Forms are drawn by ``seed``; without a seed the first form is used.
    """
    labels = labels_of(questions, tables)
    names = [[labels[entity] for entity in entities] for entities in questions["entities"].to_list()]
    nouns = _nouns(questions, tables, templates)
    key = pl.concat_str("kind", pl.col("templates").list.join("\0"), pl.col("entities").list.join("\0"), "answer", separator="\0")
    hashes = text_hashes(arrow(questions.select(key=key))["key"])
    draws = [0] * len(hashes) if seed is None else text_hashes(arrow(questions.select(key=key))["key"], seed=seed + 1).tolist()
    rows_of = zip(questions["kind"].to_list(), questions["templates"].to_list(), names, nouns, draws, strict=True)
    texts = [
        question(kind, [templates[name] for name in row_templates], row_names, noun, draw=number)
        for kind, row_templates, row_names, noun, number in rows_of
    ]
    is_proper = _proper(questions, names, templates)
    is_named = [
        kind != BOTH or not templates[row_templates[0]].vague or noun != templates[row_templates[0]].noun
        for kind, row_templates, noun in zip(questions["kind"].to_list(), questions["templates"].to_list(), nouns, strict=True)
    ]
    # NO is a listed name of Norway, but no text and no reader uses it.
    is_word = ~pl.col("name").str.to_lowercase().str.replace_all(r"[\W_]", "").is_in(list(CLOSED))
    own_names = _own_names(tables).filter(is_word).group_by("entity").agg(pl.col("name").unique().sort())
    subjects = questions.select("entities").unique(maintain_order=True)
    subject_names = (
        subjects.with_columns(entity="entities").explode("entity").join(own_names, on="entity", maintain_order="left").explode("name")
    )
    all_names = subject_names.group_by("entities").agg(called=pl.col("name").unique().sort())
    table = questions.with_columns(
        question=pl.Series(texts, dtype=pl.String),
        names=pl.Series(names, dtype=pl.List(pl.String)),
        noun=pl.Series(nouns, dtype=pl.String),
        source=pl.lit(source),
    )
    table = table.join(own_names.rename({"entity": "answer", "name": "aliases"}), on="answer", how="left", maintain_order="left")
    table = table.join(all_names, on="entities", how="left", maintain_order="left").with_columns(pl.col("aliases", "called").fill_null([]))
    table = table.with_columns(id=pl.Series([f"f{value:016x}" for value in hashes.tolist()], dtype=pl.String))
    proper_questions = table.filter(pl.Series(is_proper, dtype=pl.Boolean))
    rows.append(_row("questions", "improper", table.height - proper_questions.height, proper_questions.height))
    clear_questions = proper_questions.filter(pl.Series(is_named, dtype=pl.Boolean).filter(pl.Series(is_proper, dtype=pl.Boolean)))
    rows.append(_row("questions", "vague", proper_questions.height - clear_questions.height, clear_questions.height))
    other_questions = clear_questions.filter(~pl.Series(_names_itself(clear_questions)))
    rows.append(_row("questions", "named", clear_questions.height - other_questions.height, other_questions.height))
    refers = pl.Series([bool(REFERENCE.search(text)) for text in other_questions["question"].to_list()], dtype=pl.Boolean)
    result = other_questions.filter(~refers).unique("id", keep="first", maintain_order=True)
    rows.append(_row("questions", "reference", other_questions.height - result.height, result.height))
    return result.sort("id")


def _proper(questions: pl.DataFrame, names: Sequence[Sequence[str]], templates: Mapping[str, TemplateSettings]) -> list[bool]:
    """Whether each question's common nouns fit their places: a noun for persons fits "was {a tail}" only, and any other noun does not.

    Tables list "musical" as a profession, and "composer" as a field.
    """
    flags = []
    for kind, row_templates, row_names in zip(questions["kind"].to_list(), questions["templates"].to_list(), names, strict=True):
        pairs = () if kind == FORWARD else zip(row_templates, row_names, strict=True)
        flags.append(all(_is_person_noun(name) == ("{a tail}" in str(templates[of].clause)) for of, name in pairs if name == name.lower()))
    return flags


def _is_person_noun(name: str) -> bool:
    last_word = name.rpartition(" ")[2]
    return NOUNS.get(last_word, last_word) == PERSON


def _own_names(tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """``entity``, ``name``, without unlikely names: those without a letter, or with a sign in front, or equal to another entity's label.

    The lake, for instance, loses the name "Michigan".
    """
    labels = frame(tables["entities"]).select(entity="id", key=pl.col("label").str.to_lowercase())
    of_label = labels.group_by("key").agg(pl.col("entity").alias("owners"))
    table = frame(tables["names"]).with_columns(key=pl.col("name").str.to_lowercase())
    table = table.filter(pl.col("name").str.contains(r"^[\p{L}\p{N}].*") & pl.col("name").str.contains(r"\p{L}|\p{N}"))
    table = table.join(of_label, on="key", how="left", maintain_order="left")
    is_own = pl.col("owners").is_null() | pl.col("owners").list.contains(pl.col("entity"))
    return table.filter(is_own).select("entity", "name")


def _names_itself(questions: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether each question contains one of its answer's names as separate words."""
    table = arrow(questions.select("question", "span", "aliases")).combine_chunks()
    question, span, aliases = (table[name].combine_chunks() for name in table.column_names)
    places, groups = find_names(pa.concat_arrays([span, aliases.flatten().cast(pa.string())]), question)
    owners = np.concatenate([np.arange(len(span)), aliases.value_parent_indices().to_numpy()])
    answer_places = paired(owners[groups >= 0], groups[groups >= 0])
    flags = np.zeros(questions.height, np.bool_)
    flags[places.text[np.isin(paired(places.text, places.name), answer_places)]] = True
    return flags


def _with_rivals(questions: pl.DataFrame, stated_facts: pl.DataFrame, rows: list[FunnelRow]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The questions without those that have a branch which no document states of another entity; and ``document`` of some rivals."""
    statements = stated_facts.select("template", "tail", "head", "document").unique()
    branches = questions.with_row_index("row").filter(pl.col("kind") == BOTH).explode("templates", "entities")
    branches = branches.select("row", "answer", template="templates", tail="entities")
    rivals = branches.join(statements, on=["template", "tail"]).filter(pl.col("head") != pl.col("answer"))
    lone_branches = branches.join(rivals.select("row", "template", "tail").unique(), on=["row", "template", "tail"], how="anti")
    result = (
        questions.with_row_index("row").join(lone_branches.select("row").unique(), on="row", how="anti", maintain_order="left").drop("row")
    )
    rows.append(_row("questions", "alone", questions.height - result.height, result.height, "musique.contexts.branches"))
    ranking = rivals.join(questions.select("document").unique().with_columns(own=pl.lit(value=True)), on="document", how="left")
    ranking = (
        ranking.sort("template", "tail", pl.col("own").is_null(), "head", "document")
        .select("template", "tail", "head", "document")
        .unique(maintain_order=True)
    )
    rival_rows = ranking.filter(pl.int_range(pl.len()).over("template", "tail") < RIVALS)
    return result, rival_rows.select("document").unique()


def _read_of(questions: pl.DataFrame, facts: pl.DataFrame) -> pl.Series:
    """Whether one of the question's facts comes from an article, as read by the model, and not from the graph."""
    rows = questions.select("kind", "answer", "templates", "entities").with_row_index("row").explode("templates", "entities")
    is_forward = pl.col("kind") == FORWARD
    ends = rows.select(
        "row", template="templates", head=pl.when(is_forward).then("entities").otherwise("answer"),
        tail=pl.when(is_forward).then("answer").otherwise("entities"),
    )  # fmt: skip
    read_rows = ends.join(facts.filter("read").select("head", "template", "tail").unique(), on=["head", "template", "tail"], how="semi")
    return pl.int_range(questions.height, eager=True).is_in(read_rows["row"].unique().implode())


def _as_tables(questions: pl.DataFrame, documents: pl.DataFrame, rivals: pl.DataFrame) -> tuple[pa.Table, pa.Table]:
    visible = pl.concat([questions.select("document"), rivals]).unique()
    paragraphs = documents.join(visible, on="document", how="semi").sort("document").with_row_index("paragraph")
    rows = questions.join(paragraphs.select("document", "paragraph"), on="document", maintain_order="left")
    single = rows.select(
        "id", "source", "question", "aliases", "start", "kind", "entities", "names", "called", "noun", "read", answer="span",
        answer_entity="answer", paragraph=pl.col("paragraph").cast(pl.Int32), relations="templates",
    )  # fmt: skip
    visible = paragraphs.select("title", "text", id="document")
    return arrow(single.select(SINGLE_HOP.names)).cast(SINGLE_HOP), arrow(visible.select(PARAGRAPHS.names)).cast(PARAGRAPHS)

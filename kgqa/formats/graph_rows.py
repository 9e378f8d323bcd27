"""The samples and rejected questions of a native dataset as the rows of :mod:`kgqa.store.samples`, to put them on a graph."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.formats import native
from kgqa.sources.tables import arrow, frame

FIELDS = (
    "id",
    "question",
    "answers",
    "answer_id",
    "candidates.list.element.id",
    "chains",
    "grades",
    "provenance",
    "paragraphs.list.element.id",
    "decomposition",
)
REJECTED = "rejected.parquet"
REJECTED_FIELDS = {
    "id": "",
    "split": "",
    "stage": "",
    "reason": "",
    "detail": "",
    "question": "",
    "relation": "",
    "subject": "",
    "answer": "",
    "setting": "",
}
"""Text columns of rejected questions → default for a dataset without the column."""
FILTER = ("stage", "reason", "setting")
"""The columns that identify a filter."""
MEASURES = ("value", "threshold")
TEXTS = ("id", "question", "answer_id", "relation", "subject")
NO_RELATIONS = pl.DataFrame(schema={"name": pl.String, "relation": pl.Int64, "label": pl.String})
CHAINS = pl.List(pl.List(pl.List(pl.String)))
GRADE = pl.Struct({"confidence": pl.Float32, "path": pl.String, "text": pl.String})
STEPS = pl.List(
    pl.Struct({"id": pl.String, "question": pl.String, "answer": pl.String, "paragraph_id": pl.String, "depends_on": pl.List(pl.String)})
)


def sample_rows(folder: Path, dataset: str, relations: pl.DataFrame | None = None) -> dict[str, pa.Table]:
    """The tables of ``SAMPLE_PART`` for the dataset in ``folder``; ``dataset`` is its name on the graph.

    ``relations`` are those of the graph, ``name, relation, label``: what samples call them (a name may stand for several, and several names
    for one), the row on the graph, and the label. Without them no sample is joined with its relation.

    A composed question has no candidates. Each of its steps is a sub-question, and together they are one chain: the paragraph and the
    answer of each step. Its subject is unknown, because the dataset names only the entities of answers.

    Raises BrokenInput for a sample without subject, candidates and a chain to its answer, or without steps that name their entities and
    depend on earlier ones.
    Memory: all columns except texts.
    """
    parts = []
    for split, path in native.split_files(folder).items():
        part = _read(path).with_columns(split=pl.lit(split))
        _check_composed(part.filter("composed"), path)
        _check_references(part.filter("composed"), path)
        _check_whole(part.filter(~pl.col("composed")), path)
        parts.append(_with_chains(part))
    samples = pl.concat(parts).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64), key=_key(dataset, pl.col("id")))
    candidates = _candidates(samples)
    chains = _chains(candidates, dataset)
    places = _exploded(chains.select("key", "correct", "length", place="places"), "place").drop_nulls("place").with_columns(role=_role())
    answers = chains.filter("correct").group_by("row_of_sample").agg(hops=pl.col("length").min(), grade=pl.col("grade").first())
    samples = samples.join(answers, left_on="row", right_on="row_of_sample", how="left", maintain_order="left")
    relations = NO_RELATIONS if relations is None else relations
    labels = relations.group_by("name", maintain_order=True).agg(relation_label=pl.col("label").first())
    samples = samples.join(labels, left_on="relation", right_on="name", how="left", maintain_order="left")
    dataset_column = pl.lit(dataset).alias("dataset")
    return {
        "sample": arrow(
            samples.select(
                "key",
                "id",
                dataset_column,
                "split",
                "row",
                "question",
                "relation",
                answer=pl.col("answers").list.first(),
                hops="hops",
                grade="grade",
                relation_label="relation_label",
            )
        ),
        "chain": arrow(chains.select("key", "row", dataset_column, "sample", "candidate", "number", "correct", "grade", "length")),
        "sample_about": arrow(samples.select(sample="key", entity="subject").drop_nulls("entity")),
        "sample_answer": arrow(samples.select(sample="key", entity="answer_id")),
        "candidate": arrow(
            candidates.filter(~pl.col("composed")).select(
                sample="key", entity="candidate", position="position", correct="correct", grade="grade", path="path", text=pl.col("text")
            )
        ),
        "support": arrow(
            _exploded(samples.select("key", document="documents"), "document").select(
                sample="key", document="document", position="position"
            )
        ),
        "has_chain": arrow(chains.select(sample="sample_key", chain="key")),
        "step_entity": arrow(
            places.filter(pl.col("position") % 2 == 0).select(chain="key", entity="place", position="position", role="role")
        ),
        "step_document": arrow(
            places.filter(pl.col("position") % 2 == 1).select(chain="key", document="place", position="position", role="role")
        ),
        "sample_relation": _of_relation(samples.select("relation", sample="key"), "sample", relations),
        **_subquestion_tables(samples, dataset, relations),
    }


def _role() -> pl.Expr:
    """The role of a place in its chain."""
    position = pl.col("position")
    is_last = position == 2 * pl.col("length")
    return (
        pl.when(position % 2 == 1)
        .then(pl.lit("document"))
        .when(is_last & pl.col("correct"))
        .then(pl.lit("answer"))
        .when(is_last)
        .then(pl.lit("candidate"))
        .when(position == 0)
        .then(pl.lit("subject"))
        .otherwise(pl.lit("bridge"))
    )


def rejected_rows(folder: Path, dataset: str) -> dict[str, pa.Table]:
    """The tables of ``REJECTED_PART``, from the dataset's ``rejected.parquet``. Raises MissingInput without that file."""
    path = folder / REJECTED
    if not path.is_file():
        raise MissingInput(
            f"{path}: the dataset has no list of rejected questions; rebuild it with kgqa generate, or leave out --rejected."
        )
    native.check_intact(path)
    with storage_errors(path):
        try:
            table = frame(pq.read_table(path))
        except (pa.ArrowException, OSError) as error:
            raise BrokenInput(f"{path}: this is not a Parquet file ({error}); generate the dataset again.") from None
    defaults = [pl.lit(value).alias(name) for name, value in REJECTED_FIELDS.items() if name not in table.columns]
    defaults += [pl.lit(None, pl.Float64).alias(name) for name in MEASURES if name not in table.columns]
    rows = (
        table.with_columns(defaults)
        .with_columns(pl.col(*REJECTED_FIELDS).fill_null(""), pl.col(*MEASURES).cast(pl.Float64))
        .with_row_index("row")
    )
    rows = rows.with_columns(pl.col("row").cast(pl.Int64), key=_key(dataset, pl.col("id")))
    if (duplicates := rows.filter(pl.col("key").is_duplicated())).height:
        raise BrokenInput(f"{path}: two rejected questions have the id {duplicates['id'][0]!r}; generate the dataset again.")
    filters = _filters(rows, dataset)
    rows = rows.join(filters.select(*FILTER, filter="key"), on=FILTER, maintain_order="left")
    rows = rows.with_columns(place=pl.int_range(pl.len()).over("filter"))
    columns = (
        "key", "id", "row", "split", "stage", "reason", "detail", "question", "relation", "subject", "answer", "setting", *MEASURES,
        "filter", "place",
    )  # fmt: skip
    return {
        "blocked": arrow(rows.with_columns(dataset=pl.lit(dataset)).select(*columns[:2], "dataset", *columns[2:])),
        "filter": arrow(filters),
        "blocked_about": arrow(rows.filter(pl.col("subject") != "").select(blocked="key", entity="subject")),
        "blocked_answer": arrow(rows.filter(pl.col("answer") != "").select(blocked="key", entity="answer")),
        "rejected_by": arrow(rows.select(blocked="key", filter="filter")),
    }


def _filters(rows: pl.DataFrame, dataset: str) -> pl.DataFrame:
    """``key, row, dataset, stage, reason, setting, questions`` of each filter, in the order of their first questions."""
    counts = rows.group_by(FILTER, maintain_order=True).agg(questions=pl.len().cast(pl.Int64)).with_columns(row=pl.int_range(pl.len()))
    counts = counts.with_columns(dataset=pl.lit(dataset), key=_key(dataset, pl.col("row").cast(pl.String)))
    return counts.select("key", "row", "dataset", *FILTER, "questions")


def _key(dataset: str, *parts: pl.Expr) -> pl.Expr:
    return pl.concat_str([pl.lit(dataset), *parts], separator="/")


def _read(path: Path) -> pl.DataFrame:
    """``id, question, answers, answer_id, candidates, chains, grades, relation, subject, documents`` of a split, and of composed questions
    ``composed``, ``steps``, ``step_documents``, ``step_entities`` and ``step_relations``.
    """
    table = frame(native.read_columns(path, *FIELDS))
    if "grades" not in table.columns:
        table = table.with_columns(grades=pl.lit(None, pl.List(GRADE)))
    if "decomposition" not in table.columns:
        table = table.with_columns(decomposition=pl.lit(None, STEPS))
    provenance = pl.col("provenance")
    # The last step's relation is what a composed question asks for.
    relations = provenance.str.json_path_match("$.compose.relations").str.json_decode(pl.List(pl.List(pl.String)))
    return table.select(
        "id", "question", "answers", "answer_id", "chains", "grades",
        candidates=pl.col("candidates").list.eval(pl.element().struct.field("id")),
        documents=pl.col("paragraphs").list.eval(pl.element().struct.field("id")),
        composed=pl.col("candidates").is_null() & (pl.col("decomposition").list.len() > 0).fill_null(value=False),
        steps=pl.col("decomposition").cast(STEPS),
        step_documents=pl.col("decomposition").list.eval(pl.element().struct.field("paragraph_id")),
        step_entities=provenance.str.json_path_match("$.compose.entities").str.json_decode(pl.List(pl.String)),
        step_relations=relations,
        relation=provenance.str.json_path_match("$.relation").fill_null(relations.list.last().list.first()),
        subject=provenance.str.json_path_match("$.head"),
    )  # fmt: skip


def _check_whole(samples: pl.DataFrame, path: Path) -> None:
    """Raise BrokenInput for the first sample that cannot be put on a graph."""
    chains = pl.col("chains")
    count = pl.col("candidates").list.len()
    # The shortest chain has a subject, one document and a candidate; a chain with a null place has the length null.
    min_length = chains.list.eval(pl.element().list.eval(pl.element().list.len()).list.min()).list.min()
    has_nulls = chains.list.eval(pl.element().list.eval(pl.element().list.eval(pl.element().is_null()).list.any()).list.any()).list.any()
    is_whole = (
        pl.all_horizontal(pl.col(*TEXTS).is_not_null())
        & (pl.col("answers").list.len() > 0)
        & (pl.col("documents").list.len() > 0)
        & (count == chains.list.len())
        & pl.col("candidates").list.contains(pl.col("answer_id"))
        & (min_length >= 3)
        & ~has_nulls.fill_null(value=False)
        & (pl.col("grades").is_null() | (pl.col("grades").list.len() == count))
    )
    incomplete = samples.filter(~is_whole.fill_null(value=False))
    if incomplete.height:
        raise BrokenInput(f"{path}: sample {incomplete['id'][0]} has no subject, candidates and chains; load what kgqa generate made.")


def _check_composed(questions: pl.DataFrame, path: Path) -> None:
    """Raise BrokenInput for the first composed question whose steps cannot be put on a graph."""
    if (repeated := questions.filter(pl.col("id").is_duplicated())).height:
        raise BrokenInput(f"{path}: two questions have the id {repeated['id'][0]}; load only the answerable ones.")
    documents, entities = pl.col("step_documents"), pl.col("step_entities")
    is_whole = (
        pl.all_horizontal(pl.col("id", "question", "answer_id").is_not_null())
        & (pl.col("answers").list.len() > 0)
        & (pl.col("documents").list.len() > 0)
        & (documents.list.len() == entities.list.len())
        & (documents.list.drop_nulls().list.len() == documents.list.len())
        & (entities.list.drop_nulls().list.len() == entities.list.len())
        & (entities.list.last() == pl.col("answer_id"))
    )
    incomplete = questions.filter(~is_whole.fill_null(value=False))
    if incomplete.height:
        raise BrokenInput(
            f"{path}: the steps of question {incomplete['id'][0]} do not name their paragraphs and entities; load what kgqa compose made "
            "from the graph of a domain."
        )


def _check_references(questions: pl.DataFrame, path: Path) -> None:
    """Raise BrokenInput for the first composed question with two steps of one id, or a step that depends on no earlier one."""
    steps = _steps(questions.with_row_index("row"))
    wrong = steps.filter(pl.struct("row", "id").is_duplicated()).select("row")
    needs = _needs(steps)
    wrong = pl.concat([wrong, needs.filter((pl.col("needed") >= pl.col("number")).fill_null(value=True)).select("row")])
    if wrong.height:
        raise BrokenInput(
            f"{path}: in question {questions['id'][int(wrong['row'].min())]}, a step depends on itself or a later step, or two steps have "  # type: ignore[arg-type] # not empty
            "the same id; load a dataset that kgqa compose made from the graph of a domain."
        )


def _steps(samples: pl.DataFrame) -> pl.DataFrame:
    """``row`` of the sample and ``number, id, question, answer, document, entity, relation, depends_on`` of every step, in order."""
    composed = samples.filter("composed").select("row", "steps", "step_entities", "step_relations")
    rows = _exploded(composed, "steps", "step_entities")
    field = pl.col("steps").struct.field
    return rows.select(
        "row",
        number=pl.col("position") + 1,
        id=field("id"),
        question=field("question"),
        answer=field("answer"),
        document=field("paragraph_id"),
        entity="step_entities",
        relation=pl.col("step_relations").list.get(pl.col("position"), null_on_oob=True).list.first(),
        depends_on=field("depends_on"),
    )


def _needs(steps: pl.DataFrame) -> pl.DataFrame:
    """``row, number, needed``: the number of a step and of each step that it depends on, null if the question has no step of this id."""
    needs = _exploded(steps.select("row", "number", "depends_on"), "depends_on")
    numbers = steps.select("row", depends_on="id", needed="number")
    return needs.join(numbers, on=("row", "depends_on"), how="left", maintain_order="left").select("row", "number", "needed")


def _of_relation(nodes: pl.DataFrame, key: str, relations: pl.DataFrame) -> pa.Table:
    """``key, relation`` of ``nodes``, which have a ``relation`` by name: the rows of the relations on the graph."""
    joined = nodes.select(key, name="relation").join(relations, on="name", how="inner", maintain_order="left_right")
    return arrow(joined.select(key, "relation"))


def _subquestion_tables(samples: pl.DataFrame, dataset: str, relations: pl.DataFrame) -> dict[str, pa.Table]:
    """The tables of the steps of composed questions."""
    steps, ids = _steps(samples), samples.select("row", sample="id", sample_key="key")
    keyed = steps.join(ids, on="row", maintain_order="left").with_columns(key=_step_key(pl.col("sample_key"), pl.col("number")))
    needs = _needs(steps).join(ids, on="row", maintain_order="left")
    return {
        "subquestion": arrow(
            keyed.select(
                "key", pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), pl.lit(dataset).alias("dataset"), "sample", "number", "id",
                "question", "answer", "relation",
            )
        ),
        "has_subquestion": arrow(keyed.select(sample="sample_key", subquestion="key")),
        "supported_by": arrow(keyed.select(subquestion="key", document="document")),
        "subquestion_answer": arrow(keyed.select(subquestion="key", entity="entity")),
        "subquestion_relation": _of_relation(keyed.select("relation", subquestion="key"), "subquestion", relations),
        "depends_on": arrow(
            needs.select(
                subquestion=_step_key(pl.col("sample_key"), pl.col("number")), needed=_step_key(pl.col("sample_key"), pl.col("needed"))
            )
        ),
    }  # fmt: skip


def _step_key(sample: pl.Expr, number: pl.Expr) -> pl.Expr:
    return pl.concat_str([sample, number.cast(pl.String)], separator="/#")


def _with_chains(samples: pl.DataFrame) -> pl.DataFrame:
    """``samples`` with the steps of each composed question as the one chain of its answer; the place of the subject is null."""
    samples = samples.with_columns(pl.col("candidates").cast(pl.List(pl.String)), pl.col("chains").cast(CHAINS)).with_row_index("at")
    steps = samples.filter("composed").select("at", "answer_id", "step_documents", "step_entities")
    places = steps.explode("step_documents", "step_entities").select("at", place=pl.concat_list("step_documents", "step_entities"))
    subjects = steps.select("at", place=pl.lit([None], pl.List(pl.String)))
    # A list of the candidates' lists of chains: here one candidate with one chain.
    nested = pl.col("place").implode().implode().implode()
    chain = pl.concat([subjects, places]).explode("place").group_by("at", maintain_order=True).agg(step_chain=nested)
    return samples.join(chain, on="at", how="left", maintain_order="left").with_columns(
        chains=pl.coalesce("chains", "step_chain"),
        candidates=pl.when("composed").then(pl.concat_list("answer_id")).otherwise("candidates"),
    ).drop("at", "step_chain")  # fmt: skip


def _candidates(samples: pl.DataFrame) -> pl.DataFrame:
    """``row_of_sample, sample, key, position, candidate, correct, grade, path, text, chains`` of every candidate, in order."""
    ungraded_samples = samples.filter(pl.col("grades").is_null()).with_columns(grades=pl.col("candidates").list.eval(pl.lit(None, GRADE)))
    rows = pl.concat([samples.filter(pl.col("grades").is_not_null()), ungraded_samples]).sort("row")
    entries = _exploded(
        rows.select("key", "candidates", "chains", "grades", "answer_id", "composed", row_of_sample="row", sample="id"),
        "candidates",
        "chains",
        "grades",
    )
    grade = pl.col("grades").struct
    return entries.select(
        "row_of_sample", "sample", "key", "position", "chains", "composed",
        candidate="candidates",
        correct=pl.col("candidates") == pl.col("answer_id"),
        # Through text: 0.9 as a 32-bit float must become the 64-bit 0.9, or a filter "from 0.9" would miss it.
        grade=grade.field("confidence").cast(pl.String).cast(pl.Float64),
        path=grade.field("path"),
        text=grade.field("text"),
    )  # fmt: skip


def _chains(candidates: pl.DataFrame, dataset: str) -> pl.DataFrame:
    """Every chain of every candidate, in order, with its ``places``."""
    chains = _exploded(candidates.rename({"key": "sample_key", "position": "place"}), "chains").with_row_index("row")
    number = pl.col("position")
    return chains.select(
        "row_of_sample", "sample_key", "sample", "candidate", "correct", "grade",
        row=pl.col("row").cast(pl.Int64),
        key=_key(dataset, pl.col("sample"), pl.col("candidate"), number.cast(pl.String)),
        number=number,
        places="chains",
        length=pl.col("chains").list.len().cast(pl.Int64) // 2,
    )  # fmt: skip


def _exploded(rows: pl.DataFrame, *lists: str) -> pl.DataFrame:
    """A row for each entry of the ``lists`` of a row, with its ``position``; rows with empty lists disappear."""
    numbers = pl.int_ranges(0, pl.col(lists[0]).list.len(), dtype=pl.Int64)
    return rows.with_columns(position=numbers).filter(pl.col(lists[0]).list.len() > 0).explode(*lists, "position")

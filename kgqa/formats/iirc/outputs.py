"""A retrieval system's outputs on the dev questions of IIRC: one record per question, with gold and predictions side by side.

The published outputs of retrieval marginalization have this form (Ni et al. 2021): ``question, original_paragraph, link_prediction,
context_retrieval, qa``. They have no ids, no offsets of links and no whole articles; the gold sentences are the only linked text.

The official script compares with the content of the gold answer and ignores its type. If the two contradict each other, the Instance takes
the content, and the type is noted under ``qa``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from kgqa.formats import drop
from kgqa.formats.faults import CHARACTERS, Fault
from kgqa.formats.iirc.articles import MAIN
from kgqa.formats.json.validate import Open
from kgqa.formats.provenance import unknown_fields


class Sentence(Open):
    """A gold sentence of a linked article."""

    title: str
    sent: str


class GoldLinks(Open):
    """The links that the question needs."""

    gold_question_links: list[str]


class GoldSentences(Open):
    """The sentences that the question needs."""

    gold_link_name_sent_list: list[Sentence]


class GoldAnswer(Open):
    """The one gold answer, in DROP's form."""

    gold_answer_type: Literal["spans", "number", "binary", "none"]
    gold_answer: Annotated[list[drop.DropAnswer], Field(min_length=1, max_length=1)]


class Output(Open):
    """A record of a retrieval system's outputs."""

    question: str
    original_paragraph: str
    link_prediction: GoldLinks
    context_retrieval: GoldSentences
    qa: GoldAnswer


OUTPUT = TypeAdapter(Output)
BOOLEAN = ("yes", "no")
TYPE = "gold_answer_type"
"""The field of ``qa`` that keeps a type which contradicts the answer."""
LINKS = "links"
"""The value of ``context_covers`` if it is unknown which sentences of the paragraph itself are needed."""


def official_question(output: Output, number: int) -> dict[str, Any]:
    """The question in official form; its id is the record's ``number``, and the predictions become further fields."""
    sentences = output["context_retrieval"]["gold_link_name_sent_list"]
    context = [{**unknown_fields(entry, Sentence), "text": entry["sent"], "passage": _title(entry["title"])} for entry in sentences]
    parts = {"link_prediction": GoldLinks, "context_retrieval": GoldSentences, "qa": GoldAnswer}
    further = {name: unknown_fields(output[name], kind) for name, kind in parts.items()}  # type: ignore[literal-required]
    answer, contradiction = _answer(output["qa"])
    further["qa"] |= contradiction
    return {
        **unknown_fields(output, Output),
        **further,
        "qid": str(number),
        "question": output["question"],
        "answer": answer,
        "context": context,
        "context_covers": LINKS,
        "question_links": output["link_prediction"]["gold_question_links"],
    }


def _title(title: str) -> str:
    return title.capitalize() if title == MAIN else title


def _answer(gold: GoldAnswer) -> tuple[dict[str, Any], dict[str, Any]]:
    """The official answer, and the field with its type if that contradicts the answer."""
    answer, kind = gold["gold_answer"][0], gold["gold_answer_type"]
    spans = drop.spans_of(answer)
    text = spans[0].strip() if len(spans) == 1 else ""
    is_consistent = {"none": not spans, "spans": bool(spans), "number": bool(text), "binary": text.lower() in BOOLEAN}[kind]
    contradiction = {} if is_consistent else {TYPE: gold["gold_answer_type"]}
    if not is_consistent:
        kind = "none" if not spans else "number" if answer.get("number") else "spans"
    if kind == "none":
        return {"type": "none"}, contradiction
    if kind == "spans":
        return {"type": "span", "answer_spans": [{"text": span} for span in spans]}, contradiction
    return {"type": "value" if kind == "number" else "binary", "answer_value": spans[0]}, contradiction


def type_fault(question: Mapping[str, Any]) -> Iterator[Fault]:
    """A fault if :func:`official_question` noted a type that contradicts the answer."""
    output = question.get("qa")
    if isinstance(output, dict) and TYPE in output:
        detail = f"its type is {str(output[TYPE])[:CHARACTERS]!r}, and the answer is not of this type"
        yield Fault(kind="contradiction", place=f"qa.{TYPE}", detail=detail)

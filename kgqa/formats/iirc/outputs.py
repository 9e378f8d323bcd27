"""The dev questions of IIRC as a retrieving system was run on them: one record a question, with gold and predictions side by side.

This is what the published outputs of retrieval marginalization look like (Ni et al. 2021): ``question, original_paragraph, link_prediction,
context_retrieval, qa``. There are no ids, no places of links and no whole articles; the gold sentences are the only linked text.

The official script compares with what the gold answer holds, whatever its type says. Where the two contradict each other, the answer is
what it holds, and its type stays where it was, in ``qa``.
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


class Links(Open):
    """The links that the question needs."""

    gold_question_links: list[str]


class Retrieval(Open):
    """The sentences that the question needs."""

    gold_link_name_sent_list: list[Sentence]


class Answering(Open):
    """The one gold answer, in DROP's form."""

    gold_answer_type: Literal["spans", "number", "binary", "none"]
    gold_answer: Annotated[list[drop.Answer], Field(min_length=1, max_length=1)]


class Output(Open):
    """A record of a retrieving system's outputs."""

    question: str
    original_paragraph: str
    link_prediction: Links
    context_retrieval: Retrieval
    qa: Answering


OUTPUT = TypeAdapter(Output)
BOOLEAN = ("yes", "no")
SAID = "gold_answer_type"
"""What the type stays under where the answer is of another."""
LINKS = "links"
"""What ``context_covers`` says: nothing is known about which parts of the paragraph itself are needed."""


def official_question(output: Output, number: int) -> dict[str, Any]:
    """The question in official form, with the record's number as its id and the predictions as further fields."""
    sentences = output["context_retrieval"]["gold_link_name_sent_list"]
    context = [{**unknown_fields(entry, Sentence), "text": entry["sent"], "passage": _title(entry["title"])} for entry in sentences]
    parts = {"link_prediction": Links, "context_retrieval": Retrieval, "qa": Answering}
    further = {name: unknown_fields(output[name], kind) for name, kind in parts.items()}  # type: ignore[literal-required]
    answer, kept = _answer(output["qa"])
    further["qa"] |= kept
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


def _answer(gold: Answering) -> tuple[dict[str, Any], dict[str, Any]]:
    """The official answer, and the type where the answer is of another."""
    answer, kind = gold["gold_answer"][0], gold["gold_answer_type"]
    spans = drop.spans_of(answer)
    first = spans[0].strip() if len(spans) == 1 else ""
    agrees = {"none": not spans, "spans": bool(spans), "number": bool(first), "binary": first.lower() in BOOLEAN}[kind]
    if not agrees:
        kind = "none" if not spans else "number" if answer.get("number") else "spans"
    kept = {} if agrees else {SAID: gold["gold_answer_type"]}
    if kind == "spans":
        return {"type": "span", "answer_spans": [{"text": span} for span in spans]}, kept
    return {"type": "none"} if kind == "none" else {"type": "value" if kind == "number" else "binary", "answer_value": spans[0]}, kept


def type_fault(question: Mapping[str, Any]) -> Iterator[Fault]:
    """The contradiction between the answer and what was said to be its type, in a question that :func:`official_question` made."""
    known = question.get("qa")
    if isinstance(known, dict) and SAID in known:
        detail = f"its type is {str(known[SAID])[:CHARACTERS]!r}, and the answer is not of this type"
        yield Fault(kind="contradiction", place=f"qa.{SAID}", detail=detail)

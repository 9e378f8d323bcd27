"""A small question set of each family in its official form, perfect predictions, and predictions that were scored by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgqa.metrics.dire import HEADINGS, SINGLE
from kgqa.metrics.drop import NAMES as DROP_NAMES

ANSWER, PARAGRAPHS, SENTENCES, WITH_PARAGRAPHS, WITH_SENTENCES = HEADINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A set, and predictions on it."""

    metric: str
    gold: Any
    """The official file: a list is written as one list, or as lines where ``lines``."""
    perfect: Any
    """Predictions; a list is written as lines."""
    worked: Any
    """Other predictions."""
    official: Mapping[str, float]
    """What the worked ones score, computed by hand."""
    types: Mapping[str, Mapping[str, float]] | None = None
    """What they score by type, where the official script says that too."""
    best: float = 100.0
    """What each score of the perfect ones is."""
    lines: bool = False
    named: str | None = None
    """The format, where it has to be named."""
    metric_named: bool = False
    """Whether the metric has to be named."""
    original: Any = None
    """Predictions on the unprobed set that come with the worked ones."""
    aliases: Any = None
    na_prob_file: Any = None
    counts: frozenset[str] = field(default_factory=frozenset)
    """Official figures that are no scores."""

    def write(self, folder: Path, predictions: Any = None) -> tuple[Path, Path]:
        """The set and predictions, by default the perfect ones, as files."""
        gold = folder / ("set_dev.jsonl" if self.lines else "set_dev.json")
        gold.write_text(lines(self.gold) if self.lines else json.dumps(self.gold), "utf-8")
        return gold, write(folder / "predictions.json", self.perfect if predictions is None else predictions)

    def options(self, folder: Path, *, beside: bool = False) -> dict[str, Any]:
        """What ``kgqa.evaluate`` has to be told."""
        found: dict[str, Any] = {}
        if self.named:
            found["format"] = self.named
        if self.metric_named:
            found["metric"] = self.metric
        if beside and self.original is not None:
            found["original"] = write(folder / "original.jsonl", self.original)
        if beside and self.aliases is not None:
            found["aliases"] = write(folder / "id_aliases.json", self.aliases)
        if beside and self.na_prob_file is not None:
            found["na_prob_file"] = write(folder / "na_prob.json", self.na_prob_file)
        return found


def lines(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def write(path: Path, predictions: Any) -> Path:
    path.write_text(lines(predictions) if isinstance(predictions, list) else json.dumps(predictions), "utf-8")
    return path


def command_line(options: Mapping[str, Any]) -> list[str]:
    """The same for the command."""
    return [word for name, value in options.items() for word in (f"--{'from' if name == 'format' else name.replace('_', '-')}", str(value))]


def squad_file(questions: list[dict[str, Any]]) -> dict[str, Any]:
    text = "The mill of Harne grinds rye and oats beside the river Sill."
    return {"version": "1", "data": [{"title": "Harne", "paragraphs": [{"context": text, "qas": questions}]}]}


def asked(key: str, *answers: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "question": "What?", "answers": [{"text": text, "answer_start": None} for text in answers], **more}


CONTEXT = [
    ["Mill", ["The mill grinds rye.", " It stands in Harne."]],
    ["Harne", ["Harne lies on the Sill.", " It has a market."]],
    ["Oats", ["Oats grow in the north."]],
]
MILL, HARNE, OATS = ["Mill", 1], ["Harne", 0], ["Oats", 0]


def hotpot(key: str, **changes: Any) -> dict[str, Any]:
    return {
        "_id": key, "question": "Which river does the mill stand on?", "answer": "the Sill", "type": "bridge", "level": "hard",
        "supporting_facts": [MILL, HARNE], "context": CONTEXT, **changes,
    }  # fmt: skip


def dire_line(key: str, answer: str, *facts: list[Any], confidence: float = 0.5, **more: Any) -> dict[str, Any]:
    return {
        "question_id": key, "answer": answer, "answer_confidence": confidence, "supporting_paragraphs": [fact[0] for fact in facts],
        "supporting_sentences": [list(fact) for fact in facts], **more,
    }  # fmt: skip


def dire_scores(answer: tuple[float, ...], support: tuple[float, ...], joint: tuple[float, float]) -> dict[str, float]:
    """F1, EM, precision, recall of answer and support, which is as good in paragraphs as in sentences; F1 and EM of both."""
    names = ("f1", "em", "precision", "recall")
    found = {f"{ANSWER}: {name}": value for name, value in zip(names, answer, strict=True)}
    for heading in SINGLE[1:]:
        found |= {f"{heading}: {name}": value for name, value in zip(names, support, strict=True)}
    for heading in (WITH_PARAGRAPHS, WITH_SENTENCES):
        found |= {f"{heading}: f1": joint[0], f"{heading}: em": joint[1]}
    return found


def part(*titles: str, facts: list[Any], **labels: int) -> dict[str, Any]:
    return hotpot("h1", context=[entry for entry in CONTEXT if entry[0] in titles], supporting_facts=facts, **labels)


PROBE = [part("Harne", "Oats", facts=[HARNE]), part("Mill", "Oats", facts=[MILL])]
SUFFICIENCY = [
    part("Mill", "Harne", facts=[MILL, HARNE], sufficiency=1, sub_idx=2),
    part("Oats", "Harne", facts=[HARNE], sufficiency=0, sub_idx=0),
    part("Mill", "Oats", facts=[MILL], sufficiency=0, sub_idx=1),
]
PROBE_OF_SUFFICIENCY = [
    part("Oats", facts=[], sufficiency=-1, sub_idx=1),
    part("Harne", facts=[HARNE], sufficiency=0, sub_idx=2),
    part("Mill", facts=[MILL], sufficiency=0, sub_idx=0),
]


def musique(key: str, *, answerable: bool = True, **changes: Any) -> dict[str, Any]:
    texts = ["The mill stands in Harne.", "Harne lies on the Sill.", "Oats grow in the north."]
    return {
        "id": key,
        "paragraphs": [
            {"idx": idx, "title": text.split()[0], "paragraph_text": text, "is_supporting": idx < (2 if answerable else 1)}
            for idx, text in enumerate(texts)
        ],
        "question": "Which river does the mill stand on?",
        "question_decomposition": [
            {"id": 1, "question": "mill >> place", "answer": "Harne", "paragraph_support_idx": 0},
            {"id": 2, "question": "#1 >> river", "answer": "the Sill", "paragraph_support_idx": 1 if answerable else None},
        ],
        "answer": "the Sill", "answer_aliases": ["River Sill"], "answerable": answerable, **changes,
    }  # fmt: skip


def musique_line(key: str, answer: str, *support: int, answerable: bool = True) -> dict[str, Any]:
    return {"id": key, "predicted_answer": answer, "predicted_support_idxs": list(support), "predicted_answerable": answerable}


ANS = [musique("2hop__1_2"), musique("3hop1__1_2_3")]
FULL = [musique("2hop__1_2"), musique("2hop__1_2", answerable=False), musique("x"), musique("x", answerable=False)]
TRIPLES = [["Mill", "place", "Harne"], ["Harne", "river", "Sill"]]
TRIPLE_IDS = [["Q1", "place", "Q2"], ["Q2", "river", "Q3"]]


def twowiki(key: str) -> dict[str, Any]:
    spaced = [[title, [sentence.strip() for sentence in sentences]] for title, sentences in CONTEXT]
    more = {"evidences": TRIPLES, "evidences_id": TRIPLE_IDS, "answer_id": "Q3", "entity_ids": "Q1_Q2"}
    return hotpot(key, type="compositional", context=spaced, answer="Sill", **more)


def drop_answer(*spans: str, number: str = "") -> dict[str, Any]:
    return {"number": number, "date": {"day": "", "month": "", "year": ""}, "spans": list(spans)}


def strategy(key: str, *, answer: bool) -> dict[str, Any]:
    return {
        "qid": key, "term": "mill", "description": "", "question": "Does it grind?", "answer": answer, "facts": [],
        "decomposition": ["What is it?", "Does #1 grind?"],
        "evidence": [[[["Mill-1"]], ["operation"]], [[["Mill-1", "Rye-2"]], ["no_evidence"]]],
    }  # fmt: skip


def query(key: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "query": "river mill", "answer": "sill", "candidates": ["sill", "harne"], "supports": ["The mill."], **more}


VALIDATED = [["follows", "multiple"], ["follows", "multiple"], ["likely", "single"]]
IIRC_ANSWERS = {
    "a": {"type": "span", "answer_spans": [{"text": "the Sill", "passage": "main", "type": "answer", "start_char": 17, "end_char": 25}]},
    "b": {"type": "value", "answer_value": "3", "answer_unit": "mills"},
    "c": {"type": "binary", "answer_value": "yes"},
    "d": {"type": "none"},
}
IIRC_SET = {
    "pid": "p1", "title": "Harne", "text": "Harne lies on the Sill.", "links": [],
    "questions": [
        {"qid": key, "question": "What?", "answer": answer, "context": [], "question_links": []} for key, answer in IIRC_ANSWERS.items()
    ],
}  # fmt: skip

FAMILIES = (
    Family(
        metric="squad",
        gold=squad_file([asked("a", "the river Sill", "river Sill"), asked("b", "rye and oats"), asked("c", "Harne")]),
        perfect={"a": "River Sill", "b": "rye and oats", "c": "Harne"},
        # a: articles do not count; b: precision 1, recall 1/3, F1 1/2; c is missing.
        worked={"a": "The river Sill", "b": "rye"},
        official={"exact_match": 100 / 3, "f1": 50.0},
    ),
    Family(
        metric="squad2",
        gold=squad_file(
            [asked("a", "the river Sill", is_impossible=False), asked("b", is_impossible=True), asked("c", is_impossible=True)]
        ),
        perfect={"a": "river Sill", "b": "", "c": "the"},
        # a: F1 of one token of two, 2/3; b is rightly empty, c is not.
        worked={"a": "Sill", "b": "", "c": "rye"},
        official={
            "exact": 100 / 3, "f1": 100 * (2 / 3 + 1) / 3, "total": 3, "HasAns_exact": 0.0, "HasAns_f1": 200 / 3, "HasAns_total": 1,
            "NoAns_exact": 50.0, "NoAns_f1": 50.0, "NoAns_total": 2,
            # No answer at all has b and c right; letting a through adds its F1.
            "best_exact": 200 / 3, "best_exact_thresh": 0.0, "best_f1": 100 * (2 + 2 / 3) / 3, "best_f1_thresh": 0.25,
        },
        na_prob_file={"a": 0.25, "b": 0.5, "c": 0.75},
        counts=frozenset({"total", "HasAns_total", "NoAns_total"}),
    ),
    Family(
        metric="hotpotqa",
        gold=[hotpot("h1"), hotpot("h2", type="comparison"), hotpot("h3", supporting_facts=[MILL])],
        perfect={"answer": dict.fromkeys(("h1", "h2", "h3"), "the Sill"), "sp": {"h1": [MILL, HARNE], "h2": [HARNE, MILL], "h3": [MILL]}},
        # h1: one of two facts, P 1, R 1/2, F1 2/3; h2: answer P 1/2, R 1, F1 2/3, and no support, so no joint score; h3: support only.
        worked={"answer": {"h1": "Sill", "h2": "river Sill"}, "sp": {"h1": [MILL], "h3": [MILL]}},
        official={
            "em": 1 / 3, "f1": (1 + 2 / 3) / 3, "prec": 1.5 / 3, "recall": 2 / 3, "sp_em": 1 / 3, "sp_f1": (2 / 3 + 1) / 3,
            "sp_prec": 2 / 3, "sp_recall": 1.5 / 3, "joint_em": 0.0, "joint_f1": 2 / 9, "joint_prec": 1 / 3, "joint_recall": 0.5 / 3,
        },
        best=1.0,
    ),
    Family(
        metric="musique",
        gold=ANS,
        perfect=[musique_line("2hop__1_2", "River Sill", 0, 1), musique_line("3hop1__1_2_3", "the Sill", 1, 0)],
        # The first: P 1/2, R 1, F1 2/3, better than against the alias (1/2); support P 1/2, R 1/2. The second is right.
        worked=[musique_line("2hop__1_2", "Sill mill", 0, 2), musique_line("3hop1__1_2_3", "the Sill", 1, 0)],
        official={"answer_f1": 0.833, "answer_em": 0.5, "support_f1": 0.75},
        best=1.0,
        lines=True,
    ),
    Family(
        metric="musique",
        gold=FULL,
        perfect=[
            musique_line("2hop__1_2", "Sill", 0, 1), musique_line("2hop__1_2", "", answerable=False),
            musique_line("x", "Sill", 0, 1), musique_line("x", "", answerable=False),
        ],
        # The pair x is lost, because its unanswerable member is thought answerable.
        worked=[
            musique_line("2hop__1_2", "Sill", 0), musique_line("2hop__1_2", "", answerable=False),
            musique_line("x", "Sill", 0, 1), musique_line("x", "Sill", 0),
        ],
        official={
            "answer_f1": 1.0, "answer_em": 1.0, "support_f1": 0.833,
            "group_answer_sufficiency_f1": 0.5, "group_support_sufficiency_f1": 0.333,
        },
        best=1.0,
        lines=True,
    ),
    Family(
        metric="dire",
        gold=[hotpot("h1"), hotpot("h2")],
        perfect=[dire_line("h1", "the Sill", MILL, HARNE), dire_line("h2", "Sill", HARNE, MILL)],
        # h1: the answer, and one of two facts: P 1, R 1/2, F1 2/3; h2: nothing right.
        worked=[dire_line("h1", "the Sill", MILL), dire_line("h2", "Harne", OATS)],
        official=dire_scores((50.0, 50.0, 50.0, 50.0), (33.3, 0.0, 50.0, 25.0), (33.3, 0.0)),
        metric_named=True,
    ),
    Family(
        metric="dire-probe",
        gold=PROBE,
        perfect=[dire_line("h1", "the Sill", HARNE, confidence=0.9), dire_line("h1", "Harne", MILL, confidence=0.1)],
        # The surer answer is right, all facts are found together, and one too many: P 2/3, R 1. On the whole question only one fact was.
        worked=[dire_line("h1", "Sill", HARNE, OATS, confidence=0.9), dire_line("h1", "Harne", MILL, confidence=0.1)],
        original=[dire_line("h1", "the Sill", MILL)],
        official=dire_scores((100.0, 100.0, 100.0, 100.0), (66.7, 0.0, 66.7, 50.0), (57.1, 0.0)),
        named="dire",
    ),
    Family(
        metric="dire-sufficiency",
        gold=[*SUFFICIENCY, *({**record, "_id": "h2"} for record in SUFFICIENCY)],
        perfect=[
            dire_line(key, "Sill" if label else "", *(MILL, HARNE)[: 2 * label], sufficiency=label, sub_idx=number)
            for key in ("h1", "h2") for number, label in ((0, 0), (1, 0), (2, 1))
        ],
        # h1: labels right, one fact of two; h2: one label wrong.
        worked=[
            *(dire_line("h1", "Sill", MILL, sufficiency=label, sub_idx=number) for number, label in ((2, 1), (0, 0), (1, 0))),
            *(dire_line("h2", "Sill", MILL, HARNE, sufficiency=label, sub_idx=number) for number, label in ((2, 1), (0, 1), (1, 0))),
        ],
        official=dire_scores((50.0, 50.0, 50.0, 50.0), (33.3, 0.0, 50.0, 25.0), (33.3, 0.0)),
    ),
    Family(
        metric="dire-probe-of-sufficiency",
        gold=PROBE_OF_SUFFICIENCY,
        perfect=[
            dire_line("h1", "Sill", HARNE, confidence=0.9, sufficiency=0, sub_idx=2),
            dire_line("h1", "", MILL, confidence=0.1, sufficiency=0, sub_idx=0), dire_line("h1", "", sufficiency=-1, sub_idx=1),
        ],
        # Of two equally sure answers the second instance's counts (sub_idx 0): it is wrong; the support is right.
        worked=[
            dire_line("h1", "Sill", HARNE, sufficiency=0, sub_idx=2),
            dire_line("h1", "Harne", MILL, sufficiency=0, sub_idx=0), dire_line("h1", "", sufficiency=-1, sub_idx=1),
        ],
        official=dire_scores((0.0, 0.0, 0.0, 0.0), (100.0, 100.0, 100.0, 100.0), (0.0, 0.0)),
    ),
    Family(
        metric="twowiki",
        gold=[twowiki("t1"), twowiki("t2")],
        perfect={
            "answer": dict.fromkeys(("t1", "t2"), "Sill"), "sp": {key: [MILL, HARNE] for key in ("t1", "t2")},
            "evidence": dict.fromkeys(("t1", "t2"), TRIPLES),
        },
        # t1: the alias of the answer; of the triples one, under an alias: P 1, R 1/2, F1 2/3. t2 has an answer only, which is wrong.
        worked={
            "answer": {"t1": "Great River", "t2": "Harne"}, "sp": {"t1": [["mill", 1], HARNE]},
            "evidence": {"t1": [["harne", "river", "great river!"]]},
        },
        aliases=[{"Q_id": "Q3", "aliases": ["Great River"], "demonyms": []}, {"Q_id": "Q9", "aliases": ["Harne"], "demonyms": ["x"]}],
        official={
            **dict.fromkeys(("em", "f1", "prec", "recall", "sp_em", "sp_f1", "sp_prec", "sp_recall"), 50.0), "evi_em": 0.0, "evi_f1": 33.33,
            "evi_prec": 50.0, "evi_recall": 25.0, "joint_em": 0.0, "joint_f1": 33.33, "joint_prec": 50.0, "joint_recall": 25.0,
        },
    ),
    Family(
        metric="drop",
        gold={
            "p1": {
                "passage": "The mill ground 21 sacks of rye and oats.",
                "qa_pairs": [
                    {
                        "query_id": "a", "question": "How many?", "answer": drop_answer(number="21"),
                        "validated_answers": [drop_answer("21 sacks")],
                    },
                    {"query_id": "b", "question": "What?", "answer": drop_answer("rye", "oats")},
                    {"query_id": "c", "question": "What?", "answer": drop_answer("mill")},
                ],
            }
        },
        perfect={"a": "21", "b": ["oats", "rye"], "c": "the mill"},
        # a: EM by the number, F1 1 too; b: one span of two, F1 1/2; c is missing.
        worked={"a": ["21.0"], "b": "rye"},
        official={"Exact-match accuracy": 33.33, "F1 score": 50.0},
        # a: of the validated answer F1 is 0.67 and EM 0, so that the number stays the best.
        types={
            "number": {"n": 1, "Exact-match accuracy": 100.0, "F1 score": 100.0}, "span": {"n": 1, **dict.fromkeys(DROP_NAMES, 0.0)},
            "spans": {"n": 1, "Exact-match accuracy": 0.0, "F1 score": 50.0},
        },
    ),
    Family(
        metric="iirc",
        gold=[IIRC_SET],
        perfect={"a": "Sill", "b": ["3"], "c": "yes", "d": "none"},
        # a: half of the words, F1 2/3, rounded to 0.67; b and d are right, c is not.
        worked={"a": "river Sill", "b": "3.0", "c": "no", "d": ["none"]},
        official={"Exact-match accuracy": 50.0, "F1 score": 66.75},
        types={
            "none": {"n": 1, **dict.fromkeys(DROP_NAMES, 100.0)}, "number": {"n": 1, **dict.fromkeys(DROP_NAMES, 100.0)},
            "span": {"n": 2, "Exact-match accuracy": 0.0, "F1 score": 33.5},
        },
    ),
    Family(
        metric="strategyqa",
        gold=[strategy("a", answer=True), strategy("b", answer=False)],
        perfect={
            key: {"answer": answer, "decomposition": ["What is it?", "Does #1 grind?"], "paragraphs": ["Mill-1"]}
            for key, answer in (("a", True), ("b", False))
        },
        # Answers: one of two; no decompositions; paragraphs: all of one annotator's, then one of the two of the other's.
        worked={"a": {"answer": True, "paragraphs": ["Oats-1", "Mill-1"]}, "b": {"answer": True, "paragraphs": ["Rye-2"]}},
        official={"Accuracy": 0.5, "SARI": 0.0, "Recall@10": 0.75},
        best=1.0,
    ),
    Family(
        metric="qangaroo",
        gold=[query("a", annotations=VALIDATED), query("b"), query("c")],
        perfect={"a": "sill", "b": "The Sill.", "c": "sill"},
        worked={"a": "Sill", "b": "harne"},
        official={"accuracy": 100 / 3, "validated_accuracy": 100.0},
    ),
)  # fmt: skip
NAMES = [f"{family.metric}-{number}" for number, family in enumerate(FAMILIES)]
BY_METRIC = {family.metric: family for family in FAMILIES}

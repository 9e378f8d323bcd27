"""Gold that is imperfect, or says no more than official scorers need, is scored as they do."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import kgqa
from tests.conftest import Cli
from tests.scoring.families import BY_METRIC, HARNE, MILL, hotpot, write

ABSENT = ["Harne", 9]


def scored(folder: Path, gold: Any, predictions: Any, *, lines: bool = False) -> dict[str, float]:
    file = folder / ("set_dev.jsonl" if lines else "set_dev.json")
    file.write_text("".join(json.dumps(record) + "\n" for record in gold) if lines else json.dumps(gold), "utf-8")
    return dict(kgqa.evaluate(file, write(folder / "p.json", predictions)).scores.official)


@pytest.mark.parametrize("alone", [False, True])
def test_hotpotqa_counts_a_fact_whose_sentence_is_not_there(alone: bool, tmp_path: Path) -> None:
    gold = hotpot("h1", supporting_facts=[ABSENT, MILL, ABSENT])
    if alone:
        gold = {field: gold[field] for field in ("_id", "answer", "supporting_facts")}
    # Of the two facts of the set one is predicted: precision 1, recall 1/2.
    found = scored(tmp_path, [gold], {"answer": {"h1": "the Sill"}, "sp": {"h1": [MILL]}})
    assert found == pytest.approx(
        {
            "em": 1.0, "f1": 1.0, "prec": 1.0, "recall": 1.0, "sp_em": 0.0, "sp_f1": 2 / 3, "sp_prec": 1.0, "sp_recall": 0.5,
            "joint_em": 0.0, "joint_f1": 2 / 3, "joint_prec": 1.0, "joint_recall": 0.5,
        }
    )  # fmt: skip
    assert set(scored(tmp_path, [gold], {"answer": {"h1": "the Sill"}, "sp": {"h1": [MILL, ABSENT]}}).values()) == {1.0}


@pytest.mark.parametrize("alone", [False, True])
def test_twowiki_counts_it_too(alone: bool, tmp_path: Path) -> None:
    family = BY_METRIC["twowiki"]
    gold, perfect = deepcopy(family.gold), deepcopy(family.perfect)
    key = gold[0]["_id"]
    title = gold[0]["supporting_facts"][0][0]
    gold[0]["supporting_facts"] += [[title, 9], [title, 9]]
    if alone:
        fields = {"_id", "answer", "answer_id", "supporting_facts", "evidences", "evidences_id"}
        gold = [{field: value for field, value in record.items() if field in fields} for record in gold]
    missed = scored(tmp_path, gold, perfect)
    facts = {tuple(fact) for fact in gold[0]["supporting_facts"]}
    recall = (len(facts) - 1) / len(facts)
    first = 2 * recall / (1 + recall)
    assert missed["sp_f1"] == pytest.approx(100 * (first + len(gold) - 1) / len(gold), abs=0.01)
    assert missed["em"] == missed["evi_f1"] == 100.0
    perfect["sp"][key] = [*perfect["sp"][key], [title, 9]]
    assert set(scored(tmp_path, gold, perfect).values()) == {100.0}


def test_dire_counts_it_too(tmp_path: Path) -> None:
    family = BY_METRIC["dire-sufficiency"]
    gold, perfect = json.loads(json.dumps(family.gold)), json.loads(json.dumps(family.perfect))  # whose records share nothing
    whole = next(place for place, record in enumerate(gold) if record["sufficiency"] == 1)
    gold[whole]["supporting_facts"].append(ABSENT)
    lines = json.dumps(gold)
    (tmp_path / "set_dev.json").write_text(lines, "utf-8")
    missed = kgqa.evaluate(tmp_path / "set_dev.json", write(tmp_path / "p.jsonl", perfect))
    assert missed.source.faults.kinds == {"absent-support": 1}
    assert min(missed.scores.official.values()) < 100.0
    line = next(line for line in perfect if (line["question_id"], line["sub_idx"]) == (gold[whole]["_id"], gold[whole]["sub_idx"]))
    line["supporting_sentences"].append(ABSENT)
    best = kgqa.evaluate(tmp_path / "set_dev.json", write(tmp_path / "p.jsonl", perfect))
    assert best.scores.official == dict.fromkeys(best.scores.official, 100.0)


def test_a_twin_of_musique_whose_step_names_the_paragraph_that_was_removed(tmp_path: Path) -> None:
    family = BY_METRIC["musique"]
    gold = deepcopy(family.gold)
    for record in gold:
        record.setdefault("answerable", True)
        for hop in record.get("question_decomposition", ()):
            hop["paragraph_support_idx"] = 99
    before = scored(tmp_path, family.gold, family.perfect, lines=True)
    assert scored(tmp_path, gold, family.perfect, lines=True) == before
    worked = scored(tmp_path, family.gold, family.worked, lines=True)
    assert scored(tmp_path, gold, family.worked, lines=True) == worked


def test_an_answer_that_is_no_candidate_is_the_answer_all_the_same(tmp_path: Path) -> None:
    record = {"id": "w", "query": "river harne", "answer": "orr", "candidates": ["sill", "sill"], "supports": ["Harne lies on the Sill."]}
    assert scored(tmp_path, [record], {"w": "orr"})["accuracy"] == 100.0
    assert scored(tmp_path, [record], {"w": "sill"})["accuracy"] == 0.0


def test_steps_that_refer_to_none_before_them_are_scored_as_they_are(tmp_path: Path) -> None:
    family = BY_METRIC["strategyqa"]
    gold, perfect = deepcopy(family.gold), deepcopy(family.perfect)
    for record in gold:
        record["decomposition"][0] = "Is #2 it?"
    for key in perfect:
        perfect[key]["decomposition"] = next(record["decomposition"] for record in gold if record["qid"] == key)
    assert scored(tmp_path, gold, perfect)["SARI"] == 1.0


def test_the_command_scores_gold_alone_and_says_what_is_imperfect(tmp_path: Path, cli: Cli) -> None:
    gold = [hotpot(f"h{number}", supporting_facts=[ABSENT, MILL]) for number in range(5)]
    whole, bare = tmp_path / "set_dev.json", tmp_path / "bare_dev.json"
    whole.write_text(json.dumps(gold), "utf-8")
    bare.write_text(json.dumps([{field: one[field] for field in ("_id", "answer", "supporting_facts")} for one in gold]), "utf-8")
    answers = {one["_id"]: one["answer"] for one in gold}
    file = write(tmp_path / "p.json", {"answer": answers, "sp": {key: [MILL, HARNE] for key in answers}})
    results = []
    for path, expected in ((whole, "5 of 5 questions have faults of content"), (bare, "")):
        outcome = cli("evaluate", path, file, "--json", tmp_path / f"{path.stem}.result.json")
        assert (outcome.status, outcome.err) == (0, "")
        assert outcome.out.count("faults of content") == bool(expected)
        assert expected in outcome.out
        results.append(json.loads((tmp_path / f"{path.stem}.result.json").read_text("utf-8")))
    assert results[0]["official"] == results[1]["official"]
    assert results[0]["faults"] == {"questions": 5, "imperfect": 5, "kinds": {"absent-support": 5}}
    cli("evaluate", whole, file, "--strict").sentence("set_dev.json, question h0, field 'supporting_facts.0'", "or leave out --strict")

"""What facts are asked about: only what has one answer, as far as a graph that lacks facts can tell."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import kgqa
from kgqa.errors import EmptyResult, StorageError
from kgqa.recipes.musique.from_graph import second_answers
from kgqa.recipes.musique.named_entities import entity_answers
from kgqa.recipes.musique.pool import PARAGRAPHS, SINGLE_HOP
from kgqa.runs.workspace import Workspace
from kgqa.settings.musique import PairSettings, ReadingSettings
from tests.small_single_hops import FILLER

SETTINGS = """
extends = "wikidata"
[musique]
forms = false
contexts = {{ branches = false }}
[musique.single_hop]
branch_below = 1.0
reading = {{ use = false }}
documents = "{documents}"
functional = {functional}
complete = true
by_chance = {by_chance}
[musique.templates]
place_of_birth = {{ branch = true, cues = [] }}
administrative_unit = {{ branch = true }}
"""


def asked(
    folder: Path, labels: dict[str, str], facts: list[tuple[str, str, str]], texts: dict[str, str], *, functional: float = 0.5,
    by_chance: float = 100, documents: str = "about", aliases: str = "",
) -> dict[str, str]:  # fmt: skip
    """Question → answer, of a graph with these facts and an article about some of the entities; ``aliases`` are those of the first."""
    source = folder / "source"
    source.mkdir()
    rows = [f"{name}\t{label}\t{'' if number else aliases}\t\t\n" for number, (name, label) in enumerate(labels.items())]
    (source / "entities.tsv").write_text("id\tlabel\taliases\tdescription\twikipedia_title\n" + "".join(rows))
    relations = {relation for _, relation, _ in facts}
    (source / "relations.tsv").write_text("id\tlabel\n" + "".join(f"{name}\trelation {name}\n" for name in sorted(relations)))
    (source / "triples.tsv").write_text("".join("\t".join(fact) + "\n" for fact in facts))
    articles = [
        {"id": name, "title": labels[name], "entity": name, "text": f"{labels[name]} {text} {FILLER}"} for name, text in texts.items()
    ]
    (source / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in articles))
    (folder / "own.toml").write_text(SETTINGS.format(functional=functional, by_chance=by_chance, documents=documents))
    with suppress(EmptyResult):  # few facts make few pairs
        kgqa.compose(domain=folder / "own.toml", source=source, filter="none", workspace=folder / "w", limit=1)
    try:
        output = Workspace(folder / "w").read_table("single_hop")
    except StorageError:
        return {}
    return dict(zip(output["question"].to_pylist(), output["answer"].to_pylist(), strict=True))


LANDS = {"Q1": "Arlia", "Q2": "Bemia", "Q3": "Coria", "Q4": "Dunia"}


def test_yes_and_no_are_no_names_of_an_answer(tmp_path: Path) -> None:
    """As the code of a country or language, which every text would state."""
    asked(tmp_path, LANDS, [("Q2", "P47", "Q1")], {"Q2": "borders Arlia."}, aliases="NO|no|Arl Land|N.O.")
    output = Workspace(tmp_path / "w").read_table("single_hop").to_pylist()
    assert [row["aliases"] for row in output if row["answer"] == "Arlia"] == [["Arl Land", "Arlia"]]
    assert ["Arl Land", "Arlia"] in [row["called"] for row in output]


def test_a_neighbour_is_one_whichever_way_the_fact_was_written(tmp_path: Path) -> None:
    """Arlia borders Bemia, and Coria borders Arlia: both are neighbours of Arlia, and only Bemia and Coria have one."""
    texts = {"Q1": "borders Bemia and Coria.", "Q2": "borders Arlia.", "Q3": "borders Arlia."}
    result = asked(tmp_path, LANDS, [("Q1", "P47", "Q2"), ("Q3", "P47", "Q1")], texts)
    assert result == {"Which place borders Bemia?": "Arlia", "Which place borders Coria?": "Arlia"}


@pytest.mark.parametrize(
    ("documents", "text", "known"),
    [
        ("about", {"Q10": "lived long. Arlia was far."}, True),  # the article is about him
        ("about", {"Q1": "had Mr Number10."}, True),  # one sentence of the article about it
        ("about", {"Q1": "is a land. Once Mr Number10 came."}, False),
        ("about", {"Q3": "is where Mr Number10 heard of Arlia."}, False),
        ("any", {"Q3": "is where Mr Number10 heard of Arlia."}, True),
        ("any", {"Q3": "is where Mr Number10 lived. It is not Arlia."}, False),
    ],
)
def test_what_states_a_fact(tmp_path: Path, documents: str, text: dict[str, str], known: bool) -> None:
    result = asked(tmp_path, LANDS | {"Q10": "Mr Number10"}, [("Q10", "P19", "Q1")], text, documents=documents)
    assert (result.get("Where was Mr Number10 born?") == "Arlia") == known


@pytest.mark.parametrize(("text", "known"), [("died in Bemia.", True), ("lived in Bemia. Later Coria's king died.", False)])
def test_a_sentence_that_names_the_answer_has_a_cue(tmp_path: Path, text: str, known: bool) -> None:
    questions = asked(tmp_path, LANDS, [("Q1", "P20", "Q2")], {"Q1": text})
    assert ("Where did Arlia die?" in questions) is known


def test_a_text_that_states_a_second_answer_counts_unless_a_fact_joins_it_to_the_first() -> None:
    facts = pl.DataFrame(
        [("ann", "school", "yale"), ("bob", "school", "yale"), ("yale", "place", "haven")],
        schema=["head", "template", "tail"],
        orient="row",
    )
    rows = [("ann", "school", "mit", 0.9), ("bob", "school", "haven", 0.9), ("bob", "school", "mit", 0.1), ("ann", "school", "yale", 0.9)]
    texts = pl.DataFrame(rows, schema=["head", "template", "tail", "probability"], orient="row").with_columns(fact=pl.col("tail") == "yale")
    assert second_answers(facts, texts, ReadingSettings(second=0.5)).rows() == [("ann", "school", 1)]


@pytest.mark.parametrize(("least", "known"), [(0.6, False), (0.5, True)])
def test_where_others_have_several_answers_the_only_one_is_not_asked_for(tmp_path: Path, least: float, known: bool) -> None:
    """Of three birthplaces two have one person and one has four: six persons, three places."""
    people = {f"Q{number}": f"Mr Number{number}" for number in range(10, 16)}
    facts = [(name, "P19", "Q1" if number < 4 else f"Q{number - 2}") for number, name in enumerate(people)]
    texts = {name: f"was born in {LANDS[place]}." for name, _, place in facts}
    result = asked(tmp_path, LANDS | people, facts, texts, functional=least)
    assert ("Who was born in Coria?" in result) == known
    assert "Where was Mr Number10 born?" in result


def test_two_facts_ask_for_one_entity_unless_chance_would_give_others(tmp_path: Path) -> None:
    """Of eight persons four were born in Arlia, four died in Bemia, and one did both: by chance two would have."""
    people = {f"Q{number}": f"Mr Number{number}" for number in range(10, 18)}
    names = list(people)
    facts = [(name, "P19", "Q1") for name in names[:4]] + [(name, "P20", "Q2") for name in names[3:7]] + [(names[7], "P19", "Q4")]
    texts = {names[3]: "was born in Arlia and died in Bemia."}
    pair = "Who was born in Arlia and died in Bemia?"
    (tmp_path / "many").mkdir()
    (tmp_path / "few").mkdir()
    assert asked(tmp_path / "many", LANDS | people, facts, texts, by_chance=2)[pair] == "Mr Number13"
    assert pair not in asked(tmp_path / "few", LANDS | people, facts, texts, by_chance=1.9)


@pytest.mark.parametrize("has_noun", [True, False])
def test_two_borders_identify_a_country_but_a_border_and_a_continent_do_not(tmp_path: Path, has_noun: bool) -> None:
    """Each of three borders two of three others; all are on one continent. A noun must say what they are."""
    others = {"Q10": "Landia10", "Q11": "Landia11", "Q12": "Landia12"}
    neighbours = {"Q10": ("Q1", "Q2"), "Q11": ("Q1", "Q3"), "Q12": ("Q2", "Q3")}
    facts = [(name, "P47", other) for name, both in neighbours.items() for other in both] + [(name, "P30", "Q4") for name in others]
    is_a = "is a country." if has_noun else "is old."
    texts = {name: f"{is_a} It borders {LANDS[first]} and {LANDS[second]}, in Dunia." for name, (first, second) in neighbours.items()}
    questions = {text for text in asked(tmp_path, LANDS | others, facts, texts) if " and " in text}
    pairs = ("Arlia and Bemia", "Arlia and Coria", "Bemia and Coria")
    assert questions == ({f"Which country borders both {pair}?" for pair in pairs} if has_noun else set())


def test_of_two_things_that_a_fact_joins_the_narrower_says_all(tmp_path: Path) -> None:
    labels = {"Q1": "Arlia", "Q2": "Bemia", "Q3": "Coria", "Q4": "Dunia", "Q5": "Eftia"}
    facts = [("Q1", "P57", "Q2"), ("Q1", "P57", "Q3"), ("Q4", "P57", "Q2"), ("Q5", "P57", "Q3")]
    texts = {"Q1": "was directed by Bemia and Coria."}
    pair = "Which movie was directed by both Bemia and Coria?"
    for name, extra in (("apart", []), ("joined", [("Q2", "P17", "Q3")])):
        (tmp_path / name).mkdir()
        assert (pair in asked(tmp_path / name, labels, facts + extra, texts)) == (not extra)


def test_who_bears_the_name_of_a_question_has_its_answer_too(tmp_path: Path) -> None:
    """Two towns are called Arlia, and each is in another land."""
    labels = {"Q1": "Arlia", "Q2": "arlia", "Q3": "Coria", "Q4": "Dunia", "Q5": "Eftia"}
    texts = {"Q1": "is in Coria.", "Q5": "is in Dunia."}
    result = asked(tmp_path, labels, [("Q1", "P17", "Q3"), ("Q2", "P17", "Q4"), ("Q5", "P17", "Q4")], texts)
    assert "In which country is Arlia?" not in result
    assert result["In which country is Eftia?"] == "Dunia"


def test_an_answer_within_a_longer_word_does_not_stand_in_the_question(tmp_path: Path) -> None:
    labels = {"Q1": "Arlian Hall", "Q2": "Arlia", "Q3": "Hall of Coria", "Q4": "Coria"}
    texts = {"Q1": "is in Arlia.", "Q3": "is in Coria."}
    result = asked(tmp_path, labels, [("Q1", "P17", "Q2"), ("Q3", "P17", "Q4")], texts)
    assert result["In which country is Arlian Hall?"] == "Arlia"
    assert "In which country is Hall of Coria?" not in result


@pytest.mark.parametrize(("both", "twice"), [(22, False), (3, True)])
def test_two_relations_that_say_the_same_ask_once(both: int, twice: bool, tmp_path: Path) -> None:
    """Of ``both`` people the graph has the land as nationality and as citizenship; of few it may be by chance."""
    people = {f"P{number}": f"Person {'ABCDEFGHIJKLMNOPQRSTUVWX'[number]}" for number in range(24)}
    land = {person: f"Q{1 + number % 4}" for number, person in enumerate(people)}
    facts = [(person, "nationality", land[person]) for person in people]
    facts += [(person, "citizenship", land[person]) for person in list(people)[:both]]
    texts = {person: f"is a painter from {LANDS[land[person]]}." for person in people}
    result = asked(tmp_path, people | LANDS, facts, texts)
    for number, (person, name) in enumerate(people.items()):
        about = {question: answer for question, answer in result.items() if name in question}
        expected = {"nationality", "citizenship"} if number < both and twice else {"nationality"}
        assert about == {f"What is the relation {relation} of {name}?": LANDS[land[person]] for relation in expected}


def test_a_quantity_is_asked_for_where_its_article_states_it_and_the_name_is_of_one_entity(tmp_path: Path) -> None:
    labels = {"Q1": "Arlia", "Q2": "Bemia", "Q3": "bemia", "Q4": "Dunia"}
    texts = {"Q1": "has a population of 12,345. It is in Dunia.", "Q2": "has a population of 2,300.", "Q3": "has a population of 4,500."}
    result = asked(tmp_path, labels, [("Q1", "P17", "Q4")], texts)
    assert result["What is the population of Arlia?"] == "12,345"
    assert "What is the population of Bemia?" not in result
    rows = Workspace(tmp_path / "w").read_table("single_hop").to_pylist()
    assert {row["question"]: row["answer_entity"] for row in rows if row["answer"] == "12,345"} == {
        "What is the population of Arlia?": None
    }


def test_a_date_joins_no_questions() -> None:
    """May 3, 1912 begins with a capital, but is no entity."""
    row = {"question": "When did Arlia open?", "answer": "May 3, 1912", "kind": "forward", "answer_entity": None, "paragraph": 0}
    text = {"id": "0", "title": "Arlia", "text": "Arlia opened on May 3, 1912."}
    table = pa.Table.from_pylist([row, row | {"answer": "Bemia", "answer_entity": "Q2"}], SINGLE_HOP)
    flags = entity_answers(table, pa.Table.from_pylist([text], PARAGRAPHS), PairSettings(capital_share=0))
    assert flags.tolist() == [False, True]

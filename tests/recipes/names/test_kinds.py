"""What kind of thing a name names, on texts of each sort, and on the articles whose kind facts imply."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.recipes.names import kinds
from kgqa.recipes.names.kinds import WHO, Kind, answer_kinds, split_title, title_kinds
from kgqa.resources import word_lists
from tests.recipes.contrasts.drawing import paragraph


@pytest.mark.parametrize(
    ("title", "text", "kind"),
    [
        ("Kaos (film)", "Kaos is a 1984 Italian drama film directed by two brothers.", ("film", "film", "drama")),
        ("Ada", "Ada (born 10 May 1815) was a mathematician, and a countess.", ("person", "mathematician")),
        ("Ada Wu", "Ada Wu (2 May 1900 – 1 June 1950) led the strike.", ("person", "person")),
        ("Ann Oz", "Ann Oz is an American movie, television, and stage actress.", ("person", "actress", "stage")),
        ("Leo Li", "Leo Li is a sociologist who wrote a novel.", ("person", "sociologist")),
        ("Ken Rao", "Ken Rao (born 2 May 1900) is a retired and known for his songs.", ("person", "person")),
        ("Nosferatu", "Nosferatu is a black and white film.", ("film", "film", "white")),
        ("Ngukurr", "Ngukurr is a small Aboriginal community.", ("settlement", "community")),
        ("Tarn", "The Tarn is one of the rivers, a tributary of the Garonne.", ("river", "river")),
        ("Holt FC", "Holt FC is an English football club based in a town.", ("team", "club", "football")),
        ("Mud", "Mud are an English glam rock group.", ("band", "band")),
        (
            "Ivy League",
            "The Ivy League is an athletic league comprising sports teams of eight schools.",
            ("league", "league", "athletic"),
        ),
        ("Mirrorball", "Mirrorball was a sitcom pilot in the United Kingdom.", ("television", "pilot")),
        ("Lagos Television", "Lagos Television is a state owned television station in Ikeja.", ("broadcaster", "broadcast station")),
        ("WXYZ", "WXYZ is a television station in Ohio.", ("broadcaster", "broadcast station")),
        ("Koi", "Koi is a kind of fish.", ("fish", "fish")),
        ("Rusalka", "Rusalka, or Water Nymph, was the opera that made him.", ("play", "opera")),
        ("Kelp", "Kelp is a large brown seaweed.", ("", "seaweed", "brown")),
        ("Kaos (2019 film)", "Few liked it.", ("film", "film")),
        ("Boston University", "It was founded in 1839.", ("school", "university")),
        ("University of Oxford", "It is old.", ("school", "university")),
        ("Lake Huron", "It is deep.", ("lake", "lake")),
        ("Natalie Wood", "He met Wood in 1957, and she married him when her contract ended.", ("person", "person")),
    ],
)
def test_titles(title: str, text: str, kind: Kind) -> None:
    kinds = title_kinds(title, text)
    assert kinds[0] == kind
    assert kinds[-1] == ((kind[0],) if kind[0] else kind)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Ada", "Ada wrote."),
        ("Ola", "Mo and Ola met. It was a river."),
        ("Silas", "He was born in 1900. The town was a port."),
        ("The Loud House", "Lynn Loud is the father of the children."),
        ("List of rivers", "This is a list of rivers."),
        ("List of prizes for Veep", "Veep is an American sitcom."),
        ("Business", "A business is an organization where people work."),
        ("Governor of Texas", "The Governor of Texas is the head of the state."),
        ("Keith Moon", "Loud drums."),
        ("Mount Vernon, New York", "Many live there."),
        ("A League of Their Own", "It was shown in 1992."),
        ("Martha Kent", "He told his mother that she would not see him."),
        ("", ""),
    ],
)
def test_titles_of_which_nothing_tells_the_kind(title: str, text: str) -> None:
    assert title_kinds(title, text) == []


@pytest.mark.parametrize(
    ("question", "answer", "kinds"),
    [
        ("Into which river does it flow?", "Avon", [("river", "river"), ("river",)]),
        ("#1 >> mouth of the watercourse", "Avon", []),
        ("#1 >> mouth of the watercourse", "Hudson Bay", [("sea", "bay"), ("sea",)]),
        ("#1 >> father", "Ivo", [("person", "father"), ("person",)]),
        ("#1 >> shares border with", "Ivo", []),
        ("#1 >> place of birth", "Ivo", [("settlement", "place"), ("settlement",)]),
        ("Where did she die?", "Ivo", [("settlement", "place"), ("settlement",)]),
        ("Where does the story begin?", "Ivo", []),
        ("Who is the father of #1?", "Ivo Andric", [("person", "father"), ("person",)]),
        ("Who plays her husband?", "Ivo Andric", [WHO]),
        ("Who owns it?", "Acme Records", [("company", "records"), ("company",)]),
        ("Who is the father of #1?", "Acme Records", []),
        ("#1 >> member of sports team", "Ivy League", []),
        ("Who won?", "Lake Huron", [WHO]),
        ("What is the name of the river?", "Avon", [("river", "river"), ("river",)]),
        ("What is the middle name of the writer?", "Ann", []),
        ("Which country Alfonso is from?", "Peru", [("country", "country"), ("country",)]),
        ("Which river flows past it?", "Avon", [("river", "river"), ("river",)]),
        ("Which film whose director is younger?", "Kaos", [("film", "film"), ("film",)]),
        ("What film came out first?", "Kaos", [("film", "film"), ("film",)]),
        ("The band that he formed played in which city?", "Ulm", [("settlement", "city"), ("settlement",)]),
        ("What nationality is she?", "Italian", [("phrase", "nationality")]),
        ("What profession do they share?", "film critic", [("phrase", "profession")]),
        ("What is her nickname?", "The Boz", [("", "nickname")]),
        ("What happened?", "his death", []),
        ("It flows", "Avon", []),
        ("When was it?", "4 May 1956", [("figures", "00 month year")]),
        ("When was it?", "1956", [("figures", "year")]),
        ("How many people?", "15,105", [("figures", "00000")]),
        ("How long is it?", "12.5 km", [("figures", "000 km")]),
        ("How many cities?", "seven", [("figures", "00")]),
        ("Which season?", "2010 NCAA Division", [("", "season")]),
    ],
)
def test_answers(question: str, answer: str, kinds: list[Kind]) -> None:
    assert answer_kinds(question, answer) == kinds


def test_what_a_paragraph_says_of_an_answer_goes_before_its_own_words_and_must_agree_with_what_is_asked() -> None:
    band, film = (replace(paragraph("p", [f"Rush is a {noun}."]), title="Rush (2013)") for noun in ("band", "film"))
    assert answer_kinds("Who sings it?", "Rush", [band]) == [("band", "band"), ("band",)]
    assert answer_kinds("Who plays it?", "Rush", [film]) == [WHO]
    assert answer_kinds("Which band sings it?", "Rush", [band]) == [("band", "band"), ("band",)]
    assert answer_kinds("Which band sings it?", "Rush", [film]) == []
    assert answer_kinds("Which singer sings it?", "Rushmore", [film]) == [("person", "singer"), ("person",)]


def test_questions_of_any_length_are_read_in_a_moment() -> None:
    for words in ("who is ", "which of ", "what, ", "Who Is The "):
        assert answer_kinds(words * 20_000, "Avon") in ([], [WHO])


def test_a_title_may_say_something_in_brackets() -> None:
    assert split_title("Kaos (2019 film)") == ("Kaos", "2019 film")
    assert split_title("(What) If") == ("(What) If", "")


def test_no_noun_is_of_two_classes() -> None:
    nouns = [noun for result in word_lists(Path(kinds.__file__).with_name("nouns.txt")).values() for noun in result]
    assert len(nouns) > 400
    assert len(set(nouns)) == len(nouns)


SUBJECTS = {"P19": "person", "P20": "person", "P26": "person", "P27": "person", "P69": "person", "P102": "person", "P106": "person"}
OBJECTS = {"P26": "person", "P40": "person", "P50": "person", "P57": "person", "P69": "school", "P161": "person", "P364": "language"}
"""Property → the kind of what it is said of, and of what it says: born in, died in, spouse, citizen of, educated at, member of a party,
occupation; child, author, director, cast, language."""
AGREEMENT = 0.99


@pytest.mark.real_data
def test_kinds_of_articles_are_those_that_facts_imply(real_data: Path) -> None:
    told_of = {entity: title_kinds(title, text) for entity, title, text in articles(real_data)}
    implied: dict[tuple[str, str], str] = {}
    with gzip.open(real_data / "wikidata" / "triples.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            subject, relation, entity = line.rstrip("\n").split("\t")
            implied |= {(subject, SUBJECTS[relation]): relation} if relation in SUBJECTS else {}
            implied |= {(entity, OBJECTS[relation]): relation} if relation in OBJECTS else {}
    output = [(told_of[entity][-1], (kind,)) for entity, kind in implied if told_of.get(entity) and len(told_of[entity][-1]) == 1]
    assert len(output) > 2000
    assert sum(result == expected for result, expected in output) / len(output) > AGREEMENT
    assert sum(map(bool, told_of.values())) / len(told_of) > 0.75


def articles(real_data: Path) -> Iterator[tuple[str, str, str]]:
    with gzip.open(real_data / "wikidata" / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["entity"], record["title"], record["text"]

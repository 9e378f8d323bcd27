"""Generated IIRC questions: right by their world, unanswerable where they say so, and the same in IIRC's official files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import EmptyResult, SettingsError
from kgqa.formats.iirc import format as iirc
from kgqa.formats.provenance import noted
from kgqa.recipes.iirc.program import evaluate
from kgqa.recipes.names.statements import names, paragraph_states
from kgqa.records import SPLITS, Instance
from tests.recipes.iirc import world


def made(report: kgqa.Report) -> dict[str, list[Instance]]:
    question_set = kgqa.open_dataset(report.dataset)
    return {split: list(question_set.read(split)) for split in SPLITS}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> kgqa.Report:
    folder = tmp_path_factory.mktemp("iirc")
    source = world.write(folder / "source")
    return kgqa.generate(world.settings(folder / "own.toml"), recipe="iirc", source=source, workspace=folder / "w", workers=2)


@pytest.fixture(scope="module")
def splits(report: kgqa.Report) -> dict[str, list[Instance]]:
    return made(report)


@pytest.fixture(scope="module")
def instances(splits: dict[str, list[Instance]]) -> list[Instance]:
    return [instance for some in splits.values() for instance in some]


def test_patterns_and_types_of_answers_are_spread(instances: list[Instance]) -> None:
    types = Counter(instance.answer_type for instance in instances)
    assert types.keys() == {"span", "number", "boolean", "none"}
    assert types["none"] <= 0.35 * len(instances)
    assert len({noted(instance, "generate")["pattern"] for instance in instances}) >= 6
    needed = Counter(len(noted(instance, "iirc")["question_links"]) for instance in instances)
    assert needed[1] > 5
    assert sum(needed.values()) - needed[1] > 5


def test_programs_evaluate_to_the_answers(instances: list[Instance]) -> None:
    for instance in instances:
        note = noted(instance, "generate")
        answer = evaluate(note["program"], note["values"])
        assert answer == (instance.answers[0] if instance.answerable else note["answer"]), instance.question


def test_answers_are_those_of_the_world(instances: list[Instance]) -> None:
    births, checked = world.births(), Counter[str]()
    directors = {world.film(number): world.person(2 * number) for number in range(world.FILMS)}
    releases = {world.film(number): world.release(number) for number in range(world.FILMS)}
    for instance in instances:
        note, subject = noted(instance, "generate"), instance.paragraphs[0].title or ""
        answer = instance.answers[0] if instance.answerable else note["answer"]
        if note["pattern"] == "birth_year":
            assert answer == str(births[directors[subject]][0])
        elif note["pattern"] == "age_in_a_year_of_release":
            assert answer == str(releases[subject] - births[directors[subject]][0])
        elif note["pattern"] in {"first_born_of_group", "last_born_of_group"}:
            steps = instance.decomposition or ()
            found = (steps[0].answer or "").replace(" and ", ", ").split(", ")
            dates = {name: (births[name][0], world.MONTHS.index(births[name][1]), births[name][2]) for name in found}
            assert answer == (min if note["pattern"].startswith("first") else max)(dates, key=dates.__getitem__)
        else:
            continue
        checked[note["pattern"]] += 1
    assert len(checked) >= 3


def test_the_question_does_not_name_what_it_links_to(instances: list[Instance]) -> None:
    for instance in instances:
        for title in noted(instance, "iirc")["question_links"]:
            assert title not in instance.question


def test_evidence_states_the_answer(instances: list[Instance]) -> None:
    for instance in instances:
        if not instance.answerable:
            assert not any(paragraph.supporting for paragraph in instance.paragraphs)
            continue
        assert instance.paragraphs[0].supporting
        for paragraph in instance.paragraphs:
            marks = paragraph.supporting_sentences or ()
            assert bool(marks) == bool(paragraph.supporting)
        needed = {p.title for p in instance.paragraphs[1:] if p.supporting}
        assert needed == set(noted(instance, "iirc")["question_links"])
        for step in instance.decomposition or ():
            if step.paragraph_id is not None:
                paragraph = next(paragraph for paragraph in instance.paragraphs if paragraph.id == step.paragraph_id)
                bounds = [*(paragraph.sentences or ()), len(paragraph.text)]
                shown = " ".join(paragraph.text[bounds[mark] : bounds[mark + 1]] for mark in paragraph.supporting_sentences or ())
                assert (step.answer or "").split(" and ")[0].split(", ")[0] in shown


def test_unanswerable_questions_have_no_answer_anywhere(instances: list[Instance]) -> None:
    """What a question lacks is in no question of the set, since IIRC's files hold the articles of all questions."""
    shown = {paragraph.title for instance in instances for paragraph in instance.paragraphs}
    unanswerable = [instance for instance in instances if not instance.answerable]
    assert len(unanswerable) > 5
    for instance in unanswerable:
        note = noted(instance, "generate")
        assert note["withheld"]
        assert not shown & set(note["withheld"])
        if note["pattern"] == "linked_answer":
            assert not any(paragraph_states(paragraph, names([note["answer"]])) for paragraph in instance.paragraphs)
        assert any(step.answer is None for step in instance.decomposition or ())


def test_answerable_and_unanswerable_questions_on_a_passage_show_as_many_articles(instances: list[Instance]) -> None:
    sizes: dict[str, set[int]] = {}
    for instance in instances:
        sizes.setdefault(instance.paragraphs[0].title or "", set()).add(len(instance.paragraphs))
    assert all(len(counts) == 1 for counts in sizes.values())


def test_splits_share_no_passage_and_no_needed_article(splits: dict[str, list[Instance]]) -> None:
    documents = {
        split: {title for one in some for title in (one.paragraphs[0].title, *noted(one, "iirc")["question_links"])}
        for split, some in splits.items()
    }
    assert not documents["train"] & documents["dev"]
    assert not documents["train"] & documents["test"]
    assert not documents["dev"] & documents["test"]


def without_own(instances: list[Instance]) -> Iterator[Instance]:
    """The questions without what IIRC's layout has no place for: steps, sentences and the recipe's note."""
    for instance in instances:
        notes = json.loads(instance.provenance or "{}")
        notes.pop("generate", None)
        paragraphs = tuple(replace(paragraph, sentences=None, supporting_sentences=None) for paragraph in instance.paragraphs)
        yield replace(instance, paragraphs=paragraphs, decomposition=None, provenance=json.dumps(notes, sort_keys=True))


def test_the_official_layout_gives_the_same_questions_back(instances: list[Instance], tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    iirc.write(instances, path)
    assert list(without_own(list(iirc.read(path)))) == list(without_own(instances))
    record = json.loads(path.read_text())[0]
    assert {"text", "title", "links", "questions"} <= record.keys()
    numbers = [q["answer"] for r in json.loads(path.read_text()) for q in r["questions"] if q["answer"]["type"] == "value"]
    assert numbers
    assert all(answer["answer_value"].lstrip("-").replace(".", "").isdigit() for answer in numbers)
    assert any(answer["answer_unit"] == "years" for answer in numbers)


def test_the_same_bytes_for_any_number_of_workers(report: kgqa.Report, tmp_path: Path) -> None:
    again = kgqa.generate(
        world.settings(tmp_path / "own.toml"), recipe="iirc", source=world.write(tmp_path / "source"), workspace=tmp_path / "w", workers=1
    )
    contents = [json.loads((some.dataset / "manifest.json").read_text())["content"] for some in (report, again)]
    assert contents[0] == contents[1]


PATTERN = """
[iirc.patterns.older_than_the_film]
kind = "difference"
over = "subject"
values = ["date of birth", "release date"]
calendar = true
unit = "years"
question = "By how many years is {a} older than {subject}?"
"""


def test_a_pattern_of_ones_own(tmp_path: Path) -> None:
    own = world.settings(tmp_path / "own.toml", PATTERN)
    result = made(kgqa.generate(own, recipe="iirc", source=world.write(tmp_path / "source"), workspace=tmp_path / "w"))
    questions = [one.question for some in result.values() for one in some if noted(one, "generate")["pattern"] == "older_than_the_film"]
    assert questions
    assert all(question.startswith("By how many years is the ") for question in questions)


def test_without_values_the_other_patterns_ask(tmp_path: Path) -> None:
    source = world.write(tmp_path / "source", dates=False)
    report = kgqa.generate(world.settings(tmp_path / "own.toml"), recipe="iirc", source=source, workspace=tmp_path / "w")
    patterns = {noted(one, "generate")["pattern"] for some in made(report).values() for one in some}
    assert patterns
    assert patterns <= {
        "linked_answer",
        "yes_or_no",
        "population",
        "more_inhabitants_than",
        "count_with_the_same",
        "total_population_of_group",
    }


def test_a_domain_whose_texts_link_to_little_is_told_so(tmp_path: Path) -> None:
    own = world.settings(tmp_path / "own.toml")
    own.write_text(own.read_text().replace("min_links = 3", "min_links = 30"))
    with pytest.raises(EmptyResult, match=r"no article qualifies as a passage: .*links to too few articles"):
        kgqa.generate(own, recipe="iirc", source=world.write(tmp_path / "source"), workspace=tmp_path / "w")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('[iirc.patterns.x]\nkind = "value"\nquestion = "When {a}?"', "needs values"),
        ('[iirc.patterns.x]\nkind = "ask"\nvalues = ["area"]\nquestion = "What {a}?"', "has no values"),
        ('[iirc.patterns.x]\nkind = "ask"\nover = "group"\nquestion = "What {a}?"', "cannot be over group"),
        ('[iirc.patterns.x]\nkind = "ask"\nquestion = "What {c}?"', "there is no placeholder {c}"),
        ('[iirc.patterns.x]\nkind = "ask"', "question is missing"),
        ('[iirc.groups.x]\ntext = "those of {head}"', "either templates or kinds"),
        ('[iirc.groups.x]\nkinds = ["film"]\ntext = "the films"', "one place for a name"),
    ],
)
def test_a_pattern_that_cannot_ask_is_refused(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        kgqa.plan(world.settings(tmp_path / "own.toml", more), recipe="iirc", source=tmp_path, workspace=tmp_path / "w")

"""IIRC's format: the official records and a system's outputs come back, linked texts are found, and the gold answers reach the scorer."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, InputError, KgqaError, MissingInput, SettingsError
from kgqa.formats import native
from kgqa.formats.faults import faults_of
from kgqa.formats.iirc import articles as context_articles, format as iirc
from kgqa.formats.iirc.articles import Articles
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.drop import NAMES, iirc as scores_of
from kgqa.records import Instance, Mention
from tests.formats.drawing import TEXT, instances, sets
from tests.formats.keeping import check_kept, written

EXAMPLES = Path(__file__).parent / "examples"
OFFICIAL, OUTPUTS, ARTICLES = (EXAMPLES / f"iirc_dev{end}" for end in (".json", ".jsonl", "_context_articles.json"))
EXTRA = st.dictionaries(st.sampled_from(["x", "pid"]), TEXT | st.integers(), max_size=1)
TITLES = st.sampled_from(["Harne", "harne", "Aldern Prize", "aldern prize#2", "Main", "main", "", "Žofín"])
EVIDENCE = st.fixed_dictionaries(
    {"text": TEXT, "passage": TITLES}, optional={"indices": st.lists(st.integers(-2, 9), min_size=2, max_size=2)}
)
ANSWERS = st.one_of(
    st.just({"type": "none"}),
    st.builds(
        lambda spans: {"type": "span", "answer_spans": [{"text": span, "start_char": -1} for span in spans]},
        st.lists(TEXT, max_size=3),
    ),
    st.sampled_from(["yes", "No ", "maybe", "", None]).map(lambda value: {"type": "binary", "answer_value": value}),
    st.sampled_from(["4", " 4.50 ", " ", ""]).map(lambda value: {"type": "value", "answer_value": value, "answer_unit": "km"}),
    st.sampled_from(["span", "value", "binary"]).map(lambda kind: {"type": kind}),
)
LINKS = st.fixed_dictionaries({"target": TITLES, "indices": st.lists(st.integers(-1, 6), min_size=2, max_size=2)}, optional={"x": TEXT})


@st.composite
def files(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Official files of which every record has questions, some of them imperfect."""
    number = 0
    records = []
    for _ in range(draw(st.integers(1, 3))):
        questions = []
        for _ in range(draw(st.integers(1, 3))):
            number += 1
            question: dict[str, Any] = {**draw(EXTRA), "qid": f"q{number}", "question": draw(TEXT), "answer": draw(ANSWERS)}
            for field, values in (("context", EVIDENCE), ("question_links", TITLES)):
                if draw(st.booleans()):
                    question[field] = draw(st.lists(values, max_size=3))
            questions.append(question)
        record = {**draw(EXTRA), "text": draw(TEXT), "title": draw(st.none() | TEXT), "questions": questions}
        records.append({**record, **draw(st.fixed_dictionaries({}, optional={"links": st.lists(LINKS, max_size=3)}))})
    return records


@given(files(), st.none() | st.dictionaries(TITLES, TEXT.filter(lambda text: "<" not in text), min_size=1))
@settings(deadline=None)
def test_what_is_read_is_written(
    tmp_path_factory: pytest.TempPathFactory, file: list[dict[str, Any]], articles: dict[str, str] | None
) -> None:
    folder = tmp_path_factory.mktemp("iirc")
    (folder / "x.json").write_text(json.dumps(file), "utf-8")
    if articles is not None:
        (folder / "context_articles.json").write_text(json.dumps(articles), "utf-8")
    found = list(iirc.read(folder / "x.json"))
    (folder / "out").mkdir()
    iirc.write(found, folder / "out" / "y.json")
    assert list(iirc.read(folder / "out" / "y.json")) == found
    # Nothing of the official fields is lost; neighbours that have all else in common may become one record.
    final = json.loads((folder / "out" / "y.json").read_text("utf-8"))
    again, before = ([(record, question) for record in records for question in record["questions"]] for records in (final, file))
    for (record, question), (old_record, old_question) in zip(again, before, strict=True):
        assert question == old_question
        assert {**record, "questions": None} == {**old_record, "questions": None}


def without_tags(instance: Instance) -> Instance:
    """What articles are read without."""
    return replace(instance, paragraphs=tuple(replace(p, text=p.text.replace("<", "(")) for p in instance.paragraphs))


PLAIN = instances(at_least=1).map(without_tags)


@given(sets(PLAIN, at_least=1))
@settings(deadline=None)
def test_of_any_question_the_essentials_come_back(tmp_path_factory: pytest.TempPathFactory, given_instances: list[Instance]) -> None:
    path = tmp_path_factory.mktemp("iirc") / "y.json"
    held = [instance for instance in given_instances if not instance.answerable or instance.answers]
    if not held:
        with pytest.raises(BrokenInput, match="its answer is not known"):
            iirc.write(given_instances, path)
        return
    iirc.write(held, path)
    again = list(iirc.read(path))
    assert [(i.id, i.question, i.answerable) for i in again] == [(i.id, i.question, i.answerable) for i in held]
    assert [[p.text for p in i.paragraphs] for i in again] == [[p.text for p in i.paragraphs] for i in held]
    for before, after in zip(held, again, strict=True):
        assert [bool(p.supporting) for p in after.paragraphs] == [bool(p.supporting) for p in before.paragraphs]
        if before.answerable and before.answer_type in {"span", "spans"}:
            assert after.answers == (before.answers if before.answer_type == "spans" else before.answers[:1])
    iirc.write(again, path)
    assert list(iirc.read(path)) == again


def test_what_an_official_question_becomes() -> None:
    river, years, none, town, things = iirc.read(OFFICIAL)
    assert [(p.id, p.title, p.supporting) for p in river.paragraphs] == [("main", "Ida Kroll", True), ("Harne", "Harne", True)]
    assert river.paragraphs[1].text == "Harne lies on the Sill. It has a mill."  # without its tag
    assert [river.paragraphs[0].text[m.start : m.end] for m in river.paragraphs[0].mentions or ()] == ["Harne", "Žofín", "Aldern Prize"]
    assert noted(river, "iirc")["unplaced_links"] == [{"target": "Lost", "indices": [-1, 4]}]
    assert noted(river, "iirc")["record"] == {"pid": "p_1"}
    assert noted(river, "iirc")["question_links"] == ["Harne"]
    assert (years.answers, years.answer_type, noted(years, "iirc")["answer"]["answer_unit"]) == (("30",), "number", "years")
    assert (none.answers, none.answer_type, none.answerable) == ((), "none", False)
    assert [p.supporting for p in none.paragraphs] == [None, None, None]
    assert (town.answers, town.answer_type, [p.supporting for p in town.paragraphs]) == (("yes",), "boolean", [False, True])
    assert (things.answers, things.answer_type) == (("bakeries", "a mill"), "spans")
    assert [p.id for p in things.paragraphs] == ["main", "Žofín bakeries", "Žofín bakeries#2", "Harne"]
    assert things.paragraphs[0].mentions == ()


def test_what_a_systems_output_becomes() -> None:
    river, years, town, none, things = iirc.read(OUTPUTS)
    assert [instance.id for instance in (river, years, town, none, things)] == ["0", "1", "2", "3", "4"]
    assert [(p.id, p.title, p.supporting) for p in years.paragraphs] == [
        ("main", None, None),
        ("aldern prize", "aldern prize", True),
        ("aldern prize#2", "aldern prize", True),
    ]
    assert [p.id for p in things.paragraphs] == ["main", "harne", "žofín"]  # in the order of the links
    assert years.answers == ("30",)
    assert noted(years, "iirc")["answer"]["answer_value"] == "30 "
    assert noted(years, "iirc")["question_links"] == ["aldern prize", "harne"]
    assert noted(years, "iirc")["question"]["qa"] == {"predicted_answer_ability": "none", "predicted_answer": "29", "em": 0.0, "f1": 0.0}
    assert (none.answerable, town.answer_type, things.answer_type) == (False, "boolean", "spans")


def test_articles_are_found_beside_under_either_name_packed_or_not(tmp_path: Path) -> None:
    alone = list(iirc.read(Path(shutil.copy(OFFICIAL, tmp_path / "my_dev.json"))))
    assert [p.text for p in alone[0].paragraphs[1:]] == ["Harne lies on the Sill."]
    assert [p.id for p in alone[2].paragraphs] == ["main"]
    (tmp_path / "context_articles.json.gz").write_bytes(gzip.compress(ARTICLES.read_bytes()))
    assert list(iirc.read(tmp_path / "my_dev.json")) == list(iirc.read(OFFICIAL))
    (tmp_path / "my_dev_context_articles.json").write_text('{"harne": "Another text."}', "utf-8")
    assert [p.text for p in next(iirc.read(tmp_path / "my_dev.json")).paragraphs[1:]] == ["Another text."]
    assert open_dataset(tmp_path).files == {"dev": tmp_path / "my_dev.json"}


def test_of_the_articles_only_the_wanted_are_kept(tmp_path: Path) -> None:
    assert set(context_articles.read(ARTICLES, {"harne", "no article"})) == {"harne"}
    (tmp_path / "x.json").write_text('{"HARNE": "first", "harne": "second", "Harne": "third", "Orra": "a", "ORRA": "b"}', "utf-8")
    assert context_articles.read(tmp_path / "x.json", {"harne", "orra"}) == {"harne": "second", "orra": "a"}


def test_a_removed_paragraph_stays_away_though_another_question_shows_it(tmp_path: Path) -> None:
    river, years, none, *_ = iirc.read(OFFICIAL)
    fewer = replace(none, paragraphs=none.paragraphs[:2])
    without = replace(river, paragraphs=river.paragraphs[:1])
    swapped = replace(years, paragraphs=years.paragraphs[::-1])
    iirc.write([river, fewer, swapped], tmp_path / "x.json")
    again = list(iirc.read(tmp_path / "x.json"))
    assert [again[0], again[2]] == [river, swapped]
    assert replace(again[1], provenance=None) == replace(fewer, provenance=None)
    assert noted(again[1], "iirc")["articles"] == ["Aldern Prize"]
    iirc.write([without, years, none], tmp_path / "x.json")
    first = next(iirc.read(tmp_path / "x.json"))
    assert (first.id, first.paragraphs) == (without.id, without.paragraphs)
    assert [entry["passage"] for entry in noted(first, "iirc")["context"]] == ["main"]


def test_what_the_instance_says_wins_over_the_notes(tmp_path: Path) -> None:
    river, _, _, _, things = iirc.read(OFFICIAL)
    other = replace(river, answers=("the Orra",))
    unmarked = replace(river, paragraphs=(replace(river.paragraphs[0], supporting=False), river.paragraphs[1]))
    one = replace(things, id="one", paragraphs=tuple(p for p in things.paragraphs if p.id != "Žofín bakeries"))
    number = replace(river, id="n", answers=("4",), answer_type="number")
    binary = replace(river, id="b", answers=("no",), answer_type="boolean")
    iirc.write([other, replace(unmarked, id="u"), one, number, binary], tmp_path / "x.json")
    again = list(iirc.read(tmp_path / "x.json"))
    assert [instance.answers for instance in again] == [("the Orra",), ("the Sill",), ("bakeries", "a mill"), ("4",), ("no",)]
    assert [instance.answer_type for instance in again[3:]] == ["number", "boolean"]
    assert [p.supporting for p in again[1].paragraphs] == [False, True]
    assert [p.text for p in again[2].paragraphs[1:]] == ["The bakeries are old.", "Harne lies on the Sill. It has a mill."]


def test_other_formats_become_articles_with_their_sentences_marked(tmp_path: Path) -> None:
    source = [instance for instance in open_dataset(EXAMPLES / "hotpotqa_dev.json").instances() if instance.answers]
    iirc.write(source, tmp_path / "x.json")
    again = list(iirc.read(tmp_path / "x.json"))
    bridge = again[0]
    assert [(p.id, p.title, p.supporting) for p in bridge.paragraphs] == [
        ("main", "Mill of Aldern", True),
        ("Harne", "Harne", True),
        ("Harne#2", "Harne#2", False),
    ]
    assert noted(bridge, "iirc")["context"][0] == {"text": " It stands in Harne.", "passage": "main", "indices": [30, 50]}
    assert [p.text for p in bridge.paragraphs] == [p.text for p in source[0].paragraphs]
    assert "question_links" not in noted(bridge, "iirc")


def test_the_same_text_twice_stays_twice(tmp_path: Path) -> None:
    river = replace(next(iirc.read(OFFICIAL)), provenance=None)
    twice = replace(river, paragraphs=(*river.paragraphs, replace(river.paragraphs[1], id="again")))
    iirc.write([twice], tmp_path / "x.json")
    again = next(iirc.read(tmp_path / "x.json"))
    assert [(p.id, p.text) for p in again.paragraphs[1:]] == [(title, river.paragraphs[1].text) for title in ("Harne", "Harne#2")]


def test_what_was_marked_follows_an_article_whose_title_another_text_has(tmp_path: Path) -> None:
    river = next(iirc.read(OFFICIAL))
    first = replace(river, id="first", paragraphs=(river.paragraphs[0], replace(river.paragraphs[1], text="Another Harne.")))
    iirc.write([first, river], tmp_path / "x.json")
    _, again = iirc.read(tmp_path / "x.json")
    assert [(p.id, p.text, p.supporting) for p in again.paragraphs[1:]] == [("Harne#2", river.paragraphs[1].text, True)]
    assert noted(again, "iirc")["context"][1] == {"text": "Harne lies on the Sill.", "passage": "Harne#2", "indices": [0, 23]}


def test_an_article_may_be_called_main(tmp_path: Path) -> None:
    file = json.loads(OFFICIAL.read_text("utf-8"))[:1]
    file[0]["questions"] = [{**file[0]["questions"][0], "question_links": ["Main"], "context": [{"text": "A river.", "passage": "Main"}]}]
    (tmp_path / "x.json").write_text(json.dumps(file), "utf-8")
    (tmp_path / "context_articles.json").write_text('{"main": "The Main is a river."}', "utf-8")
    (found,) = iirc.read(tmp_path / "x.json")
    assert [(p.id, p.supporting) for p in found.paragraphs] == [("main", False), ("Main", True)]
    assert found.paragraphs[1].text == "The Main is a river."
    output = json.loads(OUTPUTS.read_text("utf-8").splitlines()[0])
    output["context_retrieval"]["gold_link_name_sent_list"] = [{"title": "main", "sent": "The Main is a river."}]
    (tmp_path / "y.json").write_text(json.dumps(output), "utf-8")
    (found,) = iirc.read(tmp_path / "y.json")
    assert [(p.id, p.text) for p in found.paragraphs[1:]] == [("Main", "The Main is a river.")]
    assert found.paragraphs[0].supporting is None


def test_titles_of_articles_are_there_once() -> None:
    articles = Articles()
    assert articles.add("Harne", "a", []) == "Harne"
    assert articles.add("harne", "a", []) == "Harne"
    assert articles.add("harne", "b", []) == "harne#2"
    assert articles.add("Harne", "a", ["harne"]) == "Harne#3"
    assert articles.add("main", "m", []) == "Main"
    assert articles.add("x", "x", ["x"]) == "x#2"


def test_links_are_mentions(tmp_path: Path) -> None:
    river = next(iirc.read(OFFICIAL))
    main = replace(river.paragraphs[0], mentions=(Mention(entity="Q1", start=0, end=3),))
    iirc.write([replace(river, paragraphs=(main, *river.paragraphs[1:]))], tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text("utf-8"))[0]["links"] == [
        {"target": "Q1", "indices": [0, 3]},
        {"target": "Lost", "indices": [-1, 4]},
    ]
    iirc.write([replace(river, paragraphs=(replace(main, mentions=None),))], tmp_path / "x.json")
    assert "links" not in json.loads((tmp_path / "x.json").read_text("utf-8"))[0]


def test_no_articles_of_an_older_file_are_found(tmp_path: Path) -> None:
    found = list(iirc.read(OFFICIAL))
    iirc.write(found, tmp_path / "x.json")
    assert (tmp_path / "x_context_articles.json").is_file()
    iirc.write(iirc.read(OUTPUTS), tmp_path / "x.json")
    assert not (tmp_path / "x_context_articles.json").exists()


@pytest.mark.parametrize(
    ("change", "kind", "part"),
    [
        ({"qid": "i1"}, DuplicateId, "x.json, record 1.questions.1: id i1 was already used in record 1.questions.0"),
        ({"qid": [3]}, BrokenInput, "record 1, field 'questions.1.qid': expected text, found a list"),
        ({"answer": {"type": "bad"}}, BrokenInput, "record 1, field 'questions.1.answer.type': expected 'span'"),
        ({"answer": {"type": "span", "answer_spans": [{}]}}, MissingInput, "field 'questions.1.answer.answer_spans.0.text' is missing"),
        ({"answer": {"type": "value", "answer_value": 4}}, BrokenInput, "'questions.1.answer.answer_value': expected text, found a number"),
        ({"context": [{"text": "x"}]}, MissingInput, "the field 'questions.1.context.0.passage' is missing"),
        ({"context": "x"}, BrokenInput, "field 'questions.1.context': expected a list, found text"),
        ({"question_links": [3]}, BrokenInput, "field 'questions.1.question_links.0': expected text"),
        ({"paragraphs": ["Harne", "Orra"]}, MissingInput, "question i2, field 'paragraphs': the text of 'Harne' is not there; put"),
        ({"context_covers": "x"}, BrokenInput, "field 'questions.1.context_covers'"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(change: dict[str, Any], kind: type[KgqaError], part: str, tmp_path: Path) -> None:
    file = json.loads(OFFICIAL.read_text("utf-8"))
    file[0]["questions"][1].update(change)
    (tmp_path / "x.json").write_text(json.dumps(file), "utf-8")
    check(tmp_path / "x.json", kind, part)


@pytest.mark.parametrize(
    ("change", "kind", "part"),
    [
        ({"links": [{"target": "x", "indices": [1]}]}, MissingInput, "record 2: the field 'links.0.indices.1' is missing"),
        ({"links": [{"target": "x", "indices": [1, 2.5]}]}, BrokenInput, "record 2, field 'links.0.indices.1': expected a whole number"),
        ({"text": None}, BrokenInput, "record 2, field 'text': expected text, found null"),
        ({"questions": {}}, BrokenInput, "record 2, field 'questions': expected a list, found an object"),
        ({"original_paragraph": "x", "questions": "-"}, MissingInput, "record 2: the field 'questions' is missing"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(change: dict[str, Any], kind: type[KgqaError], part: str, tmp_path: Path) -> None:
    file = json.loads(OFFICIAL.read_text("utf-8"))
    file[1] = {key: value for key, value in (file[1] | change).items() if value != "-"}
    (tmp_path / "x.json").write_text(json.dumps(file), "utf-8")
    check(tmp_path / "x.json", kind, part)


@pytest.mark.parametrize(
    ("part", "change", "kind", "message"),
    [
        ("qa", {"gold_answer": []}, BrokenInput, "line 2, field 'qa.gold_answer': expected a list of at least 1, found one of 0"),
        ("qa", {"gold_answer_type": "date"}, BrokenInput, "line 2, field 'qa.gold_answer_type': expected 'spans', 'number', 'binary'"),
        ("context_retrieval", {"gold_link_name_sent_list": [{"title": "x"}]}, MissingInput, "gold_link_name_sent_list.0.sent' is missing"),
        ("link_prediction", {"gold_question_links": None}, BrokenInput, "field 'link_prediction.gold_question_links': expected a list"),
    ],
)
def test_what_is_wrong_with_an_output_is_said(
    part: str, change: dict[str, Any], kind: type[KgqaError], message: str, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in OUTPUTS.read_text("utf-8").splitlines()]
    lines[1][part].update(change)
    (tmp_path / "x.json").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    check(tmp_path / "x.json", kind, message)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "is truncated"),
        ("{", "expected a name"),
        ('{"harne"', "is truncated"),
        ('{"harne": "x"', "is truncated"),
        ('{"harne": "x', "article 1"),
        ('{"harne": "x"} 3', "there is extra data after the end"),
        ('{"harne": "x", "harne": "y"}', "article 2: id harne was already used in article 1"),
        ('{"harne": "x", "orra": 3}', "'orra': expected text, found a number"),
        ('{3: "x"}', "article 1: expected a name in quotation marks"),
        ('{"harne": "\\ud800"}', "half of a surrogate pair"),
        ('{"harne": NaN}', "NaN is not a number"),
        ('{"harne": ' + "[" * 100_000, "article 1"),
    ],
)
def test_what_is_wrong_with_the_articles_is_said(content: str, part: str, tmp_path: Path) -> None:
    shutil.copy(OFFICIAL, tmp_path / "x.json")
    (tmp_path / "context_articles.json").write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"^context_articles.json") as error:
        list(iirc.read(tmp_path / "x.json"))
    assert part in str(error.value)


VALUE, SPANS = "answer.answer_value", "answer.answer_spans"


@pytest.mark.parametrize(
    ("answer", "place", "kind", "answers", "answer_type"),
    [
        ({"type": "span", "answer_spans": []}, SPANS, "absent-answer", (), "none"),
        ({"type": "span"}, SPANS, "absent-answer", (), "none"),
        ({"type": "span", "answer_spans": None, "x": 1}, SPANS, "absent-answer", (), "none"),
        ({"type": "value", "answer_value": "", "answer_unit": "km"}, VALUE, "absent-answer", (), "none"),
        ({"type": "value"}, VALUE, "absent-answer", (), "none"),
        ({"type": "binary", "answer_value": None}, VALUE, "absent-answer", (), "none"),
        ({"type": "binary", "answer_value": "Maybe "}, VALUE, "contradiction", ("Maybe ",), "span"),
    ],
)
def test_an_answer_that_is_not_what_its_type_promises_is_kept(
    answer: dict[str, Any], place: str, kind: str, answers: tuple[str, ...], answer_type: str, tmp_path: Path
) -> None:
    file = json.loads(OFFICIAL.read_text("utf-8"))
    file[0]["links"].pop()
    file[0]["questions"][1]["answer"] = answer
    instance = check_kept(written(file, tmp_path / "x_dev.json"), "i2", {place: kind})
    assert (instance.answers, instance.answer_type, instance.answerable) == (answers, answer_type, bool(answers))


@pytest.mark.parametrize(("kind", "value"), [("value", " "), ("binary", "\t"), ("binary", "")])
def test_a_blank_value_is_kept(kind: str, value: str, tmp_path: Path) -> None:
    file = json.loads(OFFICIAL.read_text("utf-8"))
    file[0]["links"].pop()
    file[0]["questions"][1]["answer"] = {"type": kind, "answer_value": value}
    instance = check_kept(written(file, tmp_path / "x_dev.json"), "i2", {VALUE: "absent-answer", "answers.0": "empty-answer"})
    assert (instance.answers, instance.answerable) == (("",), True)


@pytest.mark.parametrize("indices", [[-1, 4], [4, 2], [62, 999], [10**30, 3]])
def test_a_link_outside_the_paragraph_is_kept_at_its_place(indices: list[int], tmp_path: Path) -> None:
    file = json.loads(OFFICIAL.read_text("utf-8"))[1:]
    text = file[0]["text"]
    file[0]["links"] = [
        {"target": "Žofín", "indices": [0, 5]},
        {"target": "Lost", "indices": indices},
        {"target": "Noted", "indices": [0, 1], "x": 1},
        {"target": "Harne", "indices": [10, 15]},
        {"target": "Lost too", "indices": indices},
    ]
    (question,) = file[0]["questions"]
    faults = {f"links.{number}.indices": "wrong-place" for number in (1, 4)}
    instance = check_kept(written(file, tmp_path / "x_dev.json"), question["qid"], faults)
    assert [text[mention.start : mention.end] for mention in instance.paragraphs[0].mentions or ()] == ["Žofín", "Harne"]


def test_marked_sentences_of_an_article_that_is_not_there_are_kept(tmp_path: Path) -> None:
    file = json.loads(OFFICIAL.read_text("utf-8"))[:1]
    file[0]["links"].pop()
    path = written(file, tmp_path / "x_dev.json")
    assert [faults_of(instance) for instance in iirc.read(path)] == [()] * 4  # without a file of articles nothing is amiss
    (tmp_path / "context_articles.json").write_text('{"aldern prize": "The Aldern Prize is old.", "lost": ""}', "utf-8")
    river = check_kept(path, "i1", {"context.1.passage": "absent-support"})
    assert [(p.id, p.text, p.supporting) for p in river.paragraphs[1:]] == [("Harne", "Harne lies on the Sill.", True)]
    file[0]["questions"] = file[0]["questions"][:1]
    check_kept(written(file, path), "i1", {"context.1.passage": "absent-support"})
    assert json.loads((tmp_path / "again_context_articles.json").read_text("utf-8")) == {}


SAID = "qa.gold_answer_type"


@pytest.mark.parametrize(
    ("change", "faults", "answers", "answer_type"),
    [
        ({"gold_answer_type": "none"}, {SAID: "contradiction"}, ("30",), "number"),
        ({"gold_answer_type": "binary"}, {SAID: "contradiction"}, ("30",), "number"),
        ({"gold_answer": [{"number": "", "spans": []}]}, {SAID: "contradiction"}, (), "none"),
        ({"gold_answer": [{"spans": ["a", "b"]}]}, {SAID: "contradiction"}, ("a", "b"), "spans"),
        ({"gold_answer": [{"spans": ["x"]}], "gold_answer_type": "binary"}, {SAID: "contradiction"}, ("x",), "span"),
    ],
)
def test_an_outputs_gold_of_another_type_is_kept(
    change: dict[str, Any], faults: dict[str, str], answers: tuple[str, ...], answer_type: str, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in OUTPUTS.read_text("utf-8").splitlines()]
    records[1]["qa"].update(change)
    path = written(records, tmp_path / "x_dev.jsonl")
    source = open_dataset(path)
    found = list(source.instances())
    assert {fault.place: fault.kind for fault in faults_of(found[1])} == faults
    assert (found[1].answers, found[1].answer_type, source.faults.imperfect) == (answers, answer_type, 1)
    with pytest.raises(BrokenInput, match=rf"^x_dev.jsonl, question 1, field '{SAID}'"):
        list(open_dataset(path, strict=True).instances())
    # It is written in the official form, in which the fault is still seen.
    iirc.write(found, tmp_path / "y_dev.json")
    check_kept(tmp_path / "y_dev.json", "1", faults)
    assert list(iirc.read(tmp_path / "y_dev.json")) == found


def test_imperfect_gold_is_scored_as_the_official_script_does(tmp_path: Path) -> None:
    """The authors' conversion makes of an answer without spans or value an empty one, which their script takes for "none"."""
    file = json.loads(OFFICIAL.read_text("utf-8"))[:1]
    answers = [
        {"type": "span", "answer_spans": []},
        {"type": "value", "answer_value": ""},
        {"type": "value", "answer_value": " "},
        {"type": "binary", "answer_value": "maybe"},
    ]
    for question, answer in zip(file[0]["questions"], answers, strict=True):
        question["answer"] = answer
    path = written(file, tmp_path / "x_dev.json")
    said = written({"i1": "none", "i2": "0", "i3": "none", "i4": "Maybe not"}, tmp_path / "p.json")
    done = kgqa.evaluate(path, said)
    assert (done.metric, done.scores.per_record[NAMES[0]]) == ("iirc", {"i1": 1, "i2": 0, "i3": 0, "i4": 0})
    assert done.scores.per_record[NAMES[1]] == {"i1": 1, "i2": 0, "i3": 0, "i4": 0.67}
    assert {name: done.scores.official[name] for name in NAMES} == {NAMES[0]: 25, NAMES[1]: 41.75}


def test_articles_that_do_not_fit_are_passed_over_where_nobody_named_them(tmp_path: Path) -> None:
    path = Path(shutil.copy(OFFICIAL, tmp_path / "my_dev.json"))
    alone = list(iirc.read(path))
    for content in ("[]", '[{"harne": "x"}]', '{"harne": 3}', '{"harne": {"content": "x"}}'):
        (tmp_path / "context_articles.json").write_text(content, "utf-8")
        source = open_dataset(tmp_path)
        assert [(i.id, i.paragraphs) for i in source.instances()] == [(i.id, i.paragraphs) for i in alone]
        assert source.remarks[0] == "context_articles.json holds no texts of iirc and is passed over; name another file with --paragraphs."
        with pytest.raises(BrokenInput, match=r"context_articles\.json: this is not a file of texts for iirc"):
            open_dataset(path, paragraphs=tmp_path / "context_articles.json")
    assert len(source.remarks) == 2
    shutil.copy(ARTICLES, tmp_path / "context_articles.json")
    source = open_dataset(tmp_path)
    assert list(source.instances()) == list(iirc.read(OFFICIAL))
    assert not any("passed over" in remark for remark in source.remarks)


def test_articles_may_be_named(tmp_path: Path) -> None:
    path = Path(shutil.copy(OFFICIAL, tmp_path / "my_dev.json"))
    (tmp_path / "my_dev_context_articles.json").write_text('{"harne": "Another text."}', "utf-8")
    texts = Path(shutil.copy(ARTICLES, tmp_path / "texts.json"))
    source = open_dataset(path, paragraphs=texts)
    assert list(source.instances()) == list(iirc.read(OFFICIAL))
    with pytest.raises(MissingInput, match=r"none\.json: there is no such file of paragraphs"):
        open_dataset(path, paragraphs=tmp_path / "none.json")
    texts.write_text('{"harne', "utf-8")
    with pytest.raises(InputError, match=r"^texts\.json, article 1"):
        list(open_dataset(path, paragraphs=texts).instances())
    outputs = Path(shutil.copy(OUTPUTS, tmp_path / "my_dev.jsonl"))
    with pytest.raises(SettingsError, match=r"my_dev\.jsonl: these are a system's outputs.*--paragraphs"):
        list(open_dataset(outputs, paragraphs=ARTICLES).instances())


@pytest.mark.parametrize("content", ["[]", "{}", '[{"text": "x", "questions": []}]', "", "3", '{"original_paragraph": 3}'])
def test_a_file_of_something_else(content: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"^x.json"):
        list(iirc.read(tmp_path / "x.json"))


def check(path: Path, kind: type[KgqaError], part: str) -> None:
    """Reading fails with one sentence that names the file."""
    with pytest.raises(kind) as error:
        list(iirc.read(path))
    assert str(error.value).startswith("x.json")
    assert part in str(error.value)


@pytest.mark.parametrize("path", [OFFICIAL, OUTPUTS], ids=["official", "outputs"])
def test_the_examples_are_recognised_and_come_back(path: Path, tmp_path: Path) -> None:
    source = open_dataset(path)
    found = list(source.instances())
    assert (source.format, list(source.files), len(found)) == ("iirc", ["dev"], 5)
    kgqa.convert(path, to="native", out=tmp_path / "native")
    done = kgqa.convert(tmp_path / "native", to="iirc", out=tmp_path / "again.json")
    assert done.changed == {}
    assert list(iirc.read(tmp_path / "again.json")) == found


@pytest.mark.real_data
def test_a_real_systems_outputs_come_back_and_score_the_same(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "iirc" / "iirc_dev_1301.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    source = open_dataset(path)
    found = list(source.instances())
    assert (source.format, list(source.files), len(found)) == ("iirc", ["dev"], 1301)
    assert Counter(instance.answer_type for instance in found) == {"span": 564, "spans": 29, "number": 233, "boolean": 128, "none": 347}
    assert sum(instance.answerable for instance in found) == 954
    sentences = [sorted(entry["sent"] for entry in record["context_retrieval"]["gold_link_name_sent_list"]) for record in records]
    assert [sorted(p.text for p in instance.paragraphs[1:]) for instance in found] == sentences
    assert all(instance.paragraphs[0].text == record["original_paragraph"] for instance, record in zip(found, records, strict=True))
    gold_links = [record["link_prediction"]["gold_question_links"] for record in records]
    assert [noted(instance, "iirc")["question_links"] for instance in found] == gold_links
    iirc.write(found, tmp_path / "again.json")
    assert list(iirc.read(tmp_path / "again.json")) == found
    assert len(json.loads((tmp_path / "again.json").read_text("utf-8"))) == 430
    native.write(found, tmp_path / "again.parquet")
    assert list(native.read(tmp_path / "again.parquet")) == found
    outputs = {instance.id: noted(instance, "iirc")["question"]["qa"] for instance in found}
    scores = scores_of(
        {instance.id: [instance.answers] for instance in found}, {key: qa["predicted_answer"] for key, qa in outputs.items()}
    )
    em, f1 = (scores.per_record[name] for name in NAMES)
    assert [key for key, qa in outputs.items() if em[key] != qa["em"] or f1[key] != round(qa["f1"], 2)] == []
    assert scores.official == dict(zip(NAMES, (41.43, 45.55), strict=True))

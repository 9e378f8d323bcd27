"""kgqa generate --recipe strategyqa, on invented people, movies and towns whose dates, sizes and countries are known here."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import kgqa
from kgqa.errors import EmptyResult, SettingsError
from kgqa.formats.strategyqa import format as official
from kgqa.recipes.strategyqa.choosing import choose
from kgqa.recipes.strategyqa.instances import NAME
from kgqa.recipes.strategyqa.pairs import PAIRS, chain_pairs, value_pairs
from kgqa.recipes.strategyqa.patterns import patterns_of
from kgqa.records import SPLITS, Instance
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.strategyqa import PatternSettings, StrategyqaSettings
from tests import contents
from tests.sources.wikibase.entities import dump, entity, moment, terms, thing

SYLLABLES = ("Bal", "Dor", "Fen", "Gil", "Hax", "Jor", "Kel", "Lom", "Mar", "Nev", "Pol", "Quin", "Ros", "Sel", "Tam", "Vor", "Wen", "Zel")
TOML = 'extends = "wikidata"\nname = "mine"\ndataset = "mine"\n[strategyqa]\nmin_links = 0\n'


def name(number: int) -> str:
    """An invented word, another one for each number."""
    return "".join(SYLLABLES[(number // len(SYLLABLES) ** place + 5 * place) % len(SYLLABLES)].lower() for place in range(3)).capitalize()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in the layout of the domain wikidata, with ``mine.toml``: 240 people, 120 movies, 60 towns of three countries."""
    folder = tmp_path_factory.mktemp("world")
    random = np.random.default_rng(7)
    articles, triples = [], []
    for number in range(240):
        born = date(int(random.integers(1850, 1950)), 1 + number % 12, 1 + number % 28)
        died = date(born.year + int(random.integers(20, 80)), 3, 9)
        text = f"{name(number)} Orl ({born:%-d %B %Y} – {died:%B %-d, %Y}) was a painter.\nMuch is known about the pictures and friends."
        articles.append((f"P{number}", f"{name(number)} Orl", text))
    for number in range(300, 420):
        text = f"{name(number)} is a {int(random.integers(1895, 2010))} Orlish film.\nIt is about the sea."
        articles.append((f"M{number}", name(number), text))
    for number in range(500, 560):
        country = number % 3
        size = f"{int(random.integers(1_000, 900_000)):,}"
        articles.append((f"T{number}", name(number), f"{name(number)} is a town in {name(900 + country)}.\nIt has a population of {size}."))
        triples.append(f"T{number}\tP17\tC{country}")
    articles += [(f"C{country}", name(900 + country), f"{name(900 + country)} is a country by the sea.") for country in range(3)]
    with gzip.open(folder / "documents.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(
            json.dumps({"id": f"doc {id_}", "title": title, "entity": id_, "text": text}) + "\n" for id_, title, text in articles
        )
    entities = "".join(f"{id_}\t{title}\t\ta thing\n" for id_, title, _ in articles)
    (folder / "entities.tsv").write_text(f"id\tlabel\taliases\tdescription\n{entities}", "utf-8")
    (folder / "triples.tsv").write_text("".join(f"{triple}\n" for triple in triples), "utf-8")
    (folder / "relations.tsv").write_text("id\tlabel\nP17\tcountry\n", "utf-8")
    (folder / "mine.toml").write_text(TOML, "utf-8")
    return folder


@pytest.fixture(scope="module")
def made(world: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[kgqa.Report, Path]:
    """The generated dataset, and its workspace."""
    workspace = tmp_path_factory.mktemp("made")
    return kgqa.generate(world / "mine.toml", source=world, recipe="strategyqa", workspace=workspace, workers=1), workspace


def questions(report: kgqa.Report) -> dict[str, list[Instance]]:
    """Split → its questions."""
    dataset = kgqa.open_dataset(report.dataset)
    return {split: list(dataset.read(split)) for split in SPLITS}


def test_answers_are_right(made: tuple[kgqa.Report, Path]) -> None:
    # The years are read out of the steps' answers with the calendar of Python, not with that of the recipe.
    checked = Counter[str]()
    for instance in (instance for some in questions(made[0]).values() for instance in some):
        steps = instance.decomposition or ()
        first, second = (str(step.answer) for step in steps[:-1])
        years = [
            [int(word.strip(",")) for word in text.split() if word.strip(",").isdigit() and len(word.strip(",")) == 4]
            for text in (first, second)
        ]
        pattern = json.loads(instance.provenance or "")[NAME]["pattern"]
        if pattern in {"cinema", "meeting", "funeral"}:
            is_yes = years[0][0] <= years[1][0] < years[0][1]
        elif pattern == "idol":
            is_yes = years[0][0] < years[1][0]
        elif pattern == "classmates":
            is_yes = abs(years[0][0] - years[1][0]) <= 2
        elif pattern == "crowd":
            is_yes = int(first.replace(",", "")) > int(second.replace(",", ""))
        else:
            assert pattern == "border"
            is_yes = first != second
        checked[pattern] += 1
        assert instance.answers == (official.ANSWERS[is_yes],), instance.question
        texts = {paragraph.id: paragraph.text for paragraph in instance.paragraphs}
        for step in steps[:-1]:
            assert all(part in texts[str(step.paragraph_id)] for part in str(step.answer).split(" to "))
    assert set(checked) == {"cinema", "meeting", "funeral", "idol", "classmates", "crowd", "border"}
    assert sum(checked.values()) >= 60


def test_the_papers_checks_hold_for_all(made: tuple[kgqa.Report, Path]) -> None:
    entities: dict[str, set[str]] = {}
    for split, some in questions(made[0]).items():
        answers: dict[str, Counter[str]] = {}
        uses = Counter[str]()
        for instance in some:
            steps = instance.decomposition or ()
            assert instance.question.endswith("?")
            assert instance.answer_type == "boolean"
            assert {needed for step in steps for needed in step.depends_on} == {step.id for step in steps[:-1]}
            assert all(int(needed) < int(step.id) for step in steps for needed in step.depends_on)
            made_of = json.loads(instance.provenance or "")[NAME]
            answers.setdefault(made_of["pattern"], Counter())[instance.answers[0]] += 1
            pair = made_of["entities"]
            uses.update(pair)
            entities.setdefault(split, set()).update(pair)
        assert all(found["yes"] == found["no"] for found in answers.values())
        assert max(uses.values(), default=0) <= StrategyqaSettings().per_entity
    assert not entities["train"] & entities["dev"] | entities["train"] & entities["test"] | entities["dev"] & entities["test"]


def test_the_same_input_gives_the_same_bytes(world: Path, made: tuple[kgqa.Report, Path], tmp_path: Path) -> None:
    report, workspace = made
    again = kgqa.generate(world / "mine.toml", source=world, recipe="strategyqa", workspace=workspace, workers=2)
    assert again.reused == [*report.seconds]
    other = kgqa.generate(world / "mine.toml", source=world, recipe="strategyqa", workspace=tmp_path, workers=2)
    assert contents.dataset(other.dataset, but=("workers",)) == contents.dataset(report.dataset, but=("workers",))
    assert report.dataset.name == "mine-strategyqa"
    assert "Strategy questions made by kgqa from mine" in (report.dataset / "README.md").read_text("utf-8")


def test_the_official_layout_reads_back_equal(made: tuple[kgqa.Report, Path], tmp_path: Path) -> None:
    for split, some in questions(made[0]).items():
        official.write(some, tmp_path / f"{split}.json")
        back = list(official.read(tmp_path / f"{split}.json"))
        assert len(back) == len(some)
        for instance, found in zip(some, back, strict=True):
            # The layout has neither the steps' answers nor which paragraph is whose beyond the evidence, which the note keeps.
            bare = tuple(replace(step, answer=None, paragraph_id=None) for step in instance.decomposition or ())
            assert replace(found, provenance=None) == replace(instance, decomposition=bare, provenance=None)
            assert official.to_record(found) == official.to_record(instance)
            record = official.to_record(instance)
            assert record["evidence"] == [[[[step.paragraph_id]] for step in (instance.decomposition or ())[:-1]] + [["operation"]]]
            assert record["term"] in instance.question
        first = contents.files(tmp_path)
        official.write(back, tmp_path / f"{split}.json")
        assert contents.files(tmp_path) == first


def test_without_values_one_sentence_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(
        EmptyResult, match=r"the articles state no dates and quantities and .* kgqa generate without --recipe, and kgqa compose"
    ):
        kgqa.generate("medline", recipe="strategyqa", workspace=tmp_path)
    assert not (tmp_path / "datasets").exists() or not list((tmp_path / "datasets").iterdir())


def test_a_recipe_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="the domain has no recipe 'strategyq'; did you mean strategyqa"):
        kgqa.generate("wikidata", recipe="strategyq", workspace=tmp_path)


GOOD = {
    "question": ["Could {a} have met {b}?"], "steps": ["When did {a} live?", "When was {b} born?", "Is #2 in #1?"], "test": "within",
    "a": ["date of birth", "date of death"], "b": ["date of birth"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": ["Could {a} have met {b}."]}, "must end with a question mark"),
        ({"question": ["Could {a} have met {c}?"]}, "must name"),
        ({"steps": ["When did {a} live?", "When was {b} born?", "Is #2 early?"]}, "no later step refers to #1"),
        (
            {"steps": ["When did {a} live in #2?", "When was {b} born?", "Is #2 in #1?"]},
            "refers to #2, but a step can refer only to earlier ones",
        ),
        ({"a": ["date of birth"]}, "takes 2 relations in a"),
        ({"test": "chain", "b": []}, "takes relations in a only"),
    ],
)
def test_a_pattern_that_is_no_strategy_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        PatternSettings.model_validate({**GOOD, **change})


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Was {a} alive when {b} was born?", "the word 'when'"),
        ("Did {a} live in a year and was {b} born in it?", "has all words of its steps"),
    ],
)
def test_an_explicit_pattern_is_refused(question: str, said: str) -> None:
    steps = ["When did {a} live?", "When was {b} born?", "Is #2 in #1?"]
    pattern = PatternSettings.model_validate({**GOOD, "question": [question], "steps": steps})
    with pytest.raises(SettingsError, match=said):
        patterns_of(StrategyqaSettings(patterns={"mine": pattern}), "en")


def test_the_shipped_patterns_pass_the_checks() -> None:
    shipped = patterns_of(StrategyqaSettings(), "en")
    assert len(shipped) > 20
    assert patterns_of(StrategyqaSettings(english=False, patterns=shipped), "en") == shipped
    assert patterns_of(StrategyqaSettings(), "") == {}
    assert shipped.keys() - patterns_of(StrategyqaSettings(leave_out=("funeral",)), "en").keys() == {"funeral"}
    with pytest.raises(SettingsError, match="there is no pattern 'funerals'; did you mean funeral"):
        patterns_of(StrategyqaSettings(leave_out=("funerals",)), "en")


def test_pairs_keep_the_margin_and_the_reach() -> None:
    # Ten people who lived from day 0 to day 36,525 (a century), and a date every 1,000 days.
    columns = {"split": 0, "answer": "", "document": "", "paragraph": 0}
    first = pl.DataFrame(
        [
            {"entity": f"a{number}", "low": 0.0, "low_last": 365.0, "high": 36_525.0, "high_last": 36_890.0, **columns}
            for number in range(500)
        ]
    )
    second = pl.DataFrame(
        [{"entity": f"b{number}", "number": 1_000.0 * number, "last": 1_000.0 * number, **columns} for number in range(100)]
    )
    pattern = PatternSettings.model_validate({**GOOD, "margin": 10, "reach": 40})
    pairs = value_pairs(pattern, first, second, np.random.default_rng(0))
    days = pairs["b"].str.slice(1).cast(pl.Int64) * 1_000
    yes = pairs["yes"]
    assert 200 < yes.sum() < 300
    assert days.filter(yes).is_between(36_525 - 40 * 366, 36_525 - 10 * 365).all()
    assert days.filter(~yes).is_between(36_890 + 10 * 365, 36_890 + 40 * 366).all()


def test_a_wrong_end_of_a_chain_is_nothing_that_the_graph_knows() -> None:
    place = {"document": "d", "paragraph": 0, "split": 0}
    first = pl.DataFrame([{"entity": f"a{number}", "tail": f"m{number}", **place} for number in range(200)])
    second = pl.DataFrame([{"entity": f"m{number}", "tail": f"z{number % 4}", **place} for number in range(200)])
    facts = pl.DataFrame([{"head": f"m{number}", "tail": tail} for number in range(200) for tail in (f"z{number % 4}", "z0")])
    names = pl.DataFrame({"entity": [*first["entity"], *second["entity"], "z0", "z1", "z2", "z3"]}).with_columns(name="entity")
    pattern = PatternSettings.model_validate({**GOOD, "test": "chain", "a": ["r"], "b": ["s"]})
    pairs = chain_pairs(first, second, facts, names, pattern, np.random.default_rng(0))
    numbers = pairs["a"].str.slice(1).cast(pl.Int64)
    right = pl.Series([f"z{number % 4}" for number in numbers])
    assert ((pairs["b"] == right) == pairs["yes"]).all()
    assert (pairs.filter(~pl.col("yes"))["b"] != "z0").all()
    assert pairs["yes"].n_unique() == 2


def test_no_pattern_dominates() -> None:
    sizes = {"large": 5_000, **{f"small{number}": 100 for number in range(9)}}
    rows = [
        {**dict.fromkeys(PAIRS), "pattern": name_, "a": f"{name_} {number}", "b": f"{name_} -{number}", "yes": number % 2 == 0, "split": 0}
        for name_, size in sizes.items() for number in range(size)
    ]  # fmt: skip
    funnel: list[FunnelRow] = []
    settings = StrategyqaSettings(most=4_000)
    kept = choose(pl.DataFrame(rows, schema={**PAIRS, "pattern": pl.String}), settings, limit=None, seed=0, rows=funnel)
    counts = dict(kept.group_by("pattern").len().iter_rows())
    assert counts["small0"] == 100
    assert 0.14 < counts["large"] / kept.height <= 0.15
    assert kept["yes"].mean() == 0.5
    assert sum(row.removed or 0 for row in funnel) == len(rows) - kept.height
    assert choose(pl.DataFrame(rows, schema={**PAIRS, "pattern": pl.String}), settings, limit=10, seed=0, rows=[]).height == 10


def test_values_of_an_import_are_asked_about_where_an_article_states_them(tmp_path: Path) -> None:
    lives = [(1850 + 7 * number % 120, 1880 + 7 * number % 120) for number in range(60)]
    people = [
        entity(
            f"Q{number}", moment("P569", f"+{born}-03-04T00:00:00Z", 11), moment("P570", f"+{died}-03-04T00:00:00Z", 11),
            thing("P31", "Q99"),
            labels=terms(en=f"{name(number)} Orl"),
        )
        for number, (born, died) in enumerate(lives, start=1)
    ]  # fmt: skip
    (tmp_path / "dump.json").write_bytes(dump(*people, entity("Q99", labels=terms(en="human"))))
    lines = []
    for number, (born, died) in enumerate(lives[:50], start=1):
        text = f"{name(number)} Orl stands in the book of names with 4 March {born} and 4 March {died}."
        lines.append({"id": f"d{number}", "title": f"{name(number)} Orl", "entity": f"Q{number}", "text": text})
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    kgqa.import_files("wikidata", [tmp_path / "dump.json"], out=tmp_path / "import")
    kgqa.import_files("texts", [tmp_path / "texts.jsonl"], out=tmp_path / "import", options={"about": "entity"})
    toml = tmp_path / "mine.toml"
    pattern = """
        [strategyqa.patterns.meeting]
        question = ["Could {a} have shaken hands with {b}?"]
        steps = ["In what years did {a} live?", "When was {b} born?", "Is #2 in #1?"]
        test = "within"
        a = ["date of birth", "date of death"]
        b = ["date of birth"]
        margin = 5
    """
    toml.write_text(f"{TOML}{pattern}", "utf-8")
    report = kgqa.generate(toml, source=tmp_path / "import", recipe="strategyqa", workspace=tmp_path / "w")
    made_questions = [instance for some in questions(report).values() for instance in some]
    assert len(made_questions) >= 4
    assert {str(step.answer) for instance in made_questions for step in (instance.decomposition or ())[1:2]} <= {
        f"4 March {born}" for born, _ in lives
    }
    (row,) = [row for row in report.funnel if row.reason == "no article states it"]
    assert row.removed == 20

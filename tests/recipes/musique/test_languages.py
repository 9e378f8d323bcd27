"""Questions in the language of the facts: own templates, a neutral form where a language has one, and no English around other words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pydantic import ValidationError

import kgqa
from kgqa.domains import load_domain
from kgqa.errors import SettingsError
from kgqa.recipes.musique.from_graph import neutral_template
from kgqa.recipes.musique.languages import check_labels
from kgqa.recipes.musique.wording import FORWARD, phrase, question
from kgqa.settings.linking import LinkingSettings
from kgqa.settings.musique import MusiqueSettings, NeutralSettings
from tests.commands.test_own_domains import own_domain
from tests.conftest import Cli

LABELS = "id\tlabel\nresidence\tWohnort\ncountry\tStaat\ncapital\tHauptstadt\n"
TEMPLATES = """
[musique.languages.de.templates.wohnort]
relations = ["residence"]
question = "Wo wohnte {head}?"
phrase = "der Ort, an dem {head} wohnte,"

[musique.languages.de.templates.staat]
relations = ["country"]
question = "Zu welchem Staat gehört {head}?"
phrase = "der Staat, zu dem {head} gehört,"

[musique.languages.de.templates.hauptstadt]
relations = ["capital"]
question = "Welche Stadt ist die Hauptstadt von {head}?"
phrase = "die Hauptstadt von {head}"
nested = "Welche Hauptstadt hat {head}?"
nested_phrase = "die Hauptstadt, die {head} hat,"
"""
NEUTRAL = """
[musique.languages.de.neutral]
question = "{head}: {relation}?"
phrase = "„{relation}“ von: {head}"
"""
GERMAN = re.compile(r"(?:Wo wohnte|Zu welchem Staat gehört|Welche Stadt ist|Welche Hauptstadt hat) ")


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Facts about painters, towns and countries with German texts and labels; the argument is added to the domain's file."""
    folder = own_domain(tmp_path_factory.mktemp("german") / "source", "de", 105)
    (folder / "relations.tsv").write_text(LABELS, "utf-8")

    def domain(settings: str) -> Path:
        (folder / "own.toml").write_text(
            'extends = "wikidata"\nname = "orte"\ndataset = "orte"\n[linking]\nlanguage = "de-AT"\narticles = ""\n' + settings, "utf-8"
        )
        return folder / "own.toml"

    return domain


def compose(path: Path, workspace: Path) -> kgqa.Composition:
    return kgqa.compose(domain=path, source=path.parent, filter="none", workspace=workspace)


def test_questions_are_in_the_language_of_the_facts(german: Callable[[str], Path], tmp_path: Path) -> None:
    report = compose(german(TEMPLATES), tmp_path)
    instances = [instance for split in report.counts for instance in kgqa.open_dataset(report.dataset).read(split)]
    assert len(instances) > 20
    for instance in instances:
        assert GERMAN.match(instance.question), instance.question
        assert not set(re.findall(r"\w+", instance.question)) & {"What", "Who", "Which", "the", "of", "is", "that", "who"}
    # A phrase in place of a name takes the form that is meant for it.
    assert any("Welche Hauptstadt hat der Staat, zu dem" in instance.question for instance in instances)
    assert not any("Hauptstadt von der Staat" in instance.question for instance in instances)
    card = (report.dataset / "README.md").read_text("utf-8")
    assert "\nlanguage: de-AT\n" in card
    manifest = json.loads((report.dataset / "manifest.json").read_text("utf-8"))
    assert set(manifest["settings"]["musique"]["templates"]) == {"wohnort", "staat", "hauptstadt"}


def test_a_neutral_form_asks_what_no_template_asks(german: Callable[[str], Path], tmp_path: Path) -> None:
    report = compose(german(NEUTRAL), tmp_path)
    questions = [instance.question for split in report.counts for instance in kgqa.open_dataset(report.dataset).read(split)]
    assert questions
    assert all(re.search(r": (?:Wohnort|Staat|Hauptstadt)\?$", text) for text in questions), questions[:3]


def test_german_facts_get_no_english_questions(german: Callable[[str], Path], tmp_path: Path, cli: Cli) -> None:
    path = german("")
    cli("compose", "--domain", path, "--source", path.parent, "--workspace", tmp_path / "w").sentence(
        "there are no question forms for linking.language 'de-AT'", "[musique.languages.de-AT.templates.NAME]"
    )
    cli("generate", "--recipe", "iirc", "--domain", path, "--source", path.parent, "--workspace", tmp_path / "w").sentence(
        "the recipe iirc writes questions in English only"
    )
    assert not (tmp_path / "w").exists()
    assert sum(kgqa.generate(path, source=path.parent, workspace=tmp_path / "w").counts.values()) > 0  # whose queries are no sentences


def test_labels_in_another_language_are_noticed(german: Callable[[str], Path], tmp_path: Path, cli: Cli) -> None:
    path = german("")
    path.write_text(path.read_text("utf-8").replace('"de-AT"', '"en"'), "utf-8")
    (path.parent / "relations.tsv").write_text(
        "id\tlabel\nresidence\tletzter Wohnort der Person\ncountry\tzuständiger Staat dieser Stadt\ncapital\tjetzige Hauptstadt\n", "utf-8"
    )
    try:
        cli("compose", "--domain", path, "--source", path.parent, "--workspace", tmp_path / "w").sentence(
            "the questions are in English, but the labels of relations are not (jetzige Hauptstadt, zuständiger Staat",
            "set linking.language to the code of their language",
        )
    finally:
        (path.parent / "relations.tsv").write_text(LABELS, "utf-8")


@pytest.mark.parametrize(
    ("labels", "fine"),
    [
        ("country|place of birth|official language|capital|head coach|member of sports team", True),
        ("Geburtsort|Trainer|Hauptstadt|liegt in|Staat|Beruf|Verein|Ehepartner|Vater|Mutter", False),
        ("lieu de naissance|entraîneur|capitale|pays|équipe|conjoint|père|lieu de mort", False),
        ("geboorteplaats|trainer|hoofdstad|land|beroep|team|echtgenoot|vader|moeder|oprichter", False),
        ("출생지|감독|수도|나라|직업|팀|배우자|아버지|어머니|창립자", False),
        ("Staat|Vater", True),  # too few to tell
    ],
)
def test_the_language_of_labels(labels: str, fine: bool) -> None:
    names = labels.split("|")
    relations = pa.table({"id": names, "label": names})
    if fine:
        check_labels(relations, names, name="own")
    else:
        with pytest.raises(SettingsError, match=f"What is the {names[0]} of"):
            check_labels(relations, names, name="own")
    check_labels(relations, [], name="own")


def test_nested_forms() -> None:
    settings = MusiqueSettings.model_validate(
        {"languages": {"de": {"templates": {"capital": {
            "relations": ["P36"], "question": "Was ist die Hauptstadt von {head}?", "phrase": "die Hauptstadt von {head}",
            "nested": "Welche Hauptstadt hat {head}?",
        }}}}}
    ).asking_in("de-CH")  # fmt: skip
    assert settings is not None
    template = settings.templates["capital"]
    assert question(FORWARD, [template], ["Peru"], "") == "Was ist die Hauptstadt von Peru?"
    assert question(FORWARD, [template], ["der Staat X"], "", {0}) == "Welche Hauptstadt hat der Staat X?"
    assert phrase(FORWARD, [template], ["der Staat X"], "", {0}) == "die Hauptstadt von der Staat X"  # the file has no form of its own
    assert not settings.neutral
    assert MusiqueSettings().asking_in("de") is None


def test_a_neutral_form_keeps_any_label() -> None:
    form = NeutralSettings(question="{head} : {relation} ?", phrase="{relation} ({head})")
    template = neutral_template("a pour frères", form)
    assert template is not None
    assert question(FORWARD, [template], ["Ada"], "") == "Ada : a pour frères ?"
    assert neutral_template("owned by") is None


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("languages.de = {}", "neither templates nor a neutral form"),
        ('languages.de.neutral = { question = "Was ist {relation}?", phrase = "{relation} {head}" }', "one {relation}, one {head}"),
        ('languages.de.neutral = { question = "Was ist {relation} von {head}?" }', "phrase"),
        ('languages.de.templates.a = { relations = ["P1"], question = "Wo ist {head}?" }', "go together"),
        (
            'languages.de.templates.a = { relations = ["P1"], clause = "ist {tail}", noun = "Ort" }',
            "a question and a phrase, but no clause",
        ),
        ('languages.de.templates.a = { question = "Wo {head}?", phrase = "{head}", nested = "Wo?" }', "one place for a name"),
        ('languages.en.templates.a = { question = "Where {head}?", phrase = "{head}" }', "not the code of a language other than English"),
        ('languages.german.templates.a = { question = "Wo {head}?", phrase = "{head}" }', "not the code of a language other than English"),
    ],
)
def test_what_is_no_language(section: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(f'extends = "wikidata"\nname = "own"\n[musique]\n{section}\n', "utf-8")
    with pytest.raises(SettingsError, match=re.escape(said)):
        load_domain(tmp_path / "own.toml", source=tmp_path, made_by="musique")


def test_codes_of_languages() -> None:
    for code in ("", "en", "de", "pt-BR", "zh-Hant-TW", "sr-Latn", "ltg", "es-419", "de-CH-1996"):
        assert LinkingSettings(language=code).language == code
    for code in ("e", "german", "de_DE", "de-", "en, de", "x" * 20, "de-1"):
        with pytest.raises(ValidationError):
            LinkingSettings(language=code)

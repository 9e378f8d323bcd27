"""Settings take values of their own kind alone, and errors speak of them in the words of TOML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from kgqa.domains import load_domain, model
from kgqa.errors import SettingsError
from kgqa.readers.registry import READERS
from kgqa.settings.base import Settings, setting_fault
from kgqa.settings.judging import JudgingSettings
from kgqa.settings.kinds import members
from kgqa.settings.llm import EndpointReaderSettings
from kgqa.settings.training import TrainingSettings
from tests.conftest import Cli

OWN = 'extends = "wikidata"\nseed_domain = "wikidata"\n'
OF_THE_LIBRARIES = re.compile(r"Input should|valid |True|None|dictionary|tuple|Mapping|\\[key\\]|NoneType|pydantic")
"""What stands in messages of pydantic and in Python's notation of values."""
ALL = {model(), JudgingSettings, EndpointReaderSettings, TrainingSettings, *(kind.settings for kind in READERS.values())}


def numbers(settings: type[Settings], *within: str) -> Iterator[tuple[str, ...]]:
    """Each setting that is a number or true or false, by the keys that lead to it."""
    for name, field in settings.model_fields.items():
        for kind in members(field.annotation):
            if isinstance(kind, type) and issubclass(kind, Settings):
                yield from numbers(kind, *within, name)
            elif kind in {int, float, bool} and str not in set(members(field.annotation)):
                yield (*within, name)
                break


@pytest.mark.parametrize("settings", sorted(ALL, key=str), ids=str)
def test_a_text_is_no_number_anywhere(settings: type[Settings]) -> None:
    found = list(numbers(settings))
    for place in found:
        for text in ("1", "0.1", "true"):
            value: Any = text
            for key in reversed(place):
                value = {key: value}
            with pytest.raises(ValidationError) as error:
                settings.model_validate(value)
            faults = [fault for fault in error.value.errors() if fault["loc"][: len(place)] == place]
            assert faults, (place, text)
            sentence = setting_fault(faults[0], settings)
            assert f"'{'.'.join(place)}' cannot be \"{text}\": it must be " in sentence
            assert "without quotation marks" in sentence or "a table" in sentence
            assert not OF_THE_LIBRARIES.search(sentence)
    assert found or not settings.model_fields


WRONG = {
    '[qangaroo.paths]\nrelation_share = "0.1"': 'relation_share\' cannot be "0.1": it must be a number, without quotation marks.',
    "[qangaroo.paths]\nmin_queries = true": "min_queries' cannot be true: it must be a whole number.",
    "[qangaroo.paths]\nmin_queries = 2.0": "min_queries' cannot be 2.0: it must be a whole number.",
    "[qangaroo.paths]\nrelation_share = 0.0": "relation_share' cannot be 0.0: it must be more than 0.",
    "[qangaroo.paths]\nrelation_share = nan": "relation_share' cannot be nan: it must be a finite number.",
    '[qangaroo.paths]\nquality = "best"': 'quality\' cannot be "best": it must be "large", "balanced" or "strict".',
    "[qangaroo.paths]\ncommon = 20": "the setting 'qangaroo.paths.common' does not exist any more: write useful, ",
    "[documents]\nmax_tokens = 9223372036854775808": "max_tokens' cannot be 9223372036854775808: it must be a whole number of at most",
    "[qangaroo.bias]\ndocument_cue = 1000000000000000000000": "it must be a number of at most 9,223,372,036,854,775,807.",
    "[qangaroo]\nplaceholders = 1000000000": "'qangaroo.placeholders' cannot be 1000000000: it must be at most 1000000.",
    "[qangaroo]\npaths = 5": "'qangaroo.paths' cannot be 5: it must be a table, as { name = value }.",
    "[qangaroo]\nrelations = {a = true}": "'qangaroo.relations' cannot be { a = true }: it must be a list, in brackets.",
    '[qangaroo]\nrelations = ["a", true]': "'qangaroo.relations' cannot be [\"a\", true]: item 2: it must be a text, in quotation marks.",
    '[linking]\nlanguage = "English"': "it must be a language code, such as en or pt-BR.",
    '[musique.composition.llm]\nat_once = "4"': "'musique.composition.llm.at_once' cannot be \"4\": it must be a whole number",
    '[iirc.patterns.x]\nkind = "ask"\nquestion = true': "'iirc.patterns.x.question' cannot be true: it must be a text, in quotation",
    '[strategyqa.patterns."A b"]\ntest = "near"': "'strategyqa.patterns.A b' cannot be \"A b\": it must be lower-case letters",
    "[qangaroo]\nboth_directions = 0x"
    + "f" * 5000: "both_directions' cannot be a number of thousands of digits: it must be true or false.",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_value_is_said_in_words_of_toml(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN + text)
    with pytest.raises(SettingsError) as error:
        load_domain(path)
    assert str(error.value).startswith(f"{path}: ")
    assert WRONG[text] in str(error.value)
    assert not OF_THE_LIBRARIES.search(str(error.value))


def test_a_domain_with_a_wrong_value_writes_nothing(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(OWN + "[qangaroo]\nboth_directions = 1\n")
    outcome = cli("generate", "--domain", tmp_path / "own.toml", "--workspace", tmp_path / "w")
    outcome.sentence("own.toml: the setting 'qangaroo.both_directions' cannot be 1: it must be true or false.")
    assert not (tmp_path / "w").exists()


def test_each_setting_that_is_gone_is_no_setting() -> None:
    def visit(settings: type[Settings]) -> Iterator[type[Settings]]:
        yield settings
        for field in settings.model_fields.values():
            for kind in members(field.annotation):
                parts = [kind, *(part for argument in get_args(kind) for part in members(argument))]
                for part in parts:
                    if isinstance(part, type) and issubclass(part, Settings):
                        yield from visit(part)

    found = list(visit(model()))
    assert any(settings.removed for settings in found)
    for settings in found:
        assert not settings.removed.keys() & settings.model_fields.keys()

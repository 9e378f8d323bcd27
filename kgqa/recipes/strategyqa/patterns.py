"""The patterns of a run, and the automatic checks of StrategyQA's collection (Geva et al. 2021, section 3.4) on them.

Settings check that a question ends with a question mark, and that every step but the last is referred to by a later one, so that the steps
form a directed acyclic graph. Here the wording is checked: no word of explicit multi-hop questions, and the rule of thumb of section 2.1: a
question is implicit if its steps need content words that it does not have.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kgqa.arrays.words import words
from kgqa.errors import SettingsError, suggestion
from kgqa.recipes.names.english import FREQUENT
from kgqa.recipes.names.kinds import ASKING, DETERMINERS, VERBS
from kgqa.settings.linking import is_english
from kgqa.settings.small_files import read_toml
from kgqa.settings.strategyqa import PatternSettings, StrategyqaSettings

SHIPPED = Path(__file__).with_name("patterns.toml")
FUNCTION_WORDS = FREQUENT | ASKING | VERBS | DETERMINERS | {"when", "how"}
STEM = 5
"""Letters by which inflections of a word are taken for it."""
_PLACE = re.compile(r"\{[ab]\}|#\d+")


def patterns_of(settings: StrategyqaSettings, language: str) -> dict[str, PatternSettings]:
    """Name → pattern, those of the settings last. Raises SettingsError where one is explicit, or one to leave out is not there."""
    patterns, explicit = _shipped() if is_english(language) else ({}, frozenset())
    all_patterns = {**(patterns if settings.english else {}), **settings.patterns}
    for name, pattern in settings.patterns.items():
        if fault := explicit_wording(pattern, explicit):
            raise SettingsError(f"strategyqa.patterns.{name}: {fault}.")
    if unknown := sorted(set(settings.leave_out) - all_patterns.keys()):
        raise SettingsError(f"strategyqa.leave_out: there is no pattern {unknown[0]!r}; {suggestion(unknown[0], sorted(all_patterns))}")
    return {name: pattern for name, pattern in all_patterns.items() if name not in settings.leave_out}


def explicit_wording(pattern: PatternSettings, explicit: frozenset[str]) -> str:
    """What makes a question of the pattern explicit; empty where nothing does."""
    steps = {word[:STEM] for step in pattern.steps for word in _content(step)}
    for form in pattern.question:
        bare = _PLACE.sub(" ", form).lower()
        if words := sorted(word for word in explicit if re.search(rf"\b{re.escape(word)}\b", bare)):
            return f"the word {words[0]!r} of the question {form!r} spells out a step; ask without it"
        if steps <= {word[:STEM] for word in _content(form)}:
            return f"the question {form!r} has all words of its steps, so it spells them out; ask for what follows from them"
    return ""


def _content(text: str) -> list[str]:
    return [word for word in (token.lower() for token in words(_PLACE.sub(" ", text))) if word not in FUNCTION_WORDS]


@cache
def _shipped() -> tuple[dict[str, PatternSettings], frozenset[str]]:
    raw = read_toml(SHIPPED)
    return {name: PatternSettings.model_validate(pattern) for name, pattern in raw["patterns"].items()}, frozenset(raw["explicit"])

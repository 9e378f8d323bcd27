"""The relations, patterns and units that a run uses: those of the settings, and those that kgqa ships for English texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kgqa.settings.linking import is_english
from kgqa.settings.small_files import read_toml
from kgqa.settings.values import UnitSettings, ValueSettings, ValuesSettings

ENGLISH = Path(__file__).with_name("english.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What is needed to read values; without patterns where the texts are in another language than English."""

    relations: dict[str, ValueSettings]
    units: dict[str, UnitSettings]
    months: tuple[str, ...]
    before_era: str
    """Regular expression of the words after a year before the common era."""
    pronouns: tuple[str, ...]
    """Words that can begin a sentence in place of the subject's name."""
    articles: tuple[str, ...]
    """Words that can precede the name."""
    lead_in: str
    """Regular expression of what can precede the subject of a sentence."""
    multiples: dict[str, float]

    @property
    def names(self) -> dict[str, str]:
        """Id of a relation in the graph → its name here."""
        return {id_: name for name, relation in self.relations.items() for id_ in (*relation.ids, name)}

    @property
    def factors(self) -> dict[str, float]:
        """Unit → how many base units it is. Plain numbers have the empty unit."""
        return {"": 1.0} | {symbol: unit.factor for symbol, unit in self.units.items()}

    @property
    def symbols(self) -> dict[str, str]:
        """Word or id of a unit → its symbol."""
        return {word: symbol for symbol, unit in self.units.items() for word in (symbol, *unit.words, *unit.ids)}


def language_of(settings: ValuesSettings, language: str) -> Language:
    """The language with the settings' own relations and units, which override those shipped."""
    shipped = _english()
    if not is_english(language) or not settings.english:
        # Ids and units are facts about the graph, so they hold for any language; only the patterns are English.
        bare = {
            name: relation.model_copy(update=dict.fromkeys(("opening", "subject", "sentence"), ()))
            for name, relation in shipped.relations.items()
        }
        shipped = Language(
            relations=bare, units=shipped.units, months=shipped.months, before_era=shipped.before_era, pronouns=(), articles=(),
            lead_in=shipped.lead_in, multiples=shipped.multiples,
        )  # fmt: skip
    return Language(
        relations={**shipped.relations, **settings.relations}, units={**shipped.units, **settings.units}, months=shipped.months,
        before_era=shipped.before_era, pronouns=shipped.pronouns, articles=shipped.articles, lead_in=shipped.lead_in,
        multiples=shipped.multiples,
    )  # fmt: skip


@cache
def _english() -> Language:
    raw = read_toml(ENGLISH)
    return Language(
        relations={name: ValueSettings.model_validate(relation) for name, relation in raw["relations"].items()},
        units={name: UnitSettings.model_validate(unit) for name, unit in raw["units"].items()},
        months=tuple(raw["months"]),
        before_era=raw["before_era"],
        pronouns=tuple(raw["pronouns"]),
        articles=tuple(raw["articles"]),
        lead_in=raw["lead_in"],
        multiples=raw["multiples"],
    )

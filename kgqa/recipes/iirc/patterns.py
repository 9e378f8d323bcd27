"""The patterns and groups that kgqa ships, and a domain's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kgqa.settings.iirc import GroupSettings, IircSettings, PatternSettings
from kgqa.settings.small_files import read_toml


def patterns_of(settings: IircSettings) -> dict[str, PatternSettings]:
    """Name → pattern: the shipped ones, overridden and extended by those of the settings; without those with the share 0."""
    return {name: pattern for name, pattern in {**_shipped()[0], **settings.patterns}.items() if pattern.share > 0}


def groups_of(settings: IircSettings) -> dict[str, GroupSettings]:
    """Name → group: the shipped ones, overridden and extended by those of the settings."""
    return {**_shipped()[1], **settings.groups}


@cache
def _shipped() -> tuple[dict[str, PatternSettings], dict[str, GroupSettings]]:
    raw = read_toml(Path(__file__).with_name("patterns.toml"))
    patterns = {name: PatternSettings.model_validate(pattern) for name, pattern in raw["patterns"].items()}
    return patterns, {name: GroupSettings.model_validate(group) for name, group in raw["groups"].items()}

"""The patterns that kgqa ships, and a domain's own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kgqa.settings.iirc import IircSettings, PatternSettings


def patterns_of(settings: IircSettings) -> dict[str, PatternSettings]:
    """Name → pattern: the shipped ones, overridden and extended by those of the settings; without those with the share 0."""
    return {name: pattern for name, pattern in {**_shipped(), **settings.patterns}.items() if pattern.share > 0}


@cache
def _shipped() -> Mapping[str, PatternSettings]:
    text = Path(__file__).with_name("patterns.toml").read_text("utf-8")
    return {name: PatternSettings.model_validate(pattern) for name, pattern in tomllib.loads(text).items()}

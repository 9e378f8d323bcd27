"""Shortcut baselines that count words and answers: their scores need no reading (Welbl et al. 2018, section 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kgqa.readers.lexical.choices import RandomChoice
from kgqa.readers.lexical.cue_readers import DocumentCue, Majority, Prior
from kgqa.readers.lexical.max_mention import MaxMention
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.readers.lexical.tf_idf import TfIdf
from kgqa.settings.base import Settings
from kgqa.settings.training import TrainingSettings

LEXICAL: Mapping[str, type[LexicalReader]] = MappingProxyType(
    {kind.name: kind for kind in (RandomChoice, MaxMention, Majority, Prior, TfIdf, DocumentCue)}
)
"""Name of each lexical baseline → its class."""


def counting(name: str, settings: Settings, training: TrainingSettings) -> LexicalReader:
    """Make the baseline of this name; it has no settings."""
    return LEXICAL[name]()

"""Baselines that count words and answers: what a set gives away to who does not read (Welbl et al. 2018, section 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kgqa.readers.lexical.document_cue import DocumentCue
from kgqa.readers.lexical.majority import Majority
from kgqa.readers.lexical.max_mention import MaxMention
from kgqa.readers.lexical.prior import Prior
from kgqa.readers.lexical.random_choice import RandomChoice
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.readers.lexical.tf_idf import TfIdf
from kgqa.settings.base import Settings
from kgqa.settings.training import TrainingSettings

LEXICAL: Mapping[str, type[LexicalReader]] = MappingProxyType(
    {kind.name: kind for kind in (RandomChoice, MaxMention, Majority, Prior, TfIdf, DocumentCue)}
)
"""Name of each lexical baseline → its class."""


def counting(name: str, settings: Settings, training: TrainingSettings) -> LexicalReader:
    """The reader of this name; there is nothing to set."""
    return LEXICAL[name]()

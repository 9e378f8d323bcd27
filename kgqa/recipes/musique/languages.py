"""Languages of questions (step S1): templates in the language of the facts, and a refusal where there are only English ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.tokens import word_hashes
from kgqa.errors import SettingsError
from kgqa.linking.words import token_frequencies
from kgqa.runs.domain import Domain
from kgqa.settings.linking import is_english
from kgqa.settings.musique import MusiqueSettings

COMMON = 2.5
"""Zipf frequency from which a word of English texts counts as English: one in three million words, so that terms of a field count."""
ENGLISH_LABELS = 0.6
"""Minimum share of English words in labels. It is 75% and more of biomedical, legal and biological relations, and 12% to 47% of German,
French, Spanish, Dutch, Italian, Swedish and Turkish ones."""
FEWEST_WORDS = 8
"""Words; fewer tell no language."""


def in_its_language(domain: Domain) -> Domain:
    """The domain whose ``musique`` section asks in the language that ``linking.language`` names.

    Raises SettingsError if ``musique.languages`` has no forms in it.
    """
    language = domain.settings.linking.language
    if not language or is_english(language):
        return domain
    settings = domain.settings.section(MusiqueSettings).asking_in(language)
    if settings is None:
        raise SettingsError(
            f"domain {domain.settings.name}: there are no question forms for linking.language {language!r}; write them in "
            f"[musique.languages.{language}.templates.NAME] or [musique.languages.{language}.neutral], or set linking.language to '' "
            "if the labels of relations are English."
        )
    return replace(domain, settings=domain.settings.model_copy(update={"musique": settings}))


def check_labels(relations: pa.Table, asked: Collection[str], *, name: str) -> None:
    """Raise SettingsError if the labels of the ``asked`` relations, which go into English questions, are in another language.

    ``relations`` has ``id`` and ``label``; ``name`` is the domain's.
    """
    labels = relations["label"].filter(pc.is_in(relations["id"], pa.array(sorted(asked), pa.string())))
    _, tokens = word_hashes(labels.combine_chunks())
    if len(tokens) < FEWEST_WORDS or (token_frequencies(tokens) >= COMMON).mean() >= ENGLISH_LABELS:
        return
    examples = ", ".join(labels.slice(0, 3).to_pylist())
    raise SettingsError(
        f"domain {name}: the questions are in English, but the labels of relations are not ({examples}), as in "
        f"'What is the {labels[0]} of …?'; set linking.language to the code of their language and write "
        "[musique.languages.CODE.templates.NAME] or [musique.languages.CODE.neutral], or set musique.neutral to false."
    )

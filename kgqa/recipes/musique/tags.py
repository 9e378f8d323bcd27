"""Step S2 (Trivedi et al. 2022, section 5): entity types from a spaCy pipeline, where the settings name one."""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.errors import MissingInput, SettingsError, require_packages
from kgqa.recipes.musique.named_entities import Bools
from kgqa.recipes.musique.wording import ASKED
from kgqa.runs.files import file_hashes

if TYPE_CHECKING:
    from spacy.language import Language

BATCH = 256
"""Texts per batch of the pipeline."""
Place = tuple[int, int]


def check_pipeline(name: str) -> None:
    """Raise SettingsError or MissingInput where a pipeline cannot be loaded."""
    _load_pipeline(name)


def pipeline_version(name: str) -> object:
    """The version of an installed pipeline, or the file hashes of a folder."""
    path = Path(name)
    return file_hashes(path) if path.is_dir() else importlib.metadata.version(name)


def _load_pipeline(name: str) -> Language:
    require_packages("musique.pairs.spacy", "spacy", "spacy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecation warnings of other packages
        import spacy

        try:
            # A name must be a folder or a package; spaCy would also accept a file.
            if not Path(name).is_dir() and find_spec(name) is None:
                raise OSError("there is no such package or folder")
            language = spacy.load(name)
        except Exception as error:  # a package that is no pipeline may raise anything
            reason = " ".join(str(error).split())[:160]
            raise MissingInput(
                f"musique.pairs.spacy: the pipeline {name} cannot be loaded ({reason}); install it, or give its folder."
            ) from None
    if not {"ner", "entity_ruler", "span_ruler"} & set(language.pipe_names):
        raise SettingsError(f"musique.pairs.spacy: the pipeline {name} recognises no entities; choose another one.")
    return language


def same_tag(pairs: pl.DataFrame, single_hop: pa.Table, paragraphs: pa.Table, pipeline: str) -> Bools:
    """For each pair, whether the pipeline gives answer (in its paragraph) and name (in its question) the same type.

    True where a graph knows the entities. O(texts of the pairs). Raises SettingsError, MissingInput.
    """
    language = _load_pipeline(pipeline)
    is_asked = np.array([kind == ASKED for kind in single_hop["kind"].to_pylist()], np.bool_)
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    rows = np.flatnonzero(is_asked[head] | is_asked[tail])
    if not len(rows):
        return np.ones(len(head), np.bool_)
    answers, starts, paragraph, questions = (single_hop[name].to_pylist() for name in ("answer", "start", "paragraph", "question"))
    texts = paragraphs["text"].to_pylist()
    spans = list(zip(pairs["start"].to_list(), pairs["end"].to_list(), strict=True))
    of_answer = {row: (texts[paragraph[row]], (starts[row], starts[row] + len(answers[row]))) for row in head[rows].tolist()}
    of_name = {(int(tail[row]), spans[row]): (questions[tail[row]], spans[row]) for row in rows.tolist()}
    tags = _tags(language, [*of_answer.values(), *of_name.values()])
    flags = np.ones(len(head), np.bool_)
    for row in rows.tolist():
        answer_tag, name_tag = tags[of_answer[int(head[row])]], tags[of_name[int(tail[row]), spans[row]]]
        flags[row] = answer_tag is not None and answer_tag == name_tag
    return flags


def _tags(language: Language, spans: Iterable[tuple[str, Place]]) -> dict[tuple[str, Place], str | None]:
    """(text, place) → the type of the first entity that overlaps the place. Each text is read once."""
    places: dict[str, set[Place]] = {}
    for text, place in spans:
        places.setdefault(text, set()).add(place)
    tags: dict[tuple[str, Place], str | None] = {}
    language.max_length = max(language.max_length, *(len(text) + 1 for text in places))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text, document in zip(places, language.pipe(places, batch_size=BATCH), strict=True):
            entities = [(entity.start_char, entity.end_char, entity.label_) for entity in document.ents]
            for start, end in places[text]:
                tags[text, (start, end)] = next((label for begin, stop, label in entities if begin < end and stop > start), None)
    return tags

"""What linking and the projection find, and why they find nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kgqa.arrays.parallel import Engine
from kgqa.arrays.tokens import word_hashes
from kgqa.checks.domain.problem import ERROR, WARNING, Problem, some
from kgqa.errors import EmptyResult, KgqaError
from kgqa.linking.link import link_mentions
from kgqa.linking.words import token_frequencies
from kgqa.runs.domain import Domain
from kgqa.settings.linking import LinkingSettings, is_english
from kgqa.settings.source import DocumentSettings
from kgqa.sources.tables import frame
from kgqa.store.base import GraphStore
from kgqa.traversal.projection import ROLES, query_edges

HARDLY = 0.2
"""Share of the documents with a mention below which hardly anything is linked."""
TRIED = 2_000
"""Documents on which other settings are tried."""
READ = 500
"""Documents whose words are counted."""
EVERYDAY = 6.0
"""Zipf frequency of the hundred most frequent English words; they are a third of any English text."""
ENGLISH, NOT_ENGLISH = 0.25, 0.1
"""Share of these words in a text from which it is English, and up to which it is not; between them nothing is said."""
LOOSER: dict[str, dict[str, Any]] = {
    "linking.minimum_letters = {} and linking.exact_letters = 0 (names may be short)": {"minimum_letters": {}, "exact_letters": 0},
    'linking.case = "free" for all kinds of name (names may be written in any case)': {
        "case": dict.fromkeys(("title", "label", "name", "gene", "alias", "synonym"), "free"),
    },
    "linking.belief = 0 (mentions may be unsure)": {"belief": 0.0},
    "linking.hubs = 1 (names may be frequent words)": {"hubs": 1.0},
    'linking.language = "" (the texts are not English)': {"language": "", "articles": ""},
    "linking.inflections = true (names have endings)": {"language": "", "inflections": True},
    'linking.annotations = "with" (names are found as well)': {"annotations": "with"},
}
"""A change of the settings → its values, tried one at a time where hardly anything is linked."""
MORE = 1.5
"""How many times more mentions a change must bring to be named."""


def language(documents: pa.Table, linking: LinkingSettings) -> Iterator[Problem]:
    """Whether the texts are in the language of the settings, by the share of the most frequent English words."""
    step = max(1, documents.num_rows // READ)
    texts = documents["text"].take(pa.array(np.arange(0, documents.num_rows, step)))
    _, tokens = word_hashes(texts)
    if not len(tokens):
        return
    share = float((token_frequencies(tokens) >= EVERYDAY).mean())
    if is_english(linking.language) and share <= NOT_ENGLISH:
        yield Problem(
            check="language", severity=WARNING, where="linking.language",
            what=f"it is English, but only {share:.0%} of the texts' words are among the most frequent English ones",
            advice='write the code of their language, as linking.language = "de", with linking.articles = "", and try linking.inflections',
        )  # fmt: skip
    elif not is_english(linking.language) and share >= ENGLISH:
        yield Problem(
            check="language", severity=WARNING, where="linking.language",
            what=f"it is not English, but {share:.0%} of the texts' words are among the most frequent English ones",
            advice='write linking.language = "en", so that everyday words are told from names',
        )  # fmt: skip


def unlinked(
    tables: Mapping[str, pa.Table], mentions: pa.Table | None, domain: Domain, candidates: np.ndarray, *, reason: str, engine: Engine
) -> Iterator[Problem]:
    """Whether hardly any document has a mention (None, for this ``reason``), and which settings would link more."""
    count = tables["documents"].num_rows
    linked_count = 0 if mentions is None else frame(mentions)["document"].n_unique()
    if linked_count >= HARDLY * count:
        return
    looser = _looser(tables, domain, candidates, engine=engine)
    finding = reason.partition(";")[0] if mentions is None else f"only {linked_count:,} of {count:,} documents have a mention"
    advice = (
        f"these changes link more ({some(looser)})"
        if looser
        else "see whether the names are those that the texts use, and in their language"
    )
    yield Problem(
        check="nothing-linked", severity=WARNING if linked_count else ERROR, where="linking", what=finding, advice=advice,
        count=count - linked_count,
    )  # fmt: skip


def _looser(tables: Mapping[str, pa.Table], domain: Domain, candidates: np.ndarray, *, engine: Engine) -> list[str]:
    """The changes that bring more mentions in a part of the documents, the most effective first, each with its count."""
    documents = tables["documents"]
    step = max(1, documents.num_rows // TRIED)
    part = {**tables, "documents": documents.take(pa.array(np.arange(0, documents.num_rows, step)))}
    settings = domain.settings.linking

    def mentions(change: Mapping[str, Any]) -> int:
        new_settings = LinkingSettings.model_validate({**settings.model_dump(), **change})
        try:
            link_table = link_mentions(part, new_settings, DocumentSettings(), candidates=candidates, engine=engine)
        except EmptyResult:
            return 0
        return int(link_table.mentions.num_rows)

    before = mentions({})
    changes = {
        text: mentions(change) for text, change in LOOSER.items() if any(getattr(settings, key) != new for key, new in change.items())
    }
    better = sorted((-count, text) for text, count in changes.items() if count > MORE * before)
    return [f"{text}: {-count:,} mentions instead of {before:,}" for count, text in better]


def projection(store: GraphStore, domain: Domain) -> Iterator[Problem]:
    """Queries of the projection that return nothing or cannot be run."""
    for role in ROLES:
        counts: dict[str, int] = {}
        names: Sequence[str] = getattr(domain.settings.projection, role)
        for name in names:
            where = f"query {name} ({domain.queries[name].file})"
            try:
                counts[name] = len(query_edges(store, domain.queries[name]))
            except KgqaError as error:
                yield Problem(check="broken-query", severity=ERROR, where=where, what=str(error).rstrip("."), advice="correct the query")
                counts[name] = -1
        for name in (name for name, count in counts.items() if not count):
            alone = not any(count > 0 for count in counts.values())
            yield Problem(
                check="empty-projection", severity=ERROR if alone else WARNING, where=f"query {name} ({domain.queries[name].file})",
                what=f"projection.{role}: the query returns no edge" + (", nor does any other" if alone else ""),
                advice="loosen its conditions; relation ids and kinds in it must be those of the tables",
            )  # fmt: skip

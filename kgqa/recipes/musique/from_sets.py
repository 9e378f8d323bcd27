"""Step S1 (Trivedi et al. 2022): single-hop questions from datasets: those with one supporting paragraph that holds the answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa

from kgqa.arrays.words import composed, length
from kgqa.formats.question_set import QuestionSet
from kgqa.metrics.normalize import normalize
from kgqa.recipes.musique.from_graph import STAGE
from kgqa.recipes.musique.mentions import everywhere
from kgqa.recipes.musique.pool import PARAGRAPHS, REASONS, REFUSED, SINGLE_HOP
from kgqa.recipes.musique.wording import ASKED
from kgqa.records import REFERENCE, Instance, Paragraph
from kgqa.runs.files import key_of
from kgqa.runs.funnel import FunnelRow, removals
from kgqa.settings.musique import SingleHopSettings
from kgqa.sources.tables import arrow

SETTINGS = {"short": "musique.single_hop.min_words", "long": "musique.single_hop.max_words"}
"""Reason → the setting that governs it."""


@dataclass(slots=True)
class _Collected:
    """The questions and paragraphs kept so far, and the reasons against the others."""

    settings: SingleHopSettings
    rows: dict[str, dict[str, object]] = field(default_factory=dict)
    paragraphs: dict[str, tuple[str, str]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[str, ...]] = field(default_factory=list)
    """Rows of the table ``REFUSED``."""
    total: int = 0

    def see(self, instance: Instance, source: str) -> None:
        """Keep a good question, or count the reason against it."""
        self.total += 1
        support = _own_paragraph(instance)
        reason = "several paragraphs" if support is None else self._fault(instance, support)
        if support is None or reason:
            self._refuse(instance, source, reason)
            return
        question, answer, text = _plain(instance.question), _plain(instance.answers[0]), _plain(support.text)
        paragraph = key_of("paragraph", text)[:16]
        key = (
            f"q{key_of('question', question, answer, paragraph)[:16]}"  # a letter in front, so that no file format takes an id for a number
        )
        if key in self.rows:
            self._refuse(instance, source, "repeated")
            return
        self.paragraphs.setdefault(paragraph, (_plain(support.title or ""), text))
        aliases = [alias for alias in dict.fromkeys(map(_plain, instance.answers[1:])) if alias != answer and normalize(alias)]
        self.rows[key] = {
            "source": source, "question": question, "answer": answer, "aliases": aliases, "paragraph_id": paragraph,
            "start": everywhere(text, answer)[0][0], "answer_entity": instance.answer_id, "kind": ASKED, "relations": [],
            "entities": [], "names": [], "called": [], "noun": None, "read": False,
        }  # fmt: skip

    def _refuse(self, instance: Instance, source: str, reason: str) -> None:
        self.reasons[reason] += 1
        self.refused.append((f"{source}/{instance.id}", "", STAGE, REASONS[reason], instance.question))

    def _fault(self, instance: Instance, support: Paragraph) -> str:
        """A key of ``REASONS``, or empty."""
        if not instance.answerable or not instance.answers or instance.answer_type not in {"span", "candidate"}:
            return "unanswered"
        words = length(support.text)
        answer = _plain(instance.answers[0])
        checks = {
            "short": words < self.settings.min_words,
            "long": words > self.settings.max_words,
            "span": not normalize(answer) or not everywhere(_plain(support.text), answer),
            "bound": _names_nothing(instance.question, support),
            "named": bool(everywhere(_plain(instance.question).lower(), answer.lower())),
            "reference": bool(REFERENCE.search(instance.question)),
        }
        return next((reason for reason, is_so in checks.items() if is_so), "")

    def funnel(self) -> list[FunnelRow]:
        """The funnel: questions read, and questions dropped for each reason."""
        drops = {sentence: self.reasons[reason] for reason, sentence in REASONS.items() if self.reasons[reason]}
        settings = {REASONS[reason]: setting for reason, setting in SETTINGS.items()}
        read = FunnelRow(stage=STAGE, what="questions", reason="read", left=self.total)
        return [read, *removals(STAGE, "questions", drops, entering=self.total, settings=settings)]

    def tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """``single_hop``, ``paragraphs`` and what was refused."""
        ids = sorted(self.paragraphs)
        row_of = {name: row for row, name in enumerate(ids)}
        columns = [self.rows[key] | {"id": key, "paragraph": row_of[str(self.rows[key]["paragraph_id"])]} for key in sorted(self.rows)]
        paragraph_rows = [{"id": name, "title": self.paragraphs[name][0], "text": self.paragraphs[name][1]} for name in ids]
        refused_columns = [list(column) for column in zip(*self.refused, strict=True)] or [[] for _ in REFUSED]
        refusals = pa.table([pa.array(column, pa.string()) for column in refused_columns], schema=REFUSED)
        return (
            pa.Table.from_pylist(columns, SINGLE_HOP),
            arrow(pl.DataFrame(paragraph_rows, schema=PARAGRAPHS.names)).cast(PARAGRAPHS),
            refusals,
        )


def _names_nothing(question: str, support: Paragraph) -> bool:
    """Whether a capitalised question names nothing: only the first word has a capital or figure ("the team that received the kickoff").

    The first word counts as a name if the paragraph's title has it, or its text within a sentence.
    """
    words = question.split()
    is_capital = words[0][:1].isupper() if words else False
    if not is_capital or any(letter.isupper() or letter.isdigit() for word in words[1:] for letter in word):
        return False
    first_word = re.match(r"\w+", words[0])
    if first_word is None:
        return True
    places = [match.start() for match in re.finditer(rf"\b{re.escape(first_word[0])}\b", support.text)]
    is_inside = any(support.text[:at].rstrip()[-1:] not in {"", ".", "!", "?"} for at in places)
    return not is_inside and first_word[0] not in re.findall(r"\w+", support.title or "")


def set_questions(
    sets: Iterable[QuestionSet], settings: SingleHopSettings, *, advance: Callable[[int], None] = lambda _: None
) -> tuple[pa.Table, pa.Table, pa.Table, list[FunnelRow]]:
    """``single_hop``, ``paragraphs`` and ``refused_single_hop`` (see ``pool.py``) of all splits of ``sets``, and the funnel of S1.

    Paragraphs are identified by their text, questions by words, answer and paragraph, since ids of two datasets may collide. Memory: the
    texts. Raises InputError.
    """
    collection = _Collected(settings)
    for source in sets:
        for instance in source.instances():
            collection.see(instance, source.name)
            advance(1)
    return *collection.tables(), collection.funnel()


def _plain(text: str) -> str:
    """The text with single spaces and composed letters, so that copies with other line breaks or encodings are equal."""
    return " ".join(composed(text).split())


def _own_paragraph(instance: Instance) -> Paragraph | None:
    """The only supporting paragraph, or the only one at all; None where there are several, since the question is not single-hop."""
    support = [paragraph for paragraph in instance.paragraphs if paragraph.supporting] or list(instance.paragraphs)
    return support[0] if len(support) == 1 else None

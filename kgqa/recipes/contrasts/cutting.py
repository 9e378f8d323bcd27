"""Removing sentences from a paragraph, with consistent text, mentions, offsets and marks."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate

from kgqa.recipes.contrasts.facts import sentence_bounds
from kgqa.records import Mention, Paragraph


def cut(paragraph: Paragraph, sentences: Collection[int]) -> Paragraph | None:
    """``paragraph`` without these sentences; None if no sentence remains.

    A mention survives only inside one remaining sentence. A paragraph that loses all its supporting sentences no longer supports the
    answer.
    """
    count = len(paragraph.sentences or ())
    kept_sentences = [sentence for sentence in range(count) if sentence not in sentences]
    if not kept_sentences:
        return None
    bounds = {sentence: sentence_bounds(paragraph, sentence) for sentence in kept_sentences}
    lengths = [end - start for start, end in bounds.values()]
    starts = dict(zip(kept_sentences, accumulate(lengths, initial=0), strict=False))
    number = {sentence: place for place, sentence in enumerate(kept_sentences)}
    marks = paragraph.supporting_sentences
    kept_marks = None if marks is None else tuple(number[sentence] for sentence in marks if sentence in number)
    return Paragraph(
        id=paragraph.id,
        title=paragraph.title,
        text="".join(paragraph.text[start:end] for start, end in bounds.values()),
        supporting=paragraph.supporting if not marks else bool(kept_marks),
        mentions=None if paragraph.mentions is None else _move_mentions(paragraph.mentions, bounds, starts),
        sentences=tuple(starts.values()),
        supporting_sentences=kept_marks,
    )


def _move_mentions(mentions: tuple[Mention, ...], bounds: dict[int, tuple[int, int]], starts: dict[int, int]) -> tuple[Mention, ...]:
    return tuple(
        Mention(entity=mention.entity, start=mention.start - start + starts[sentence], end=mention.end - start + starts[sentence])
        for sentence, (start, end) in bounds.items()
        for mention in mentions
        if start <= mention.start and mention.end <= end
    )

"""A paragraph without some of its sentences: text, mentions, offsets and marks as if they had never been there."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate

from kgqa.recipes.contrasts.facts import sentence_bounds
from kgqa.records import Mention, Paragraph


def cut(paragraph: Paragraph, sentences: Collection[int]) -> Paragraph | None:
    """``paragraph`` without these sentences; None where no sentence is left.

    A mention that is not wholly inside one sentence that stays is gone. A paragraph whose supporting sentences are all gone does not
    support the answer any more.
    """
    count = len(paragraph.sentences or ())
    stay = [sentence for sentence in range(count) if sentence not in sentences]
    if not stay:
        return None
    bounds = {sentence: sentence_bounds(paragraph, sentence) for sentence in stay}
    lengths = [end - start for start, end in bounds.values()]
    begins = dict(zip(stay, accumulate(lengths, initial=0), strict=False))
    number = {sentence: place for place, sentence in enumerate(stay)}
    marks = paragraph.supporting_sentences
    kept = None if marks is None else tuple(number[sentence] for sentence in marks if sentence in number)
    return Paragraph(
        id=paragraph.id,
        title=paragraph.title,
        text="".join(paragraph.text[start:end] for start, end in bounds.values()),
        supporting=paragraph.supporting if not marks else bool(kept),
        mentions=None if paragraph.mentions is None else _moved(paragraph.mentions, bounds, begins),
        sentences=tuple(begins.values()),
        supporting_sentences=kept,
    )


def _moved(mentions: tuple[Mention, ...], bounds: dict[int, tuple[int, int]], begins: dict[int, int]) -> tuple[Mention, ...]:
    return tuple(
        Mention(entity=mention.entity, start=mention.start - start + begins[sentence], end=mention.end - start + begins[sentence])
        for sentence, (start, end) in bounds.items()
        for mention in mentions
        if start <= mention.start and mention.end <= end
    )

"""Document removal: what mentions no candidate is not shown, most chains' first documents among it (Welbl et al. 2018, section 6.5).

A reader that is as good without them did not connect documents: all that leads to a candidate without naming one is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgqa.recipes.contrasts.questions import whole, without_answer
from kgqa.recipes.contrasts.thinning import thinned, thinned_broken
from kgqa.recipes.names.statements import names, paragraph_states, stating_places
from kgqa.records import Candidate, Instance, Paragraph
from kgqa.runs.funnel import Rejection

TRANSFORM = "document-removal"
REASONS = {
    "no candidates": "the question has no candidates, so that nothing tells which paragraphs mention none",
    "nothing": "no paragraph mentions a candidate, so that nothing would be left",
    "no answer": "no paragraph mentions the answer, so that it would not be among what is left",
}
"""Why a question's documents cannot be removed → the sentence that reports show."""


def document_removal(instance: Instance) -> list[Instance] | Rejection:
    """The question with the paragraphs that mention a candidate; its id, answers and candidates are what they were.

    A mention is a marked one of the candidate, or its text in the paragraph's title or text: in a masked set that is the placeholder.
    SettingsError as ``whole``.
    """
    noted = whole(instance, once=TRANSFORM)
    rejection = without_answer(instance)
    if rejection:
        return rejection
    if not instance.candidates:
        return Rejection(reason=REASONS["no candidates"], detail=instance.answer_type)
    kept = _mentioning(instance.paragraphs, instance.candidates)
    if not kept:
        return Rejection(reason=REASONS["nothing"], detail=f"{len(instance.paragraphs)} paragraphs, {len(instance.candidates)} candidates")
    if not _mentioning([instance.paragraphs[place] for place in sorted(kept)], [_answer(instance)]):
        return Rejection(reason=REASONS["no answer"], detail=instance.answers[0])
    return [thinned(instance, TRANSFORM, [place in kept for place in range(len(instance.paragraphs))], noted=noted)]


def _answer(instance: Instance) -> Candidate:
    """The answer as a candidate; where it is none, by its first text."""
    found = (candidate for candidate in instance.candidates or () if candidate.id == instance.answer_id)
    return next(found, Candidate(id=instance.answer_id or "", text=instance.answers[0]))


def _mentioning(paragraphs: Sequence[Paragraph], candidates: Iterable[Candidate]) -> set[int]:
    """The places of the paragraphs that mention one of the ``candidates``."""
    candidates = tuple(candidates)
    ids = {candidate.id for candidate in candidates}
    marked = {place for place, each in enumerate(paragraphs) if any(mention.entity in ids for mention in each.mentions or ())}
    others = [place for place in range(len(paragraphs)) if place not in marked]
    stating = stating_places([paragraphs[place] for place in others], names(candidate.text for candidate in candidates))
    return marked | {others[place] for place in stating}


def document_removal_broken(original: Instance, group: Sequence[Instance]) -> Iterator[str]:
    """What is broken of: what is left mentions a candidate, what is gone mentions none, and the answer is mentioned in what is left."""
    (changed,) = group
    yield from thinned_broken(original, changed)
    left = {paragraph.id for paragraph in changed.paragraphs}
    candidates = original.candidates or ()
    for paragraph in original.paragraphs:
        mentions, stays = _mentions_one(paragraph, candidates), paragraph.id in left
        if stays and not mentions:
            yield "a paragraph that mentions no candidate is left"
        if mentions and not stays:
            yield "a paragraph that mentions a candidate is gone"
    if not any(_mentions_one(paragraph, [_answer(original)]) for paragraph in changed.paragraphs):
        yield "nothing that is left mentions the answer"


def _mentions_one(paragraph: Paragraph, candidates: Iterable[Candidate]) -> bool:
    return any(paragraph_states(paragraph, names([candidate.text]), candidate.id) for candidate in candidates)

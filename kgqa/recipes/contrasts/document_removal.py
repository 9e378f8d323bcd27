"""Document removal: paragraphs that mention no candidate are removed (Welbl et al. 2018, section 6.5).

Most chains lose their first document, which leads to a candidate without naming one. A reader that scores as high without these paragraphs
did not connect documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgqa.recipes.contrasts.paragraph_removal import removal_faults, with_paragraphs
from kgqa.recipes.contrasts.questions import whole, without_answer
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
    """The question with only those paragraphs that mention a candidate, and the same id, answers and candidates.

    A paragraph mentions a candidate by an annotated mention, or by the candidate's text (in a masked set, its placeholder) in title or
    text. Raises SettingsError as ``whole`` does.
    """
    notes = whole(instance, once=TRANSFORM)
    rejection = without_answer(instance)
    if rejection:
        return rejection
    if not instance.candidates:
        return Rejection(reason=REASONS["no candidates"], detail=instance.answer_type)
    places = _mentioning(instance.paragraphs, instance.candidates)
    if not places:
        return Rejection(reason=REASONS["nothing"], detail=f"{len(instance.paragraphs)} paragraphs, {len(instance.candidates)} candidates")
    if not _mentioning([instance.paragraphs[place] for place in sorted(places)], [_answer(instance)]):
        return Rejection(reason=REASONS["no answer"], detail=instance.answers[0])
    return [with_paragraphs(instance, TRANSFORM, [place in places for place in range(len(instance.paragraphs))], notes=notes)]


def _answer(instance: Instance) -> Candidate:
    """The candidate that is the answer; a candidate made of the answer's text if none has its id."""
    matches = (candidate for candidate in instance.candidates or () if candidate.id == instance.answer_id)
    return next(matches, Candidate(id=instance.answer_id or "", text=instance.answers[0]))


def _mentioning(paragraphs: Sequence[Paragraph], candidates: Iterable[Candidate]) -> set[int]:
    """The numbers of the paragraphs that mention one of the ``candidates``."""
    candidates = tuple(candidates)
    ids = {candidate.id for candidate in candidates}
    annotated_places = {
        place for place, paragraph in enumerate(paragraphs) if any(mention.entity in ids for mention in paragraph.mentions or ())
    }
    other_places = [place for place in range(len(paragraphs)) if place not in annotated_places]
    matches = stating_places([paragraphs[place] for place in other_places], names(candidate.text for candidate in candidates))
    return annotated_places | {other_places[place] for place in matches}


def document_removal_faults(original: Instance, group: Sequence[Instance]) -> Iterator[str]:
    """Faults against: each remaining paragraph mentions a candidate, no removed one does, and one of the remaining mentions the answer."""
    (instance,) = group
    yield from removal_faults(original, instance)
    left_ids = {paragraph.id for paragraph in instance.paragraphs}
    candidates = original.candidates or ()
    for paragraph in original.paragraphs:
        mentions, stays = _mentions_one(paragraph, candidates), paragraph.id in left_ids
        if stays and not mentions:
            yield "a paragraph that mentions no candidate is left"
        if mentions and not stays:
            yield "a paragraph that mentions a candidate is gone"
    if not any(_mentions_one(paragraph, [_answer(original)]) for paragraph in instance.paragraphs):
        yield "nothing that is left mentions the answer"


def _mentions_one(paragraph: Paragraph, candidates: Iterable[Candidate]) -> bool:
    return any(paragraph_states(paragraph, names([candidate.text]), candidate.id) for candidate in candidates)

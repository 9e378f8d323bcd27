"""The live checks of composed questions and of StrategyQA's steps: pure functions from an answer to the faults that the page shows.

A blocking fault keeps an answer from being submitted; another one is a warning.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgqa.arrays.words import words
from kgqa.collection.task import Fault
from kgqa.recipes.musique.composers import checks as composition
from kgqa.recipes.musique.composers.chain import Chain
from kgqa.recipes.musique.composers.forms import DETERMINERS, PREPOSITIONS
from kgqa.recipes.musique.composers.rules import ASKING_NOUNS, FUNCTION
from kgqa.recipes.musique.composers.verbs import AUXILIARIES
from kgqa.records import REFERENCE
from kgqa.rules.strategy_checks import decomposition_faults, question_faults, references

GRAMMATICAL = FUNCTION | DETERMINERS | PREPOSITIONS | AUXILIARIES | ASKING_NOUNS | {"where", "whom", "how", "why", "not", "it", "there"}
"""English words without content of their own: the closed classes that the composer by rules knows. In other languages every word counts."""
STEM = 4
"""Letters at the beginning of two words by which an inflected or derived word is taken for the same."""
COMPOSED = {
    "no question": 'The question must end with "?".',
    "long": "The question has more than {max_words} words; say it in fewer.",
    "answer": "The question gives away the answer of a step; describe it instead.",
    "lost": "A name or number of a step is missing; keep the names that no step answers.",
    "copy": "This is the question of one step; ask for all steps in one question.",
    "stammer": "Some words stand twice in a row.",
    "sign": "The question has characters that cannot be printed; write it without them.",
}
"""Key of ``composers.checks.REASONS`` → the sentence for the one who composes."""
WARNINGS = ("stammer", "long")
"""Keys of ``COMPOSED`` that do not block."""


def content_words(text: str) -> set[str]:
    """The words of a text with content of their own, without references."""
    return {word for word in words(REFERENCE.sub(" ", text)) if word not in GRAMMATICAL}


def shares_content(text: str, other: set[str]) -> bool:
    """Whether a content word of ``text``, or another form of it, is among the words ``other``."""
    stems = {word[:STEM] for word in other}
    return any(word in other or (len(word) >= STEM and word[:STEM] in stems) for word in content_words(text))


def composed_question(question: str, chain: Chain, *, max_words: int) -> list[Fault]:
    """The faults of a composed question (Trivedi et al. 2022, step S7), with a warning for each step of which it uses no content word."""
    faults = [
        Fault(field="question", sentence=COMPOSED[kind].format(max_words=max_words), blocking=kind not in WARNINGS)
        for kind in composition.faults(question, chain, max_words=max_words)
    ]
    words = content_words(question)
    for number, hop in enumerate(chain.hops, start=1):
        own = _without_needs(hop.question, [(need.start, need.end) for need in hop.needs])
        if content_words(own) and not shares_content(own, words):
            sentence = f"No word of step {number} is in the question; is everything that the step asks used?"
            faults.append(Fault(field="question", sentence=sentence, blocking=False))
    return faults


def _without_needs(question: str, places: Sequence[tuple[int, int]]) -> str:
    for start, end in sorted(places, reverse=True):
        question = f"{question[:start]} {question[end:]}"
    return question


def edited_steps(steps: Sequence[str], edited: Sequence[str]) -> list[Fault]:
    """The faults of ``edited`` single-hop questions in place of ``steps``: each keeps its question mark and its references."""
    if len(edited) != len(steps):
        return [Fault(field="steps", sentence=f"There are {len(steps)} steps; write each of them.")]
    faults = []
    for number, (step, text) in enumerate(zip(steps, edited, strict=True), start=1):
        field = f"steps.{number - 1}"
        if not text.strip():
            faults.append(Fault(field=field, sentence=f"Step {number} is empty; write its question."))
        elif references(step) != references(text):
            reference_list = ", ".join(f"#{reference}" for reference in references(step)) or "no other step"
            faults.append(Fault(field=field, sentence=f"Step {number} must refer to {reference_list}."))
    return faults


def strategy_question(question: str, facts: Sequence[str], *, language: str = "en") -> list[Fault]:
    """The faults of a strategy question and its facts (Geva et al. 2021, sections 3.1 and 3.4)."""
    faults = [Fault(field="question", sentence=fault.sentence) for fault in question_faults(question, language=language)]
    if not any(fact.strip() for fact in facts):
        faults.append(Fault(field="facts", sentence="Write the facts that the answer needs."))
    elif sum(bool(fact.strip()) for fact in facts) == 1:
        sentence = "One fact answers a single-step question; a strategy question needs two or more."
        faults.append(Fault(field="facts", sentence=sentence, blocking=False))
    return faults


def strategy_decomposition(question: str, steps: Sequence[str], pages: Sequence[str], operations: Sequence[bool]) -> list[Fault]:
    """The faults of a decomposition: the graph of its steps, and a page for each step that is not an operation (section 3.2)."""
    faults = [
        Fault(field="steps" if fault.step is None else f"steps.{fault.step}", sentence=fault.sentence)
        for fault in decomposition_faults(steps)
    ]
    for place, (step, page, operation) in enumerate(zip(steps, pages, operations, strict=True)):
        field = f"steps.{place}"
        if step.strip() and not operation and not page.strip():
            faults.append(Fault(field=field, sentence=f"Name a page where step {place + 1} is answered, or mark it as an operation."))
        if operation and not references(step):
            sentence = f"Step {place + 1} is an operation but uses no earlier answer; refer to one as #1."
            faults.append(Fault(field=field, sentence=sentence))
        if operation and place < len(steps) - 1:
            sentence = f"Step {place + 1} is an operation before the last step, which is rare."
            faults.append(Fault(field=field, sentence=sentence, blocking=False))
    question_words = content_words(question)
    if steps and all(step.strip() for step in steps) and not any(_new_words(step, question_words) for step in steps):
        # The paper's rule of thumb (section 2.1): an explicit question has all the words of its decomposition.
        sentence = "The steps use no word that the question lacks, so they follow its wording; write the steps that it only implies."
        faults.append(Fault(field="steps", sentence=sentence, blocking=False))
    return faults


def _new_words(text: str, known_words: set[str]) -> set[str]:
    stems = {word[:STEM] for word in known_words}
    return {word for word in content_words(text) if word not in known_words and word[:STEM] not in stems}


def strategy_evidence(evidence: Sequence[Sequence[str]], operations: Sequence[bool], missing: Sequence[bool]) -> list[Fault]:
    """The faults of the evidence of all steps: ``evidence`` has the paragraphs of each step, ``missing`` whether some was not found."""
    faults = []
    for place, (paragraphs, operation, absent) in enumerate(zip(evidence, operations, missing, strict=True)):
        field = f"steps.{place}"
        if not (paragraphs or operation or absent):
            sentence = f'Choose a paragraph for step {place + 1}, or mark it as "operation" or "no evidence".'
            faults.append(Fault(field=field, sentence=sentence))
        if len(set(paragraphs)) < len(paragraphs):
            faults.append(Fault(field=field, sentence=f"A paragraph of step {place + 1} is listed twice; list it once."))
        if operation and not paragraphs and place < len(evidence) - 1:
            sentence = f"Step {place + 1} is an operation before the last step, which is rare; is there no paragraph for it?"
            faults.append(Fault(field=field, sentence=sentence, blocking=False))
    return faults

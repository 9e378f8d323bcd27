"""The sections of a card that say who answered, how far they agree, and what became of the items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgqa.collection.figures import Figures, Person
from kgqa.collection.state import STATES
from kgqa.collection.task import Figure
from kgqa.metrics.agreement import Measure
from kgqa.runs.card import escaped, table

MOST_LABELS = 12
"""Labels of a question on the card, the most frequent first."""


def sections(figures: Figures, extra: Sequence[Figure] = ()) -> Iterator[str]:
    """The sections in Markdown; ``extra`` are the task's own figures."""
    yield "\n\n".join(["## Who answered", *_people(figures)])
    if figures.agreement:
        yield f"## Agreement\n\n{_agreement(figures)}"
    if figures.labels:
        yield f"## What they said\n\n{_labels(figures)}"
    if extra:
        rows = [[escaped(figure.name), f"{figure.items:,}", str(figure.value)] for figure in extra]
        yield "## Figures\n\nIn per cent with 95% intervals.\n\n" + table(["figure", "items", "value"], rows)


def _people(figures: Figures) -> Iterator[str]:
    people = [person for person in figures.people if not person.model and person.answers]
    states = {state: sum(part.states[state] for part in figures.progress) for state in STATES}
    items = ", ".join(f"{count:,} {state}" for state, count in states.items() if count)
    if people:
        answers = sum(person.answers for person in people)
        yield f"{_names(people)} gave {answers:,} answers. Of {sum(states.values()):,} items, {items}."
    else:
        yield "No person has answered yet."
    if former_members := [person for person in figures.people if person.withdrawn is not None]:
        reasons = "; ".join(f"{escaped(person.person)}: {escaped(person.withdrawn or 'no reason given')}" for person in former_members)
        yield f"{figures.left_out:,} answers of people who withdrew are left out ({reasons})."
    if figures.refused:
        yield f"Left out: {'; '.join(f'{escaped(reason)} ({count:,})' for reason, count in figures.refused.items())}."
    if models := [person for person in figures.people if person.model and person.answers]:
        verb = "is a model" if len(models) == 1 else "are models"
        yield (
            f"{_names(models)} {verb}, not people: their answers decide nothing, and only figures that compare them with people have them."
        )
    if drift := next((entry for entry in figures.drift if not entry.person), None):
        yield f"Of the answers to items with a known answer, {drift.right.percent}% are right."
    if not figures.agreement:
        yield "No item has two answers that could be compared, so there is no agreement to measure."


def _names(people: Sequence[Person]) -> str:
    names = [f"{escaped(person.person)} ({person.answers:,})" for person in people]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _agreement(figures: Figures) -> str:
    rows = [
        [
            _question(figures, entry.step, entry.question),
            f"{entry.agreement.items:,}",
            "–" if entry.agreement.observed is None else f"{100 * entry.agreement.observed:.1f}",
            *(coefficient(measure) for measure in (entry.agreement.alpha, entry.agreement.fleiss, entry.agreement.ac1)),
        ]
        for entry in figures.agreement
    ]
    text = (
        "Of items with two answers or more: how many pairs of answers are the same, in per cent, and the same beyond chance (1 is perfect, "
        "0 is chance), with 95% intervals by the jackknife over items. A dash: not defined, as where all answers are the same.\n\n"
    )
    text += table(["question", "items", "same", "Krippendorff's alpha", "Fleiss' kappa", "Gwet's AC1"], rows)
    if figures.models:
        rows = [
            [escaped(entry.person), _question(figures, entry.step, entry.question), entry.same.percent, coefficient(entry.kappa)]
            for entry in figures.models
        ]
        text += "\n\nModels against the label that most people gave:\n\n" + table(["model", "question", "same", "Cohen's kappa"], rows)
    return text


def _labels(figures: Figures) -> str:
    rows = [
        [
            _question(figures, part.step, part.question),
            escaped(label.label) or "(none)",
            f"{label.answers.count:,}",
            label.answers.percent,
            f"{label.decided:,}",
        ]
        for part in figures.labels
        for label in part.labels[:MOST_LABELS]
    ]
    more = [part for part in figures.labels if part.distinct > MOST_LABELS]
    text = (
        "Shares are in per cent of the answers, with 95% intervals (Wilson). *Decided*: items to which a majority or a lead gave the label."
    )
    if more:
        text += f" Of more than {MOST_LABELS} labels only the most frequent are listed."
    return f"{text}\n\n" + table(["question", "label", "answers", "share", "decided"], rows)


def _question(figures: Figures, step: str, question: str) -> str:
    """The question, with its step if there are several."""
    return escaped(question if len(figures.progress) == 1 else f"{step}: {question}")


def coefficient(measure: Measure) -> str:
    """``0.61 (0.42 to 0.80)``; a dash where it is not defined."""
    if measure.value is None:
        return "–"
    if measure.low is None or measure.high is None:
        return f"{measure.value:.2f}"
    return f"{measure.value:.2f} ({measure.low:.2f} to {measure.high:.2f})"

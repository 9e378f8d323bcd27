"""A made-up question set in which nothing is to be found, and ways to spoil it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from kgqa.checks import CHECKS
from kgqa.checks.batch import Batch, Side
from kgqa.checks.check import Check
from kgqa.checks.findings import Finding
from kgqa.checks.sources import BATCH
from kgqa.records import Candidate, Instance, Mention, Paragraph, Step

Splits = dict[str, list[Instance]]
Spoil = Callable[[Splits], Splits]
PARAGRAPHS = 6
SYLLABLES = [a + b for a in "bdfgklmnprst" for b in "aeiou"]


class Maker:
    """Draws words that no other question has, and questions from them."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.numbers = count()

    def word(self) -> str:
        number = next(self.numbers)
        parts: list[str] = []
        while number or not parts:
            number, digit = divmod(number, len(SYLLABLES))
            parts.append(SYLLABLES[digit])
        return "x" + "".join(parts)

    def name(self) -> str:
        return self.word().capitalize()

    def question(self, identifier: str) -> Instance:
        """Two of six paragraphs support, one of them states the answer; each shares one word with the question; no order."""
        words = [self.word() for _ in range(12)]
        names = [self.name() for _ in range(5)]
        answer, bridge = names[0], self.name()
        paragraphs = [self.paragraph(words[place], []) for place in range(PARAGRAPHS)]
        paragraphs[0] = self.paragraph(words[0], [bridge], supporting=True)
        paragraphs[1] = self.paragraph(words[1], [bridge, answer], supporting=True)
        for place, name in enumerate(names[1:], start=2):
            paragraphs[place] = self.paragraph(words[place], [name])
        hops = [paragraphs[0].id, paragraphs[1].id]
        steps = (
            Step(id="s1", question=f"what {words[0]} {words[2]}", answer=bridge, paragraph_id=hops[0], depends_on=()),
            Step(id="s2", question="#1 of what", answer=answer, paragraph_id=hops[1], depends_on=("s1",)),
        )
        order = self.rng.permutation(PARAGRAPHS)
        candidates = [Candidate(id=name, text=name) for name in names]
        return Instance(
            id=identifier, question="Which " + " ".join(words) + "?", answers=(answer,),
            paragraphs=tuple(paragraphs[place] for place in order),
            answer_id=answer, answer_type="candidate", candidates=tuple(candidates[place] for place in self.rng.permutation(len(names))),
            chains=None, decomposition=steps, answerable=True, group=identifier, provenance=None,
        )  # fmt: skip

    def paragraph(self, shared: str, names: Sequence[str], *, supporting: bool = False) -> Paragraph:
        words = [self.word() for _ in range(28)] + [shared, *names]
        text = " ".join(words[place] for place in self.rng.permutation(len(words)))
        mentions = tuple(Mention(entity=name, start=text.index(name), end=text.index(name) + len(name)) for name in names)
        digits = "".join(map(str, self.rng.integers(0, 10, 9)))
        return Paragraph(
            id=f"p{digits}", title=self.name(), text=text, supporting=supporting, mentions=mentions, sentences=(0,),
            supporting_sentences=(0,) if supporting else (),
        )  # fmt: skip


def clean_set(sizes: Mapping[str, int] | None = None, *, seed: int = 5) -> Splits:
    """Splits in which nothing is to be found."""
    maker = Maker(seed)
    return {
        split: [maker.question(f"{split}-{number}") for number in range(size)]
        for split, size in (sizes or {"train": 120, "dev": 90}).items()
    }


def findings(
    splits: Splits, against: Splits | None = None, *, checks: Sequence[type[Check]] = CHECKS, seed: int = 13
) -> dict[str, Finding]:
    """What the checks find, by name, without any file."""
    made = [check(seed=seed) for check in checks]
    earlier: list[str] = []
    for name, instances, foreign in [*((n, i, True) for n, i in (against or {}).items()), *((n, i, False) for n, i in splits.items())]:
        for first in range(0, len(instances), BATCH):
            side = Side(name=name, against=foreign)
            batch = Batch(side, first, instances[first : first + BATCH], () if foreign else tuple(earlier))
            for check in made:
                if check.compares or not foreign:
                    check.update(batch)
        earlier.append(name)
    return {check.name: check.result(np.random.default_rng(seed)) for check in made}


def changed(splits: Splits, change: Callable[[Instance, int], Instance], *, only: str | None = None) -> Splits:
    """The splits with two of three questions changed; ``change`` gets the question and its number."""
    return {
        split: [change(each, n) if n % 3 and only in {None, split} else each for n, each in enumerate(instances)]
        for split, instances in splits.items()
    }


def with_paragraphs(instance: Instance, change: Callable[[Paragraph], Paragraph]) -> Instance:
    """Every paragraph changed."""
    return replace(instance, paragraphs=tuple(map(change, instance.paragraphs)))


def with_answer(instance: Instance, answer: str) -> Instance:
    """Another answer, in candidates and texts too."""
    old = instance.answers[0]
    candidates = tuple(Candidate(id=answer, text=answer) if c.text == old else c for c in instance.candidates or ())
    changed_ = with_paragraphs(instance, lambda p: replace(p, text=p.text.replace(old, answer), mentions=None))
    return replace(changed_, answers=(answer,), answer_id=answer, candidates=candidates)


def from_train(splits: Splits, change: Callable[[Instance, Instance], Instance]) -> Splits:
    """Two of three dev questions changed with a look at the train question of the same number."""
    return changed(splits, lambda each, number: change(each, splits["train"][number]), only="dev")


def planted() -> Iterator[tuple[str, Spoil]]:
    """For each check a way to spoil the clean set that it must find."""
    yield "shared-questions", lambda s: from_train(s, lambda d, t: replace(t, id=d.id))
    yield "shared-wordings", lambda s: from_train(s, lambda d, t: replace(d, question=t.question.upper()))
    yield (
        "near-duplicate-questions",
        lambda s: from_train(s, lambda d, t: replace(with_answer(d, t.answers[0]), question=t.question + " Now?")),
    )
    yield "shared-facts", lambda s: from_train(s, lambda d, t: replace(d, decomposition=t.decomposition))
    yield "shared-bridge-entities", lambda s: from_train(s, lambda d, t: replace(d, decomposition=t.decomposition))
    yield "shared-answers", lambda s: from_train(s, lambda d, t: with_answer(d, t.answers[0]))
    yield "shared-paragraphs", lambda s: from_train(s, _last_of_train)
    yield "shared-supporting-paragraphs", lambda s: from_train(s, _support_of_train)
    yield "near-duplicate-paragraphs", lambda s: from_train(s, lambda d, t: _with_last(d, t.paragraphs[-1].text + " anew"))
    yield "answer-in-question", lambda s: changed(s, lambda i, n: replace(i, question=f"{i.question} Or {i.answers[0]}?"))
    yield (
        "question-words",
        lambda s: changed(s, lambda i, n: replace(with_answer(i, f"Xo{'aeiou'[n % 5]}"), question=f"{i.question} q{n % 5}")),
    )
    yield "answer-type", lambda s: changed(s, lambda i, n: with_answer(i, "1984"))
    yield "answer-frequency", lambda s: changed(s, lambda i, n: with_answer(i, "Xorba"))
    yield "candidate-types", lambda s: changed(s, lambda i, n: with_answer(i, str(1900 + n)))
    yield "document-cue", lambda s: from_train(s, lambda d, t: _last_of_train(with_answer(d, t.answers[0]), t))
    yield "lexical-overlap", lambda s: changed(s, _question_where_answer)
    yield "support-not-needed", lambda s: changed(s, _question_in_distractor)
    yield "support-position", lambda s: changed(s, lambda i, n: _sorted(i, lambda p: not p.supporting))
    yield "hop-order-shown", lambda s: changed(s, lambda i, n: _sorted(i, lambda p: _hop(i, p)))
    yield "hop-order-in-ids", lambda s: changed(s, lambda i, n: replace(i, id=f"2hop-{n}111-{n}222", decomposition=_named(i, n)))
    yield "content-faults", lambda s: changed(s, lambda i, n: replace(i, paragraphs=(*i.paragraphs, i.paragraphs[-1])))
    yield "empty-fields", lambda s: changed(s, lambda i, n: replace(i, question=" "))
    yield "absent-answers", lambda s: changed(s, lambda i, n: replace(i, answers=("Xnowhere",)))
    yield "degenerate-questions", lambda s: changed(s, lambda i, n: replace(i, question=i.question.split()[1]))
    yield (
        "repeated-questions",
        lambda s: {split: [copy for each in some for copy in _copies(each)] for split, some in s.items()},
    )
    yield "several-answers", lambda s: changed(s, lambda i, n: replace(i, question=f"Who built the mill number {n // 3} of all?"))
    yield "unsupported-answers", lambda s: changed(s, _answer_in_distractor)
    yield "step-answers", lambda s: changed(s, lambda i, n: replace(i, decomposition=_with_answer(i, 0, "Xnobody")))
    yield "last-step", lambda s: changed(s, lambda i, n: replace(i, decomposition=_with_answer(i, 1, "Xnobody")))
    yield "equal-titles", lambda s: changed(s, lambda i, n: with_paragraphs(i, lambda p: replace(p, title="Xtitle")))
    yield "wrong-spans", lambda s: changed(s, lambda i, n: with_paragraphs(i, lambda p: replace(p, mentions=(_beyond(p),))))
    yield "broken-references", lambda s: changed(s, lambda i, n: replace(i, answer_id="nobody"))


def _last_of_train(dev: Instance, train: Instance) -> Instance:
    return _with_last(dev, train.paragraphs[-1].text)


def _with_last(dev: Instance, text: str) -> Instance:
    last = replace(dev.paragraphs[-1], text=text, mentions=None)
    return replace(dev, paragraphs=(*dev.paragraphs[:-1], last))


def _support_of_train(dev: Instance, train: Instance) -> Instance:
    (text, _) = (p.text for p in train.paragraphs if p.supporting)
    return with_paragraphs(dev, lambda p: replace(p, text=text, mentions=None) if p.supporting else p)


def _question_where_answer(instance: Instance, number: int) -> Instance:
    return with_paragraphs(instance, lambda p: replace(p, text=f"{p.text} {instance.question}") if instance.answers[0] in p.text else p)


def _question_in_distractor(instance: Instance, number: int) -> Instance:
    first = next(p for p in instance.paragraphs if not p.supporting)
    text = f"{first.text} {instance.question} {instance.answers[0]}"
    return with_paragraphs(instance, lambda p: replace(p, text=text) if p is first else p)


def _answer_in_distractor(instance: Instance, number: int) -> Instance:
    return with_paragraphs(instance, lambda p: replace(p, supporting=not p.supporting))


def _copies(instance: Instance) -> list[Instance]:
    return [instance, *(replace(instance, id=f"{instance.id}-{number}", group=f"{instance.id}-{number}") for number in range(2))]


def _with_answer(instance: Instance, place: int, answer: str) -> tuple[Step, ...]:
    steps = list(instance.decomposition or ())
    steps[place] = replace(steps[place], answer=answer)
    return tuple(steps)


def _sorted(instance: Instance, key: Callable[[Paragraph], object]) -> Instance:
    return replace(instance, paragraphs=tuple(sorted(instance.paragraphs, key=key)))  # type: ignore[arg-type]


def _hop(instance: Instance, paragraph: Paragraph) -> int:
    return [step.paragraph_id == paragraph.id for step in instance.decomposition or ()].index(True) if paragraph.supporting else 2


def _named(instance: Instance, number: int) -> tuple[Step, ...]:
    first, second = instance.decomposition or ()
    return replace(first, id=f"{number}111"), replace(second, id=f"{number}222", depends_on=(f"{number}111",))


def _beyond(paragraph: Paragraph) -> Mention:
    return Mention(entity="e", start=3, end=len(paragraph.text) + 1)

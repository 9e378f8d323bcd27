"""Step S3 (Trivedi et al. 2022): log-linear readers, which learn from a whole pool in seconds on one core; for the quick filter.

One reader scores every name or number of a paragraph. Its hashed features are the words around the place, the question, and the distance to
the question's words (as the entity-centric classifier of Chen, Bolton and Manning 2016). The other one ranks the most common training
answers by the question's words. The loss is convex except for answers with several places, so runs differ by their data, not by their
start. Neither reader gets a list of possible answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import mixed, text_hashes
from kgqa.arrays.kernel import kernel
from kgqa.arrays.parallel import Engine
from kgqa.arrays.rows import offsets_of
from kgqa.metrics.normalize import normalize
from kgqa.readers.lexical.spans import name_places
from kgqa.readers.scores import answer_score, support_score
from kgqa.records import Instance
from kgqa.training.folds import folds_of
from kgqa.training.reader import Prediction

BITS = 20
"""Bits of a hashed feature."""
LOWEST = np.uint64((1 << BITS) - 1)
NONE = 12_345
"""The feature for "no answer"."""
RATE, DECAY, START = 0.1, 1e-5, 1e-2
"""Adagrad's learning rate, the weight decay, and the initial squared gradient of each feature."""
CROSSED = 5
"""Number of features around a place that are also crossed with each word of the question."""
KNOWN = 100
"""Number of candidate answers for heads: the most common ones."""
EPOCHS = 2
WORDS = 38
"""Maximum number of words of a question."""
FAR = 1000
HITS = 512
"""Maximum number of places in a paragraph that have a word of the question."""
STOP = frozenset((
    "the", "a", "an", "of", "in", "to", "is", "was", "are", "were", "by", "and", "on", "at",
    "for", "from", "as", "it", "its", "that", "with", "be", "has", "had", "did", "does", "do",
))  # fmt: skip
_WORD = re.compile(r"\w+")
Numbers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]


class Guesser(Protocol):
    """A reader that learns from instances and answers others."""

    def train(self, instances: Sequence[Instance]) -> Guesser:
        """Learn from all instances; returns itself."""

    def answers(self, instances: Sequence[Instance]) -> list[Prediction]:
        """A prediction for each instance, in order."""


def f1(instances: Sequence[Instance], predictions: Sequence[Prediction]) -> Floats:
    """Answer F1 of each question, as if it were answerable."""
    return np.array([answer_score(*pair) for pair in zip(instances, predictions, strict=True)], np.float64)


@dataclass(frozen=True, slots=True)
class Places:
    """The tokens of paragraphs, and the places of names and numbers in them."""

    row: dict[str, int]
    """Paragraph's id → its number."""
    ids: list[str]
    tokens: Hashes
    token_offsets: Numbers
    names: Numbers
    """Places × (number of the text, first token, last token)."""
    offsets: Numbers
    """Paragraph → its places."""
    around: Hashes
    """Places × hashed features."""
    texts: list[str]
    plain: list[str]
    """The texts in the form that scorers compare, indexed by the first column of ``names``."""
    cache: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)
    """Question id → its paragraphs, and the numbers of its answer's texts."""

    @classmethod
    def of(cls, instances: Iterable[Instance]) -> Places:
        """Index all paragraphs of the instances, each once. O(words)."""
        paragraphs = {paragraph.id: paragraph for instance in instances for paragraph in instance.paragraphs}
        tokens: list[str] = []
        token_offsets, offsets, names, around, texts = [0], [0], [], [], []
        numbers: dict[str, int] = {}
        for paragraph in paragraphs.values():
            text, title = paragraph.text, (paragraph.title or "").lower()
            words = [(match.start(), match[0].lower()) for match in _WORD.finditer(text)]
            starts = np.array([start for start, _ in words], np.int64)
            lower_words = [word for _, word in words]
            for start, stop in name_places(text):
                first_token, last_token = int(np.searchsorted(starts, start)), int(np.searchsorted(starts, stop)) - 1
                name = text[start:stop]
                if last_token < first_token:
                    continue
                number = numbers.setdefault(normalize(name), len(numbers))
                names.append((number, first_token, last_token))
                texts.append(name)
                around += _around(lower_words, first_token, last_token, normalize(name), is_title=name.lower() in title)
            tokens += lower_words
            token_offsets.append(len(tokens))
            offsets.append(len(names))
        width = len(around) // max(1, len(names))
        return cls(
            row={name: number for number, name in enumerate(paragraphs)}, ids=list(paragraphs), tokens=_hashes(tokens),
            token_offsets=np.array(token_offsets), names=np.array(names, np.int64).reshape(-1, 3), offsets=np.array(offsets),
            around=_hashes(around).reshape(-1, max(1, width)), texts=texts, plain=list(numbers),
        )  # fmt: skip

    def of_question(self, instance: Instance) -> tuple[list[int], list[int]]:
        """The entry of ``cache`` for a question."""
        if instance.id not in self.cache:
            rows = [self.row[paragraph.id] for paragraph in instance.paragraphs]
            answers = {normalize(answer) for answer in instance.answers} if instance.answerable else set()
            numbers = {int(number) for row in rows for number in self.names[self.offsets[row] : self.offsets[row + 1], 0]}
            self.cache[instance.id] = rows, sorted(number for number in numbers if self.plain[number] in answers)
        return self.cache[instance.id]

    def paragraph(self, place: int) -> str:
        """The id of the paragraph that contains a place."""
        return self.ids[int(np.searchsorted(self.offsets, place, side="right")) - 1]


def _around(words: list[str], begin: int, end: int, name: str, *, is_title: bool) -> list[str]:
    words_before = (["<"] * 2 + words[max(0, begin - 2) : begin])[-2:]
    words_after = (words[end + 1 : end + 3] + [">"] * 2)[:2]
    return [
        f"left {words_before[1]}", f"left {words_before[0]} {words_before[1]}", f"right {words_after[0]}", f"name {name}",
        f"at {min(4, begin // 8)}", f"before {words_before[0]}", f"right {words_after[0]} {words_after[1]}", f"word {words[end]}",
        f"title {is_title}", f"first {begin <= 1}", f"words {min(4, end - begin + 1)}", "any",
    ]  # fmt: skip


def _hashes(texts: Iterable[str]) -> Hashes:
    return text_hashes(pa.array(list(texts), pa.string()))


class LogLinear:
    """Answers with the most probable name of a single paragraph and the question; or of all paragraphs without the question."""

    def __init__(self, places: Places, *, context_only: bool = False, declines: bool = False, epochs: int = EPOCHS, seed: int = 0) -> None:
        """``declines``: whether "no answer" is possible; ``seed`` draws the order of questions."""
        self._places, self._context_only, self._declines, self._epochs, self._seed = places, context_only, declines, epochs, seed
        self._weights, self._squares = np.zeros(1 << BITS), np.full(1 << BITS, START)

    def train(self, instances: Sequence[Instance]) -> LogLinear:
        """Learn from the instances, as ``Guesser`` says."""
        rng = np.random.default_rng(self._seed)
        for _ in range(self._epochs):
            self._pass(instances, rng.permutation(len(instances)), learn=True)
        return self

    def answers(self, instances: Sequence[Instance]) -> list[Prediction]:
        """Answer the instances; the best answer is given even where ``answerable`` is false."""
        best, no_answer = self._pass(instances, np.arange(len(instances)), learn=False)
        return [
            Prediction(
                id=instance.id,
                answer=self._places.texts[place] if place >= 0 else "",
                answerable=not self._declines or share < 0.5,
                supporting=(self._places.paragraph(place),) if place >= 0 else (),
            )
            for instance, place, share in zip(instances, best.tolist(), no_answer.tolist(), strict=True)
        ]

    def _pass(self, instances: Sequence[Instance], order: Numbers, *, learn: bool) -> tuple[Numbers, Floats]:
        """The best place and the probability of "no answer" for each question."""
        places = self._places
        features = [_question_features("" if self._context_only else item.question) for item in instances]
        targets = [places.of_question(item) for item in instances]
        paragraph_rows, answer_numbers = [rows for rows, _ in targets], [numbers if learn else [] for _, numbers in targets]
        longest = max((sum(int(places.offsets[row + 1] - places.offsets[row]) for row in rows) for rows in paragraph_rows), default=0)
        best, no_answer = np.full(len(instances), -1), np.ones(len(instances))
        _train_or_answer(
            order, *_ragged([item[0] for item in features], np.uint64), *_ragged([item[1] for item in features], np.uint64),
            _ragged([item[2] for item in features], np.int64)[1], *_ragged(paragraph_rows, np.int64), *_ragged(answer_numbers, np.int64),
            places.tokens, places.token_offsets, places.names, places.offsets, places.around,
            np.array([item.answerable for item in instances]), self._context_only, self._declines, learn,
            self._weights, self._squares, longest, best, no_answer,
        )  # fmt: skip
        return best, no_answer


def _ragged(rows: Sequence[Sequence[int] | npt.NDArray[np.generic]], kind: type[np.generic]) -> tuple[Numbers, npt.NDArray[np.generic]]:
    """Offsets (rows + 1) and concatenated values of rows of different lengths."""
    return offsets_of(list(map(len, rows))), np.concatenate([np.zeros(0, kind), *rows]).astype(kind)


@lru_cache(maxsize=1 << 16)
def _question_features(question: str) -> tuple[Hashes, Hashes, list[int]]:
    """Hashes of the question's words and of its content words; for each content word 1 if it is in brackets (the first hop's), else 0."""
    words: dict[str, None] = {}
    content, sides, side = [], [], 0
    for match in re.finditer(r"[()]|\w+", question):
        word = match[0].lower()
        if word in "()":
            side = int(word == "(")
            continue
        words[f"{side} {word}"] = None
        if word not in STOP:
            content.append(word)
            sides.append(side)
    return _hashes(list(words)[:WORDS]), _hashes(content), sides


@kernel
def _place_of(code):  # type: ignore[no-untyped-def]
    return np.int64(mixed(mixed(np.uint64(code))) & LOWEST)


@kernel
def _step_of(distance):  # type: ignore[no-untyped-def]
    """The distance as a step on a doubling scale, 0 (at most 1) to 6 (more than 32).

    >>> [int(_step_of(distance)) for distance in (1, 3, 33)]
    [0, 2, 6]
    """
    for step, limit in enumerate((1, 2, 4, 8, 16, 32)):
        if distance <= limit:
            return step
    return 6


@kernel
def _with_question(out, at, place, words, sides, hit_word, hit_place, hits, first_token, last_token, around, shares):  # type: ignore[no-untyped-def]
    """Write the features that join a place and the question: words crossed with ``around``, and distances to the question's words."""
    for word in words:
        for feature in around[:CROSSED]:
            out[place, at] = _place_of(word ^ (feature * np.uint64(3)))
            at += 1
    nearest, near, inside = np.full(2, FAR), np.zeros(2, np.int64), 0
    h = 0
    for x in range(len(sides)):
        distance = FAR
        while h < hits and hit_word[h] == x:
            if first_token <= hit_place[h] <= last_token:
                inside = 1
            else:
                distance = min(distance, abs(hit_place[h] - first_token), abs(hit_place[h] - last_token))
            h += 1
        nearest[sides[x]] = min(nearest[sides[x]], distance)
        near[sides[x]] += distance <= 10
    outside_step, inside_step = _step_of(nearest[0]), _step_of(nearest[1])
    codes = (
        outside_step, 100 + inside_step, 200 + inside, 300 + shares[0] * 10 + shares[1], 400 + min(3, near[0]) * 10 + min(3, near[1]),
        500 + shares[0] * 100 + outside_step * 10 + inside, 1600 + shares[1] * 100 + inside_step * 10 + inside,
        3000 + shares[0], 3100 + shares[1],
    )  # fmt: skip
    for code in codes:
        out[place, at] = _place_of(np.uint64(7919) + np.uint64(code))
        at += 1
    return at


@kernel
def _hits_of(content, sides, tokens, begin, end, hit_word, hit_place):  # type: ignore[no-untyped-def]
    """Find the question's content words in a paragraph: ``hit_word`` (which word) and ``hit_place`` (which token), ordered by word.

    Returns the number of hits, and for each side of the brackets the share of its words that were found, in quarters (0 to 4).
    """
    match_counts, word_counts = np.zeros(2, np.int64), np.zeros(2, np.int64)
    hits = 0
    for x in range(len(content)):
        word_counts[sides[x]] += 1
        hits_before = hits
        for y in range(begin, end):
            if tokens[y] == content[x] and hits < len(hit_word):
                hit_word[hits], hit_place[hits] = x, y
                hits += 1
        match_counts[sides[x]] += hits > hits_before
    return hits, 4 * match_counts // np.maximum(word_counts, 1)


@kernel
def _features(  # type: ignore[no-untyped-def]
    words, content, sides, paragraphs, tokens, token_offsets, names, offsets, around, context_only, out, place, paragraph, counts
):
    """Fill ``out`` (places × features) for all places in ``paragraphs``; the number of places is returned."""
    n = 0
    hit_word, hit_place = np.empty(HITS, np.int64), np.empty(HITS, np.int64)
    for k in range(len(paragraphs)):
        row = paragraphs[k]
        begin, end = token_offsets[row], token_offsets[row + 1]
        hits, shares = (0, np.zeros(2, np.int64)) if context_only else _hits_of(content, sides, tokens, begin, end, hit_word, hit_place)
        for m in range(offsets[row], offsets[row + 1]):
            place[n], paragraph[n], at = m, k, 0
            if not context_only:
                first_token, last_token = begin + names[m, 1], begin + names[m, 2]
                at = _with_question(out, at, n, words, sides, hit_word, hit_place, hits, first_token, last_token, around[m], shares)
            for feature in around[m]:
                out[n, at] = _place_of(feature)
                at += 1
            counts[n] = at
            n += 1
    if context_only:
        # Without the question, the frequency of a name in the context is the cue: how often, and in how many paragraphs.
        for i in range(n):
            times, rows, last_row = 0, 0, -1
            for j in range(n):
                if names[place[j], 0] == names[place[i], 0]:
                    times += 1
                    if paragraph[j] != last_row:
                        rows, last_row = rows + 1, paragraph[j]
            out[i, counts[i]] = _place_of(np.uint64(9000 + min(times, 8)))
            out[i, counts[i] + 1] = _place_of(np.uint64(9100 + min(rows, 8) * 10 + min(times, 8)))
            counts[i] += 2
    return n


@kernel
def _train_or_answer(  # type: ignore[no-untyped-def]
    order, word_offsets, words, content_offsets, content, sides, shown_offsets, paragraphs, answer_offsets, answers,
    tokens, token_offsets, names, offsets, around, answerable, context_only, declines, learn, weights, squares, longest, best,
    no_answer_shares,
):  # fmt: skip
    """One pass over the questions in ``order``: learn by a softmax over all places, or find the best name within one paragraph.

    The right places share the target probability. ``best`` and ``no_answer_shares`` receive the results when ``learn`` is false.
    """
    out = np.zeros((longest + 1, (WORDS + 1) * around.shape[1] + 16), np.int64)
    place, paragraph, counts = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    scores, is_right = np.zeros(longest + 1), np.zeros(longest + 1, np.bool_)
    for i in order:
        a, b = content_offsets[i], content_offsets[i + 1]
        n = _features(
            words[word_offsets[i] : word_offsets[i + 1]], content[a:b], sides[a:b], paragraphs[shown_offsets[i] : shown_offsets[i + 1]],
            tokens, token_offsets, names, offsets, around, context_only, out, place, paragraph, counts,
        )  # fmt: skip
        if n == 0:
            continue
        top = weights[NONE] if declines else -np.inf
        for m in range(n):
            scores[m], is_right[m] = 0.0, False
            for c in range(counts[m]):
                scores[m] += weights[out[m, c]]
            for g in range(answer_offsets[i], answer_offsets[i + 1]):
                is_right[m] |= names[place[m], 0] == answers[g]
            top = max(top, scores[m])
        # Softmax over the places (and "no answer"); subtracting the maximum avoids overflow.
        no_answer = np.exp(weights[NONE] - top) if declines else 0.0
        norm, right_mass = no_answer, 0.0 if answerable[i] else no_answer
        for m in range(n):
            scores[m] = np.exp(scores[m] - top)
            norm += scores[m]
            right_mass += scores[m] if is_right[m] else 0.0
        no_answer_shares[i] = no_answer / norm
        if not learn:
            surest = -1.0
            for m in range(n):
                share = 0.0
                for k in range(n):
                    if names[place[k], 0] == names[place[m], 0] and (context_only or paragraph[k] == paragraph[m]):
                        share += scores[k]
                if share > surest:
                    surest, best[i] = share, place[m]
            continue
        if right_mass <= 0.0:
            continue
        if declines:
            _move(weights, squares, NONE, no_answer / norm - (0.0 if answerable[i] else no_answer / right_mass))
        # Gradient of the log likelihood of the right places together; tiny ones are skipped.
        for m in range(n):
            error = scores[m] / norm - (scores[m] / right_mass if is_right[m] else 0.0)
            if abs(error) >= 1e-4:
                for c in range(counts[m]):
                    _move(weights, squares, out[m, c], error)


@kernel
def _move(weights, squares, place, error):  # type: ignore[no-untyped-def]
    """One AdaGrad step (Duchi et al. 2011) on one weight, with weight decay."""
    gradient = error + DECAY * weights[place]
    squares[place] += gradient * gradient
    weights[place] -= RATE * gradient / np.sqrt(squares[place])


class QuestionOnly:
    """Ranks the most common training answers by the words and word pairs of the question."""

    def __init__(self, *, epochs: int = EPOCHS, seed: int = 0) -> None:
        """``seed`` draws the order of questions."""
        self._epochs, self._seed, self._choices = epochs, seed, [""]
        self._weights, self._squares = np.zeros(1 << BITS), np.full(1 << BITS, START)

    def train(self, instances: Sequence[Instance]) -> QuestionOnly:
        """Learn from the instances, as ``Guesser`` says."""
        frequency = Counter(instance.answers[0] for instance in instances)
        self._choices = sorted(sorted(frequency, key=lambda answer: (-frequency[answer], answer))[:KNOWN]) or [""]
        number = {answer: place for place, answer in enumerate(self._choices)}
        usable = [instance for instance in instances if instance.answers[0] in number]  # rare answers cannot be guessed
        targets, rng = np.array([number[instance.answers[0]] for instance in usable], np.int64), np.random.default_rng(self._seed)
        for _ in range(self._epochs):
            self._pass(usable, rng.permutation(len(usable)), targets)
        return self

    def answers(self, instances: Sequence[Instance]) -> list[Prediction]:
        """Answer the instances, as ``Guesser`` says."""
        best = self._pass(instances, np.arange(len(instances)), np.zeros(0, np.int64))
        return [Prediction(id=instance.id, answer=self._choices[place]) for instance, place in zip(instances, best.tolist(), strict=True)]

    def _pass(self, instances: Sequence[Instance], order: Numbers, right: Numbers) -> Numbers:
        tokens = [[match[0].lower() for match in _WORD.finditer(instance.question)] for instance in instances]
        words = [_hashes(dict.fromkeys([*some, *map(" ".join, pairwise(some))])) for some in tokens]
        best = np.zeros(len(instances), np.int64)
        _rank(order, *_ragged(words, np.uint64), right, _hashes(self._choices), self._weights, self._squares, best)
        return best


@kernel
def _rank(order, offsets, words, targets, answers, weights, squares, best):  # type: ignore[no-untyped-def]
    """One pass over the questions in ``order``; learns if ``targets``, the numbers of the right answers, are given."""
    scores = np.zeros(len(answers))
    for i in order:
        for k in range(len(answers)):
            scores[k] = weights[_place_of(answers[k])]
            for x in range(offsets[i], offsets[i + 1]):
                scores[k] += weights[_place_of(answers[k] ^ (words[x] * np.uint64(3)))]
        best[i] = np.argmax(scores)
        if not len(targets):
            continue
        shares = np.exp(scores - scores[best[i]])
        shares /= shares.sum()
        shares[targets[i]] -= 1.0
        for k in range(len(answers)):
            if abs(shares[k]) >= 1e-3:
                _move(weights, squares, _place_of(answers[k]), shares[k])
                for x in range(offsets[i], offsets[i + 1]):
                    _move(weights, squares, _place_of(answers[k] ^ (words[x] * np.uint64(3))), shares[k])


def cross_fitted(
    instances: Sequence[Instance], make: Callable[[int], Guesser], *, folds: int, seeds: Sequence[int], engine: Engine
) -> tuple[Floats, Floats]:
    """Mean answer F1 and support F1 of each question over the seeds, by readers that saw no question of its group."""
    answers, supports = np.zeros((len(seeds), len(instances))), np.zeros((len(seeds), len(instances)))
    of = [folds_of([item.group for item in instances], folds, seed=seed) for seed in seeds]

    parts = [(row, number) for row in range(len(seeds)) for number in range(folds)]
    for (row, number), scores in zip(parts, engine.map(_fold, parts, (instances, make, of, seeds)), strict=True):
        members = of[row] == number
        answers[row, members], supports[row, members] = scores
    return answers.mean(axis=0), supports.mean(axis=0)


def _fold(
    part: tuple[int, int], instances: Sequence[Instance], make: Callable[[int], Guesser], of: Sequence[Numbers], seeds: Sequence[int]
) -> tuple[Floats, Floats]:
    """The scores of the questions of one fold, by a reader that was trained on the others."""
    row, number = part
    train, held_out = (
        [instances[place] for place in np.flatnonzero((of[row] == number) == is_held_out).tolist()] for is_held_out in (False, True)
    )
    predictions = make(seeds[row]).train(train).answers(held_out)
    return f1(held_out, predictions), np.array([support_score(*item) for item in zip(held_out, predictions, strict=True)])

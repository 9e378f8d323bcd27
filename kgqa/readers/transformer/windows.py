"""Texts as tokens, and a question with its paragraphs as windows that an encoder can read.

A window is ``[CLS] question [SEP] yes no [SEP] title: text [SEP]``, with ``yes no`` where some training question has such an answer. An
encoder that reads more than :data:`LONG` tokens gets as many paragraphs into a window as fit, a ``[SEP]`` before each; another one gets
windows of one paragraph, and several that overlap for a long one. The ``[SEP]`` before a paragraph stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kgqa.errors import SettingsError
from kgqa.readers.answers import OPTIONS
from kgqa.readers.transformer.encoder import Encoder
from kgqa.records import Instance
from kgqa.settings.reader import EncoderSettings

LONG = 1024
SHORTEST = 32
"""Of a window; a third of it is the question's at most, and another one a title's."""
OPTION_TEXT = " ".join(OPTIONS)
Ints = npt.NDArray[np.int32]
NOWHERE = -1
"""The place of a token in which no answer begins or ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of a text, with their character offsets."""

    ids: Ints
    begins: Ints
    """In characters of the text, as are ``ends``."""
    ends: Ints

    def between(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last token of a span; None where none of its characters is in any."""
        first = int(np.searchsorted(self.ends, start, side="right"))
        last = int(np.searchsorted(self.begins, end, side="left")) - 1
        return (first, last) if first <= last else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Some tokens of a paragraph in a window."""

    paragraph: int
    first: int
    """Number of the token in the paragraph."""
    count: int
    at: int
    """Where the first stands among all tokens of the question's windows."""
    mark: int
    """Where the paragraph's ``[SEP]`` stands among them."""


@dataclass(slots=True, kw_only=True)
class Windows:
    """A question's windows, behind each other."""

    asked: int
    """Tokens of the question with what surrounds it, at the beginning of every window."""
    lengths: list[int] = field(default_factory=list)
    ids: list[Ints] = field(default_factory=list)
    place: list[Ints] = field(default_factory=list)
    """Number of the paragraph in whose text a token is, that of paragraphs for yes and one more for no, else :data:`NOWHERE`."""
    begins: list[Ints] = field(default_factory=list)
    ends: list[Ints] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    options: list[int] = field(default_factory=list)
    """Where the options' tokens begin."""


class Cutter:
    """Cuts for one encoder."""

    def __init__(self, encoder: Encoder, settings: EncoderSettings, *, options: bool) -> None:
        """``options``: whether yes and no are answers."""
        self._tokenizer, self._settings = encoder.tokenizer, settings
        self.longest = min(settings.max_length or encoder.longest, encoder.longest)
        if self.longest < SHORTEST:
            raise SettingsError(f"max_length = {self.longest}: that is too short for a question and a text; give at least {SHORTEST}.")
        self._asked = min(settings.question_tokens, self.longest // 3)
        self.packs = self.longest > LONG
        begin, end = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        self._begin = [begin if begin is not None else self._tokenizer.bos_token_id]
        self._end = [end if end is not None else self._tokenizer.eos_token_id]
        self.options = self._cut([OPTION_TEXT])[0] if options else None

    def tokens(self, texts: Iterable[str]) -> dict[str, Tokens]:
        """Each different text, cut once."""
        different = list(dict.fromkeys(texts))
        return dict(zip(different, self._cut(different), strict=True))

    def _cut(self, texts: Sequence[str]) -> list[Tokens]:
        if not texts:
            return []
        # Whatever is too long for the encoder is cut into windows, so that the tokenizer's warning about it means nothing.
        found = self._tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False, verbose=False)
        return [_tokens(ids, offsets) for ids, offsets in zip(found["input_ids"], found["offset_mapping"], strict=True)]

    def windows(self, instance: Instance, cut: dict[str, Tokens]) -> Windows:
        """The windows of a question; ``cut`` has its question, its paragraphs' texts, and their titles with a colon."""
        question = cut[instance.question].ids[: self._asked]
        head = np.array([*self._begin, *question.tolist(), *self._end], np.int32)
        found = Windows(asked=len(head))
        open_ = False
        for number, paragraph in enumerate(instance.paragraphs):
            title = cut[titled(paragraph.title)].ids[: self._asked] if paragraph.title else np.zeros(0, np.int32)
            text = cut[paragraph.text]
            if open_ and self.packs and found.lengths[-1] + len(title) + len(text.ids) + 1 <= self.longest:
                self._put(found, number, title, text, 0, len(text.ids), len(instance.paragraphs))
                continue
            first = 0
            while True:
                self._begin_window(found, head, len(instance.paragraphs))
                room = max(1, self.longest - found.lengths[-1] - len(title) - 1)
                count = min(room, len(text.ids) - first)
                self._put(found, number, title, text, first, count, len(instance.paragraphs))
                if first + count >= len(text.ids):
                    break
                first += max(1, count - min(self._settings.stride, count // 2))
            open_ = True
        if not found.lengths:
            self._begin_window(found, head, len(instance.paragraphs))
        return found

    def _begin_window(self, found: Windows, head: Ints, options_place: int) -> None:
        found.lengths.append(0)
        _append(found, head)
        if self.options is not None:
            found.options.append(sum(found.lengths))
            # Each option is a place of its own, so that no answer reaches from one into the next.
            second = self.options.begins >= OPTION_TEXT.index(OPTIONS[1])
            _append(found, self.options.ids, place=(options_place + second).astype(np.int32), cut=self.options)
            _append(found, np.array(self._end, np.int32))

    def _put(self, found: Windows, number: int, title: Ints, text: Tokens, first: int, count: int, options_place: int) -> None:
        mark = sum(found.lengths) - 1
        _append(found, title)
        part = Tokens(ids=text.ids[first : first + count], begins=text.begins[first : first + count], ends=text.ends[first : first + count])
        found.slices.append(Slice(paragraph=number, first=first, count=count, at=sum(found.lengths), mark=mark))
        _append(found, part.ids, place=np.full(count, number, np.int32), cut=part)
        _append(found, np.array(self._end, np.int32))


def titled(title: str | None) -> str:
    """A title as it stands before its text."""
    return f"{title}:"


def _tokens(ids: list[int], offsets: list[tuple[int, int]]) -> Tokens:
    ends = np.array(offsets, np.int32).reshape(-1, 2)
    return Tokens(ids=np.array(ids, np.int32), begins=ends[:, 0].copy(), ends=ends[:, 1].copy())


def _append(found: Windows, ids: Ints, *, place: Ints | None = None, cut: Tokens | None = None) -> None:
    """Put tokens at the end of the last window."""
    found.lengths[-1] += len(ids)
    found.ids.append(ids)
    found.place.append(np.full(len(ids), NOWHERE, np.int32) if place is None else place)
    found.begins.append(np.zeros(len(ids), np.int32) if cut is None else cut.begins)
    found.ends.append(np.zeros(len(ids), np.int32) if cut is None else cut.ends)

"""Texts as tokens, and a question with its paragraphs as windows that an encoder can read.

A window is ``[CLS] question [SEP] yes no [SEP] title: text [SEP]``; it has ``yes no`` if some training question has such an answer. An
encoder that reads more than ``kgqa.settings.reader.CONNECTED`` tokens gets as many paragraphs per window as fit, with a ``[SEP]`` before
each. Other encoders, and selectors, get windows of one paragraph, and several overlapping ones for a long paragraph. The ``[SEP]`` before
a paragraph represents it, and its first token a sentence; with the setting ``marks`` ``[PP]`` and ``[SS]`` do, which stand before them
(Trivedi et al. 2020, appendix B.1).

The tokens of a causal encoder see only earlier ones, so it gets ``[CLS] question [SEP] title: text [SEP] yes no [SEP]``. The ``[SEP]``
after a paragraph represents it, and its last token a sentence. A tokenizer may have no ``[CLS]``, and another name for ``[SEP]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kgqa.errors import SettingsError
from kgqa.readers.answers import OPTIONS
from kgqa.readers.transformer.encoder import Encoder
from kgqa.readers.transformer.resizing import marks_of
from kgqa.records import Instance, Paragraph
from kgqa.settings.reader import CONNECTED, LONGEST, EncoderSettings

SHORTEST = 32
"""Minimum tokens of a window; question and title may take a third each."""
OPTION_TEXT = " ".join(OPTIONS)
Ints = npt.NDArray[np.int32]
NOWHERE = -1
"""``Windows.paragraphs`` of a token at which no answer begins or ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of a text, with their character offsets."""

    ids: Ints
    begins: Ints
    """Characters of the text; so are ``ends``, which are exclusive."""
    ends: Ints

    def between(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last token of a span; None if no token has any of its characters."""
        first = int(np.searchsorted(self.ends, start, side="right"))
        last = int(np.searchsorted(self.begins, end, side="left")) - 1
        return (first, last) if first <= last else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Some tokens of a paragraph in a window."""

    paragraph: int
    first: int
    """Index of the first token in the paragraph."""
    count: int
    at: int
    """Index of the first token among all tokens of the question's windows."""
    mark: int
    """Index of the token that represents the paragraph among them."""


@dataclass(slots=True, kw_only=True)
class Windows:
    """A question's windows, concatenated."""

    question_tokens: int
    """Tokens of the question with its special tokens, at the beginning of every window."""
    lengths: list[int] = field(default_factory=list)
    ids: list[Ints] = field(default_factory=list)
    paragraphs: list[Ints] = field(default_factory=list)
    """Number of the paragraph whose text a token belongs to; the number of paragraphs for yes, one more for no; else :data:`NOWHERE`."""
    begins: list[Ints] = field(default_factory=list)
    ends: list[Ints] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    options: list[int] = field(default_factory=list)
    """First token of the options in each window."""


class Cutter:
    """Cuts questions into windows for one encoder."""

    def __init__(self, encoder: Encoder, settings: EncoderSettings, *, options: bool, reads_apart: bool = False) -> None:
        """``options``: whether yes and no are answers; ``reads_apart``: whether each paragraph has windows of its own, however short."""
        self._tokenizer, self._settings = encoder.tokenizer, settings
        self.longest = min(settings.max_length or LONGEST, encoder.longest)
        if self.longest < SHORTEST:
            raise SettingsError(f"max_length = {self.longest}: this is too short for a question and a text; give at least {SHORTEST}.")
        self.causal = encoder.causal
        self._question_limit = min(settings.question_tokens, self.longest // 3)
        self.packs = self.longest > CONNECTED and not reads_apart
        self._marks = marks_of(encoder) if settings.marks else None
        """Pieces before a paragraph and before a sentence."""
        begin, end = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        self._begin = [token for token in (begin if begin is not None else self._tokenizer.bos_token_id,) if token is not None]
        self._end = [end if end is not None else self._tokenizer.eos_token_id]
        places = self._tokenizer("a b", add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        self._has_blanks = any(start == 1 for start, _ in places)
        """Whether the offsets of a token include the blank before it, as in Llama 3, Qwen and DeBERTa-v3."""
        self.options = self._tokenise([OPTION_TEXT])[0] if options else None
        # With causal attention yes and no come after the paragraphs, which they would not see otherwise.
        self._room = self.longest - (len(self.options.ids) + 1 if self.options is not None and self.causal else 0)

    def tokens(self, texts: Iterable[str]) -> dict[str, Tokens]:
        """The tokens of each distinct text."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self._tokenise(distinct), strict=True))

    def _tokenise(self, texts: Sequence[str]) -> list[Tokens]:
        if not texts:
            return []
        # Whatever is too long for the encoder is cut into windows, so that the tokenizer's warning about it means nothing.
        encoding = self._tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False, verbose=False)
        offsets = encoding["offset_mapping"]
        if self._has_blanks:
            offsets = [_without_blanks(text, places) for text, places in zip(texts, offsets, strict=True)]
        return [_tokens(ids, places) for ids, places in zip(encoding["input_ids"], offsets, strict=True)]

    def paragraph_tokens(self, paragraph: Paragraph, tokens_of_text: dict[str, Tokens]) -> Tokens:
        """The tokens of a paragraph's text, with a mark before each sentence if the settings ask for it."""
        tokens = tokens_of_text[paragraph.text]
        if self._marks is None or not paragraph.sentences:
            return tokens
        # A mark has no characters, so that no answer is found in it.
        starts = np.array(paragraph.sentences, np.int32)
        places = np.searchsorted(tokens.begins, starts, side="left")
        return Tokens(
            ids=np.insert(tokens.ids, places, self._marks[1]),
            begins=np.insert(tokens.begins, places, starts),
            ends=np.insert(tokens.ends, places, starts),
        )

    def windows(self, instance: Instance, texts: Sequence[Tokens], tokens_of_text: dict[str, Tokens]) -> Windows:
        """The windows of a question; ``texts``: its paragraphs; ``tokens_of_text`` has its question and the title prefixes."""
        question = tokens_of_text[instance.question].ids[: self._question_limit]
        head = np.array([*self._begin, *question.tolist(), *self._end], np.int32)
        result = Windows(question_tokens=len(head))
        is_open = False
        for number, paragraph in enumerate(instance.paragraphs):
            title = tokens_of_text[title_prefix(paragraph.title)].ids[: self._question_limit] if paragraph.title else np.zeros(0, np.int32)
            text = texts[number]
            if self._marks is not None:
                title = np.array([self._marks[0], *title.tolist()], np.int32)
            # A paragraph joins the last window only as a whole: it would otherwise be read in two parts without need.
            if is_open and self.packs and result.lengths[-1] + len(title) + len(text.ids) + 1 <= self._room:
                self._put(result, number, title, text, 0, len(text.ids), len(instance.paragraphs))
                continue
            first = 0
            while True:
                self._end_window(result, len(instance.paragraphs))
                self._begin_window(result, head, len(instance.paragraphs))
                room = max(1, self._room - result.lengths[-1] - len(title) - 1)
                count = min(room, len(text.ids) - first)
                self._put(result, number, title, text, first, count, len(instance.paragraphs))
                if first + count >= len(text.ids):
                    break
                # Consecutive windows overlap by the stride, so that a short answer lies in one of them as a whole.
                first += max(1, count - min(self._settings.stride, count // 2))
            is_open = True
        if not result.lengths:
            self._begin_window(result, head, len(instance.paragraphs))
        self._end_window(result, len(instance.paragraphs))
        return result

    def _begin_window(self, windows: Windows, head: Ints, options_paragraph: int) -> None:
        windows.lengths.append(0)
        _append(windows, head)
        if not self.causal:
            self._put_options(windows, options_paragraph)

    def _end_window(self, windows: Windows, options_paragraph: int) -> None:
        if self.causal and windows.lengths:
            self._put_options(windows, options_paragraph)

    def _put_options(self, windows: Windows, options_paragraph: int) -> None:
        if self.options is not None:
            windows.options.append(sum(windows.lengths))
            # Each option is a place of its own, so that no answer reaches from one into the next.
            is_second = self.options.begins >= OPTION_TEXT.index(OPTIONS[1])
            _append(windows, self.options.ids, paragraph=(options_paragraph + is_second).astype(np.int32), tokens=self.options)
            _append(windows, np.array(self._end, np.int32))

    def _put(self, windows: Windows, number: int, title: Ints, text: Tokens, first: int, count: int, options_paragraph: int) -> None:
        before = sum(windows.lengths) - (self._marks is None)
        _append(windows, title)
        at = sum(windows.lengths)
        mark = at + count if self.causal else before
        part = Tokens(ids=text.ids[first : first + count], begins=text.begins[first : first + count], ends=text.ends[first : first + count])
        windows.slices.append(Slice(paragraph=number, first=first, count=count, at=at, mark=mark))
        _append(windows, part.ids, paragraph=np.full(count, number, np.int32), tokens=part)
        _append(windows, np.array(self._end, np.int32))


def title_prefix(title: str | None) -> str:
    """A title as it precedes its text."""
    return f"{title}:"


def _without_blanks(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(end - len(text[start:end].lstrip()), end) for start, end in offsets]


def _tokens(ids: list[int], offsets: list[tuple[int, int]]) -> Tokens:
    ends = np.array(offsets, np.int32).reshape(-1, 2)
    return Tokens(ids=np.array(ids, np.int32), begins=ends[:, 0].copy(), ends=ends[:, 1].copy())


def _append(windows: Windows, ids: Ints, *, paragraph: Ints | None = None, tokens: Tokens | None = None) -> None:
    """Append tokens to the last window."""
    windows.lengths[-1] += len(ids)
    windows.ids.append(ids)
    windows.paragraphs.append(np.full(len(ids), NOWHERE, np.int32) if paragraph is None else paragraph)
    windows.begins.append(np.zeros(len(ids), np.int32) if tokens is None else tokens.begins)
    windows.ends.append(np.zeros(len(ids), np.int32) if tokens is None else tokens.ends)

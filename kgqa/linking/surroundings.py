"""The context of a place as one small number: letter case and neighbours, which tell a whole name from a part of a longer one.

A word that a corpus mostly writes in lower case, but with a capital next to a name, extends that name ("Hong Kong Observatory"), unless a
sentence begins there ("In Germany"). A name before the last word of other names is no mention of its own ("insulin receptor"). There are no
lists: the corpus tells how it writes words, the dictionary how names end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel

COMMON, INNER, HEAD, PREFIX, FUNCTION = 1, 2, 4, 8, 16
"""Flags of a word. COMMON: mostly in lower case. INNER: inside names, before a head. HEAD: ends names with another meaning. PREFIX:
begins many names before a hyphen, as "alpha-". FUNCTION: so frequent that it joins other words."""

ALONE, COMMON_CAPITAL, PROPER_CAPITAL, NAME, HEAD_NOUN, COMPOUND, NOUN = range(7)
"""The neighbour on one side. ALONE: no evidence. COMMON_CAPITAL: a common noun with a capital. PROPER_CAPITAL: another capitalised word.
NAME: another name of the dictionary. HEAD_NOUN (after): the head of a longer name. COMPOUND (before): a small word with a hyphen
("anti-"). NOUN (after): a small word that joins nothing, as after an adjective."""
SIDES = 7
CAPITAL, OPENING, SMALL = range(3)
"""Case of the first letter: a capital, a capital at the start of a sentence, lower case (or a script without case)."""
CONTEXTS = SIDES * SIDES * 3
AHEAD = 4
"""Words after a name that are searched for a head noun."""


def parts(context: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The neighbour before, the neighbour after, and the case of the first letter."""
    return context % SIDES, context // SIDES % SIDES, context // (SIDES * SIDES)


def joined(before: npt.NDArray[np.int32], after: npt.NDArray[np.int32], letter: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The inverse of :func:`parts`."""
    out: npt.NDArray[np.int32] = before + SIDES * after + SIDES * SIDES * letter
    return out


@kernel(inline=True)
def _sign(byte):  # type: ignore[no-untyped-def]
    return not (byte >= 0x80 or 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122)


@kernel(inline=True)
def opens(data, begin, i, starts, ends):  # type: ignore[no-untyped-def]
    """Whether token ``i`` is the first word of a sentence or of a quotation."""
    if i == 0:
        return True
    for at in range(begin + ends[i - 1], begin + starts[i]):
        if data[at] == 10:
            return True
    before = data[begin + starts[i - 1]]
    return before in (33, 34, 40, 46, 58, 63, 91) or (before == 0xE2 and ends[i - 1] - starts[i - 1] == 3)  # ! " ( . : ? [ and typographic


@kernel(inline=True)
def _close(data, begin, end, start):  # type: ignore[no-untyped-def]
    """Whether exactly one space separates two tokens."""
    return start - end == 1 and data[begin + end] == 32


@kernel
def surroundings(data, begin, length, first, last, count, starts, ends, tokens, initials, flags, after_name):  # type: ignore[no-untyped-def]  # noqa: PLR0912 - what stands on two sides
    """The context of the tokens ``first`` to ``last``; ``after_name``: another name ends directly before them. O(1)."""
    zero = np.uint64(0)
    # The article is not part of "the Netherlands", so the case of the second word counts.
    shown_token = first + 1 if first < last and initials[first] == zero and initials[first + 1] != zero else first
    letter = CAPITAL if initials[shown_token] != zero else SMALL
    if letter == CAPITAL and shown_token == first and opens(data, begin, first, starts, ends):
        letter = OPENING
    # Before the name: a hyphenated word ("anti-"), or a capitalised word one space away.
    before = ALONE
    if first > 0:
        at = first - 1
        hyphen = data[begin + starts[at]] == 45
        if (
            hyphen
            and first > 1
            and starts[first] == ends[at]
            and ends[first - 2] == starts[at]
            and not _sign(data[begin + starts[first - 2]])
        ):
            at = first - 2
            letters = ends[at] - starts[at] >= 3 and not 48 <= data[begin + starts[at]] <= 57
            if initials[at] != zero:
                before = PROPER_CAPITAL
            elif letters and (tokens[at] < 0 or flags[tokens[at]] & PREFIX == 0):
                before = COMPOUND
        elif initials[at] != zero and _close(data, begin, ends[at], starts[first]):
            common = tokens[at] >= 0 and flags[tokens[at]] & COMMON
            if after_name:
                before = NAME
            elif common and (opens(data, begin, at, starts, ends) or flags[tokens[at]] & FUNCTION):
                before = ALONE  # "In Germany", "The Netherlands"
            else:
                before = COMMON_CAPITAL if common else PROPER_CAPITAL
    # After the name: a capitalised word, a noun in lower case, or within AHEAD words the head of a longer name.
    after = ALONE
    if last + 1 < count:
        at = last + 1
        hyphen = data[begin + starts[at]] == 45 and starts[at] == ends[last] and at + 1 < count and starts[at + 1] == ends[at]
        if hyphen:
            at += 1
        if initials[at] != zero and (hyphen or _close(data, begin, ends[last], starts[at])):
            after = COMMON_CAPITAL if tokens[at] >= 0 and flags[tokens[at]] & COMMON else PROPER_CAPITAL
        elif (
            not hyphen and tokens[at] >= 0 and flags[tokens[at]] & COMMON and flags[tokens[at]] & FUNCTION == 0
            and _close(data, begin, ends[last], starts[at]) and data[begin + starts[at]] >= 97
        ):  # fmt: skip
            after = NOUN
        for step in range(AHEAD):
            if at + step >= count:
                break
            flag = flags[tokens[at + step]] if tokens[at + step] >= 0 else 0
            if flag & HEAD:
                after = HEAD_NOUN
                break
            # "ligand-binding receptor": a word that a hyphen joins to the name is inside the longer name.
            if not flag & INNER and not (hyphen and step == 0 and data[begin + starts[at]] >= 97):
                break
    return before + SIDES * after + SIDES * SIDES * letter

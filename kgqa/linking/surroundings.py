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
    """The neighbour before, the neighbour after, and the case of the first letter.

    >>> parts(joined(np.array([NAME]), np.array([ALONE]), np.array([SMALL])))
    (array([3]), array([0]), array([2]))
    """
    return context % SIDES, context // SIDES % SIDES, context // (SIDES * SIDES)


def joined(class_before: npt.NDArray[np.int32], class_after: npt.NDArray[np.int32], letter: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The inverse of :func:`parts`."""
    out: npt.NDArray[np.int32] = class_before + SIDES * class_after + SIDES * SIDES * letter
    return out


@kernel(inline=True)
def _sign(byte):  # type: ignore[no-untyped-def]
    return not (byte >= 0x80 or 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122)


@kernel(inline=True)
def opens(data, begin, i, starts, ends):  # type: ignore[no-untyped-def]
    """Whether token ``i`` is the first word of a sentence or of a quotation.

    >>> data, starts, ends = np.frombuffer(b"A. In", np.uint8), np.array([0, 1, 3]), np.array([1, 2, 5])
    >>> [opens(data, 0, i, starts, ends) for i in range(3)]
    [True, False, True]
    """
    if i == 0:
        return True
    for at in range(begin + ends[i - 1], begin + starts[i]):
        if data[at] == 10:
            return True
    previous_byte = data[begin + starts[i - 1]]
    return previous_byte in (33, 34, 40, 46, 58, 63, 91) or (
        previous_byte == 0xE2 and ends[i - 1] - starts[i - 1] == 3
    )  # ! " ( . : ? [ and typographic


@kernel(inline=True)
def _close(data, begin, end, start):  # type: ignore[no-untyped-def]
    """Whether exactly one space separates two tokens."""
    return start - end == 1 and data[begin + end] == 32


@kernel
def surroundings(data, begin, length, first_token, last_token, count, starts, ends, initials, flags, after_name):  # type: ignore[no-untyped-def]  # noqa: PLR0912 - what stands on two sides
    """The context of the tokens ``first_token`` to ``last_token``; ``after_name``: another name ends directly before them. O(1).

    ``flags``: those of each token, 0 for a token of no name.
    """
    zero = np.uint64(0)
    # The article is not part of "the Netherlands", so the case of the second word counts.
    shown_token = (
        first_token + 1 if first_token < last_token and initials[first_token] == zero and initials[first_token + 1] != zero else first_token
    )
    letter = CAPITAL if initials[shown_token] != zero else SMALL
    if letter == CAPITAL and shown_token == first_token and opens(data, begin, first_token, starts, ends):
        letter = OPENING
    # Before the name: a hyphenated word ("anti-"), or a capitalised word one space away.
    class_before = ALONE
    if first_token > 0:
        at = first_token - 1
        has_hyphen = data[begin + starts[at]] == 45
        if (
            has_hyphen
            and first_token > 1
            and starts[first_token] == ends[at]
            and ends[first_token - 2] == starts[at]
            and not _sign(data[begin + starts[first_token - 2]])
        ):
            at = first_token - 2
            is_word = ends[at] - starts[at] >= 3 and not 48 <= data[begin + starts[at]] <= 57
            if initials[at] != zero:
                class_before = PROPER_CAPITAL
            elif is_word and flags[at] & PREFIX == 0:
                class_before = COMPOUND
        elif initials[at] != zero and _close(data, begin, ends[at], starts[first_token]):
            is_common = flags[at] & COMMON
            if after_name:
                class_before = NAME
            elif is_common and (opens(data, begin, at, starts, ends) or flags[at] & FUNCTION):
                # A capital that the start of the sentence explains says nothing about the name: "In Germany", "The Netherlands".
                class_before = ALONE
            else:
                class_before = COMMON_CAPITAL if is_common else PROPER_CAPITAL
    # After the name: a capitalised word, a noun in lower case, or within AHEAD words the head of a longer name.
    class_after = ALONE
    if last_token + 1 < count:
        at = last_token + 1
        has_hyphen = data[begin + starts[at]] == 45 and starts[at] == ends[last_token] and at + 1 < count and starts[at + 1] == ends[at]
        if has_hyphen:
            at += 1
        if initials[at] != zero and (has_hyphen or _close(data, begin, ends[last_token], starts[at])):
            class_after = COMMON_CAPITAL if flags[at] & COMMON else PROPER_CAPITAL
        elif (
            not has_hyphen and flags[at] & COMMON and flags[at] & FUNCTION == 0
            and _close(data, begin, ends[last_token], starts[at]) and data[begin + starts[at]] >= 97
        ):  # fmt: skip
            class_after = NOUN
        for step in range(AHEAD):
            if at + step >= count:
                break
            flag = flags[at + step]
            if flag & HEAD:
                class_after = HEAD_NOUN
                break
            # "ligand-binding receptor": a word that a hyphen joins to the name is inside the longer name.
            if not flag & INNER and not (has_hyphen and step == 0 and data[begin + starts[at]] >= 97):
                break
    return class_before + SIDES * class_after + SIDES * SIDES * letter

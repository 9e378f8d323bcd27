"""What does not fit into 32 bits is refused in a sentence, wherever numbers are narrowed."""

from __future__ import annotations

import mmap
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.int32 import MOST, check_fits, narrow
from kgqa.arrays.rows import Rows
from kgqa.arrays.texts import text_buffers
from kgqa.errors import InputError
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.instances import mention_lists
from kgqa.recipes.qangaroo.samples import Samples
from tests.recipes.drawing import Record, to_samples

HUGE = MOST + 1


def test_the_largest_number_that_fits_is_kept_and_the_next_refused() -> None:
    check_fits(MOST, "things", "have fewer")
    assert narrow(np.array([0, -1, MOST]), "things", "have fewer").tolist() == [0, -1, MOST]
    assert narrow(np.zeros(0, np.int64), "things", "have fewer").dtype == np.int32
    for refuse in (lambda: check_fits(HUGE, "things", "have fewer"), lambda: narrow(np.array([HUGE, 0]), "things", "have fewer")):
        with pytest.raises(InputError, match=r"^2,147,483,648 things are more than the 2,147,483,647 that can be numbered; have fewer\.$"):
            refuse()


@pytest.fixture
def samples() -> Samples:
    return to_samples([Record(id=7, split=0, head=0, relation=0, answer=2, chains={1: [(0, 0, 1)], 2: [(0, 1, 2)]})])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nodes", r"nodes on chains .*lower qangaroo\.traversal\.max_chains, or set qangaroo\.traversal\.chains to tree"),
        ("chains", r"chains .*lower qangaroo\.traversal\.max_chains"),
        ("candidates", r"candidates of samples .*lower qangaroo\.max_candidates"),
        ("documents", r"documents of samples .*lower qangaroo\.max_documents"),
    ],
)
def test_samples_that_a_table_cannot_hold_are_refused(name: str, said: str, samples: Samples) -> None:
    """Wrapped offsets would begin at -2,147,483,648, where other memory is."""
    rows = getattr(samples, name)
    offsets = rows.offsets.copy()
    offsets[-1] = HUGE
    huge = Rows(offsets=offsets, targets=np.broadcast_to(np.int32(0), HUGE))
    with pytest.raises(InputError, match=f"^2,147,483,648 {said}"):
        replace(samples, **{name: huge}).to_table()  # type: ignore[arg-type]


def test_mentions_that_a_table_cannot_hold_are_refused() -> None:
    none = np.zeros(0, np.int32)
    places = Places(offsets=np.array([0, HUGE]), entity=none, start=none, end=none)
    with pytest.raises(InputError, match="2,147,483,648 mentions"):
        mention_lists(places, pa.array([], pa.string()))


def test_a_text_whose_places_do_not_fit_is_refused() -> None:
    memory = pa.py_buffer(mmap.mmap(-1, HUGE + 2))  # which takes no memory before somebody reads it
    texts = pa.LargeStringArray.from_buffers(2, pa.py_buffer(np.array([0, 2, HUGE + 2])), memory)
    for read in (text_buffers, text_hashes):
        with pytest.raises(InputError, match=r"2,147,483,648 bytes of one text .*divide the text"):
            read(texts)
    assert text_buffers(texts.slice(0, 1))[1].tolist() == [0, 2]

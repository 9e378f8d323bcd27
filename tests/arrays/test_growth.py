"""An array that grows keeps what it holds, has the room asked for, and is itself where it has room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.kernel import grown


@pytest.mark.parametrize("shape", [(), (4,)])
@given(size=st.integers(1, 20), need=st.integers(0, 60))
def test_an_array_has_room_and_holds_what_it_held(shape: tuple[int, ...], size: int, need: int) -> None:
    array = np.arange(size * int(np.prod(shape)), dtype=np.int32).reshape(size, *shape)
    larger = grown(array, need)
    assert len(larger) == (size if need <= size else max(need, 2 * size))
    assert larger.shape[1:] == shape
    assert larger.dtype == array.dtype
    assert (larger[:size] == array).all()
    assert need > size or np.shares_memory(larger, array)

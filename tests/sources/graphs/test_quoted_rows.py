"""Rows with quoted cells end where Python's csv says."""

from __future__ import annotations

import csv
import io

from hypothesis import given, settings, strategies as st

from kgqa.sources.graphs.quoted_rows import last_row_end, open_quote
from tests.lengths import example_count


@given(st.text(st.sampled_from('a",\n'), max_size=30))
@settings(deadline=None, max_examples=example_count(500))
def test_the_last_row_end_is_that_of_csv(text: str) -> None:
    """A csv reader that gets the text line by line gives a row at each line feed that is not in a cell."""
    ends, at = [0], 0

    def lines() -> list[str]:
        return io.StringIO(text, newline="").readlines()

    reader = csv.reader(lines())
    for _ in reader:
        at = sum(len(line) for line in lines()[: reader.line_num])
        ends.append(at)
    whole = [end for end in ends if text[:end].endswith("\n") and open_quote(text[:end].encode(), ",") < 0]
    assert last_row_end(text.encode(), ",") == max(whole, default=0)

"""How many answers of DROP and IIRC that are numbers the numeric reader can derive, and by what.

``python -m benchmarks.derivations``
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from benchmarks.measure import Section, Table, absent, data_folder
from kgqa.formats.question_set import open_dataset
from kgqa.readers.answers import answer_spans
from kgqa.readers.transformer.numeric.examples import COUNTS, numbers_of, right_numbers, right_sums, with_question
from kgqa.records import Instance

TITLE = "Derivations of numbers"
SETS = {"DROP": "drop/drop_contrast_sets_test.json", "IIRC": "iirc/iirc_dev_1301.jsonl"}
COLUMNS = ("set", "number answers", "derived", "as a span", "as a sum of one or two", "as a sum of three", "as a count alone")


def main() -> Section:
    """One table."""
    root = data_folder("drop")
    if root is None:
        return Section(title=TITLE, skipped=absent("drop"))
    rows = [(name, *_counted(open_dataset(root.parent / file).instances())) for name, file in SETS.items()]
    note = "An answer may have derivations of several kinds; three numbers are added only where fewer do not give it."
    return Section(title=TITLE, tables=[Table(title=TITLE, columns=COLUMNS, rows=rows, notes=[note])])


def _counted(instances: Iterable[Instance]) -> tuple[str, ...]:
    counts = Counter[str]()
    for instance in map(with_question, instances):
        if instance.answer_type != "number":
            continue
        sums = right_sums(instance, [mention for _, mention in numbers_of(instance)])
        kinds = {"span"} if any(True for _ in answer_spans(instance)) else set[str]()
        if sums:
            kinds.add("two" if len(sums[0].places) < 3 else "three")
        if not kinds and any(number.is_integer() and 0 <= number < COUNTS for number in right_numbers(instance)):
            kinds.add("count")
        counts.update(kinds | {"all"} | ({"derived"} if kinds else set()))
    return tuple(f"{counts[name]:,}" for name in ("all", "derived", "span", "two", "three", "count"))


if __name__ == "__main__":
    print(main().plain())

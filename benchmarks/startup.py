"""How long a user waits for ``kgqa --help``, beside what Python and the libraries of a command line take.

``python -m benchmarks.startup``
"""

from __future__ import annotations

from functools import partial

from benchmarks.measure import Section, Table, in_turn, spread
from benchmarks.process import python

TITLE = "Start: kgqa --help"
ROUNDS = 10
PROGRAMS = {
    "kgqa --help": ["-m", "kgqa", "--help"],
    "python -c 'import typer, rich'": ["-c", "import typer, rich"],
    "python -c pass": ["-c", "pass"],
}


def main(*, rounds: int = ROUNDS) -> Section:
    """Start each in turn, after one start that fills the caches."""
    runs = {name: partial(python, arguments) for name, arguments in PROGRAMS.items()}
    in_turn(runs, rounds=1)
    seconds = in_turn(runs, rounds=rounds)
    table = Table(
        title="Wall clock",
        columns=("", "seconds"),
        rows=[(name, spread(values, 3)) for name, values in seconds.items()],
        notes=[f"{rounds} rounds in turn; median and range."],
    )
    return Section(title=TITLE, tables=[table])


if __name__ == "__main__":
    print(main().plain())

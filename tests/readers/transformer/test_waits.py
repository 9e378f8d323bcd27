"""No network waits for its device in training: on torch's device without data, whatever would have to read a value fails."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.small_questions import question

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.registry import find_reader  # noqa: E402
from kgqa.settings.training import TrainingSettings  # noqa: E402
from kgqa.training.device import to_device  # noqa: E402
from kgqa.training.encoded import encode  # noqa: E402
from kgqa.training.questions import of_list  # noqa: E402


@pytest.mark.parametrize("name", ["ee", "numeric", "context-only"])
def test_losses_and_gradients_need_no_value(name: str, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # which this device lacks
    questions = of_list([question(number, shown=2 + number % 3) for number in range(8)])
    kind = find_reader(name)
    reader: Any = kind.make(name, kind.settings.model_validate({"encoder": tiny_encoder}), TrainingSettings())
    task = reader.new_task(questions)
    examples = encode(task, questions, tmp_path, Silent(), what="questions")
    batch = task.collate(examples.take(questions.rows()))
    assert len({int(width) for width in batch["lengths"]}) > 1  # so that some are padded
    task.network.train().to("meta")
    losses = task.losses(to_device(batch, torch.device("meta")))
    losses.sum().backward()
    assert losses.shape == (8,)

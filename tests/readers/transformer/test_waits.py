"""No network waits for its device in training: on torch's device without data, whatever would have to read a value fails."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.small_questions import question

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.lora import Lora  # noqa: E402
from kgqa.readers.registry import find_reader  # noqa: E402
from kgqa.settings.training import TrainingSettings  # noqa: E402
from kgqa.training.device import to_device  # noqa: E402
from kgqa.training.encoded import encode  # noqa: E402
from kgqa.training.questions import of_list  # noqa: E402
from tests.readers.transformer.test_families import write_family  # noqa: E402


@pytest.mark.parametrize("shown", [(2, 3, 4), (2, 2, 2)])
@pytest.mark.parametrize("settings", [{}, {"bidirectional": True}, {"lora_rank": 2}])
@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_those_of_a_decoder_neither(
    kind: str, settings: dict[str, Any], shown: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if settings.get("lora_rank"):
        pytest.importorskip("peft", reason="the extra [readers] is not installed")
    encoder = write_family(kind, tmp_path)
    compute("ee", {"encoder": encoder, **settings}, shown, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["ee", "numeric", "context-only"])
def test_losses_and_gradients_need_no_value(name: str, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compute(name, {"encoder": tiny_encoder}, (2, 3, 4), tmp_path, monkeypatch)


def compute(name: str, settings: dict[str, Any], shown: tuple[int, ...], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute losses and gradients of questions with so many paragraphs in turn, on the device without data."""
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # which this device lacks
    questions = of_list(
        [question(number % 2 if len(set(shown)) == 1 else number, id=f"q{number}", shown=shown[number % 3]) for number in range(8)]
    )
    kind = find_reader(name)
    reader: Any = kind.make(name, kind.settings.model_validate(settings), TrainingSettings())
    task = reader.new_task(questions)
    Lora(reader.settings).add(task.network)
    examples = encode(task, questions, folder / "tokens", Silent(), what="questions")
    batch = task.collate(examples.take(questions.rows()))
    is_padded = any(longest != shortest for _, longest, shortest in batch["cpu_groups"].tolist())
    assert is_padded == (len(set(shown)) > 1)
    task.network.train().to("meta")
    losses = task.losses(to_device(batch, torch.device("meta")))
    losses.sum().backward()
    assert losses.shape == (8,)

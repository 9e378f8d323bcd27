"""LoRA (Hu et al. 2022) by peft: an encoder's weights stay as they are, and small matrices beside its linear layers are trained.

After training the matrices are added to the weights, so that a saved reader is an encoder like any other and needs no peft.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from kgqa.settings.base import Settings
from kgqa.settings.reader import LoraSettings
from kgqa.training.extra import require_readers

if TYPE_CHECKING:
    import torch

POOLER = r"(.*\.)?pooler\..*"
"""Names of layers that no reader uses, as a regular expression."""
POSITIONS = "position_embeddings.weight"


class Lora:
    """The low-rank matrices of one network; none if the settings have no ``lora_rank``."""

    def __init__(self, settings: Settings) -> None:
        """Raises SettingsError if peft is needed and not installed."""
        self._settings = settings
        self._rank = settings.lora_rank if isinstance(settings, LoraSettings) else 0
        self._tuner: Any = None
        if self._rank:
            require_readers(f"lora_rank = {self._rank}", needed=("peft",))

    def add(self, network: torch.nn.Module) -> None:
        """Freeze the pretrained encoder in ``network`` and put random matrices beside its linear layers; they add nothing at first.

        The heads of the reader, new positions and new marks are trained as without LoRA.
        """
        if not self._rank:
            return
        from peft import LoraConfig, LoraModel
        from transformers import PreTrainedModel

        settings: Any = self._settings
        encoder = next(module for module in network.modules() if isinstance(module, PreTrainedModel))
        rows = int(encoder.get_input_embeddings().num_embeddings)  # type: ignore[arg-type]
        config = LoraConfig(
            r=self._rank, lora_alpha=settings.lora_alpha or 2 * self._rank, target_modules="all-linear", exclude_modules=POOLER,
            trainable_token_indices=[rows - 2, rows - 1] if getattr(settings, "marks", False) else None,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of encoders without a pooler, and of GPT-2's layers, which it adapts to
            self._tuner = LoraModel(encoder, config, "default")
        if getattr(settings, "positions", None):
            for name, parameter in encoder.named_parameters():
                parameter.requires_grad_(parameter.requires_grad or name.endswith(POSITIONS))

    def merge(self) -> None:
        """Add the matrices to the weights that they stand beside, for good."""
        if self._tuner is not None:
            self._tuner.merge_and_unload()
            self._tuner = None

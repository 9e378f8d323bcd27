"""The base class of readers of several stages, each of which is fitted separately and saved in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kgqa.errors import storage_errors
from kgqa.readers import saved
from kgqa.settings.base import Settings
from kgqa.settings.training import TrainingSettings
from kgqa.training.loop import FitResult
from kgqa.training.reader import Reader


class StagedReader:
    """Readers in a row; the last one answers."""

    def __init__(self, name: str, settings: Settings, training: TrainingSettings) -> None:
        """Makes the stages, not yet fitted."""
        self.name, self.settings, self._training = name, settings, training
        self._make_stages()

    def _make_stages(self) -> None:
        """Make the stages of the settings."""
        raise NotImplementedError

    def _stages(self) -> Iterator[tuple[str, Reader]]:
        """Name of the folder, and each stage, in order."""
        raise NotImplementedError

    @property
    def fitted(self) -> FitResult | None:
        """The result of the last stage's fit, with the steps of all stages."""
        fits: list[FitResult | None] = [getattr(stage, "fitted", None) for _, stage in self._stages()]
        last = fits[-1]
        return None if last is None else replace(last, steps=sum(fit.steps for fit in fits if fit is not None))

    def save(self, folder: Path) -> None:
        """Write each stage to a folder of its own."""
        for name, stage in self._stages():
            with storage_errors(folder):
                (folder / name).mkdir()
            stage.save(folder / name)
        saved.write(folder, self.name, settings=self.settings.model_dump(mode="json"))

    def load(self, folder: Path) -> None:
        """Load the settings and all stages of a saved reader."""
        description = saved.read(folder, self.name)
        with saved.described(folder):
            self.settings = type(self.settings).model_validate(description["settings"])
        self._make_stages()
        for name, stage in self._stages():
            stage.load(folder / name)

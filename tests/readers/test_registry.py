"""What the list of readers says of each."""

from __future__ import annotations

import pytest

from kgqa.errors import SettingsError
from kgqa.readers.registry import READERS
from kgqa.settings.reader import LinkedSettings
from kgqa.settings.training import TrainingSettings


def test_readers_that_answer_nothing_say_so() -> None:
    silent = {name for name, kind in READERS.items() if not kind.answers}
    assert silent == {name for name, kind in READERS.items() if "answers nothing" in kind.purpose}
    assert silent == {"decomposer", "composer", "link-selector", "window-selector"}


@pytest.mark.parametrize("answerer", ["link-selector", "composer", "linked"])
def test_a_pipeline_needs_a_reader_that_answers(answerer: str) -> None:
    pytest.importorskip("torch", reason="the extra [readers] is not installed")
    with pytest.raises(SettingsError, match="it does not answer from paragraphs"):
        READERS["linked"].make("linked", LinkedSettings(answerer=answerer), TrainingSettings())

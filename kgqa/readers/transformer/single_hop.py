"""The single-hop reader: End2End that learns from the steps of decompositions (Trivedi et al. 2022, section 7.2.1)."""

from __future__ import annotations

from kgqa.readers.hops import single_hop
from kgqa.readers.transformer.end_to_end import SpanReader
from kgqa.readers.transformer.examples import Lessons
from kgqa.settings.reader import EncoderSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting


class SingleHopReader(SpanReader):
    """Learns from single-hop questions, and reads questions as they are."""

    def fit(self, train: Questions, dev: Questions | None, fitting: Fitting) -> None:
        """Learn from the steps; from a question that is not decomposed as it is."""
        super().fit(single_hop(train), None if dev is None else single_hop(dev), fitting)


def single_hop_reader(name: str, settings: EncoderSettings, training: TrainingSettings) -> SingleHopReader:
    """Make a single-hop reader on any encoder."""
    return SingleHopReader(name, settings, training, lessons=Lessons())

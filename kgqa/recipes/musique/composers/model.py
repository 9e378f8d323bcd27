"""Step S7 (Trivedi et al. 2022, appendix C, with BART-large): composition by a model trained on decompositions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kgqa.errors import SettingsError
from kgqa.progress import Progress
from kgqa.readers.trained import load_reader, reader_name
from kgqa.recipes.musique.composers.chain import Chain, referring
from kgqa.recipes.musique.composers.written import Written
from kgqa.records import Instance, Step
from kgqa.training.questions import of_list

READER = "composer"


class ModelComposer:
    """Runs a trained ``composer`` on the hops' questions without their answers, as in training."""

    def __init__(self, run: str | Path) -> None:
        """``run`` is the folder of a finished run. Raises InputError, SettingsError."""
        check_run(run)
        self._reader = load_reader(run, what="--composer model")

    def write(self, chains: Sequence[Chain], progress: Progress) -> Iterator[Written]:
        """Compose all chains, in batches of similar length."""
        instances = [_instance(chain) for chain in chains]
        for prediction, instance in zip(self._reader.predict(of_list(instances), progress), instances, strict=True):
            assert prediction.id == instance.id, "predictions come in the order of the questions"
            text = " ".join(prediction.answer.split())
            yield Written(question=text) if text else Written(reason="the model wrote nothing")


def check_run(run: str | Path) -> None:
    """Raise InputError or SettingsError where ``run`` does not hold a trained composer."""
    name = reader_name(run)
    if name != READER:
        raise SettingsError(f"{run}: this run trained the reader {name}; --composer model needs one of kgqa train {READER}.")


def _instance(chain: Chain) -> Instance:
    steps = tuple(Step(id=hop.id, question=referring(hop), answer=hop.answer, paragraph_id=None, depends_on=()) for hop in chain.hops)
    return Instance(
        id=chain.id, question="", paragraphs=(), answers=(chain.hops[-1].answer,), answer_type="span", decomposition=steps, answerable=True,
        group=chain.id, provenance=None,
    )  # fmt: skip

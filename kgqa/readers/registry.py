"""The readers by name; a reader's module is imported on first use.

Readers of other packages are found by :mod:`kgqa.readers.own`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any

from kgqa.errors import SettingsError, suggestion
from kgqa.readers import own
from kgqa.settings.base import Settings
from kgqa.settings.llm import OF_REQUESTS, EndpointReaderSettings
from kgqa.settings.reader import (
    CONNECTED,
    ArticleSettings,
    BooleanSettings,
    EncoderSettings,
    LinkedSettings,
    LinkSettings,
    OneParagraphSettings,
    RankingSettings,
    SelectSettings,
)
from kgqa.settings.recurrent import BidafSettings, FastqaSettings, RnnSettings
from kgqa.settings.seq2seq import ExecutionSettings, GenerativeSettings, ProgramSettings, Seq2SeqSettings
from kgqa.settings.training import TrainingSettings
from kgqa.training.reader import Reader

_TRANSFORMER = "kgqa.readers.transformer"
_RECURRENT = "kgqa.readers.recurrent.reader"


CONNECTS = {
    "yes": "Connects paragraphs.",
    "long": f"Connects paragraphs only if it reads more than {CONNECTED:,} tokens at once (positions = 2048, or a long encoder).",
    "no": "Cannot connect paragraphs.",
}
"""Whether a reader can answer from two paragraphs of which neither gives the answer alone → the sentence for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A reader that can be trained."""

    purpose: str
    """One sentence for ``kgqa train --list``."""
    module: str
    maker: str
    """What in the module makes a ``Reader`` from name, settings and training settings."""
    settings: type[Settings] = EncoderSettings
    training: Mapping[str, Any] | None = field(default_factory=dict)
    """Deviations from the default training settings; None if the reader counts training questions in one pass."""
    answers: bool = True
    """Whether it answers questions, and does not only make steps or questions or select what another reader reads."""
    connects: str = "no"
    """A key of :data:`CONNECTS`, or empty if unknown; without meaning for a reader that does not answer."""
    asks: bool = False
    """Whether it asks an endpoint, and so cannot be trained and saved."""
    incidental: tuple[str, ...] = ()
    """Settings that change no prediction."""

    @property
    def description(self) -> str:
        """The purpose, and whether the reader connects paragraphs."""
        return f"{self.purpose}. {CONNECTS[self.connects]}" if self.answers and self.connects else f"{self.purpose}."

    def make(self, name: str, settings: Settings, training: TrainingSettings) -> Reader:
        """A reader of this kind, not yet trained."""
        maker: Callable[[str, Settings, TrainingSettings], Reader] = getattr(import_module(self.module), self.maker)
        return maker(name, settings, training)


_counting = partial(Kind, module="kgqa.readers.lexical", maker="counting", settings=Settings, training=None)
_recurrent = partial(
    Kind,
    module=_RECURRENT,
    maker="RecurrentReader",
    connects="yes",
    training=MappingProxyType({"learning_rate": 1e-3, "epochs": 10, "batch_tokens": 32768}),
)
_encoder = partial(Kind, connects="long", training=MappingProxyType({"learning_rate": 1e-4, "epochs": 2}))

READERS: Mapping[str, Kind] = MappingProxyType(
    {
        "ee": _encoder(
            purpose="End2End: answer, support and sufficiency from the question and all paragraphs (Trivedi et al. 2022, section 7.2.1)",
            module=f"{_TRANSFORMER}.end_to_end", maker="end_to_end",
        ),
        "sa": _encoder(
            purpose="Select+Answer: a selector ranks paragraphs, an answerer reads the highest ones (section 7.2.1)",
            module=f"{_TRANSFORMER}.select_answer", maker="select_answer", settings=SelectSettings,
        ),
        "one-paragraph": _encoder(
            purpose="1-Para: Select+Answer with one paragraph (section 7.2.2)",
            module=f"{_TRANSFORMER}.select_answer", maker="one_paragraph", settings=OneParagraphSettings, connects="no",
        ),
        "question-only": _encoder(
            purpose="ranks candidates, or the answers of all training questions, by the question alone (section 7.2.2)",
            module=f"{_TRANSFORMER}.ranking", maker="RankingReader", settings=RankingSettings, connects="no",
        ),
        "context-only": _encoder(
            purpose="End2End that is not told the question (section 7.2.2)",
            module=f"{_TRANSFORMER}.end_to_end", maker="context_only",
        ),
        "random": _counting(purpose="any candidate, or any name or number of the paragraphs"),
        "max-mention": _counting(purpose="the candidate, or the name, that is mentioned most often (Welbl et al. 2018, section 6.1)"),
        "majority": _counting(purpose="the candidate that is most often the answer to this kind of query, or to the question word"),
        "prior": _counting(purpose="the candidate that is most often the answer to any training question, or the commonest answer"),
        "tf-idf": _counting(purpose="the candidate, name or number with which the question is most like one paragraph (section 6.1)"),
        "document-cue": _counting(purpose="the candidate, or the answer, that goes most often with one of these paragraphs (section 6.1)"),
        "bidaf": _recurrent(
            purpose="BiDAF over all paragraphs as one text (Seo et al. 2017, as Welbl et al. 2018 used it)",
            settings=BidafSettings,
        ),
        "fastqa": _recurrent(
            purpose="FastQA over all paragraphs as one text (Weissenborn et al. 2017, as Welbl et al. 2018 used it)",
            settings=FastqaSettings,
        ),
        "rnn": _recurrent(
            purpose="HotpotQA's recurrent baseline with support of paragraphs and sentences (Yang et al. 2018; Trivedi et al. 2020)",
            settings=RnnSettings, training=MappingProxyType({"learning_rate": 1e-3, "epochs": 3, "batch_tokens": 16384}),
        ),
        "numeric": _encoder(
            purpose="heads for span, spans, count, sum of numbers, yes/no and none (Dua et al. 2019; Ferguson et al. 2020)",
            module=f"{_TRANSFORMER}.numeric.reader", maker="TypedReader",
        ),
        "program": Kind(
            purpose="writes the answer, or the sum or difference that gives it, which is then computed",
            module=f"{_TRANSFORMER}.program", maker="program", settings=ProgramSettings, connects="yes",
            training=MappingProxyType({"learning_rate": 5e-4, "epochs": 20, "batch": 32}),
        ),
        "generative": Kind(
            purpose="an encoder-decoder, as T5 or BART, writes the answer from the question and its numbered paragraphs",
            module=f"{_TRANSFORMER}.generative", maker="generative", settings=GenerativeSettings, connects="yes",
            training=MappingProxyType({"learning_rate": 1e-4, "epochs": 5}),
        ),
        "boolean": _encoder(
            purpose="yes or no, from the question, its decomposition or the last step, with or without paragraphs (Geva et al. 2021)",
            module=f"{_TRANSFORMER}.boolean", maker="boolean", settings=BooleanSettings,
        ),
        "single-hop": _encoder(
            purpose="End2End that learns from the steps of decompositions, and answers single-hop questions (section 7.2.1)",
            module=f"{_TRANSFORMER}.end_to_end", maker="single_hop_reader",
        ),
        "decomposer": Kind(
            purpose="a question becomes its steps, which refer to each other as #1; answers nothing (section 7.2.1)",
            module=f"{_TRANSFORMER}.decomposer", maker="decomposer", settings=Seq2SeqSettings, answers=False,
            training=MappingProxyType({"learning_rate": 5e-4, "epochs": 20, "batch": 32}),
        ),
        "composer": Kind(
            purpose="steps become a question, for kgqa compose --composer model; answers nothing (section 8.2)",
            module=f"{_TRANSFORMER}.composer", maker="composer", settings=Seq2SeqSettings, answers=False,
            training=MappingProxyType({"learning_rate": 5e-4, "epochs": 20, "batch": 32}),
        ),
        "ex-ee": _encoder(
            purpose="step execution, EX(EE): decomposes a question and asks End2End step by step (section 7.2.1)",
            module=f"{_TRANSFORMER}.execution", maker="ex_ee", settings=ExecutionSettings, connects="yes",
        ),
        "ex-sa": _encoder(
            purpose="step execution, EX(SA): decomposes a question and asks Select+Answer step by step (section 7.2.1)",
            module=f"{_TRANSFORMER}.execution", maker="ex_sa", settings=ExecutionSettings, connects="yes",
        ),
        "link-selector": _encoder(
            purpose="which links of a passage lead to what a question needs; answers nothing (Ferguson et al. 2020, section 3.2.1)",
            module=f"{_TRANSFORMER}.link_selector", maker="LinkSelector", settings=LinkSettings, answers=False,
        ),
        "window-selector": _encoder(
            purpose="ranks overlapping windows of linked articles for a question; answers nothing (section 3.2.2)",
            module=f"{_TRANSFORMER}.window_selector", maker="WindowSelector", settings=ArticleSettings, answers=False,
        ),
        "linked": _encoder(
            purpose="IIRC's pipeline: selects links, then windows of their articles, and answers from these and the passage (section 3.2)",
            module=f"{_TRANSFORMER}.linked", maker="Linked", settings=LinkedSettings,
        ),
    }
)  # fmt: skip
"""Name of each built-in reader → its entry."""
LLM = "llm"
_LLM = Kind(
    purpose="a language model behind an endpoint, which is not trained",
    module="kgqa.readers.llm.endpoint_reader", maker="EndpointReader", settings=EndpointReaderSettings, training=None, connects="yes",
    asks=True, incidental=(*OF_REQUESTS, "input_price", "output_price"),
)  # fmt: skip


def reader_descriptions() -> dict[str, str]:
    """Name of each reader, built in or installed → its description. No module of a reader is imported."""
    return own.installed_readers() | {name: kind.description for name, kind in READERS.items()}


def find_reader(name: str, *, named: bool = False) -> Kind:
    """The reader of this name. Raises SettingsError for an unknown name.

    ``named``: whether the user gave the name, and not a file that may be somebody else's. Only then is a ``module:Class`` imported, since
    that runs its code; an installed reader always is, since its user installed it to be found.
    """
    if name == LLM:
        return _LLM
    if own.is_class_path(name):
        if not named:
            raise SettingsError(
                f"the reader {name} is code that a file names, and kgqa does not run it; name it yourself (kgqa predict --reader {name}), "
                f"or install it as a reader ({own.PAGE})."
            )
        return _own_kind(name)
    point = own.installed(name)
    if point is not None and name in READERS:
        raise SettingsError(
            f"reader {name!r} is one of kgqa and one of the package {own.package_of(point)}; give {point.value}, or uninstall the package."
        )
    if point is not None:
        return _own_kind(name)
    if name not in READERS:
        advice = suggestion(name, tuple(reader_descriptions()), unlisted=(LLM,))
        raise SettingsError(f"reader {name!r} is not known; {advice}")
    return READERS[name]


def _own_kind(name: str) -> Kind:
    reader = own.own_class(name)
    return Kind(
        purpose=(reader.__doc__ or name).strip().partition("\n")[0], module=own.__name__, maker=own.own_reader.__name__,
        settings=own.own_settings(reader), training=own.own_training(reader), connects="",
    )  # fmt: skip

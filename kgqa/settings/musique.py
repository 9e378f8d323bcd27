"""The recipe of MuSiQue (Trivedi et al. 2022, section 5), with the paper's values as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from kgqa.settings.base import Positive, RecipeSettings, Settings, Share

SHAPES = ("2hop", "3hop1", "3hop2", "4hop1", "4hop2", "4hop3")
"""The six reasoning graphs (table 1), as MuSiQue's ids name them."""
FILTERS = {
    "readers": "trained readers, cross-fitted (the paper's disconnection filter)",
    "lexical": "log-linear readers of words, trained and cross-fitted in seconds",
}
"""How disconnected pairs are found → what that is."""
COMPOSERS = {
    "rules": "the first question becomes a noun phrase inside the second",
    "model": "a sequence-to-sequence model trained on decompositions",
    "llm": "a chat-completions endpoint",
    "people": "people, whose answers were imported",
}
"""Who writes the composed question → how."""


def forms(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """The forms of a template, none of which is empty."""
    return tuple(form for form in ((value,) if isinstance(value, str) else value) if form)


class TemplateSettings(Settings):
    """How facts of some relations are asked and said; ``{head}`` and ``{tail}`` stand for the fact's two names, ``{a tail}`` for the tail's
    with its article."""

    relations: tuple[str, ...] = ()
    """Ids of the relations, which say the same."""
    reversed: tuple[str, ...] = ()
    """Ids of relations that say it the other way round: their head is the ``{tail}``."""
    question: str | tuple[str, ...] = ""
    """Asks for the tail, ``Where was {head} born?``; empty: it is not asked for. Of several forms one is drawn, as of the next three."""
    phrase: str | tuple[str, ...] = ""
    """The tail as a noun phrase, ``the place where {head} was born``; needed with ``question``."""
    clause: str | tuple[str, ...] = ""
    """Says the fact of a head that is not named, ``was born in {tail}``; empty: heads are not asked for."""
    attribute: str | tuple[str, ...] = ""
    """The same right after a noun, ``born in {tail}``, which saves a clause; empty: only ``clause`` says it."""
    branch: bool = True
    """Whether the fact may be one of two that say who is meant; false of what too many in the world have for that, as a birthplace."""
    noun: str = ""
    """What a head is, ``person``; needed with ``clause``."""
    symmetric: bool = False
    """Whether head and tail can be exchanged, as of spouses; known of relations whose tables say so or often have both directions."""
    vague: bool = False
    """Whether the noun says little, ``place``, so that the noun by which the head's article says what it is, ``city``, is better."""

    @field_validator("question", "phrase", "clause", "attribute")
    @classmethod
    def _has_its_place(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for form in forms(value):
            try:
                places = [name for _, name, spec, conversion in Formatter().parse(form) if name is not None or spec or conversion]
            except ValueError as error:
                raise ValueError(f"braces stand for names alone: {error}") from None
            if "{{" in form or "}}" in form:
                raise ValueError("a doubled brace would stand in every question; braces stand for names alone")
            if len(places) != 1 or places[0] not in {"head", "tail", "a tail"}:
                raise ValueError("it must have one place for a name, {head}, {tail} or {a tail}")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> TemplateSettings:
        for one, other in (("question", "phrase"), ("clause", "noun")):
            if bool(getattr(self, one)) != bool(getattr(self, other)):
                raise ValueError(f"{one} and {other} go together; give both or none")
        if self.attribute and not self.clause:
            raise ValueError("attribute goes with a clause; give both or none")
        for name, place in (("question", "{head}"), ("phrase", "{head}"), ("clause", "tail}"), ("attribute", "tail}")):
            if any(place not in form for form in forms(getattr(self, name))):
                raise ValueError(f"{name} has no {'{head}' if place == '{head}' else '{tail}'}")
        return self


class ReadingSettings(Settings):
    """What texts state, by a model that is learned from the facts (step S1)."""

    use: bool = True
    """Whether facts that the graph lacks are read, too."""
    stated: Annotated[float, Field(ge=0, le=1)] = 0.1
    """How probably a text must state a fact of the graph; 0: it counts that the text names both."""
    read: Share = 0.6
    """How probably it must state one that the graph lacks."""
    precision: Share = 0.8
    """Of what is as probable, for heads of which the graph has a fact of the relation, so many must be facts: the lower bound of it."""


class SingleHopSettings(Settings):
    """Which single-hop questions are good (step S1), and how facts become some."""

    min_words: Annotated[int, Field(ge=0)] = 20
    """Words of a paragraph; so is ``max_words``."""
    max_words: Positive = 300
    """Longer paragraphs of sets are left out; of a graph's articles so much is shown, in whole sentences."""
    max_objects: Positive = 1
    """A fact is asked about if its head has no more tails in the relation; a head if its tail has no more heads."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.65
    """Over all facts of a relation so many heads a fact if tails are asked for, tails a fact if heads are, at least: where others mostly
    have several answers, the one that the graph knows is seldom the only one. 1 is a function."""
    complete: bool = False
    """Whether the graph lacks no fact, so that the share of ``functional`` is taken as it is; else it is the lower bound of an estimate
    that few facts do not convince, least of all that a tail has one head."""
    by_chance: Annotated[float, Field(ge=0)] = 0.02
    """An entity is asked for by two of its facts if so many others had both by chance, at most."""
    reading: ReadingSettings = ReadingSettings()
    documents: Literal["about", "any"] = "about"
    """Where a fact must be stated: in the article about its head, which names the tail, or in a sentence of the article about its tail;
    with ``any`` a sentence of any text counts that names both, for texts that are about no entity."""
    clauses: Annotated[int, Field(ge=0)] = 12
    """Questions that ask for one entity by two of its facts, at most, drawn; 0: none."""
    min_both: Annotated[int, Field(ge=1)] = 2
    """Each of the two facts must be true of so many entities, so that neither is enough."""
    branch_below: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Of all facts of a relation different tails a fact, below which it can be one of the two: a capital mostly says alone of what it is
    one."""
    readers: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Folders of runs of ``kgqa train``: one of these readers must find a part of the answer in the paragraph."""

    @model_validator(mode="after")
    def _has_room(self) -> SingleHopSettings:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words {self.min_words} is above max_words {self.max_words}, so that no paragraph is good")
        return self


class PairSettings(Settings):
    """Which pairs of questions can be composed (step S2)."""

    max_heads: Positive = 25
    """Questions with one answer that are paired, and questions that name it, at most, drawn: all pairs over a common answer would be
    as many as the square of its questions."""
    max_tails: Positive = 100
    capital_share: Annotated[float, Field(ge=0, le=1)] = 0.8
    """A name is written with a capital in this share of its places in the paragraphs; else it is a word like others ("First", "Women")."""
    spacy: str = ""
    """A spaCy pipeline, by its package or folder, which must tag answer and name as entities of one type, where no graph knows them."""


class DisconnectionSettings(Settings):
    """Which pairs are connected (step S3)."""

    use: Literal["readers", "lexical", "none"] = "lexical"
    """Networks that are trained, or log-linear readers of words, which are trained too, and quick."""
    head_reader: str = "question-only"
    """With ``use = "readers"``: answers heads without a paragraph."""
    tail_reader: str = "ee"
    """Answers tails whose bridge is masked, from their paragraph among others."""
    head_below: Share = 0.5
    """A head is kept if its mean answer F1 is below this."""
    tail_at_most: Annotated[float, Field(ge=0, le=1)] = 0.25
    """A tail is kept if its mean answer F1 is at most this, or at most ``tail_without_support`` with a mean support F1 below 1 by readers
    that know support better than a draw does."""
    tail_without_support: Annotated[float, Field(ge=0, le=1)] = 0.75
    distractors: Positive = 9
    """Paragraphs beside the tail's own."""
    rivals: Annotated[int, Field(ge=0, le=100)] = 4
    """So many of them at most answer a question like the tail, as in contexts."""
    folds: Annotated[int, Field(ge=3, le=20)] = 5
    seeds: Annotated[int, Field(ge=1, le=20)] = 2
    settings: Mapping[str, Any] = {}
    """What the readers are told, as ``kgqa.settings.reader`` has it."""
    training: Mapping[str, Any] = {}
    """How they are trained, as ``kgqa.settings.training`` has it."""


class ShapeSettings(Settings):
    """Which reasoning graphs are built (step S4)."""

    needed: bool = True
    """Whether chains with a hop that is not needed are left out: a fact joins what an earlier hop is about and the answer, or hops of these
    two kinds are joined by one in ``implied`` of the cases, or the paragraph of an earlier hop states the answer."""
    implied: Share = 0.25

    max_tokens: Positive = 10
    """Of a single-hop question."""
    max_tokens_short: Positive = 15
    """Of all questions of two or three hops."""
    max_tokens_long: Positive = 20
    """Of all questions of four hops."""
    max_per_bridge: Positive = 25
    """Multi-hop questions over one bridge entity."""
    max_per_question: Positive = 100
    """Multi-hop questions with one single-hop question."""
    fan_in: Positive = 8
    """Heads of one place in a question, drawn; what is built of them grows with its third power."""
    size: Positive = 25_000
    """Multi-hop questions at most."""
    shares: Mapping[str, Annotated[float, Field(ge=0, le=1)]] = {
        "2hop": 0.62, "3hop1": 0.13, "3hop2": 0.10, "4hop1": 0.05, "4hop2": 0.05, "4hop3": 0.05,
    }  # fmt: skip
    """Shape → its share of ``size``; what one lacks is not given to others."""

    @field_validator("shares")
    @classmethod
    def _are_shapes(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        for name in value:
            if name not in SHAPES:
                raise ValueError(f"there is no shape {name!r}; known are {', '.join(SHAPES)}")
        if not 0 < sum(value.values()) <= 1 + 1e-9:
            raise ValueError(f"the shares must add up to more than 0 and no more than 1, they add up to {sum(value.values()):g}")
        return value


class LeakageSettings(Settings):
    """How the questions are split (step S5)."""

    train: Share = 0.8
    dev: Annotated[float, Field(ge=0, lt=1)] = 0.1
    test: Annotated[float, Field(ge=0, lt=1)] = 0.1
    leak_free: bool = True
    """Whether no two splits share a single-hop question, answer or paragraph; false: a random split, to compare with."""
    max_answer_share: Share = 0.01
    """Of a split's questions so many have one answer at most, the first ones drawn; five are always allowed."""
    max_last_share: Share = 0.35
    """So many of a split's questions at most have the answer that others have whose last hops say the same but for bridges; five always."""
    max_relation_share: Share = 0.08
    """Of the facts that the questions of a split ask about so many are of one relation at most."""
    max_template_share: Share = 0.03
    """So many of a split's questions are of one template at most: the relations of their hops, in one shape."""
    shapes: Mapping[Literal["2hop", "3hop", "4hop"], Share] = {"2hop": 0.8, "3hop": 0.31, "4hop": 0.2}
    """Hops → so many of train's questions have as many at most, about as in MuSiQue; what is not named has no limit."""

    @model_validator(mode="after")
    def _shares_add_up(self) -> LeakageSettings:
        if abs(self.train + self.dev + self.test - 1) > 1e-9:
            raise ValueError(f"train, dev and test must add up to 1, they add up to {self.train + self.dev + self.test:g}")
        return self


class ContextSettings(Settings):
    """What is shown with a question (step S6)."""

    paragraphs: Annotated[int, Field(ge=4, le=1000)] = 20
    """The supporting ones included."""
    bridges: Annotated[int, Field(ge=0, le=100)] = 3
    """Distractors that name the answer of an earlier hop, where there are some."""
    rivals: Annotated[int, Field(ge=0, le=100)] = 4
    """Distractors that answer a question like the last one, where there are some."""
    branches: bool = True
    """Whether somebody else in the context must have each of the two facts by which a hop asks."""
    own: bool = True
    """Whether distractors are paragraphs of the question's own split, each about as often as it is a support; false: of the whole pool."""
    reuse: Annotated[float, Field(gt=0)] = 1.3
    """So many times as often as all paragraphs are distractors for each time that they support, one may be."""


class LlmSettings(Settings):
    """How a chat-completions endpoint is asked (step S7); its address and key come from the command line and the environment alone."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Left to the endpoint where nothing is said."""
    structured: Literal["schema", "object"] = "schema"
    """How the form of the answer is asked for: by a JSON schema, or, where an endpoint knows none, as any JSON object."""
    max_output_tokens: Positive = 1000
    """Of one answer, thoughts included."""
    tries: Annotated[int, Field(ge=1, le=10)] = 2
    """Times that one chain is asked about at most; from the second on with what was wrong."""
    at_once: Annotated[int, Field(ge=1, le=256)] = 4
    """Requests that wait for their answers at a time."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """So long an endpoint may take for an answer, from the request to its last byte."""
    retries: Annotated[int, Field(ge=0, le=20)] = 5
    """Of a request that finds no one, too many others, or a fault of the server."""
    input_price: Annotated[float, Field(ge=0)] | None = None
    """Of a million tokens; so is ``output_price``."""
    output_price: Annotated[float, Field(ge=0)] | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = None
    """What all answers that the workspace has recorded may have cost; in the currency of the prices, which are needed with it."""

    @model_validator(mode="after")
    def _costs_need_prices(self) -> LlmSettings:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price go together; give both or none")
        return self


class CompositionSettings(Settings):
    """How the steps become one question (step S7)."""

    composer: Literal["rules", "model", "llm", "people"] = "rules"
    max_words: Positive = 60
    """A longer question is left out."""
    max_clauses: Annotated[int, Field(ge=0)] = 2
    """Clauses within a sentence of rules ("that", "who"); of more, one becomes a sentence of its own, or the chain is left out."""
    model: Annotated[str, Field(min_length=1)] | None = None
    """Of ``model`` the folder of a run of ``kgqa train composer``; of ``llm`` what the endpoint calls its model."""
    llm: LlmSettings = LlmSettings()


class MusiqueSettings(RecipeSettings):
    """Single-hop questions, composed to multi-hop ones."""

    templates: Mapping[str, TemplateSettings] = {}
    """How facts are asked; relations in none of them are asked in a neutral form."""
    forms: bool = True
    """Whether one of a template's forms is drawn for each question; false: it is always the first."""
    neutral: bool = True
    """Whether relations without a template are asked about, by their label."""
    unasked: tuple[str, ...] = ()
    """Relations that are not asked about, by id or by label."""
    single_hop: SingleHopSettings = SingleHopSettings()
    pairs: PairSettings = PairSettings()
    disconnection: DisconnectionSettings = DisconnectionSettings()
    shapes: ShapeSettings = ShapeSettings()
    split: LeakageSettings = LeakageSettings()
    contexts: ContextSettings = ContextSettings()
    composition: CompositionSettings = CompositionSettings()

    @model_validator(mode="after")
    def _a_relation_is_said_in_one_way(self) -> MusiqueSettings:
        seen: dict[str, str] = {}
        for name, template in self.templates.items():
            for relation in (*template.relations, *template.reversed):
                if seen.setdefault(relation, name) != name:
                    raise ValueError(f"the relation {relation} is in templates.{seen[relation]} and in templates.{name}; leave it in one")
        return self

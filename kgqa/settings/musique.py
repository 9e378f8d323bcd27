"""The recipe of MuSiQue (Trivedi et al. 2022, section 5), with the paper's values as defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from kgqa.settings.base import Positive, RecipeSettings, Settings, Share, SplitShares
from kgqa.settings.linking import CODE, is_english
from kgqa.settings.llm import LlmSettings

SHAPES = ("2hop", "3hop1", "3hop2", "4hop1", "4hop2", "4hop3")
"""The six reasoning graphs (table 1), as MuSiQue's ids name them."""
FILTERS = {
    "readers": "trained readers, cross-fitted (the paper's disconnection filter)",
    "lexical": "log-linear readers of words, trained and cross-fitted in seconds",
}
"""Disconnection filter → its description."""
COMPOSERS = {
    "rules": "the first question becomes a noun phrase inside the second",
    "model": "a sequence-to-sequence model trained on decompositions",
    "llm": "a chat-completions endpoint",
    "people": "people, whose answers were imported",
}
"""Composer → how it writes the question."""


def forms(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """The non-empty forms of a template."""
    return tuple(form for form in ((value,) if isinstance(value, str) else value) if form)


class TemplateSettings(Settings):
    """Wording of the facts of some relations; ``{head}`` and ``{tail}`` are the fact's two names, ``{a tail}`` the tail's with its
    article."""

    relations: tuple[str, ...] = ()
    """Ids of relations with the same meaning."""
    reversed: tuple[str, ...] = ()
    """Ids of relations with the inverse meaning: their head is the ``{tail}``."""
    question: str | tuple[str, ...] = ""
    """Asks for the tail, ``Where was {head} born?``; empty: never asked for. With several forms one is drawn; the same holds for the next
    three."""
    phrase: str | tuple[str, ...] = ""
    """The tail as a noun phrase, ``the place where {head} was born``; required with ``question``."""
    clause: str | tuple[str, ...] = ""
    """The fact as a verb phrase without its head, ``was born in {tail}``; empty: heads are never asked for."""
    attribute: str | tuple[str, ...] = ""
    """The same after a noun, ``born in {tail}``, which saves a clause; empty: use ``clause`` only."""
    branch: bool = True
    """Whether the fact can be one of two that identify an entity; false for facts that too many entities have, such as a birthplace."""
    noun: str = ""
    """Noun for a head, ``person``; required with ``clause``."""
    symmetric: bool = False
    """Whether head and tail are interchangeable, as for spouses. Detected for relations whose facts often have both directions."""
    nested: str | tuple[str, ...] = ""
    """The question with a phrase, the answer of another question, in place of ``{head}``; empty: made of ``question`` and ``phrase`` by
    English rules, or ``question`` in other languages."""
    nested_phrase: str | tuple[str, ...] = ""
    """The same for ``phrase``; empty: ``phrase``."""
    vague: bool = False
    """Whether the noun is too general, as ``place``; the noun in the first sentence of the head's article, as ``city``, then replaces
    it."""

    def in_place_of_rules(self) -> TemplateSettings:
        """The template with its nested forms, so that no rule of English makes them."""
        return self.model_copy(update={"nested": self.nested or self.question, "nested_phrase": self.nested_phrase or self.phrase})

    @field_validator("question", "phrase", "clause", "attribute", "nested", "nested_phrase")
    @classmethod
    def _has_its_place(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for form in forms(value):
            try:
                places = [name for _, name, spec, conversion in Formatter().parse(form) if name is not None or spec or conversion]
            except ValueError as error:
                raise ValueError(f"braces are for names only: {error}") from None
            if "{{" in form or "}}" in form:
                raise ValueError("a doubled brace would appear in every question; braces are for names only")
            if len(places) != 1 or places[0] not in {"head", "tail", "a tail"}:
                raise ValueError("it must have one place for a name, {head}, {tail} or {a tail}")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> TemplateSettings:
        for first, second in (("question", "phrase"), ("clause", "noun")):
            if bool(getattr(self, first)) != bool(getattr(self, second)):
                raise ValueError(f"{first} and {second} go together; give both or none")
        if self.attribute and not self.clause:
            raise ValueError("attribute goes with a clause; give both or none")
        if (self.nested or self.nested_phrase) and not self.question:
            raise ValueError("nested forms go with a question and a phrase; give these too")
        heads = ((name, "{head}") for name in ("question", "phrase", "nested", "nested_phrase"))
        for name, place in (*heads, ("clause", "tail}"), ("attribute", "tail}")):
            if any(place not in form for form in forms(getattr(self, name))):
                raise ValueError(f"{name} has no {'{head}' if place == '{head}' else '{tail}'}")
        return self


class NeutralSettings(Settings):
    """Wording of facts by the label of their relation; ``{relation}`` is the label, ``{head}`` the name of what the question is about."""

    question: str
    """``What is the {relation} of {head}?``"""
    phrase: str
    """``the {relation} of {head}``"""
    nested: str = ""
    """``question`` with a phrase in place of ``{head}``; empty: the same."""
    nested_phrase: str = ""
    """``phrase`` with a phrase in place of ``{head}``; empty: the same."""

    @field_validator("question", "phrase", "nested", "nested_phrase")
    @classmethod
    def _has_its_places(cls, value: str) -> str:
        if value and (value.count("{relation}"), value.count("{head}"), value.count("{")) != (1, 1, 2):
            raise ValueError("it must have one {relation}, one {head}, and no other braces")
        return value

    def template(self, label: str) -> TemplateSettings:
        """The template of a relation with this label, which must hold no braces."""
        forms_with_label = {name: form.replace("{relation}", label) for name, form in self.model_dump().items()}
        return TemplateSettings(**forms_with_label).in_place_of_rules()


class LanguageSettings(Settings):
    """Questions in one language, from facts whose names and labels are in that language."""

    templates: Mapping[str, TemplateSettings] = {}
    """How to ask facts, without clauses and attributes, which are put together by English rules."""
    neutral: NeutralSettings | None = None
    """How to ask relations without a template; none: they are not asked, as in languages whose grammar no such form fits."""

    @model_validator(mode="after")
    def _needs_no_english_rules(self) -> LanguageSettings:
        for name, template in self.templates.items():
            if not template.question or template.clause:
                raise ValueError(f"templates.{name}: in another language than English a template has question and phrase, and no clause")
        if not self.templates and self.neutral is None:
            raise ValueError("it has neither templates nor a neutral form; give one")
        return self


class ReadingSettings(Settings):
    """Facts that texts state, by a model that is learned from the facts of the graph (step S1)."""

    use: bool = True
    """Extract additional facts from articles."""
    stated: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Minimum probability that a text states a fact of the graph; 0: it is enough that the text names both entities."""
    read: Share = 0.6
    """Minimum probability that a text states a fact that the graph lacks."""
    precision: Share = 0.8
    """Minimum precision (lower bound) of facts read with at least the same probability, measured on heads with known facts of the
    relation."""


class SingleHopSettings(Settings):
    """Selection of single-hop questions, and their construction from facts (step S1)."""

    min_words: Annotated[int, Field(ge=0)] = 20
    """Minimum words of a paragraph."""
    max_words: Positive = 300
    """Maximum words of a paragraph. Longer paragraphs of question sets are left out; articles of a graph are truncated after a whole
    sentence."""
    max_objects: Positive = 1
    """Maximum tails of a head in a relation to ask for the tail, and heads of a tail to ask for the head."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.65
    """Minimum functionality of a relation: heads per fact to ask for tails, tails per fact to ask for heads; 1 is a function. Below it most
    questions have answers that the graph lacks."""
    complete: bool = False
    """Whether the graph is complete, so that ``functional`` applies to the observed share; else it applies to the lower bound of an
    estimate, which needs enough facts."""
    by_chance: Annotated[float, Field(ge=0)] = 0.02
    """Maximum expected number of other entities that have both facts of a two-fact question by chance."""
    reading: ReadingSettings = ReadingSettings()
    documents: Literal["about", "any"] = "about"
    """Where a fact must be stated. ``about``: the article about its head names the tail, or a sentence of the article about its tail names
    the head. ``any``: a sentence of any text names both, for texts without a subject entity."""
    clauses: Annotated[int, Field(ge=0)] = 12
    """Maximum two-fact questions per entity, drawn at random; 0: none."""
    min_both: Annotated[int, Field(ge=1)] = 2
    """Minimum entities that have each of the two facts, so that neither suffices alone."""
    branch_below: Annotated[float, Field(gt=0, le=1)] = 0.5
    """A relation can be one of the two facts if it has fewer distinct tails per fact than this. A capital mostly identifies its country
    alone."""
    readers: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Folders of ``kgqa train`` runs. One of these readers must find a part of the answer in the paragraph."""

    @model_validator(mode="after")
    def _has_room(self) -> SingleHopSettings:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words {self.min_words} is above max_words {self.max_words}, so that no paragraph is good")
        return self


class PairSettings(Settings):
    """Composable pairs of questions (step S2)."""

    max_heads: Positive = 25
    """Maximum heads with the same answer, drawn at random. Without a limit, the number of pairs over a frequent answer grows with its
    square."""
    max_tails: Positive = 100
    """Maximum tails that name the same answer."""
    capital_share: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Minimum share of a name's occurrences in the paragraphs with a capital; otherwise it is a common word ("First", "Women")."""
    spacy: str = ""
    """A spaCy pipeline, by package or folder. It must tag answer and name as entities of one type if no graph knows them."""


class DisconnectionSettings(Settings):
    """Filter of disconnected pairs (step S3)."""

    use: Literal["readers", "lexical", "none"] = "lexical"
    """``lexical``: log-linear readers of words, trained in a minute; ``readers``: networks; ``none``."""
    head_reader: str = "question-only"
    """With ``use = "readers"``: reader that answers heads without a paragraph."""
    tail_reader: str = "ee"
    """With ``use = "readers"``: reader that answers tails with the bridge masked, from their paragraph and distractors."""
    head_below: Share = 0.5
    """Keep a head if its mean answer F1 is below this."""
    tail_at_most: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Keep a tail if its mean answer F1 is at most this. A tail with an F1 up to ``tail_without_support`` is also kept, if the mean
    support F1 is below 1 and the readers find support better than chance."""
    tail_without_support: Annotated[float, Field(ge=0, le=1)] = 0.75
    """See ``tail_at_most``."""
    distractors: Positive = 9
    """Distractors in a tail's context."""
    rivals: Annotated[int, Field(ge=0, le=100)] = 4
    """Maximum distractors that answer a question like the tail, as in contexts."""
    folds: Annotated[int, Field(ge=3, le=20)] = 5
    """Folds of the cross-fitting; one of them decides when to stop."""
    seeds: Annotated[int, Field(ge=1, le=20)] = 2
    """Readers per kind and fold. Their scores are averaged."""
    llm: Mapping[str, Any] = {}
    """With ``use = "readers"``: settings of the reader ``llm`` (``kgqa.settings.llm``)."""
    settings: Mapping[str, Any] = {}
    """Settings of the readers (``kgqa.settings.reader``)."""
    training: Mapping[str, Any] = {}
    """Training settings of the readers (``kgqa.settings.training``)."""


class ShapeSettings(Settings):
    """Construction of reasoning graphs (step S4)."""

    needed: bool = True
    """Drop chains with a hop that is not needed. A hop is not needed in three cases: a fact joins the subject of an earlier hop to the
    answer; such facts join at least a share ``implied`` of the pairs of hops of these two kinds; or the paragraph of an earlier hop states
    the answer."""
    implied: Share = 0.25
    """Minimum share of pairs joined by a fact for hops of two kinds to count as joined (``needed``)."""

    max_tokens: Positive = 10
    """Maximum tokens of a single-hop question."""
    max_tokens_short: Positive = 15
    """Maximum tokens of all questions of two or three hops."""
    max_tokens_long: Positive = 20
    """Maximum tokens of all questions of four hops."""
    max_per_bridge: Positive = 25
    """Maximum multi-hop questions over one bridge entity."""
    max_per_question: Positive = 100
    """Maximum multi-hop questions with the same single-hop question."""
    fan_in: Positive = 8
    """Maximum heads per slot of a question, drawn at random. The number of chains grows with its third power."""
    size: Positive = 25_000
    """Maximum multi-hop questions."""
    shares: Mapping[str, Annotated[float, Field(ge=0, le=1)]] = {
        "2hop": 0.62, "3hop1": 0.13, "3hop2": 0.10, "4hop1": 0.05, "4hop2": 0.05, "4hop3": 0.05,
    }  # fmt: skip
    """Shape → its share of ``size``. A shortfall is not given to other shapes."""

    @field_validator("shares")
    @classmethod
    def _are_shapes(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        for name in value:
            if name not in SHAPES:
                raise ValueError(f"there is no shape {name!r}; known are {', '.join(SHAPES)}")
        if not 0 < sum(value.values()) <= 1 + 1e-9:
            raise ValueError(f"the shares must add up to more than 0 and no more than 1, they add up to {sum(value.values()):g}")
        return value


class LeakageSettings(SplitShares):
    """Splits of the questions (step S5)."""

    leak_free: bool = True
    """Splits share no single-hop question, answer or paragraph; false: a random split, for comparison."""
    max_answer_share: Share = 0.01
    """Maximum share of a split's questions with one answer; five are always allowed."""
    max_last_share: Share = 0.35
    """Maximum share of a split's questions with the same answer and a last hop of the same wording, ignoring bridges; five are always
    allowed."""
    max_relation_share: Share = 0.08
    """Maximum share of one relation among the facts of a split's questions."""
    max_template_share: Share = 0.03
    """Maximum share of a split's questions with one template: the relations of the hops, in one shape."""
    shapes: Mapping[Literal["2hop", "3hop", "4hop"], Share] = {"2hop": 0.8, "3hop": 0.31, "4hop": 0.2}
    """Hops → maximum share of train's questions, about as in MuSiQue; others have no limit."""


class ContextSettings(Settings):
    """Paragraphs shown with a question (step S6)."""

    paragraphs: Annotated[int, Field(ge=4, le=1000)] = 20
    """Paragraphs of a context, including the supporting ones."""
    bridges: Annotated[int, Field(ge=0, le=100)] = 3
    """Maximum distractors that name the answer of an earlier hop."""
    rivals: Annotated[int, Field(ge=0, le=100)] = 4
    """Maximum distractors that answer a question of the last hop's kind."""
    branches: bool = True
    """Require another entity in the context for each of the two facts of a two-fact hop."""
    own: bool = True
    """Draw distractors from the paragraphs of the question's own split, each about as often as it is a support; false: from the whole
    pool."""
    reuse: Annotated[float, Field(gt=0)] = 1.3
    """Maximum uses of one paragraph as a distractor per use as a support, relative to the mean of all paragraphs."""


class CompositionSettings(Settings):
    """Composition of the steps into one question (step S7)."""

    composer: Literal["rules", "model", "llm", "people"] = "rules"
    """Composer of the questions (docs/musique.md)."""
    max_words: Positive = 60
    """Maximum words of a question."""
    max_clauses: Annotated[int, Field(ge=0)] = 2
    """Maximum relative clauses ("that", "who") in a sentence written by rules. With more, one clause becomes its own sentence, or the chain
    is left out."""
    model: Annotated[str, Field(min_length=1)] | None = None
    """For ``model``: the folder of a ``kgqa train composer`` run. For ``llm``: the endpoint's name of its model."""
    llm: LlmSettings = LlmSettings()


class MusiqueSettings(RecipeSettings):
    """Composition of multi-hop questions from single-hop ones."""

    templates: Mapping[str, TemplateSettings] = {}
    """How to ask facts, in English; relations without a template get a neutral form."""
    languages: Mapping[str, LanguageSettings] = {}
    """How to ask facts in other languages, by their code as in ``linking.language``: ``[musique.languages.de.templates.NAME]``."""
    forms: bool = True
    """Draw one of a template's forms for each question; false: always use the first."""
    neutral: bool | NeutralSettings = True
    """Ask relations without a template by their label; or the form in which that is done."""
    unasked: tuple[str, ...] = ()
    """Relations to leave out, by id or by label."""
    single_hop: SingleHopSettings = SingleHopSettings()
    pairs: PairSettings = PairSettings()
    disconnection: DisconnectionSettings = DisconnectionSettings()
    shapes: ShapeSettings = ShapeSettings()
    split: LeakageSettings = LeakageSettings()
    contexts: ContextSettings = ContextSettings()
    composition: CompositionSettings = CompositionSettings()

    @model_validator(mode="after")
    def _a_relation_is_said_in_one_way(self) -> MusiqueSettings:
        for code in self.languages:
            if not re.fullmatch(CODE, code) or not code or is_english(code):
                raise ValueError(f"languages.{code}: this is no code of another language than English, such as de")
        places = {"templates": self.templates}
        places |= {f"languages.{code}.templates": language.templates for code, language in self.languages.items()}
        for place, templates in places.items():
            owners: dict[str, str] = {}
            for name, template in templates.items():
                for relation in (*template.relations, *template.reversed):
                    if owners.setdefault(relation, name) != name:
                        raise ValueError(f"the relation {relation} is in {place}.{owners[relation]} and in {place}.{name}; leave it in one")
        return self

    def asking_in(self, language: str) -> MusiqueSettings | None:
        """The settings with the templates and the neutral form of a language in place of the English ones; None if it has none.

        A code with a region (``de-AT``) uses the forms of the language (``de``) where it has none of its own.
        """
        chosen = self.languages.get(language) or self.languages.get(language.partition("-")[0])
        if chosen is None:
            return None
        templates = {name: template.in_place_of_rules() for name, template in chosen.templates.items()}
        return self.model_copy(update={"templates": templates, "neutral": chosen.neutral or False})

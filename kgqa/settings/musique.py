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
from kgqa.settings.values import ValuesSettings

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
    """Ids of relations with the inverse meaning, whose head is the ``{tail}``."""
    values: tuple[str, ...] = ()
    """Names of relations with dates or quantities (``musique.values``) to ask for, such as ``date of birth``; in place of ``relations``.
    Only the last hop of a question asks for them."""
    question: str | tuple[str, ...] = ""
    """Question for the tail, such as ``Where was {head} born?``; empty: tails are never asked for. If there are several forms, one is
    drawn; this also holds for the next three fields."""
    phrase: str | tuple[str, ...] = ""
    """Noun phrase for the tail, such as ``the place where {head} was born``; required with ``question``."""
    clause: str | tuple[str, ...] = ""
    """Verb phrase that states the fact about its head, such as ``was born in {tail}``; empty: heads are never asked for."""
    attribute: str | tuple[str, ...] = ""
    """The clause as a modifier after a noun, such as ``born in {tail}``, which makes questions shorter; empty: only ``clause`` is used."""
    cues: tuple[str, ...] = ()
    """Beginnings of words, such as ``born``: a text states the fact only if a sentence that names the other entity has one of them. Empty:
    any words."""
    branch: bool = True
    """Whether the fact may be one of the two that identify an entity; false for facts that too many entities have, such as a birthplace."""
    noun: str = ""
    """Noun for a head, such as ``person``; required with ``clause``."""
    symmetric: bool = False
    """Whether head and tail are interchangeable, as for spouses. Detected for relations whose facts often have both directions."""
    nested: str | tuple[str, ...] = ""
    """Form of ``question`` for a noun phrase as ``{head}``, that is, for the answer to another question. Empty: derived from ``question``
    and ``phrase`` by English rules; in other languages ``question`` itself."""
    nested_phrase: str | tuple[str, ...] = ""
    """The same for ``phrase``; empty: ``phrase`` itself."""
    vague: bool = False
    """Whether the noun is too general, such as ``place``. It is then replaced by the noun in the first sentence of the head's article, such
    as ``city``."""

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
                raise ValueError(f"braces are only for names: {error}") from None
            if "{{" in form or "}}" in form:
                raise ValueError("a doubled brace would appear in every question; braces are only for names")
            if len(places) != 1 or places[0] not in {"head", "tail", "a tail"}:
                raise ValueError("it must have one place for a name, {head}, {tail} or {a tail}")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> TemplateSettings:
        for first, second in (("question", "phrase"), ("clause", "noun")):
            if bool(getattr(self, first)) != bool(getattr(self, second)):
                raise ValueError(f"{first} and {second} go together; give both or neither")
        if self.values and (self.relations or self.reversed or self.clause or not self.question):
            raise ValueError("values go with question and phrase alone; leave out relations, reversed and clause")
        if self.attribute and not self.clause:
            raise ValueError("attribute requires clause; give both or neither")
        if (self.nested or self.nested_phrase) and not self.question:
            raise ValueError("nested forms require question and phrase; give these too")
        heads = ((name, "{head}") for name in ("question", "phrase", "nested", "nested_phrase"))
        for name, place in (*heads, ("clause", "tail}"), ("attribute", "tail}")):
            if any(place not in form for form in forms(getattr(self, name))):
                raise ValueError(f"{name} has no {'{head}' if place == '{head}' else '{tail}'}")
        return self


class NeutralSettings(Settings):
    """Wording of facts by the label of their relation; ``{relation}`` is the label, ``{head}`` the name of what the question is about."""

    question: str
    """Question, such as ``What is the {relation} of {head}?``"""
    phrase: str
    """Noun phrase, such as ``the {relation} of {head}``."""
    nested: str = ""
    """Form of ``question`` for a noun phrase as ``{head}``; empty: ``question`` itself."""
    nested_phrase: str = ""
    """The same for ``phrase``; empty: ``phrase`` itself."""

    @field_validator("question", "phrase", "nested", "nested_phrase")
    @classmethod
    def _has_its_places(cls, value: str) -> str:
        if value and (value.count("{relation}"), value.count("{head}"), value.count("{")) != (1, 1, 2):
            raise ValueError("it must have one {relation}, one {head} and no other braces")
        return value

    def template(self, label: str) -> TemplateSettings:
        """The template of a relation with this label, which must hold no braces."""
        forms_with_label = {name: form.replace("{relation}", label) for name, form in self.model_dump().items()}
        return TemplateSettings(**forms_with_label).in_place_of_rules()


class LanguageSettings(Settings):
    """Questions in one language, from facts whose names and labels are in that language."""

    templates: Mapping[str, TemplateSettings] = {}
    """Templates for asking about facts, without ``clause`` and ``attribute``, which English rules combine."""
    neutral: NeutralSettings | None = None
    """Form for relations without a template; null: no questions about such relations, for languages whose grammar allows no such form."""

    @model_validator(mode="after")
    def _needs_no_english_rules(self) -> LanguageSettings:
        for name, template in self.templates.items():
            if not template.question or template.clause:
                raise ValueError(
                    f"templates.{name}: a template in a language other than English has a question and a phrase, but no clause"
                )
        if not self.templates and self.neutral is None:
            raise ValueError("it has neither templates nor a neutral form; add one of them")
        return self


class ReadingSettings(Settings):
    """Facts that texts state, by a model that is learned from the facts of the graph (step S1)."""

    use: bool = True
    """Extract additional facts from articles."""
    stated: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Minimum probability that a text states a fact of the graph; 0: it is enough that the text names both entities. Larger values drop
    more facts."""
    read: Share = 0.6
    """Minimum probability that a text states a fact that the graph lacks. Larger values extract fewer and more reliable facts."""
    second: Share = 0.4
    """Minimum probability that a text states a second answer to a question for a tail; the question is then dropped. Larger values keep
    more questions with several correct answers."""
    precision: Share = 0.8
    """Minimum precision (lower bound) of the extracted facts with at least the same probability, measured on heads with known facts of the
    relation. Larger values extract fewer and more reliable facts."""


class SingleHopSettings(Settings):
    """Selection of single-hop questions, and their construction from facts (step S1)."""

    min_words: Annotated[int, Field(ge=0)] = 20
    """Minimum words of a paragraph; shorter ones are excluded."""
    max_words: Positive = 300
    """Maximum words of a paragraph. Longer paragraphs of question sets are excluded; articles of a graph are truncated at the end of a
    sentence."""
    max_objects: Positive = 1
    """Maximum correct answers of a question in the graph: tails of its head if the question is about the tail, heads of its tail if it is
    about the head. Larger values give more questions with several correct answers."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.65
    """Minimum functionality of a relation, from 0 to 1: heads per fact to ask for tails, tails per fact to ask for heads; 1 is a function.
    Larger values exclude more relations whose questions have correct answers that the graph lacks."""
    complete: bool = False
    """Treat the graph as complete, so that ``functional`` applies to the observed share; false: it applies to the lower bound of an
    estimate, which needs enough facts."""
    by_chance: Annotated[float, Field(ge=0)] = 0.02
    """Maximum expected number of other entities that have both facts of a two-fact question by chance. Larger values give more questions
    and more ambiguous ones."""
    reading: ReadingSettings = ReadingSettings()
    documents: Literal["about", "any"] = "about"
    """Texts that must state a fact. ``about``: the article about its head names the tail, or a sentence of the article about its tail names
    the head. ``any``: a sentence of any text names both; for texts without a subject entity."""
    clauses: Annotated[int, Field(ge=0)] = 12
    """Maximum two-fact questions per entity, drawn at random; 0: none."""
    min_both: Annotated[int, Field(ge=1)] = 2
    """Minimum entities that have each of the two facts, so that neither fact identifies the entity alone."""
    branch_below: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Maximum ratio of distinct tails to facts of a relation that may be one of the two facts of a question. Above it, one fact mostly
    identifies the entity alone, as a capital does a country."""
    readers: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Folders of ``kgqa train`` runs. At least one of these readers must find part of the answer in the paragraph; empty: no such
    filter."""

    @model_validator(mode="after")
    def _has_room(self) -> SingleHopSettings:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words {self.min_words} is above max_words {self.max_words}, so no paragraph qualifies")
        return self


class PairSettings(Settings):
    """Composable pairs of questions (step S2)."""

    max_heads: Positive = 25
    """Maximum heads with the same answer, drawn at random. The number of pairs over a frequent answer grows with the square of this."""
    max_tails: Positive = 100
    """Maximum tails that name the same answer."""
    capital_share: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Minimum share of a name's occurrences in the paragraphs that are capitalised; below it, the name counts as a common word ("First",
    "Women")."""
    spacy: str = ""
    """spaCy pipeline, as a package or folder. It must tag answer and name as entities of the same type if the graph lacks one of them;
    empty: no such check."""


class DisconnectionSettings(Settings):
    """Filter of disconnected pairs (step S3)."""

    use: Literal["readers", "lexical", "none"] = "lexical"
    """Readers of the disconnection filter: ``lexical`` (log-linear models over words, trained in a minute), ``readers`` (neural networks)
    or ``none``."""
    head_reader: str = "question-only"
    """With ``use = "readers"``: reader that answers the head without a paragraph."""
    tail_reader: str = "ee"
    """With ``use = "readers"``: reader that answers the tail with the bridge masked, from its paragraph and distractors."""
    head_below: Share = 0.5
    """Head questions are kept if the mean answer F1 of the readers is below this. Larger values keep more head questions that can be
    answered without a paragraph."""
    tail_at_most: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Tail questions are kept if the mean answer F1 of the readers is at most this. A tail question with an F1 up to
    ``tail_without_support`` is also kept if the mean support F1 is below 1 and the readers find the support better than chance. Larger
    values keep more tail questions that can be answered without the bridge."""
    tail_without_support: Annotated[float, Field(ge=0, le=1)] = 0.75
    """Maximum mean answer F1 of a tail whose supporting paragraph the readers do not find (see ``tail_at_most``)."""
    distractors: Positive = 9
    """Number of distractors in a tail's context."""
    rivals: Annotated[int, Field(ge=0, le=100)] = 4
    """Maximum distractors in a tail's context that answer a question like the tail."""
    folds: Annotated[int, Field(ge=3, le=20)] = 5
    """Folds of the cross-fitting; one of them is used for early stopping. Larger values train more readers, each on more data."""
    seeds: Annotated[int, Field(ge=1, le=20)] = 2
    """Readers per kind and fold, whose scores are averaged. Larger values give more stable scores and take more time."""
    llm: Mapping[str, Any] = {}
    """With ``use = "readers"``: settings of the reader ``llm`` (``kgqa.settings.llm``)."""
    settings: Mapping[str, Any] = {}
    """Settings of the readers (``kgqa.settings.reader``)."""
    training: Mapping[str, Any] = {}
    """Training settings of the readers (``kgqa.settings.training``)."""


class ShapeSettings(Settings):
    """Construction of reasoning graphs (step S4)."""

    needed: bool = True
    """Drop chains with an unnecessary hop. A hop is unnecessary if a fact connects the subject of an earlier hop to the answer, if such
    facts exist for at least a share ``implied`` of the pairs of hops of these two kinds, or if the paragraph of an earlier hop states the
    answer."""
    implied: Share = 0.25
    """Minimum share of pairs that a fact must connect for hops of two kinds to count as connected (see ``needed``). Larger values drop
    fewer chains."""

    max_tokens: Positive = 10
    """Maximum tokens of each single-hop question."""
    max_tokens_short: Positive = 15
    """Maximum total tokens of the single-hop questions in a chain of two or three hops."""
    max_tokens_long: Positive = 20
    """Maximum total tokens of the single-hop questions in a chain of four hops."""
    max_per_bridge: Positive = 25
    """Maximum multi-hop questions that pass through the same bridge entity."""
    max_per_question: Positive = 100
    """Maximum multi-hop questions that contain the same single-hop question."""
    fan_in: Positive = 8
    """Maximum head questions for each place of a tail question where an earlier answer goes, drawn at random. The number of chains grows
    with the third power of this number."""
    size: Positive = 25_000
    """Maximum multi-hop questions of the whole dataset."""
    shares: Mapping[str, Annotated[float, Field(ge=0, le=1)]] = {
        "2hop": 0.62, "3hop1": 0.13, "3hop2": 0.10, "4hop1": 0.05, "4hop2": 0.05, "4hop3": 0.05,
    }  # fmt: skip
    """Reasoning graph → maximum share of ``size``. If one has too few questions, the others do not get its share."""

    @field_validator("shares")
    @classmethod
    def _are_shapes(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        for name in value:
            if name not in SHAPES:
                raise ValueError(f"there is no shape {name!r}; choose one of {', '.join(SHAPES)}")
        if not 0 < sum(value.values()) <= 1 + 1e-9:
            raise ValueError(f"the shares must add up to more than 0 and no more than 1, but they add up to {sum(value.values()):g}")
        return value


class LeakageSettings(SplitShares):
    """Splits of the questions (step S5)."""

    leak_free: bool = True
    """Keep single-hop questions, answers and paragraphs from occurring in two splits; false: a random split, for comparison."""
    max_answer_share: Share = 0.01
    """Maximum share of a split's questions with the same answer; five questions are always allowed."""
    max_last_share: Share = 0.35
    """Maximum share of a split's questions that can be answered by guessing the most frequent answer to the wording of their last hop,
    whatever the bridge; five are always allowed."""
    max_relation_share: Share = 0.08
    """Maximum share of one relation among the facts of a split's questions."""
    max_template_share: Share = 0.03
    """Maximum share of a split's questions with the same template, that is, the same relations of the hops in the same reasoning graph."""
    shapes: Mapping[Literal["2hop", "3hop", "4hop"], Share] = {"2hop": 0.8, "3hop": 0.31, "4hop": 0.2}
    """Number of hops → maximum share of the train split's questions, about as in MuSiQue; without an entry: no limit."""


class ContextSettings(Settings):
    """Paragraphs shown with a question (step S6)."""

    paragraphs: Annotated[int, Field(ge=4, le=1000)] = 20
    """Paragraphs per context, including the supporting ones."""
    bridges: Annotated[int, Field(ge=0, le=100)] = 3
    """Maximum distractors per context that name the answer of an earlier hop."""
    rivals: Annotated[int, Field(ge=0, le=100)] = 4
    """Maximum distractors per context that answer a question of the same kind as the last hop."""
    branches: bool = True
    """Require another entity in the context for each of the two facts of a two-fact hop, so that both facts are needed."""
    own: bool = True
    """Draw distractors from the paragraphs of the question's own split, each about as often as it is a supporting paragraph; false: from
    all paragraphs."""
    reuse: Annotated[float, Field(gt=0)] = 1.3
    """Maximum ratio of a paragraph's uses as a distractor to its uses as a support, relative to the mean of all paragraphs. Larger values
    reuse paragraphs more unevenly, which can mark them as distractors."""


class CompositionSettings(Settings):
    """Composition of the steps into one question (step S7)."""

    composer: Literal["rules", "model", "llm", "people"] = "rules"
    """How questions are written: ``rules``, ``model``, ``llm`` or ``people``."""
    max_words: Positive = 60
    """Maximum words of a composed question."""
    max_clauses: Annotated[int, Field(ge=0)] = 2
    """Maximum relative clauses ("that", "who") in a sentence that the rules write. Above it, one clause becomes a sentence of its own, or
    the chain is dropped."""
    model: Annotated[str, Field(min_length=1)] | None = None
    """With ``model``: folder of a ``kgqa train composer`` run. With ``llm``: the name that the endpoint gives its model."""
    llm: LlmSettings = LlmSettings()


class MusiqueSettings(RecipeSettings):
    """Composition of multi-hop questions from single-hop ones."""

    templates: Mapping[str, TemplateSettings] = {}
    """Templates for asking about facts in English. Relations without a template get a neutral form."""
    languages: Mapping[str, LanguageSettings] = {}
    """Templates for other languages, by their code as in ``linking.language``: ``[musique.languages.de.templates.NAME]``."""
    forms: bool = True
    """Draw one of a template's forms for each question; false: always use the first."""
    neutral: bool | NeutralSettings = True
    """Ask about relations without a template by their label; or a table with the neutral form itself (``question``, ``phrase``); false: do
    not ask about them."""
    unasked: tuple[str, ...] = ()
    """Ids or labels of relations to exclude."""
    values: ValuesSettings = ValuesSettings()
    """Dates and quantities, for templates with ``values``."""
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
                raise ValueError(f"languages.{code}: this is not the code of a language other than English, such as de")
        places = {"templates": self.templates}
        places |= {f"languages.{code}.templates": language.templates for code, language in self.languages.items()}
        for place, templates in places.items():
            owners: dict[str, str] = {}
            for name, template in templates.items():
                for relation in (*template.relations, *template.reversed, *template.values):
                    if owners.setdefault(relation, name) != name:
                        raise ValueError(f"the relation {relation} is in {place}.{owners[relation]} and in {place}.{name}; leave it in one")
        return self

    def asking_in(self, language: str) -> MusiqueSettings | None:
        """The settings with the templates and the neutral form of a language in place of the English ones; None if it has none.

        A code with a region (``de-AT``) uses the forms of the language (``de``) where it has none of its own.
        """
        forms_of_language = self.languages.get(language) or self.languages.get(language.partition("-")[0])
        if forms_of_language is None:
            return None
        templates = {name: template.in_place_of_rules() for name, template in forms_of_language.templates.items()}
        return self.model_copy(update={"templates": templates, "neutral": forms_of_language.neutral or False})

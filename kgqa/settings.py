"""What can be set, with the paper's value as the default where the paper gives one; unknown keys are errors."""

from __future__ import annotations

from string import Formatter
from typing import Annotated, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]
NAME_SOURCES = {"wikidata": ("title", "label", "alias"), "medline": ("name", "gene", "synonym")}
"""Layout → the kinds of name that its reader makes, from the most to the least telling."""
KINDS = {"wikidata": ("entity",), "medline": ("drug", "protein")}
"""Layout → the kinds of entity that its reader makes."""


class Settings(BaseModel):
    """Frozen, and strict about names: a misspelt key is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class SourceSettings(Settings):
    """Where the tables come from."""

    layout: Literal["wikidata", "medline"]
    """Which reader; see ``kgqa/sources``."""


class PlainWordSettings(Settings):
    """Names that are everyday English words, as the drug synonyms Care, Body and Same."""

    zipf: float = Field(default=4.0, ge=0, le=8)
    """A word at or above this Zipf frequency is everyday (4 = ten times in a million words)."""
    words: tuple[str, ...] = ()
    """Rarer words that the texts use in another sense (lower case)."""
    sources: tuple[str, ...] = ()
    """The kinds of name to which the rule applies; main names are usually exempt."""
    kinds: tuple[str, ...] = ()
    """The kinds of entity to which it applies; empty: all."""
    spare_candidates: bool = False
    """Whether it spares entities that can be an answer."""
    keep: tuple[str, ...] = ()
    """Words that are names all the same (lower case)."""


class SharedNameSettings(Settings):
    """Names of several entities are left out, unless a preference leaves one winner."""

    prefer_kinds: tuple[str, ...] = ()
    """Entity kinds, best first: whose name it is when a drug and a protein share one."""
    prefer_sources: tuple[str, ...] = ()
    """Kinds of name, best first: an article's title beats another entity's alias."""
    others: tuple[str, ...] = ()
    """Names that belong to something outside the tables too: never linked, but stated and masked where they occur."""


class SupportSettings(Settings):
    """Short names count only in documents that also have a longer name of the same entity."""

    letters: dict[str, Positive] = {}
    """Kind of name → names without a digit of at most so many letters need support."""
    with_digit: dict[str, Positive] = {}
    """The same for names with a digit."""
    keep: tuple[str, ...] = ()
    """Short names that need none."""


class LinkingSettings(Settings):
    """How names become mentions (docs/linking.md shows what each rule removes)."""

    minimum_letters: dict[str, Positive] = {}
    """Kind of name → letters and digits that it must have."""
    keep_numbers: bool = False
    """Whether names without a letter take part."""
    exact_letters: int = Field(default=3, ge=0)
    """Names of at most so many letters and digits match in exact case only."""
    case: dict[str, Literal["free", "initial", "exact", "as_written"]] = {}
    """Kind of name → how longer ones match: any case, any case of the first letter only, exactly, or (as_written) exactly unless another
    name of the entity, or the article of what is no possible answer, has the name with a small first letter."""
    before_number: bool = True
    """Whether a name may be followed by a hyphen and a digit ("IL" in "IL-2")."""
    undescribed_words: bool = False
    """Whether single words are left out that are names of entities with neither an article nor a description."""
    shortened_titles: str = ""
    """What a title adds to an ambiguous name, as a regular expression: a single word that lacks it counts as shared; empty: none."""
    list_pages: str = ""
    """How an article begins that only lists what its title may mean, as a regular expression: what it is about has no name; empty: none."""
    plain_words: tuple[PlainWordSettings, ...] = ()
    small_share: Share = 1.0
    """Capitalised words of which the texts write more than this share with a small letter are left out; 1: none."""
    whole_names: bool = False
    """Whether a capitalised word directly beside another is taken for a part of a longer name that the tables lack."""
    support: SupportSettings = SupportSettings()
    shared: SharedNameSettings = SharedNameSettings()
    exclude_names: tuple[str, ...] = ()
    """Names that never match, in any case."""

    @field_validator("shortened_titles", "list_pages")
    @classmethod
    def _is_a_regular_expression(cls, value: str) -> str:
        # Polars applies it, so polars says whether it is one; its syntax differs from Python's.
        try:
            pl.Series([""]).str.contains(f"^(?:{value})$")
        except pl.exceptions.ComputeError:
            raise ValueError("it is not a regular expression that polars understands") from None
        return value


class DocumentSettings(Settings):
    """Which documents take part."""

    exclude_about: tuple[str, ...] = ()
    """Entities whose own article is left out of the graph (WikiHop: the United States, section 3.2)."""
    max_tokens: int = Field(default=0, ge=0)
    """Texts with more tokens than this beyond their title are left out; 0: no limit (MedHop: 300, section 4)."""


class ProjectionSettings(Settings):
    """Which named queries say what the graph's edges are (docs/decisions/0003-projection.md)."""

    document_to_entity: tuple[str, ...] = Field(min_length=1)
    """Queries that return ``document, entity``: the traversal may go from the document to the entity."""
    entity_to_document: tuple[str, ...] = Field(min_length=1)
    """Queries that return ``entity, document``: the traversal may go from the entity to the document."""
    candidates: tuple[str, ...] = ()
    """For ``--traversal cypher``: queries that find what an entity (``entity``) reaches over one, two, … documents (``candidate``)."""
    chains: tuple[str, ...] = ()
    """For ``--traversal cypher``: queries for the chains of one, two, … documents from an entity (``entity``) to ``candidates``."""
    files: tuple[str, ...] = ()
    """Further ``.cypher`` files, in the TOML file's folder or below; kgqa's own are always there."""


class SplitSettings(Settings):
    """How the facts are divided before anything is filtered; each share is of the groups, and they add up to 1."""

    train: Share = 0.85
    dev: Annotated[float, Field(ge=0, lt=1)] = 0.1
    test: Annotated[float, Field(ge=0, lt=1)] = 0.05
    by: Literal["head", "pair"] = "head"
    """What no two splits share: the subject entity, or the unordered pair of subject and answer."""

    @model_validator(mode="after")
    def _shares_add_up(self) -> SplitSettings:
        if abs(self.train + self.dev + self.test - 1) > 1e-9:
            raise ValueError(f"train, dev and test must add up to 1, they add up to {self.train + self.dev + self.test:g}")
        return self


class TraversalSettings(Settings):
    """How candidates and their chains are found (Welbl et al. 2018, section 2.1)."""

    max_documents: Annotated[int, Field(ge=1, le=8)] = 3
    """Documents on a chain."""
    chains: Literal["tree", "all_shortest", "all_simple"] = "tree"
    """The breadth-first tree's one chain per candidate, or all shortest, or all simple ones."""
    max_chains: Positive = 16
    """With ``all_shortest`` and ``all_simple``: at most so many per candidate, shorter ones first."""


class BalanceSettings(Settings):
    """MedHop's rounds: the same number of chains for every candidate (section 4)."""

    candidates: Annotated[int, Field(ge=0)] = 0
    """Candidates per sample, the answer included; 0: no balancing, all candidates stay."""


class BiasSettings(Settings):
    """What is done against shortcuts (section 3.2)."""

    answer_cap: Share = 0.001
    """No answer keeps more than this share of a split's samples; where that is less than one sample, as many as answers have on average;
    1: no cap."""
    answer_cap_of: Literal["entering", "kept"] = "entering"
    """Whether the share is of the samples that enter the filter or of those that leave it (docs/decisions/0005-answer-cap.md)."""
    document_cue: int = Field(default=20, ge=0)
    """Samples with a document-answer pair seen more often than this, with that answer correct, are dropped, but never all of a split;
    0: none are."""


class QangarooSettings(Settings):
    """The recipe of WikiHop and MedHop (Welbl et al. 2018)."""

    relations: tuple[str, ...] = ()
    """Relations that are asked about; empty: all."""
    both_directions: bool = True
    """Whether a symmetric fact is asked from both of its ends."""
    endpoint_kind: str = ""
    """End points: the entities of this kind; empty: those that are an object of the relation in a training fact."""
    answer_stated: Literal["subject_document", "any_document"] = "subject_document"
    """A fact is not asked if its answer is stated in the subject's own article, or together with the subject in any document."""
    min_candidates: Annotated[int, Field(ge=2)] = 2
    max_candidates: Positive = 100
    max_documents: Positive = 64
    placeholders: Annotated[int, Field(ge=2)] = 100
    """Distinct placeholder tokens of the masked twin."""
    surface: Literal["label", "id"] = "label"
    """What the official format shows: lower-cased labels (WikiHop), or ids, also in the texts (MedHop)."""
    question: str = "{relation} {subject}"
    """The query; ``{relation}`` has underscores for spaces."""
    traversal: TraversalSettings = TraversalSettings()
    balance: BalanceSettings = BalanceSettings()
    bias: BiasSettings = BiasSettings()
    splits: SplitSettings = SplitSettings()

    @model_validator(mode="after")
    def _limits_leave_room(self) -> QangarooSettings:
        most = self.balance.candidates or self.max_candidates
        if self.min_candidates > min(most, self.max_candidates):
            raise ValueError(f"min_candidates ({self.min_candidates}) is more than a sample may have ({min(most, self.max_candidates)})")
        return self

    @model_validator(mode="after")
    def _rounds_have_chains(self) -> QangarooSettings:
        if self.balance.candidates and self.traversal.chains == "tree":
            raise ValueError("balance.candidates needs traversal.chains 'all_shortest' or 'all_simple', a tree has one chain per candidate")
        return self

    @model_validator(mode="after")
    def _placeholders_suffice(self) -> QangarooSettings:
        if self.placeholders < self.max_candidates:
            raise ValueError(f"placeholders ({self.placeholders}) must be at least max_candidates ({self.max_candidates})")
        try:
            parts = [part[1:] for part in Formatter().parse(self.question) if part[1] is not None]
        except ValueError:
            parts = [("", "", None)]
        if any(part not in {("relation", "", None), ("subject", "", None)} for part in parts) or ("subject", "", None) not in parts:
            raise ValueError("question may use only {relation} and {subject}, and must use {subject}")
        return self


class DomainSettings(Settings):
    """One domain: what a TOML file holds, built in or the user's own."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    dataset: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    """The folder of the finished dataset."""
    title: str
    licence: str = "unknown"
    """What the dataset card says about the licence of texts and facts."""
    seed_domain: str = ""
    """The folder in ``seeds/`` that stands in where no source is given; of a domain of your own only if it names it itself."""
    source: SourceSettings
    documents: DocumentSettings = DocumentSettings()
    linking: LinkingSettings = LinkingSettings()
    projection: ProjectionSettings
    qangaroo: QangarooSettings = QangarooSettings()

    @model_validator(mode="after")
    def _names_and_kinds_exist(self) -> DomainSettings:
        layout = self.source.layout
        link = self.linking
        sources: list[str] = [
            *link.minimum_letters,
            *link.case,
            *link.support.letters,
            *link.support.with_digit,
            *link.shared.prefer_sources,
        ]
        kinds: list[str] = [*link.shared.prefer_kinds, *([self.qangaroo.endpoint_kind] if self.qangaroo.endpoint_kind else [])]
        for words in link.plain_words:
            sources += words.sources
            kinds += words.kinds
        for what, used, known in (("kind of name", sources, NAME_SOURCES[layout]), ("kind of entity", kinds, KINDS[layout])):
            for name in used:
                if name not in known:
                    raise ValueError(f"there is no {what} {name!r} in the layout {layout}; known are {', '.join(known)}")
        return self

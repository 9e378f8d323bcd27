"""The recipe of WikiHop and MedHop (Welbl et al. 2018), with the paper's values as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from kgqa.settings.base import Positive, RecipeSettings, Settings, Share


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
    """With ``all_shortest`` and ``all_simple``, and where chains are graded: at most so many per candidate, shorter ones first."""
    through_end_points: bool = True
    """Whether a chain may lead on from an entity of the kind of the end points; false only where that kind is named."""


class BalanceSettings(Settings):
    """MedHop's rounds: the same number of chains for every candidate (section 4)."""

    candidates: Annotated[int, Field(ge=0)] = 0
    """Candidates per sample, the answer included; 0: no balancing, all candidates stay."""


class BiasSettings(Settings):
    """What is done against shortcuts (section 3.2)."""

    answer_cap: Share = 0.005
    """No answer keeps more than this share of a split's samples; where that is less than one sample, as many as answers have on average;
    1: no cap."""
    answer_cap_of: Literal["entering", "kept"] = "entering"
    """Whether the share is of the samples that enter the filter or of those that leave it (docs/decisions/0005-answer-cap.md)."""
    document_cue_drops: Literal["all", "surplus"] = "surplus"
    """Whether all samples go that have such a pair, as in the paper, or only those above the limit, the best-graded ones last."""
    document_cue: Annotated[int | float, Field(ge=0)] = 0.00046
    """Samples with a document-answer pair seen more often than this, with that answer correct, are dropped, but never all of a split. Below
    1 it is a share of the split's samples, and at least 2 of them (published: 20 of 43,738); from 1 a number of samples; 0: none are."""
    mention_cue: bool = True
    """Whether, of the samples whose answer is the candidate that the documents mention most, as many are dropped as are beyond chance and
    its standard error."""
    shortcut_share: Share = 1.0
    """Samples are dropped until no baseline that reads nothing is right in more than this share of a split, or than chance; 1: none."""
    untrained_share: Share = 1.0
    """``shortcut_share`` of the baselines that learn nothing from train: masking does not stop them."""
    named_answer: bool = True
    """Whether samples are dropped whose query, or (with ``answer_stated = "subject_document"``) whose subject's own article, has any form
    of any name of the answer."""

    @field_validator("document_cue", mode="after")
    @classmethod
    def _a_number_is_whole(cls, value: float) -> float:
        if value > 1 and value != int(value):
            raise ValueError(f"a share is below 1 and a number of samples is whole, {value:g} is neither")
        return value


class EvidenceSettings(Settings):
    """What a chain must imply (docs/evidence.md); beyond the paper, whose own recipe is ``use = false``."""

    use: bool = True
    """Whether chains are graded, and samples and candidates chosen by grades."""
    min_support: Positive = 5
    """Training facts that a path must lead to before it is a rule."""
    min_confidence: Share = 0.1
    """Rules less sure than this are not kept."""
    grade: Annotated[float, Field(ge=0, le=1)] = 0.3
    """How surely the answer's chain must imply it."""
    odds: Annotated[float, Field(ge=0)] = 3.0
    """The chain must make the odds of the answer so many times those that its frequency alone gives it."""
    grade_long: Annotated[float, Field(ge=0, le=1)] = 0.5
    """``grade`` for chains of three documents, which are graded by composing rules."""
    odds_long: Annotated[float, Field(ge=0)] = 10.0
    """``odds`` for chains of three documents."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.1
    """How functional the path to the answer must be, in one of its directions: the product of its hops, 1 for a function."""
    margin: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Candidates whose chain implies them nearly as surely as the answer's, within this, may be true and leave; so do those whose chain
    would be sure enough for an answer."""
    better: Literal["reject", "leave"] = "leave"
    """Whether a sample goes in which the chain to another candidate implies more than that to the answer, or only the candidate."""
    text: Literal["document", "near", "sentence"] = "near"
    """How the texts must at least bring together the entities of each hop of the answer's chain."""
    facts: Annotated[int, Field(ge=0, le=3)] = 1
    """Hops of the answer's path that must be facts of the graph, and not only named together by a text; where facts imply nothing, none
    need be."""
    max_objects: Annotated[float, Field(gt=0)] = 5.0
    """Relations with more objects per subject, and with more subjects per object too, say little, and are not asked about; symmetric ones
    with more than half as many."""
    text_lift: Annotated[float, Field(ge=0)] = 2.0
    """So many times oftener than a pair drawn by chance must a pair that a text names together be a fact of the relation."""
    graded_share: Annotated[float, Field(ge=0, le=1)] = 0.02
    """Relations of which a smaller share of the samples is implied are not asked about: what is implied there is so by accident."""
    second_truth: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Candidates leave that a fact joins to the subject which implies the relation at least so surely."""
    beside_answer: bool = False
    """Whether candidates stay that a document of the answer's chain states too."""
    hierarchy: bool = True
    """Whether candidates leave that are a part of the answer, or that it is a part of."""


QUALITIES: dict[str, dict[str, float | int]] = {
    "large": {
        "stated": 0.1, "read": 0.5, "lift": 0.0, "functional": 0.05, "common": 50, "answer_share": 0.7, "per_documents": 5,
        "per_hop": 30,
    },
    "balanced": {},
    "strict": {
        "stated": 0.4, "read": 0.75, "lift": 1.5, "functional": 0.3, "common": 10, "answer_share": 0.3, "per_documents": 1,
        "per_hop": 5,
    },
}  # fmt: skip
"""What each ``quality`` sets of :class:`PathSettings`; what a domain sets itself goes before it."""


class PathSettings(Settings):
    """Queries about two stated hops in a row (docs/paths.md)."""

    quality: Literal["large", "balanced", "strict"] = "balanced"
    """Sets the limits below that a domain does not set itself: more samples, or surer ones."""
    stated: Share = 0.2
    """How probably a text must state a hop that is a fact of the graph."""
    read: Share = 0.65
    """How probably it must state one that is not."""
    lift: Annotated[float, Field(ge=0)] = 0.5
    """By how much the words of a text must raise the log-odds of a hop over what the other facts of its entities say."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.1
    """How functional the relation of each hop must be, read in its direction: subjects per fact, 1 for a function."""
    common: Positive = 30
    """Where more documents than this name bridge and answer together, that hop is common knowledge, and is not asked about."""
    min_queries: Positive = 2
    """Paths with fewer queries are not asked about."""
    answer_share: Share = 0.5
    """No more than this share of a path's queries have one answer, but always one."""
    per_documents: Positive = 3
    """Queries whose chains have the same two documents."""
    per_hop: Positive = 15
    """Queries that may end with the same hop: the same answer, stated by the same document."""
    candidates: Annotated[int, Field(ge=2)] = 12
    """Candidates of a sample at most, the answer included."""
    min_alike: Annotated[int, Field(ge=1)] = 2
    """Candidates of the answer's type that a sample must have beside it."""
    alike: Annotated[float, Field(ge=0, le=1)] = 0.2
    """How much alike the roles of two entities must be for them to be of one type: a cosine."""

    @model_validator(mode="before")
    @classmethod
    def _quality_sets_the_rest(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        quality = values.get("quality", "balanced")
        return {**(QUALITIES.get(quality, {}) if isinstance(quality, str) else {}), **values}


class PairSettings(Settings):
    """Queries about pairs of which two texts state something with the same third entity (docs/medhop.md)."""

    stated: Share = 0.3
    """How probably a sentence must state a hop that is a fact of the graph."""
    read: Share = 0.65
    """How probably it must state one that is not."""
    facts: Annotated[int, Field(ge=0, le=2)] = 2
    """Hops of the answer's chain that must be facts of the graph."""
    possible: Annotated[float, Field(ge=0, le=1)] = 0.4
    """From this probability on a hop may be stated; a candidate to which two such hops lead may be true as well, and leaves."""
    per_document: Positive = 12
    """Queries whose answer's chain has the same document."""
    per_answer: Positive = 20
    """Queries with the same answer."""
    per_bridge: Positive = 120
    """Queries whose answer's chain leads over the same entity."""
    per_entity: Positive = 1000
    """Documents and end points that are looked through for distractors over one entity."""


class QangarooSettings(RecipeSettings):
    """The recipe of WikiHop and MedHop (Welbl et al. 2018)."""

    queries: Literal["relations", "paths", "pairs"] = "relations"
    """What is asked about: relations whose facts no article of their subject states, paths of two relations that two articles state, or
    relations between two entities of one kind of which two texts state something with the same third entity."""
    relations: tuple[str, ...] = ()
    """Relations that are asked about, and that paths are made of; empty: all."""
    both_directions: bool = True
    """Whether a symmetric fact is asked from both of its ends."""
    endpoint_kind: str = ""
    """End points: the entities of this kind; empty: those that are an object of the relation in a training fact."""
    answer_stated: Literal["subject_document", "any_document", "chain_document"] = "subject_document"
    """A fact is not asked if its answer is stated in the subject's own article, or together with the subject in any document, or in a
    document of its chain, as all others are not shown (with ``queries = "pairs"``)."""
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
    evidence: EvidenceSettings = EvidenceSettings()
    paths: PathSettings = PathSettings()
    pairs: PairSettings = PairSettings()

    @property
    def entity_kinds(self) -> tuple[str, ...]:
        """The kind of the end points, if one is named."""
        return (self.endpoint_kind,) if self.endpoint_kind else ()

    @model_validator(mode="after")
    def _limits_leave_room(self) -> QangarooSettings:
        most = self.balance.candidates or self.max_candidates
        if self.min_candidates > min(most, self.max_candidates):
            raise ValueError(f"min_candidates ({self.min_candidates}) is more than a sample may have ({min(most, self.max_candidates)})")
        return self

    @model_validator(mode="after")
    def _end_points_have_a_kind(self) -> QangarooSettings:
        if not self.traversal.through_end_points and not self.endpoint_kind:
            raise ValueError("traversal.through_end_points = false needs endpoint_kind, which says what chains may not lead through")
        return self

    @model_validator(mode="after")
    def _pairs_have_a_kind(self) -> QangarooSettings:
        if self.queries == "pairs" and not self.endpoint_kind:
            raise ValueError('queries = "pairs" needs endpoint_kind, which says what is asked about and for')
        if self.queries != "pairs" and self.answer_stated == "chain_document":
            raise ValueError('answer_stated = "chain_document" needs queries = "pairs"')
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

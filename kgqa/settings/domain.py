"""A domain: the contents of its TOML file. Each recipe adds its own section."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import create_model, field_validator, model_validator

from kgqa.settings.base import Name, RecipeSettings, Settings
from kgqa.settings.cluster import AUTO, IN_FILES
from kgqa.settings.defaults import RECIPE
from kgqa.settings.linking import LinkingSettings
from kgqa.settings.projection import ProjectionSettings
from kgqa.settings.source import KINDS, NAME_SOURCES, DocumentSettings, ImportSettings, SourceSettings

if TYPE_CHECKING:
    from kgqa.settings.qangaroo import QangarooSettings

UNREAD = (
    "Answers come from a knowledge graph, not from the texts (distant supervision): for part of the samples the documents do not imply the "
    "answer, or support a second candidate as well. How many they are is known when somebody has read some (`kgqa annotate`)."
)
Section = TypeVar("Section", bound=RecipeSettings)


class DomainSettings(Settings):
    """A domain: the contents of a TOML file, built in or the user's own."""

    name: Name
    """Domain name: lower-case letters, digits, hyphens and underscores."""
    dataset: Name
    """Folder name of the finished dataset. ``kgqa compose`` appends ``-musique``, ``--recipe strategyqa`` ``-strategyqa``, ``--recipe
    iirc`` ``-iirc``."""
    title: str
    """Title on the dataset card."""
    licence: str = "unknown"
    """Licence of the texts and facts, shown on the dataset card."""
    attribution: tuple[str, ...] = ()
    """Sources of the texts and facts, one sentence each, shown on the dataset card."""
    limits: str = UNREAD
    """Known limitations of the samples, shown on the dataset card."""
    seed_domain: str = ""
    """Folder in ``seeds/`` that is used if no source is given. Your own domain does not inherit it."""
    imports: tuple[ImportSettings, ...] = ()
    """Files to import if no source is given. Keys of an entry: ``format`` and ``files``; optionally ``options``, ``licence``,
    ``attribution`` and ``partial``."""
    cluster: str | None = None
    """``auto``: even without ``--cluster``, run parts on the Ray cluster at ``RAY_ADDRESS``, or on the cluster of this machine. On CPUs the
    result stays the same. kgqa refuses an address here, because a cluster can run code on your machine and the file may come from somebody
    else."""
    source: SourceSettings
    documents: DocumentSettings = DocumentSettings()
    linking: LinkingSettings = LinkingSettings()
    projection: ProjectionSettings
    recipe: str = RECIPE
    """Recipe that generates the dataset, one of ``kgqa.recipes.registry``. Its settings are in the section of the same name."""

    if TYPE_CHECKING:
        qangaroo: QangarooSettings
        """Declared for type checkers only; like every recipe's section, it comes from the registry."""

    @field_validator("imports", mode="before")
    @classmethod
    def _entries(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)) or not all(isinstance(entry, (dict, ImportSettings)) for entry in value):
            raise ValueError("each entry is a table; begin it with [[imports]], in double brackets")
        return value

    @field_validator("cluster")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value not in {None, AUTO}:
            raise ValueError(IN_FILES)
        return value

    @model_validator(mode="after")
    def _names_and_kinds_exist(self) -> DomainSettings:
        layout = self.source.layout
        link = self.linking
        sources: list[str] = [*link.minimum_letters, *link.case, *link.shared.prefer_sources]
        kinds: list[str] = [*link.shared.prefer_kinds, *self.section(RecipeSettings).entity_kinds]
        for noun, names, options in (("kind of name", sources, NAME_SOURCES[layout]), ("kind of entity", kinds, KINDS[layout])):
            for name in names:
                if options is not None and name not in options:
                    raise ValueError(f"there is no {noun} {name!r} in the layout {layout}; choose one of {', '.join(options)}")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the recipes' models, since another process cannot look up a class that was created at run time."""
        sections = {name: type(value) for name in type(self).model_fields if isinstance(value := getattr(self, name), RecipeSettings)}
        return _restored, (sections, self.model_dump(exclude_unset=True))

    def section(self, model: type[Section]) -> Section:
        """The section of the domain's recipe, an instance of ``model``."""
        section = getattr(self, self.recipe)
        assert isinstance(section, model)
        return section

    def resolved(self) -> dict[str, Any]:
        """All settings with their defaults as JSON-able data, without the sections of unused recipes and what changes no result."""
        other_recipes = {name for name in type(self).model_fields if isinstance(getattr(self, name), RecipeSettings)} - {self.recipe}
        unused = set() if self.imports else {"imports"}
        return self.model_dump(mode="json", exclude={"cluster", "recipe", *other_recipes, *unused})


def with_sections(recipes: Mapping[str, type[RecipeSettings]]) -> type[DomainSettings]:
    """Model of a domain for these ``recipes``: a section for each, and one of their names as ``recipe``."""
    assert not recipes.keys() & DomainSettings.model_fields.keys(), "a recipe has the name of a setting"
    return _with_sections(tuple(recipes.items()))


@cache
def _with_sections(recipes: tuple[tuple[str, type[RecipeSettings]], ...]) -> type[DomainSettings]:
    sections: dict[str, Any] = {name: (model, model()) for name, model in recipes}
    sections["recipe"] = (Literal[tuple(sections)], RECIPE)
    return create_model("DomainSettings", __base__=DomainSettings, __doc__=DomainSettings.__doc__, **sections)


def _restored(sections: Mapping[str, type[RecipeSettings]], values: Mapping[str, Any]) -> DomainSettings:
    return with_sections(sections).model_validate(values)

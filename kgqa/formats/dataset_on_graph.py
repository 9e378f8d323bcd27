"""Finding a dataset of a workspace, and its samples as rows on the workspace's graph, ready to load or export."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import MissingInput, SettingsError, UnknownId, storage_errors
from kgqa.formats import native
from kgqa.formats.fetching import fetched
from kgqa.formats.graph_rows import rejected_rows, sample_rows
from kgqa.progress import Progress
from kgqa.runs.files import Watch, key_of, known_hash
from kgqa.runs.workspace import Workspace
from kgqa.sources.tables import frame
from kgqa.store.kinds import RELATIONSHIPS
from kgqa.store.samples import SAMPLE_PART, SAMPLES_VERSION

_NAME = re.compile(r"[^/.][^/]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetOnGraph:
    """The samples of a dataset as rows on the graph."""

    name: str
    content: str
    """Hash of the files that the rows were made from."""
    rows: dict[str, pa.Table]

    @classmethod
    def read(cls, folder: Path, place: Workspace, progress: Progress, *, rejected: bool = False) -> DatasetOnGraph:
        """The rows of the dataset in ``folder``, with the rejected questions if ``rejected``.

        Raises UnknownId for an entity or document that the graph lacks, BrokenInput for a damaged dataset, InputChanged if it changes
        meanwhile.
        """
        name = dataset_name(folder)
        progress.start(f"Reading samples of {name}", None, "samples")
        native.check_whole(folder)
        files = native.split_files(folder)
        watch = Watch(files.values())
        rows = sample_rows(folder, name, relations_on_graph(folder, place))
        if rejected:
            rows |= rejected_rows(folder, name)
        _check_known(rows, folder, place)
        with storage_errors(folder):
            content = key_of(SAMPLES_VERSION, {split: known_hash(path) for split, path in files.items()})
        watch.check()
        progress.finish(f"{rows['sample'].num_rows:,} samples")
        return cls(name=name, content=content, rows=rows)


def relations_on_graph(folder: Path, place: Workspace) -> pl.DataFrame:
    """``name, relation, label``: what the samples of a dataset call the relations of the graph, the rows of these on it, and their labels.

    A sample calls a relation by its id, and a composed question by a template of the settings, which may stand for several.
    """
    facts = frame(place.read_table("facts").select(["relation"])).unique(maintain_order=True)
    labels = frame(place.read_table("relations")).select(id="id", label="label")
    # As in the table of relations on the graph: in the order of their first facts.
    relations = facts.join(labels, left_on="relation", right_on="id", maintain_order="left").with_row_index("row")
    relations = relations.select("label", id="relation", relation=pl.col("row").cast(pl.Int64))
    names = [{"name": name, "id": relation} for name, relation in _templates(folder) if relation]
    by_template = pl.DataFrame(names, schema={"name": pl.String, "id": pl.String})
    names_of = pl.concat([relations.select(name="id", id="id"), by_template]).unique(maintain_order=True)
    return names_of.join(relations, on="id", maintain_order="left_right").select("name", "relation", "label")


def _templates(folder: Path) -> list[tuple[str, str]]:
    """Each template of the settings that a dataset was composed with, and each relation that it stands for."""
    settings = native.manifest_of(folder).get("settings")
    musique = settings.get("musique") if isinstance(settings, dict) else None
    templates = musique.get("templates") if isinstance(musique, dict) else None
    pairs = []
    for name, template in templates.items() if isinstance(templates, dict) else ():
        for field in ("relations", "reversed"):
            relations = template.get(field) if isinstance(template, dict) else None
            pairs += [(str(name), relation) for relation in (relations if isinstance(relations, list) else ()) if isinstance(relation, str)]
    return pairs


def dataset_folder(place: Workspace, dataset: str | Path) -> Path:
    """The folder of ``dataset``: a copy of what a URL names, the path itself, relative to the workspace, or a name in it.

    Raises MissingInput, and what :func:`kgqa.formats.fetching.fetched` raises.
    """
    dataset = fetched(dataset)
    if _NAME.fullmatch(str(dataset)):
        place.bring_dataset(place.path / "datasets" / dataset)
    places = [dataset, place.path / dataset, place.path / "datasets" / dataset]
    with storage_errors(dataset):
        for folder in places:
            if folder.is_dir() and native.split_files(folder):
                return folder
    raise MissingInput(f"{dataset}: there is no dataset of this name, not here and not in {place.place}; kgqa generate makes one.")


def dataset_name(folder: Path) -> str:
    """The dataset's name in its manifest, else the name of its folder."""
    name = native.manifest_of(folder).get("dataset")
    return name if isinstance(name, str) else folder.resolve().name


def dataset_with(place: Workspace, sample: str) -> Path:
    """The folder of the one dataset in the workspace that has a sample with this id. Raises UnknownId and SettingsError."""
    place.bring_datasets()
    folder = place.path / "datasets"
    with storage_errors(folder):
        folders = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")) if folder.is_dir() else []
    folders_found = [path for path in folders if native.is_folder(path) and has_sample(path, sample)]
    if not folders_found:
        raise UnknownId(f"{place.path}: no dataset here has a sample {sample!r}; look for its id with kgqa explore, or give --dataset.")
    if len(folders_found) > 1:
        raise SettingsError(
            f"{place.path}: {' and '.join(path.name for path in folders_found)} have a sample {sample!r} each; give --dataset."
        )
    return folders_found[0]


def has_sample(folder: Path, sample: str) -> bool:
    """Whether a dataset has a sample with this id."""
    return any(sample in native.read_columns(path, "id")["id"].to_pylist() for path in native.split_files(folder).values())


def rows_of_sample(rows: Mapping[str, pa.Table], sample: str) -> dict[str, pa.Table]:
    """The rows of each table of ``SAMPLE_PART`` that belong to the sample with this id."""
    samples = rows["sample"].filter(pc.equal(rows["sample"]["id"], sample))
    links = rows["has_chain"].filter(pc.is_in(rows["has_chain"]["sample"], value_set=samples["key"].combine_chunks()))
    chains = rows["chain"].filter(pc.is_in(rows["chain"]["key"], value_set=links["chain"].combine_chunks()))
    steps = rows["has_subquestion"].filter(pc.is_in(rows["has_subquestion"]["sample"], value_set=samples["key"].combine_chunks()))
    subquestions = rows["subquestion"].filter(pc.is_in(rows["subquestion"]["key"], value_set=steps["subquestion"].combine_chunks()))
    sample_tables = {"sample": samples, "chain": chains, "subquestion": subquestions}
    keys = {name: table["key"].combine_chunks() for name, table in sample_tables.items()}
    for name in (table for table in SAMPLE_PART if table in RELATIONSHIPS):
        begin = RELATIONSHIPS[name].source
        sample_tables[name] = rows[name].filter(pc.is_in(rows[name][begin], value_set=keys[begin]))
    return sample_tables


def _check_known(rows: Mapping[str, pa.Table], folder: Path, place: Workspace) -> None:
    """Raise UnknownId for an entity or a document that the graph lacks."""
    for kind, column in (("entities", "entity"), ("documents", "document")):
        ids_named = pa.concat_tables([table.select([column]) for table in rows.values() if column in table.column_names])[column]
        ids = pc.unique(ids_named)
        unknown_ids = ids.filter(pc.invert(pc.is_in(ids, value_set=place.read_table(kind)["id"].combine_chunks())))
        if len(unknown_ids):
            raise UnknownId(
                f"{folder}: a sample names {unknown_ids[0].as_py()!r}, which is not among the {kind} of {place.path}; give the workspace "
                "of the dataset."
            )

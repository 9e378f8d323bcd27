"""The files of a dataset as others get them: the data, a card, a manifest without paths of this machine, and a Croissant description."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, MissingInput, SettingsError, storage_errors
from kgqa.formats import native
from kgqa.formats.columns import MEANINGS
from kgqa.formats.huggingface.croissant import CROISSANT, DataFile, Description, croissant
from kgqa.object_store.address import SCHEMES
from kgqa.runs.files import file_hash
from kgqa.runs.manifest import MANIFEST

CARD = "README.md"
DESCRIPTIONS = (CARD, CROISSANT)
"""Files that describe the data, and are written anew."""
SECRETS = re.compile(r"(?:^|_)(?:KEY|TOKEN|PASSWORD|SECRET)$")
"""Names of environment variables whose values are never published."""
SHORTEST_SECRET = 8
"""Characters; a shorter value may be a word of any text."""
_OBJECT = re.compile(rf"(?P<scheme>{'|'.join(SCHEMES)})://[^/]*(?:/+(?:.*/)?(?P<last>[^/]+))?/*")
_FOLDER = re.compile(r'(load_dataset\()"FOLDER"')
_EXPLAINED = "`FOLDER` is this folder, or the name of the set on the hub.\n\n"
_BIBTEX = re.compile(r"```bibtex\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """A file of a publication: on disk, or with other content than there."""

    content: Path | bytes
    sha256: str
    size: int
    """Bytes."""

    def write(self, path: Path) -> None:
        """Write a copy of it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.content if isinstance(self.content, bytes) else self.content.read_bytes())


def publication(dataset: Path, *, repository: str = "", page: str = "") -> dict[str, PublishedFile]:
    """Name → file, of everything that is published of ``dataset``, the folder of a finished dataset.

    ``repository`` is its name on the hub, for the lines of the card that load it, and ``page`` its address there. Only files that the
    manifest names are taken. Raises MissingInput for a folder without a manifest or a named file, BrokenInput for data that are not those
    of the manifest, and SettingsError where a text would publish a folder of this machine or a secret of the environment.
    """
    manifest = native.manifest_of(dataset)
    files_in_manifest = manifest.get("files")
    if not isinstance(files_in_manifest, dict) or not {CARD} <= files_in_manifest.keys() or not all(map(_is_below, files_in_manifest)):
        raise MissingInput(
            f"{dataset}: this is not a finished dataset of kgqa (it has no {MANIFEST} that lists its files); give such a dataset, or make "
            "one from a set in another format with kgqa convert --to native."
        )
    native.check_whole(dataset)
    with storage_errors(dataset):
        data = {name: _data_file(dataset / name, digest) for name, digest in sorted(files_in_manifest.items()) if name not in DESCRIPTIONS}
        card = (dataset / CARD).read_text("utf-8")
    if repository:
        card = _FOLDER.sub(rf'\1"{repository}"', card).replace(_EXPLAINED, "")
    described = croissant(_description(card, name=repository.rpartition("/")[2] or dataset.resolve().name, page=page), data, MEANINGS)
    texts = {CARD: card, CROISSANT: json.dumps(described, indent=1, ensure_ascii=False) + "\n"}
    files = {
        name: PublishedFile(content=dataset / name, sha256=digest, size=(dataset / name).stat().st_size)
        for name, digest in files_in_manifest.items()
        if name not in DESCRIPTIONS
    } | {name: _text_file(text) for name, text in texts.items()}
    manifest = _without_folders(manifest) | {"files": {name: files[name].sha256 for name in sorted(files)}}
    texts[MANIFEST] = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    files[MANIFEST] = _text_file(texts[MANIFEST])
    _check_private(dataset, [*texts.items(), *_provenance(dataset, data)])
    return dict(sorted(files.items()))


def left_out(dataset: Path, files: Mapping[str, PublishedFile]) -> list[str]:
    """Files in the dataset's folder that are not published, because kgqa did not write them."""
    return [name for name in _names(dataset) if name not in files]


def _names(folder: Path) -> list[str]:
    with storage_errors(folder):
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def _is_below(name: object) -> bool:
    """Whether a name in a manifest, which others may have written, stays inside its folder."""
    return isinstance(name, str) and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts


def _data_file(path: Path, digest: str) -> DataFile:
    if path.suffix != ".parquet" or file_hash(path) != digest:
        raise BrokenInput(f"{path}: this is not the file that the manifest names; generate the dataset again.")
    try:
        with path.open("rb") as file:
            return DataFile(sha256=digest, size=path.stat().st_size, schema=pq.read_schema(file))
    except pa.ArrowException:
        raise BrokenInput(f"{path}: this is not a complete Parquet file; generate the dataset again.") from None


def _text_file(text: str) -> PublishedFile:
    content = text.encode("utf-8", "backslashreplace")
    return PublishedFile(content=content, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def _description(card: str, *, name: str, page: str) -> Description:
    """What the card says of the dataset, for Croissant."""
    from huggingface_hub import DatasetCard

    parsed_card = DatasetCard(card, ignore_metadata_errors=True)
    data: dict[str, Any] = parsed_card.data.to_dict()  # type: ignore[no-untyped-call]
    paragraphs = parsed_card.text.strip().split("\n\n")
    language = data.get("language") or ()
    bibtex = _BIBTEX.search(parsed_card.text)
    return Description(
        name=name,
        about=" ".join([str(data.get("pretty_name", name)) + ".", *paragraphs[1:2]]),
        licence=str(data.get("license", "unknown")),
        language=(language,) if isinstance(language, str) else tuple(map(str, language)),
        keywords=tuple(map(str, data.get("tags") or ())),
        citation=bibtex[1] if bibtex else "",
        url=page,
    )


def _without_folders(value: Any) -> Any:
    """JSON-able data with the last part of each absolute path and each URL of an object store in it."""
    if isinstance(value, dict):
        return {_without_folders(name): _without_folders(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_folders(part) for part in value]
    if isinstance(value, str):
        if url := _OBJECT.fullmatch(value):
            return url["last"] or url["scheme"]  # not even the name of a bucket
        path = next((path for path in _paths(value) if path.is_absolute() and path.name), None)
        return value if path is None else path.name
    return value


def _paths(text: str) -> Iterator[PurePath]:
    if "\n" not in text:
        yield from (PurePosixPath(text), PureWindowsPath(text))


def _provenance(dataset: Path, data: Mapping[str, DataFile]) -> Iterator[tuple[str, str]]:
    for name, file in data.items():
        if "provenance" in file.schema.names:
            with (dataset / name).open("rb") as stream:
                notes = pq.read_table(stream, columns=["provenance"])["provenance"]
            yield name, "\n".join(note for note in notes.unique().to_pylist() if note)


def _check_private(dataset: Path, texts: list[tuple[str, str]]) -> None:
    """Raise SettingsError for a text with a folder of this machine, or with a secret of the environment, whose value is not shown."""
    secrets = {name: value for name, value in os.environ.items() if SECRETS.search(name) and len(value) >= SHORTEST_SECRET}
    folders = {str(path.resolve()) + os.sep for path in (dataset.resolve().parent, Path.cwd(), Path.home())} - {os.sep}
    for name, text in texts:
        secret = next((variable for variable, value in sorted(secrets.items()) if value in text), None)
        if secret is not None:
            raise SettingsError(f"{dataset / name}: the value of {secret} is in this text; remove it, and make a new {secret}.")
        folder = next((folder for folder in sorted(folders, reverse=True) if folder in text), None)
        if folder is not None:
            raise SettingsError(f"{dataset / name}: this text contains the folder {folder} of this machine; remove it from the text.")

"""Checks of encoder folders from others: plain safetensors, known attention, and sizes that match the weights."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, storage_errors

CONFIG, INDEX = "config.json", "model.safetensors.index.json"
PLAIN = re.compile(r"[A-Za-z0-9_][\w.-]*\.safetensors")
"""A weights file in the folder itself."""
MAPS = ("weight_map", "weights_map")
ATTENTION = ("eager", "sdpa", "flex_attention")
"""Implementations in torch itself; transformers fetches code of any other name from a hub and runs it."""
EXPERTS = ("eager", "grouped_mm", "batched_mm")
REFUSALS = {
    "quantization_config": "quantised weights",
    "auto_map": "code of its own",
    "custom_pipelines": "code of its own",
    "transformers_weights": "weights of another name",
}
"""Entries of a config that are refused → their meaning."""
ADAPTER = "adapter_config.json"
MOST_BYTES = 1 << 24
"""Maximum size of a config or an index, in bytes."""
TEXTS = (".json", ".txt", ".model", ".jinja")
"""Suffixes of files, other than weights, that are read whole."""
MOST_TEXT = 1 << 27
"""Maximum size of such a file, in bytes; the largest tokenizers have some 35 million."""
MOST = {"layers": 1_000, "heads": 1_000, "positions": 1 << 20, "pieces": 1 << 22, "labels": 1 << 16, "size": 1 << 16}
KINDS = (
    ("layers", re.compile(r"layer(s)?$|blocks?$|^depth$|experts$|groups$")),
    ("heads", re.compile(r"heads?$")),
    ("positions", re.compile(r"position|^n_ctx$|_length$|_window$|buckets$|distance$")),
    ("pieces", re.compile(r"vocab")),
    ("labels", re.compile(r"labels$")),
    ("size", re.compile(r"size$|dim$|width$|^d_|^n_embd$|^n_inner$|rank$|^hidden|channels$")),
)
"""The meaning of a number in a config, by the end of its name; the first match counts."""
MOST_NUMBERS = 1 << 24
"""Numbers that a network may have in excess of its weights, such as those of an unsaved pooler."""


def check_folder(folder: Path) -> None:
    """Raise BrokenInput, with the file's name, if loading the folder could run code, read other files, or exhaust memory."""
    if (folder / ADAPTER).is_file():
        raise BrokenInput(
            f"{folder / ADAPTER}: adapters of another model are not supported; merge them, and save the model as safetensors."
        )
    if (folder / INDEX).is_file():
        _check_index(folder / INDEX)
    if (folder / CONFIG).is_file():
        for name, value in _fields(_json(folder / CONFIG)):
            _check_field(folder / CONFIG, name, value)
    for path in sorted(folder.iterdir()):
        if path.suffix in TEXTS and path.is_file() and path.stat().st_size > MOST_TEXT:
            raise BrokenInput(
                f"{path}: it has more than {MOST_TEXT:,} bytes, which is too large for a tokenizer or description; use a complete encoder."
            )


def check_size(network: Any, weights: int, path: Path) -> None:
    """Raise BrokenInput if a ``network`` on torch's ``meta`` device is larger than its ``weights``, a count of numbers."""
    sizes = {id(tensor): tensor.numel() for tensor in (*network.parameters(), *network.buffers())}
    network_size = sum(sizes.values())
    if network_size > 2 * weights + MOST_NUMBERS:
        raise BrokenInput(
            f"{path}: it asks for a network of {network_size:,} numbers, but its weights have {weights:,}; use a complete encoder."
        )


def numbers(folder: Path) -> int:
    """The count of numbers in a folder's weights, from the files' headers only; 0 without weights. Raises BrokenInput."""
    from safetensors import SafetensorError, safe_open

    total = 0
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with storage_errors(path), safe_open(str(path), "pt") as file:
                for name in file.keys():  # noqa: SIM118, it is no dict
                    size = 1
                    for length in file.get_slice(name).get_shape():
                        size *= length
                    total += size
        except SafetensorError as error:
            raise BrokenInput(f"{path}: the encoder cannot be loaded ({error}); replace them with the encoder's own weights.") from None
    return total


def _check_index(path: Path) -> None:
    index = _json(path)
    maps = [index[key] for key in MAPS if key in index]
    if not maps or not all(isinstance(weight_map, dict) for weight_map in maps):
        raise BrokenInput(f"{path}: it does not name the safetensors file of each weight; use the folder of a complete encoder.")
    for name in (value for weight_map in maps for value in weight_map.values()):
        if not isinstance(name, str) or not PLAIN.fullmatch(name):
            raise BrokenInput(
                f"{path}: it refers to {str(name)[:80]!r}, but weights are read only from .safetensors files in the same folder."
            )


def _check_field(path: Path, name: str, value: object) -> None:
    if name in REFUSALS and value:
        raise BrokenInput(f"{path}: its {name} asks for {REFUSALS[name]}, which is not supported; use an encoder in plain safetensors.")
    if "attn_implementation" in name or "experts_implementation" in name:
        options = ATTENTION if "attn" in name else EXPERTS
        for name_of_code in value.values() if isinstance(value, dict) else [value]:
            if name_of_code is not None and name_of_code not in options:
                raise BrokenInput(
                    f"{path}: {name} is {str(name_of_code)[:80]!r}, which may be code of others; use one of {', '.join(options)}."
                )
    if isinstance(value, float) and not math.isfinite(value):
        raise BrokenInput(f"{path}: {name} is {value}, which is not a number; use a complete encoder.")
    if isinstance(value, int | float) and not name.endswith("_id"):
        kind = next((kind for kind, ending in KINDS if ending.search(name)), None)
        if kind is not None and value > MOST[kind]:
            raise BrokenInput(f"{path}: {name} is {value:,}, and an encoder has at most {MOST[kind]:,}; use a complete encoder.")


def _fields(config: object, name: str = "") -> Iterator[tuple[str, object]]:
    """Name → value, for a config and all nested ones."""
    if isinstance(config, dict):
        for key, value in config.items():
            yield key, value
            yield from _fields(value, key)
    elif isinstance(config, list):
        for value in config:
            yield name, value
            yield from _fields(value, name)


def _json(path: Path) -> Mapping[str, Any]:
    with storage_errors(path):
        if path.stat().st_size > MOST_BYTES:
            raise BrokenInput(
                f"{path}: it has more than {MOST_BYTES:,} bytes, too large for the description of an encoder; use a complete encoder."
            )
        data = path.read_bytes()
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BrokenInput(f"{path}: the encoder cannot be loaded ({error}); replace it with the encoder's own file.") from None
    if not isinstance(value, dict):
        raise BrokenInput(f"{path}: the encoder cannot be loaded (this is not a JSON object); replace it with the encoder's own file.")
    return value

"""Pretrained encoders with their tokenizers: by name, from a folder, or from a package; never from a pickle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from logging import CRITICAL
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, InputError, MissingInput, SettingsError, StorageError, storage_errors
from kgqa.readers import saved
from kgqa.readers.transformer.foreign import check_folder, check_size, numbers
from kgqa.settings.reader import LONGEST
from kgqa.stop import STOP

PACKAGE = "package:"
ENCODER = "encoder"
"""Subfolder of a reader with its encoder's configuration. The weights are among the reader's, under names with this prefix."""
LEAST = 8
"""Minimum number of tokens that an encoder reads at once."""
RESERVING = frozenset({"roberta", "xlm-roberta", "longformer", "camembert", "mpnet"})
"""Kinds of networks whose first positions are those of padding."""
PATIENCE = 10.0
"""Timeout of the hub in seconds."""
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.bin", "tf_model.h5", "flax_model.msgpack")
HUB_FILES = ("config.json", "model*.safetensors", "model.safetensors.index.json", "*token*.json", "vocab*", "merges.txt", "*.model")
"""Files of a model on the hub, as patterns."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "tokenizer.model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """A network that gives every token a vector, and its tokenizer."""

    network: Any
    """The encoder, a ``transformers.PreTrainedModel``."""
    tokenizer: Any
    """A fast tokenizer, which gives character offsets."""
    causal: bool = False
    """Whether a token sees only itself and earlier ones, as in a decoder-only network."""

    @property
    def width(self) -> int:
        """Width of a token's vector."""
        return int(self.network.config.hidden_size)

    @property
    def rows(self) -> int:
        """Pieces that the network has a vector for."""
        return int(self.network.get_input_embeddings().num_embeddings)

    @property
    def reserved(self) -> int:
        """Positions that no token has: the first ones of RoBERTa and its kin are those of padding."""
        config = self.network.config
        return int(config.pad_token_id or 0) + 1 if config.model_type in RESERVING else 0

    @property
    def learned(self) -> int:
        """Positions that tokens may have, whatever the tokenizer says."""
        return int(getattr(self.network.config, "max_position_embeddings", 0) or LONGEST + self.reserved) - self.reserved

    @property
    def longest(self) -> int:
        """Maximum number of tokens in a window."""
        return min(self.learned, int(self.tokenizer.model_max_length))

    def save(self, folder: Path) -> None:
        """Write the configuration and the tokenizer; the weights are the reader's."""
        self.network.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def load_encoder(name: str) -> Encoder:
    """Load the pretrained encoder ``name`` (see ``RankingSettings.encoder``). Raises MissingInput, BrokenInput."""
    from transformers import AutoModel

    place = place_of(name)
    if is_trained(Path(place)):
        return _encoder_of_reader(Path(place), name)
    return _checked_encoder(load_network(AutoModel, place, name), load_tokenizer(place, name), name)


def load_network(kind: Any, place: str, name: str) -> Any:
    """Load the network of the transformers class ``kind`` with all of its weights, in single precision. Raises BrokenInput."""
    import torch
    from transformers import AutoConfig

    folder = folder_of(place, name)
    make_network(kind, load_pretrained(AutoConfig, folder, name), Path(folder))
    network, loading = load_pretrained(
        kind, folder, name, use_safetensors=True, dtype=torch.float32, output_loading_info=True, ignore_mismatched_sizes=True
    )
    missing = {*loading["missing_keys"], *(key for key, *_ in loading["mismatched_keys"])}
    weights = network.state_dict()
    addresses = {value.data_ptr() for key, value in weights.items() if key not in missing}  # tied weights are loaded once
    missing_keys = sorted(key for key in missing if not key.startswith("pooler.") and weights[key].data_ptr() not in addresses)
    if missing_keys:
        raise BrokenInput(
            f"{name}: its weights lack {missing_keys[0]} of the shape that its config.json asks for; use the folder of a complete network."
        )
    return network


def saved_encoder(folder: Path) -> Encoder:
    """An encoder of the configuration in ``folder``, its weights not yet loaded. Raises MissingInput, BrokenInput."""
    from transformers import AutoConfig, AutoModel

    _check_files(folder, weights=())
    config = load_pretrained(AutoConfig, str(folder), str(folder))
    network = make_network(AutoModel, config, folder, weights=folder.parent)
    return _checked_encoder(network, load_tokenizer(str(folder), str(folder)), str(folder))


def make_network(kind: Any, config: Any, folder: Path, *, weights: Path | None = None) -> Any:
    """A network of the configuration in ``folder``, in single precision; on torch's meta device if no ``weights`` folder is given.

    Raises BrokenInput, before any memory is allocated, if the weights are too few for the configuration.
    """
    import torch

    try:
        with torch.device("meta"):
            shape = kind.from_config(config, dtype=torch.float32)
        check_size(shape, numbers(weights or folder), folder / "config.json")
        return shape if weights is None else kind.from_config(config, dtype=torch.float32)
    except InputError:
        raise
    except Exception as error:  # a network of a shape that cannot be fails as it likes
        raise _not_loaded(str(folder), error) from error


def is_trained(folder: Path) -> bool:
    """Whether a folder holds a trained reader with one encoder."""
    return (folder / saved.FILE).is_file() and (folder / ENCODER / "config.json").is_file()


def _encoder_of_reader(folder: Path, name: str) -> Encoder:
    """The encoder in a trained reader's folder: its configuration in a subfolder, its weights among the reader's."""
    from safetensors.torch import load_file

    encoder = saved_encoder(folder / ENCODER)
    path, prefix = folder / WEIGHTS[0], f"{ENCODER}."
    try:
        with storage_errors(path):
            tensors = load_file(str(path))
        encoder.network.load_state_dict({key.removeprefix(prefix): tensor for key, tensor in tensors.items() if key.startswith(prefix)})
    except StorageError:
        raise
    except Exception as error:  # a file cut short, or of another network, fails as the loader likes
        raise _not_loaded(name, error) from error
    return encoder


def _checked_encoder(network: Any, tokenizer: Any, name: str) -> Encoder:
    """The encoder. Raises BrokenInput if the network does not encode texts only, or the tokenizer does not match it."""
    if network.config.is_encoder_decoder:
        raise BrokenInput(f"{name}: this is an encoder with a decoder ({network.config.model_type}); use one without, such as BERT.")
    try:
        rows = int(network.get_input_embeddings().num_embeddings)
    except (AttributeError, NotImplementedError):
        raise BrokenInput(f"{name}: this network ({network.config.model_type}) does not read plain texts; use one that does.") from None
    causal = _is_causal(network, name)
    # Some decoder-only networks begin a text with its first token.
    is_decoder = causal or getattr(network.config, "is_causal", None) is False
    begins, ends = (tokenizer.cls_token_id, tokenizer.bos_token_id), (tokenizer.sep_token_id, tokenizer.eos_token_id)
    if (begins == (None, None) and not is_decoder) or ends == (None, None):
        raise BrokenInput(f"{name}: its tokenizer has no token for the beginning or the end of a text; replace it with the encoder's own.")
    if not isinstance(tokenizer.model_max_length, int | float) or not tokenizer.model_max_length >= LEAST:
        raise BrokenInput(
            f"{name}: its tokenizer_config.json has no maximum number of tokens (model_max_length); replace it with the encoder's own."
        )
    check_pieces(tokenizer, rows, name)
    if causal:
        network.config.use_cache = False  # a cache is for writing, and no reader writes with this network
    return Encoder(network=network, tokenizer=tokenizer, causal=causal)


def _is_causal(network: Any, name: str) -> bool:
    """Whether the first token's vector is the same whatever comes after it. No field of a config says this for all networks."""
    import torch

    # BigBird would notice that these texts are short, and never attend in blocks again. Only its decoder is causal.
    if getattr(network.config, "attention_type", None) == "block_sparse":
        return False
    was_training = network.training
    network.eval()
    try:
        with torch.inference_mode(), _quiet():
            first, second = (network(input_ids=torch.tensor([[2, 3, last]])).last_hidden_state[0, 0] for last in (3, 4))
    except Exception as error:
        raise _not_loaded(name, error) from error
    network.train(was_training)
    return torch.equal(first, second)


def bidirectional(encoder: Encoder, name: str) -> Encoder:
    """A causal encoder whose tokens see later ones too (BehnamGhader et al. 2024); its configuration keeps that. Raises SettingsError."""
    config = encoder.network.config
    if not encoder.causal:
        raise SettingsError(f"bidirectional = true: the tokens of {name} ({config.model_type}) see later ones already; leave it out.")
    config.is_causal = False
    if _is_causal(encoder.network, name):
        raise SettingsError(f"bidirectional = true: transformers has no such attention for {name} ({config.model_type}); leave it out.")
    return replace(encoder, causal=False)


def check_pieces(tokenizer: Any, rows: int, name: str) -> None:
    """Raise BrokenInput if the tokenizer has more pieces than the network has ``rows`` of embeddings."""
    if len(tokenizer) > rows:
        raise BrokenInput(
            f"{name}: its tokenizer has {len(tokenizer):,} tokens, but its network {rows:,}; replace it with the encoder's own tokenizer."
        )


def place_of(name: str) -> str:
    """The argument for transformers: a folder, a name on the hub, or the folder of a trained reader (:func:`is_trained`).

    Raises MissingInput, and BrokenInput for an incomplete folder.
    """
    if name.startswith(PACKAGE):
        folder = _in_package(name.removeprefix(PACKAGE))
    elif reader_folders := [folder for folder in (Path(name), Path(name) / "reader") if is_trained(folder)]:
        return str(reader_folders[0])
    elif Path(name).is_dir():
        folder = Path(name)
    elif name.startswith((".", "/", "~")) or name.count("/") > 1 or Path(name).exists():
        raise MissingInput(f"{name}: there is no folder with an encoder of this name; give a folder, a name on the hub, or {PACKAGE}NAME.")
    else:
        return name
    _check_files(folder)
    return str(folder)


def _in_package(package: str) -> Path:
    """The folder of an installed package that holds a model; the package is not imported. Hyphens, as on an index, are underscores."""
    module = package.replace("-", "_")
    spec = find_spec(module) if module.isidentifier() else None
    for root in (spec.submodule_search_locations or ()) if spec else ():
        configs = sorted(Path(root).rglob("config.json"), key=lambda path: (len(path.parts), path))
        if configs:
            return configs[0].parent
    raise MissingInput(f"{PACKAGE}{package}: no installed package with this name contains an encoder; install it, or give a folder.")


def _check_files(folder: Path, *, weights: Sequence[str] = WEIGHTS) -> None:
    """Raise MissingInput or BrokenInput if a file is missing; transformers would look for it elsewhere."""
    if not (folder / "config.json").is_file():
        raise MissingInput(f"{folder}: there is no config.json here, so this is not an encoder; give the folder of one.")
    if weights and not any((folder / name).is_file() for name in weights):
        pickled = next((name for name in PICKLED if (folder / name).is_file()), None)
        if pickled:
            raise BrokenInput(
                f"{folder / pickled}: pickled weights can execute code and are not read; convert them to model.safetensors, or take a "
                "model that has it."
            )
        raise MissingInput(f"{folder}: there is no model.safetensors here; give the folder of a complete encoder.")
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise MissingInput(f"{folder}: there is no tokenizer here (tokenizer.json); put the encoder's own tokenizer next to its weights.")


def load_tokenizer(place: str, name: str) -> Any:
    """Load the fast tokenizer of an encoder. Raises BrokenInput."""
    from transformers import AutoTokenizer

    tokenizer = load_pretrained(AutoTokenizer, place, name, use_fast=True)
    if not tokenizer.is_fast:
        raise BrokenInput(f"{name}: its tokenizer gives no character offsets; use an encoder with a tokenizer.json.")
    return tokenizer


def load_pretrained(kind: Any, place: str, name: str, **options: Any) -> Any:
    """Call ``from_pretrained`` of the transformers class ``kind`` for ``place``, quietly. Raises BrokenInput."""
    try:
        with _quiet():
            folder = folder_of(place, name)
            check_folder(Path(folder))
            return kind.from_pretrained(folder, trust_remote_code=False, local_files_only=True, **options)
    except InputError:
        raise
    except Exception as error:  # what a folder that is no encoder makes a loader raise is not said anywhere
        raise _not_loaded(name, error) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without progress bars and warnings of transformers."""
    from transformers.utils import logging

    has_progress_bar, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity(CRITICAL)  # what it reports of weights that are not there stands in our own sentence
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_progress_bar:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def folder_of(place: str, name: str) -> str:
    """The folder ``place``, or the download folder of the model of this name on the hub; only the needed files are downloaded.

    Raises BrokenInput.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    if Path(place).is_dir():
        return place
    try:
        folder = snapshot_download(place, allow_patterns=[*HUB_FILES], local_files_only=not _is_hub_reachable(place))
    except LocalEntryNotFoundError as error:
        raise _not_loaded(name, OSError("it is not on this machine, and the hub does not answer")) from error
    except Exception as error:  # the hub's, or one of its packages that reports that there is no network
        raise _not_loaded(name, error) from error
    _check_files(Path(folder))
    return folder


@cache
def _is_hub_reachable(name: str) -> bool:
    """Whether the hub answers; otherwise the local cache is used. Cached, because transformers retries each request many times."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(name, timeout=PATIENCE)
    except (HfHubHTTPError, ValueError):  # it answers that it has no such model, or the name is none
        return True
    except Exception:  # whichever of its packages reports that there is no network
        return False
    return True


def _not_loaded(name: str, error: Exception) -> BrokenInput:
    """The sentence for the error. Raises KeyboardInterrupt if a signal came."""
    # Compiled code whose import is interrupted raises an error of its own instead of the KeyboardInterrupt.
    if STOP.number is not None:
        raise KeyboardInterrupt from error
    reason = " ".join(str(error).split()).rstrip(".")[:300]
    return BrokenInput(f"{name}: the encoder cannot be loaded ({reason}); give a folder, or a name on a hub that can be reached.")

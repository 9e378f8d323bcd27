"""What is installed from the wheel, away from the repository, does the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, folder: Path) -> str:
    """What the command prints; it must succeed, and must not find the repository by accident."""
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_the_built_wheel_makes_a_dataset(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, ROOT, folder=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name.split("/", maxsplit=1)[1] for name in archive.namelist()}
    assert {"linking/english-words.txt.gz", "linking/english-words.md", "licenses/LICENSE"} <= names
    run(sys.executable, "-m", "venv", tmp_path / "clean", folder=tmp_path)
    python = tmp_path / "clean" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, folder=tmp_path)
    place = run(python, "-c", "import kgqa; print(kgqa.__file__)", folder=tmp_path).strip()
    assert Path(place).is_relative_to(tmp_path)
    run(tmp_path / "clean" / "bin" / "kgqa", "generate", "--domain", "medline", folder=tmp_path)
    manifest = json.loads((tmp_path / "kgqa-workspace" / "datasets" / "medhop" / "manifest.json").read_text("utf-8"))
    assert sum(manifest["counts"].values()) >= 30
    installed = run(python, "-m", "pip", "list", folder=tmp_path)
    assert not [extra for extra in ("torch", "neo4j", "wordfreq", "matplotlib", "fastapi") if extra in installed]

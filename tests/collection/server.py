"""The pages of a project of the task of colours, as a process that a test may kill: PROJECT PORT."""

from __future__ import annotations

import sys

import kgqa
from kgqa.collection.project import TASKS

if __name__ == "__main__":
    TASKS["colours"] = "tests.collection.colours"
    kgqa.annotate(sys.argv[1], port=int(sys.argv[2]), ready=lambda links: print("ready", flush=True))

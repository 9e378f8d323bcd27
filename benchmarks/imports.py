"""Imports of dumps that are multiplied from real ones: seconds, MB/s of text and peak memory, with one and two
processes, of one file and of several.

``python -m benchmarks.imports [COPIES]`` prints a table. Ids and titles of each copy are changed, so that the merge joins as much as it
would for a dump of that size.
"""

from __future__ import annotations

import bz2
import gzip
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import data_folder

FILES = 4
"""Files that are read side by side, beside one alone."""
ITEM = re.compile(rb'("Q\d+|"numeric-id":\d+)("|[,}])')
TITLE = re.compile(rb"(<title>[^<]*|\[\[[^\[\]|:#]+)(</title>|\|)")
PAGE_NUMBER = re.compile(rb"(<title>[^<]*</title>.*?<id>\d+)(</id>)", re.DOTALL)


def wikidata(folder: Path, copies: int) -> Iterator[bytes]:
    """Lines of the dump; the items of copy n have ids of their own."""
    text = gzip.decompress((folder / "entities-dump-lines.json.gz").read_bytes())
    lines = [line.rstrip(b",") for line in text.splitlines() if len(line) > 2]
    yield b"[\n"
    for copy in range(copies):
        # An id of an item, as a text or as a number, gets four digits more.
        numbered = rb"\g<1>%04d\g<2>" % copy
        for number, line in enumerate(lines):
            is_last = copy == copies - 1 and number == len(lines) - 1
            yield ITEM.sub(numbered, line) + (b"\n" if is_last else b",\n")
    yield b"]\n"


def mediawiki(folder: Path, copies: int) -> Iterator[bytes]:
    """The English pages; the titles and links of copy n end in its number."""
    text = bz2.decompress((folder / "enwiki-gensim-shortened.xml.bz2").read_bytes())
    begin = text.index(b"<page>")
    end = text.rindex(b"</page>") + len(b"</page>")
    yield text[:begin]
    for copy in range(copies):
        pages = TITLE.sub(rb"\g<1> %04d\g<2>" % copy, text[begin:end])
        yield PAGE_NUMBER.sub(rb"\g<1>%04d\g<2>" % copy, pages) + b"\n"
    yield b"</mediawiki>\n"


def measured(arguments: list[str]) -> tuple[float, float]:
    """Seconds, and the peak memory in MiB of the largest process."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "kgqa", "import", *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Write the dumps, import each with one and two processes."""
    sources = data_folder("sources")
    if sources is None:
        sys.exit("The real data are not there; set KGQA_DATA to the folder that holds them.")
    copies = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, parts, options in (
            ("wikidata", wikidata(sources / "wikidata", copies), ["--option", "site=enwiki"]),
            ("wikipedia", mediawiki(sources / "mediawiki", copies), []),
        ):
            path, size = folder / f"{name}.gz", 0
            with gzip.open(path, "wb", compresslevel=3) as file:
                for part in parts:
                    file.write(part)
                    size += len(part)
            paths = [path, *(folder / f"{name}-{number}.gz" for number in range(1, FILES))]
            for link in paths[1:]:
                link.hardlink_to(path)
            for files, workers in ((1, 1), (1, 2), (FILES, 1), (FILES, 2)):
                out = folder / f"{name}-{files}-{workers}"
                seconds, memory = measured([name, *map(str, paths[:files]), "--out", str(out), "--workers", str(workers), *options])
                rate = f"{files * size / 1e6 / seconds:.0f} MB/s, peak {memory:,.0f} MiB"
                what = f"{name}, {files} files, {files * size / 1e6:,.0f} MB of text"
                sys.stdout.write(f"{what}, {workers} processes: {seconds:.1f} s, {rate}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()

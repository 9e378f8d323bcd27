"""A set of single-hop questions that make chains of two and three: where rulers were born, and whose capital that is."""

from __future__ import annotations

from pathlib import Path

from kgqa.records import Instance, Paragraph
from tests.small_questions import write_set

RULERS = ("Ada", "Bo", "Cy", "Di", "Eli", "Fay", "Gus", "Hal", "Ida", "Jo", "Kim", "Lou", "Max", "Ned", "Ona", "Pat")
LANDS = (
    "Arlia", "Bemia", "Coria", "Dunia", "Eftia", "Fimia", "Golia", "Huria", "Ilmia", "Jatia", "Kepia", "Lodia", "Munia", "Naria",
    "Ostia", "Pilia",
)  # fmt: skip
TOWNS = (
    "Vaxton", "Wimton", "Zorton", "Yabton", "Tukton", "Sefton", "Rogton", "Quaton", "Pebton", "Olkton", "Nimton", "Mavton", "Lutton",
    "Koston", "Jinton", "Hapton",
)  # fmt: skip
FILLER = "It lies by the sea and many ships call there every year because the water is deep and calm in all seasons of it."


def single_hop(folder: Path, *, told: str = "") -> Path:
    """Towns where rulers were born, lands whose capital they are, and what these export; ``told`` stands in one question."""
    some = []
    for number, (ruler, land, town) in enumerate(zip(RULERS, LANDS, TOWNS, strict=True)):
        born = f"Where was {ruler} born?" if number or not told else f"Where was {ruler} born? {told}"
        texts = {
            born: (town, f"{ruler} was born in {town}. {FILLER}", ruler),
            f"What country is {town} the capital of?": (land, f"{town} is the capital of {land}. {FILLER}", town),
            f"What is exported by {land}?": (f"goods{number}", f"{land} exports goods{number}. {FILLER}", land),
        }
        for place, (question, (answer, text, title)) in enumerate(texts.items()):
            shown = Paragraph(id="0", title=title, text=text, supporting=True)
            some.append(
                Instance(
                    id=f"{number}-{place}", question=question, paragraphs=(shown,), answers=(answer,), answer_type="span", answerable=True,
                    group=f"{number}-{place}", provenance=None,
                )
            )  # fmt: skip
    return write_set(folder, train=some)

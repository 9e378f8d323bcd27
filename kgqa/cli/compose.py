"""``kgqa compose``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kgqa.cli.options import Neo4jDatabase, Neo4jUri, Neo4jUser, Store, server
from kgqa.cli.summary import Verbose, print_changed, print_notes, print_result, print_tables
from kgqa.settings.defaults import COMPOSED, SEED, STORE, TRAVERSAL, WORKSPACE

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.compose import Composition


def compose(
    sets: Annotated[
        list[str] | None, Argument(help="Single-hop question sets: folders or files of any known format, or hf://owner/name.")
    ] = None,
    domain: Annotated[
        str | None, Option(help="Instead of sets the facts of wikidata, medline, or of your own domain's TOML file; or settings for sets.")
    ] = None,
    source: Annotated[Path | None, Option(help="Folder with the domain's files; without it the small one that kgqa ships.")] = None,
    name: Annotated[str | None, Option(help=f"What the dataset is called, by default {COMPOSED}.")] = None,
    filter: Annotated[  # noqa: A002 - what it is called
        str | None,
        Option(
            help="Who finds questions that need no chain: lexical (log-linear readers, a minute), readers (networks, hours on a CPU), none;"
            " else what the domain says, which is lexical."
        ),
    ] = None,
    composer: Annotated[
        str | None, Option(help="Who writes the questions: rules, model, llm or people; else what the domain says, which is rules.")
    ] = None,
    workspace: Annotated[Path, Option(help="Folder for tables, graph and datasets.")] = WORKSPACE,
    seed: Annotated[int, Option(help="Draws pairs, chains, splits and contexts.")] = SEED,
    workers: Annotated[int | None, Option(help="Threads, by default one for each core; the result does not depend on them.")] = None,
    limit: Annotated[int | None, Option(help="Take only so many pairs of questions, for a first try.")] = None,
    reader: Annotated[
        list[str] | None,
        Option(help="Folder of a run of kgqa train; one of these readers must answer a single-hop question. Several times, if wanted."),
    ] = None,
    model: Annotated[
        str | None, Option(help="Of --composer model the folder of a run of kgqa train composer; of llm what the endpoint calls its model.")
    ] = None,
    endpoint: Annotated[
        str | None, Option(help="Address of a chat-completions endpoint; else OPENAI_BASE_URL, or OpenAI's own. The key is OPENAI_API_KEY.")
    ] = None,
    max_cost: Annotated[float | None, Option(help="What the endpoint's answers may cost in all; the domain says the prices.")] = None,
    answers: Annotated[Path | None, Option(help="What people wrote: the tasks of --composer people, filled in.")] = None,
    by: Annotated[
        str,
        Option(help="Who finds pairs and chains, kernel: compiled, in memory; cypher: queries in the store. Both find the same."),
    ] = TRAVERSAL,
    store: Store = STORE,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
    verbose: Verbose = False,
) -> None:
    """Compose multi-hop questions from single-hop ones, as MuSiQue."""
    import kgqa
    from kgqa.cli.progress import ConsoleProgress
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    neo4j = server(store, neo4j_uri, neo4j_user, neo4j_database)
    with ConsoleProgress(console) as progress:
        made = kgqa.compose(
            sets or (), domain=domain, source=source, name=name, filter=filter, composer=composer, workspace=workspace, seed=seed,
            workers=workers, limit=limit, readers=reader or (), model=model, endpoint=endpoint, max_cost=max_cost, answers=answers,
            by=by, store=store, neo4j=neo4j, progress=progress,
        )  # fmt: skip
    _print(console, made, verbose=verbose)


def _print(console: Terminal, made: Composition, *, verbose: bool) -> None:
    from rich.table import Table

    if verbose:
        names = sorted({name for shapes in made.shapes.values() for name in shapes})
        shapes = Table("split", "questions", *names, title="Questions by reasoning graph")
        for split, count in made.counts.items():
            shapes.add_row(split, f"{count:,}", *(f"{made.shapes[split].get(name, 0):,}" for name in names))
        print_tables(console, made.funnel, made.seconds, made.reused, *([shapes] if made.counts else []))
    if made.tasks is None:
        print_result(console, made.dataset, made.counts, made.funnel, made.seconds)
        totals: Counter[str] = Counter()
        for shape_counts in made.shapes.values():
            totals.update(shape_counts)
        console.say("Reasoning graphs: " + ", ".join(f"{name} {count:,}" for name, count in sorted(totals.items())))
        print_notes(console, made.funnel)
    if made.filter == "none":
        console.print("Not filtered: part of the questions can be answered without all of their hops.", style="yellow")
    if made.empty:
        console.print(
            f"Nothing is left for {' and '.join(made.empty)}: too many questions share an answer, or there are few; give more single-hop "
            "questions.", style="yellow",
        )  # fmt: skip
    if made.is_seed:
        console.print("No --source given: using the small domain that kgqa ships.", style="yellow")
    print_changed(console, made.changed)
    if made.replaced:
        console.print("It replaced a dataset of other settings or input; to keep several, give each a --name.", style="yellow")
    if made.tasks is not None:
        console.say(f"{made.tasks}: what people are to write", style="bold")
        console.say(f"Next: the same command with --answers {quote(str(made.tasks))}, once the lines of it (or of a copy) are filled in")
        return
    place = quote(str(made.dataset))
    console.say(f"The card has the rest: {place}/README.md")
    console.say(f"Next: kgqa show {place}")
    console.say(f"      kgqa export {place} --to musique --out DIR")

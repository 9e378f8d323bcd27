"""The command ``kgqa compose``: options and printed result."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kgqa.cli.options import Cluster, Neo4jDatabase, Neo4jUri, Neo4jUser, RunWorkspace, Source, Store, Workers, print_if_seed, server
from kgqa.cli.summary import Verbose, print_changed, print_notes, print_result, print_tables, print_verdict
from kgqa.settings.defaults import COMPOSED, SEED, STORE, TRAVERSAL, WORKSPACE

if TYPE_CHECKING:
    from kgqa.cli.terminal import Terminal
    from kgqa.commands.compose import Composition


def compose(
    sets: Annotated[
        list[str] | None,
        Argument(help="Single-hop question sets: folders or files in any known format, hf://owner/name, or s3:// or gs://."),
    ] = None,
    domain: Annotated[
        str | None,
        Option(help="Compose from a domain's facts: wikidata, medline or a TOML file. With question sets: a TOML file with settings only."),
    ] = None,
    source: Source = None,
    name: Annotated[str | None, Option(help=f"Name of the dataset; by default {COMPOSED}.")] = None,
    filter: Annotated[  # noqa: A002 - what it is called
        str | None,
        Option(
            help="Disconnection filter: lexical (log-linear readers, a minute), readers (networks, hours on a CPU) or none; "
            "by default the domain's setting (lexical)."
        ),
    ] = None,
    composer: Annotated[
        str | None, Option(help="Composer of the questions: rules, model, llm or people; by default the domain's setting (rules).")
    ] = None,
    workspace: RunWorkspace = WORKSPACE,
    seed: Annotated[int, Option(help="Random seed for pairs, chains, splits and contexts.")] = SEED,
    workers: Workers = None,
    cluster: Cluster = None,
    limit: Annotated[int | None, Option(help="Maximum number of pairs of questions, for a quick trial run.")] = None,
    reader: Annotated[
        list[str] | None,
        Option(help="Folder of a kgqa train run. One of these readers must answer each single-hop question; repeatable."),
    ] = None,
    model: Annotated[
        str | None, Option(help="With --composer model: folder of a kgqa train composer run. With llm: the endpoint's model name.")
    ] = None,
    endpoint: Annotated[
        str | None, Option(help="Chat-completions endpoint; by default OPENAI_BASE_URL, or OpenAI's. The key is read from OPENAI_API_KEY.")
    ] = None,
    max_cost: Annotated[
        float | None, Option(help="Maximum total cost of the endpoint's responses, at the prices of the domain file.")
    ] = None,
    answers: Annotated[Path | None, Option(help="File of completed tasks for --composer people.")] = None,
    by: Annotated[
        str,
        Option(help="Search for pairs and chains: kernel (compiled, in memory) or cypher (queries). Both give the same result."),
    ] = TRAVERSAL,
    store: Store = STORE,
    neo4j_uri: Neo4jUri = None,
    neo4j_user: Neo4jUser = None,
    neo4j_database: Neo4jDatabase = None,
    verbose: Verbose = False,
) -> None:
    """Compose multi-hop questions from single-hop questions. The recipe is that of MuSiQue."""
    import kgqa
    from kgqa.cli.terminal import Terminal

    console = Terminal()
    neo4j = server(store, neo4j_uri, neo4j_user, neo4j_database)
    with console.progress() as progress:
        result = kgqa.compose(
            sets or (), domain=domain, source=source, name=name, filter=filter, composer=composer, workspace=workspace, seed=seed,
            workers=workers, cluster=cluster, limit=limit, readers=reader or (), model=model, endpoint=endpoint, max_cost=max_cost,
            answers=answers, by=by, store=store, neo4j=neo4j, progress=progress,
        )  # fmt: skip
    _print(console, result, verbose=verbose)


def _print(console: Terminal, result: Composition, *, verbose: bool) -> None:
    from rich.table import Table

    if verbose:
        names = sorted({name for shapes in result.shapes.values() for name in shapes})
        shapes = Table("split", "questions", *names, title="Questions by reasoning graph")
        for split, count in result.counts.items():
            shapes.add_row(split, f"{count:,}", *(f"{result.shapes[split].get(name, 0):,}" for name in names))
        print_tables(console, result.funnel, result.seconds, result.reused, *([shapes] if result.counts else []))
    if result.tasks is None:
        print_result(console, result.place, result.counts, result.funnel, result.seconds)
        totals: Counter[str] = Counter()
        for shape_counts in result.shapes.values():
            totals.update(shape_counts)
        console.say("Reasoning graphs: " + ", ".join(f"{name} {count:,}" for name, count in sorted(totals.items())))
        print_verdict(console, result.verdict, result.place)
        print_notes(console, result.funnel)
    if result.filter == "none":
        console.print("Not filtered: some questions can be answered without all of their hops.", style="yellow")
    if result.empty:
        console.print(
            f"Nothing is left for {' and '.join(result.empty)}: too many questions share an answer, or there are too few; provide more "
            "single-hop questions.", style="yellow",
        )  # fmt: skip
    print_if_seed(console, result.is_seed)
    print_changed(console, result.changed)
    if result.replaced:
        console.print("This replaced a dataset with other settings or input. To keep both, give each a --name.", style="yellow")
    if result.tasks is not None:
        console.say(f"{result.tasks}: tasks for annotators", style="bold")
        console.say(f"Next: the same command with --answers {quote(str(result.tasks))}, once the lines of it (or of a copy) are filled in")
        return
    place = quote(result.place)
    console.say(f"The card has the rest: {place}/README.md")
    console.say(f"Next: kgqa show {place}")
    console.say(f"      kgqa export {place} --to musique --out DIR")

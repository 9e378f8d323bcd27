"""The program of a process that answers queries on an embedded graph; see :mod:`kgqa.store.query_process`, which starts it.

It is run by its path and imports of kgqa only the wall, so that it starts in a fraction of a second. Requests and replies go over one
socket: ``(seconds, text, arguments, rows, bytes)`` comes, a dictionary goes back, then pieces of the rows, each
an Arrow stream, then an empty one.

The right to write, to load libraries and to connect is given up before the first query (:mod:`kgqa.store.sandbox`). The first reply names
the walls that hold.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

PIECE = 1 << 20
"""Bytes of rows that are sent at a time."""
READABLE = ("/proc/self", "/sys/devices/system/cpu", "/sys/fs/cgroup")
"""Paths that the process may read in addition to the graph: they tell the amount of memory and the number of cores."""
SMALL = 32 << 20
"""Bytes of buffer for a graph without content."""


def main() -> None:
    """Open the graph, then answer queries until the parent closes the socket."""
    socket = Connection(int(sys.argv[1]))
    start = socket.recv()
    sys.path[:] = start["path"]
    # The parent holds the other end of our standard input. When it closes, nobody waits for an answer.
    threading.Thread(target=_end_with_whoever_asks, daemon=True).start()
    try:
        import ladybug
        import pyarrow  # noqa: F401 - while there is memory, and while libraries can be loaded

        from kgqa.store import sandbox

        _warm_up(ladybug.Database(":memory:", buffer_pool_size=SMALL, max_num_threads=1), ladybug.Connection, start["first"])
        # Threads that the engine starts from here on inherit the restrictions of this thread.
        walls = sandbox.restrict(readable=[start["graph"], *READABLE])
        database = ladybug.Database(start["graph"], read_only=True, buffer_pool_size=start["buffer"], max_num_threads=start["threads"])
        ladybug.Connection(database).close()
    except (ImportError, RuntimeError) as error:
        socket.send({"error": str(error)})
        return
    walls += sandbox.refuse_calls()
    _limit_memory(start["memory"])
    sandbox.open_nothing()
    socket.send({"walls": walls})
    while True:
        try:
            request = socket.recv()
        except EOFError:
            return
        # A new connection for each query: a connection caches the plan of a text, with the first values of LIMIT and SKIP.
        connection = ladybug.Connection(database, num_threads=start["threads"])
        _answer(socket, connection, *request)
        connection.close()


def _warm_up(database: Any, connect: Any, text: str) -> None:
    """Answer a query on an empty graph, so that all modules and libraries are there before the wall keeps them out."""
    connection = connect(database)
    result = connection.execute(text, {})
    _stream(result.get_as_arrow(-1))
    result.close()
    connection.close()
    database.close()


def _answer(socket: Connection, connection: Any, seconds: float, text: str, values: dict[str, Any], rows: int | None, most: int) -> None:
    import pyarrow as pa

    try:
        connection.set_query_timeout(max(1, round(seconds * 1000)))
        result = connection.execute(text, values)
        table = result.get_as_arrow(-1)
        result.close()
    except (RuntimeError, MemoryError, pa.ArrowException) as error:
        socket.send({"error": str(error) or type(error).__name__})
        return
    except (ValueError, TypeError) as error:  # the engine wants all values of a list to have one type
        socket.send({"error": f"a parameter has values of several types, which the engine does not take ({error})"})
        return
    limit = "rows" if rows is not None and table.num_rows > rows else ""
    table = table.slice(0, rows)
    socket.send({})
    socket.send_bytes(_stream(table.slice(0, 0)))  # the columns, also where there are no rows
    step = max(1, min(PIECE, most // 8) * table.num_rows // max(1, table.nbytes))
    for at in range(0, table.num_rows, step):
        piece = _stream(table.slice(at, step))
        most -= piece.size
        if most < 0:
            limit = "bytes"
            break
        socket.send_bytes(piece)
    socket.send_bytes(b"")
    socket.send({"cut": limit})


def _stream(table: Any) -> Any:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _limit_memory(most: int) -> None:
    """Let the system refuse allocations beyond ``most`` bytes more than now. Where it cannot, the parent watches the memory.

    Not RLIMIT_AS: the engine reserves 8 TB of addresses when it opens a graph.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            data_bytes = next(int(line.split()[1]) for line in status if line.startswith("VmData:")) << 10
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes + most, data_bytes + most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (OSError, ValueError, StopIteration):
        pass


def _end_with_whoever_asks() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()

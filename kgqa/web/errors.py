"""Error responses: one status and one sentence, as JSON below ``/api/`` and as a page elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from kgqa.errors import (
    BrokenInput,
    InputError,
    KgqaError,
    MissingInput,
    QueryError,
    QueryTimeout,
    SettingsError,
    StoreConflict,
    StoreError,
    StoreUnreachable,
    TableChanged,
    UnknownId,
)

Page = Callable[[Request, int, str], Response]
"""Renders the page of a status and a sentence."""
STATUS: tuple[tuple[type[KgqaError], int], ...] = (
    (UnknownId, 404),
    (MissingInput, 404),
    (QueryTimeout, 504),
    (QueryError, 400),
    (SettingsError, 400),
    (StoreUnreachable, 503),
    (StoreConflict, 409),
    (TableChanged, 409),
    (BrokenInput, 500),
    (InputError, 400),
    (StoreError, 400),
    (KgqaError, 500),
)
"""Exception → HTTP status; the first match counts."""
COMMAND_AGAIN = "run the same command again"
"""Advice for the command line at the end of an error's sentence."""
SENTENCES = {404: "There is no such page; begin at the start page.", 405: "Nothing can be changed here: this page only reads."}


def tell_errors(app: FastAPI, page: Page, *, command: str) -> None:
    """Register handlers that answer every error of ``app`` with a ``page``; ``command`` is the command that serves it."""

    def answer(request: Request, status: int, sentence: str) -> Response:
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": {"status": status, "sentence": sentence}}, status_code=status)
        return page(request, status, sentence)

    @app.exception_handler(KgqaError)
    def user_error(request: Request, error: KgqaError) -> Response:
        return answer(request, status_of(error), sentence_of(error))

    @app.exception_handler(HTTPException)
    def http_error(request: Request, error: HTTPException) -> Response:
        return answer(request, error.status_code, SENTENCES.get(error.status_code, f"{error.detail}."))

    @app.exception_handler(RequestValidationError)
    def bad_request(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return answer(request, 400, "What was sent is not JSON; load the page again.")
        where = "What was sent" if first["loc"][0] == "body" else "The address"
        return answer(request, 400, f"{where} lacks {first['loc'][-1]!r}, or it is not what it must be: {first['msg']}.")

    @app.exception_handler(Exception)
    def own_error(request: Request, _: Exception) -> Response:
        return answer(request, 500, f"This is a mistake in kgqa, not yours; the terminal in which kgqa {command} runs says more.")


def status_of(error: KgqaError) -> int:
    """The HTTP status for ``error``."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def sentence_of(error: KgqaError) -> str:
    """The error's message as one sentence with a capital letter. A file name at its beginning keeps its case."""
    text = " ".join(str(error).split()).replace(COMMAND_AGAIN, "load this page again")
    return text if text.split(" ", 1)[0].endswith((":", ",")) else text[:1].upper() + text[1:]

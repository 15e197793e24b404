"""The errors of a call that the service rejects or that can't reach the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NETWORK_ERROR = "NETWORK_ERROR"
"""The code of a request that got no answer."""


class NodeloomError(Exception):
    """An error of the service or of the connection to it.

    Attributes:
        status: HTTP status; 0 when there was no answer, 500 for a run that failed after it was accepted.
        code: Machine-readable; None where a workflow was not found.
        details: The other members of the answer: `required`, `issues`, `providerStatus`, …
        request_id: Names the request in the service's logs.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str | None,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.details: Mapping[str, Any] = details or {}
        self.request_id = request_id

    @property
    def execution_id(self) -> str | None:
        """The run that the error is about, when there is one."""
        value = self.details.get("executionId")
        return value if isinstance(value, str) else None

    def __repr__(self) -> str:
        return f"NodeloomError(status={self.status}, code={self.code!r}, message={self.message!r})"


def without_query(url: str) -> str:
    """An address for logs and messages: a query can contain a signature."""
    return url.split("?", 1)[0]


def unreachable(cause: BaseException | None, what: str) -> NodeloomError:
    """The service did not answer, or stopped in the middle of its answer. `what` is the address, or what was read."""
    reason = str(cause or "") or (type(cause).__name__ if cause is not None else "")
    message = f"the service could not be reached: {what}{f' ({reason})' if reason else ''}"
    error = NodeloomError(message, status=0, code=NETWORK_ERROR, details={"url": what})
    error.__cause__ = cause
    return error

"""Writes src/nodeloom/_client.py from _async_client.py: the synchronous client is the asynchronous one without `async` and `await`.

A test keeps the file equal to what this makes.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "src" / "nodeloom"
REPLACED = [
    (r"The asynchronous client", "The synchronous client"),
    (r"A client of one service, for asyncio\.", "A client of one service."),
    (r"import asyncio\nimport os\n", "import os\nimport time\n"),
    (
        r"from collections\.abc import AsyncIterator, Callable, Mapping, Sequence",
        "from collections.abc import Callable, Iterator, Mapping, Sequence",
    ),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bAsync(Nodeloom|Workflows|Models|Executions|Erasures|Batches|Bundles|Usage)\b", r"\1"),
    (r"\b__a(enter|exit)__", r"__\1__"),
    (r"\.a(close|read|iter_bytes|iter_sse)\(", r".\1("),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
]


def synchronous(text: str) -> str:
    """The text of the asynchronous client as the synchronous one's."""
    for pattern, replacement in REPLACED:
        text = re.sub(pattern, replacement, text)
    return text


if __name__ == "__main__":
    (FOLDER / "_client.py").write_text(synchronous((FOLDER / "_async_client.py").read_text()))

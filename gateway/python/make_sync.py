"""Writes the synchronous client from the asynchronous one: it is the same without `async` and `await`.

A test keeps the files equal to what this makes.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "src" / "nodeloom"
FILES = {"_async_client.py": "_client.py", "_async_resources.py": "_resources.py"}
REPLACED = [
    (r"\b([Tt])he asynchronous client", r"\1he synchronous client"),
    (r"\b_async_", "_"),
    (r"A client of one service, for asyncio\.", "A client of one service."),
    (r"import asyncio\nimport os\n", "import os\nimport time\n"),
    (r"import AsyncIterator, Callable, Mapping, Sequence", "import Callable, Iterator, Mapping, Sequence"),
    (r"import AsyncIterator, Mapping, Sequence", "import Iterator, Mapping, Sequence"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bAsync([A-Z]\w+)\b", r"\1"),
    (r"\b__a(enter|exit|iter)__", r"__\1__"),
    (r"\.a(close|read|iter_bytes|iter_sse)\(", r".\1("),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
]


def synchronous(text: str) -> str:
    """Turns the text of the asynchronous client into the synchronous client."""
    for pattern, replacement in REPLACED:
        text = re.sub(pattern, replacement, text)
    return text


if __name__ == "__main__":
    for source, target in FILES.items():
        (FOLDER / target).write_text(synchronous((FOLDER / source).read_text()))

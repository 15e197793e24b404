"""Keeps requests within the rate limits that answers report."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

import httpx

LOW = 5
"""If fewer requests than this remain, the client waits for the end of the window."""
MAX_WAIT = 61.0
"""Longest wait for a window, in seconds; windows take a minute."""
MAX_BUCKETS = 10_000


def _number(headers: httpx.Headers, name: str) -> float | None:
    try:
        return float(headers[name])
    except (KeyError, ValueError):
        return None


def _left(headers: httpx.Headers, reset: float) -> float:
    """Seconds until a window ends, by the service's own clock where it sends one."""
    try:
        now = parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        now = time.time()
    return min(max(reset - now, 0.0), MAX_WAIT)


class Pacing:
    """Buckets that are nearly empty, and until when (`time.monotonic`)."""

    def __init__(self, max_pause: float = MAX_WAIT) -> None:
        self._max_pause = max_pause
        self._low: dict[str, float] = {}

    def pause(self, bucket: str) -> float | None:
        """Seconds to wait before a request; None if no wait is needed."""
        until = self._low.get(bucket)
        if until is None:
            return None
        pause = until - time.monotonic()
        if 0 < pause <= self._max_pause:
            return pause
        self._low.pop(bucket, None)
        return None

    def learn(self, bucket: str, headers: httpx.Headers) -> None:
        """Reads from an answer how full its bucket is."""
        remaining, reset = _number(headers, "x-ratelimit-remaining"), _number(headers, "x-ratelimit-reset")
        if remaining is None or reset is None:
            return
        self._low.pop(bucket, None)
        if remaining >= LOW:
            return
        if len(self._low) >= MAX_BUCKETS:
            self._low.pop(next(iter(self._low)), None)
        self._low[bucket] = time.monotonic() + _left(headers, reset)

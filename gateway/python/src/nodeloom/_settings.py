"""Where the service is, and how long its answers may take."""

from __future__ import annotations

import os
from collections.abc import Callable

import httpx

from ._exchange import Retry, SentRequest, Settings

LOCAL = "http://127.0.0.1:8080"
DEFAULT_TIMEOUT = httpx.Timeout(connect=10.0, read=180.0, write=600.0, pool=10.0)
"""Longer than a run is waited for in one request."""


def settings_of(
    api_key: str | None,
    base_url: str | None,
    max_retries: int,
    place_timeout: float,
    max_pause: float,
    on_retry: Callable[[Retry], None] | None,
    on_response: Callable[[SentRequest], None] | None,
) -> Settings:
    """Settings. Missing values come from the environment."""
    return Settings(
        base_url=base_url or os.environ.get("NODELOOM_BASE_URL") or LOCAL,
        api_key=api_key or os.environ.get("NODELOOM_API_KEY"),
        max_retries=max_retries,
        place_timeout=place_timeout,
        max_pause=max_pause,
        on_retry=on_retry,
        on_response=on_response,
    )

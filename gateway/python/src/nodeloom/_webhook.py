"""Webhooks, signed as in Standard Webhooks."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any, cast

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

__all__ = ["WebhookVerificationError", "verify_webhook"]

_NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")
_TOLERANCE_SECONDS = 300
_BASE64_SECRET = re.compile(r"(whsec_)?[A-Za-z0-9+/]+={0,2}")
_PARSED = "the body was parsed: pass the raw bytes or text of the request, for example request.get_data() or await request.body()"
_NO_SECRET = "there is no secret: pass the webhook's, whsec_…, and check the variable that has it"
_WRONG_SECRET = "the secret must be a webhook's, which begins with whsec_: an API key or a link's secret signs no messages"
_MISMATCH = (
    "no signature matches: the body must be the raw one, not parsed and serialized again, and the secret that of this webhook. "
    "A key's webhook and an endpoint have secrets of their own; GET /api/webhook-secret has the one for webhooks that runs, "
    "batches and schedules name"
)


def _require_verifiable(names: Mapping[str, str], secret: str | None) -> None:
    if not secret:
        raise WebhookVerificationError(_NO_SECRET)
    if not _BASE64_SECRET.fullmatch(secret):
        raise WebhookVerificationError(_WRONG_SECRET)
    missing = [name for name in _NAMES if not names.get(name)]
    if missing:
        raise WebhookVerificationError(f"the request has no {', '.join(missing)} header: pass all its headers")
    try:
        age = int(time.time()) - int(names["webhook-timestamp"])
    except ValueError as error:
        raise WebhookVerificationError("webhook-timestamp must be a number of seconds") from error
    if abs(age) > _TOLERANCE_SECONDS:
        signed = f"{abs(age)} s {'ago' if age > 0 else 'ahead of this clock'}"
        raise WebhookVerificationError(
            f"the message was signed {signed}, and {_TOLERANCE_SECONDS} s are tolerated: "
            "check this clock, and verify messages when they arrive"
        )


def verify_webhook(payload: bytes | str, headers: Mapping[str, str], secret: str) -> Mapping[str, Any]:
    """The message of a delivery with a valid, recent signature: `type`, `timestamp` and `data`, an execution.

    Deliveries may repeat: de-duplicate them by `data["executionId"]`.

    Args:
        payload: The body exactly as received.
        headers: Of the request, in any spelling.
        secret: As it was shown when the webhook was set: `whsec_…`.

    Raises:
        WebhookVerificationError: the signature is missing, wrong or old; its message says what to check.
    """
    if not isinstance(payload, (bytes, bytearray, str)):
        raise WebhookVerificationError(_PARSED)
    names = {name.lower(): value for name, value in headers.items()}
    _require_verifiable(names, secret)
    try:
        return cast("Mapping[str, Any]", Webhook(secret).verify(payload, names))
    except WebhookVerificationError as error:
        raise WebhookVerificationError(_MISMATCH) from error

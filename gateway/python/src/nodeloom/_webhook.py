"""Webhooks, which are signed as Standard Webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

__all__ = ["WebhookVerificationError", "verify_webhook"]


def verify_webhook(payload: bytes | str, headers: Mapping[str, str], secret: str) -> Mapping[str, Any]:
    """The message of a delivery whose signature is right and recent: `type`, `timestamp` and `data`, an execution.

    Deliveries may repeat: de-duplicate them by `data["executionId"]`.

    Args:
        payload: The body exactly as received.
        headers: Of the request, in any spelling.
        secret: As it was shown when the webhook was set: `whsec_…`.

    Raises:
        WebhookVerificationError: the signature is missing, wrong or old.
    """
    names = {name.lower(): value for name, value in headers.items()}
    return cast("Mapping[str, Any]", Webhook(secret).verify(payload, names))

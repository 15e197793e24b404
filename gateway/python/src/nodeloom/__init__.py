"""A typed client of the Nodeloom API, synchronous and asynchronous."""

from ._async_client import AsyncNodeloom, AsyncTextStream
from ._client import Nodeloom, TextStream
from ._errors import NETWORK_ERROR, NodeloomError
from ._exchange import Reply, Retry, SentRequest
from ._runs import CompletedRun, Event, RunOptions
from ._types import (
    Execution,
    FileVerification,
    InputSchema,
    Media,
    Model,
    NewWorkflow,
    Quote,
    SubmitResult,
    User,
    Workflow,
    WorkflowChanges,
    WorkflowSummary,
)
from ._webhook import WebhookVerificationError, verify_webhook

__all__ = [
    "NETWORK_ERROR",
    "AsyncNodeloom",
    "AsyncTextStream",
    "CompletedRun",
    "Event",
    "Execution",
    "FileVerification",
    "InputSchema",
    "Media",
    "Model",
    "NewWorkflow",
    "Nodeloom",
    "NodeloomError",
    "Quote",
    "Reply",
    "Retry",
    "RunOptions",
    "SentRequest",
    "SubmitResult",
    "TextStream",
    "User",
    "WebhookVerificationError",
    "Workflow",
    "WorkflowChanges",
    "WorkflowSummary",
    "verify_webhook",
]

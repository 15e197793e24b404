"""A typed client of the Nodeloom API, synchronous and asynchronous."""

from ._async_client import AsyncNodeloom
from ._client import Nodeloom
from ._errors import NETWORK_ERROR, NodeloomError
from ._exchange import Reply
from ._runs import CompletedRun, Event
from ._types import Execution, FileVerification, InputSchema, Media, Model, NewWorkflow, Quote, SubmitResult, User, Workflow, WorkflowChanges, WorkflowSummary
from ._webhook import WebhookVerificationError, verify_webhook

__all__ = [
    "NETWORK_ERROR",
    "AsyncNodeloom",
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
    "SubmitResult",
    "User",
    "WebhookVerificationError",
    "Workflow",
    "WorkflowChanges",
    "WorkflowSummary",
    "verify_webhook",
]

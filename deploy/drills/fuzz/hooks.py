"""Checks of what the document cannot say."""

import schemathesis

RUN_FAILURES = {"EXECUTION_FAILED", "PROVIDER_SUBMIT_FAILED", "PROVIDER_RESPONSE_INCOMPLETE"}

# What of a request may be refused though it has the documented form, because it names or depends on something stored:
# the paths of the issues, by operation.
STORED = {
    "getUsageSummary": {"from", "to"},
    # Which passwords are common is a list.
    "register": {"password"},
    "changePassword": {"new"},
    "redeemPasswordReset": {"new"},
    "createWorkflow": {"folderId", "cover", "thumbnail"},
    "updateWorkflow": {"folderId", "cover", "thumbnail"},
    "moveWorkflow": {"folderId"},
    "runWorkflow": {"inputs", "until"},
    "quoteWorkflow": {"inputs", "until"},
    "runModel": {"inputs"},
    "quoteModel": {"inputs"},
    "rerunExecution": {"inputs", "until", "nodes", "reuse"},
    "quoteRerun": {"inputs", "until", "nodes", "reuse"},
    "decideExecution": {"value"},
    "createWorkflowBatch": {"inputs", "items", "settings", "mediaId"},
    "quoteWorkflowBatch": {"inputs", "items", "settings", "mediaId"},
    "runTests": {"settings"},
    "quoteTests": {"settings"},
    "createModelBatch": {"inputs", "mediaId"},
    "quoteModelBatch": {"inputs", "mediaId"},
    # Times and zones are read by libraries of theirs.
    "createSchedule": {"cron", "timezone", "inputs"},
    "updateSchedule": {"cron", "timezone", "inputs"},
    # An expression is parsed.
    "createHook": {"expression"},
    "adminUpdateUser": {"tier"},
    "adminPutTier": {"id"},
    "adminCreditUser": {"amount"},
    "adminUpdateModel": {"price", "fallback"},
    "adminPutModelOrder": {"order"},
    "adminAddModelServer": {"url", "models"},
    "adminTestModelServer": {"url"},
    "adminUpdateModelServer": {"url", "models"},
    "adminPutServerWorkflow": {"id", "workflow"},
    "adminInspectServerWorkflow": {"id", "workflow"},
    # Capabilities are a vocabulary that grows; clients do not hard-code them.
    "createKey": {"capabilities", "expiresAt", "webhook"},
    "setKeyWebhook": {"webhook"},
}
# What is judged by a schema that the body itself names: a model's, or the registry's.
OWN_SCHEMA = {
    "openaiGenerateImages",
    "openaiEditImages",
    "openaiSpeak",
    "openaiTranscribe",
    "openaiChat",
    "adminAddModel",
    "adminPutModel",
}
# Of every list: where its next page begins.
CURSOR = {"cursor"}
# Codes that say the same without issues.
STATES = {"runWorkflow": {"ASYNC_NOT_SUPPORTED"}, "runModel": {"ASYNC_NOT_SUPPORTED"}}


@schemathesis.check
def only_runs_fail(ctx, response, case):
    """A 500 is a run that failed, and says so; it is never INTERNAL, and nothing is away."""
    if response.status_code < 500:
        return
    code = response.json().get("code")
    assert response.status_code == 500 and code in RUN_FAILURES, f"{response.status_code} {code}"


@schemathesis.check
def refused_only_for_what_is_stored(ctx, response, case):
    """A request of the documented form gets 400 only for what the document cannot know."""
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    body = response.json()
    # OpenAI's form has all of it inside.
    body = body["error"] if isinstance(body.get("error"), dict) else body
    operation = case.operation.definition.raw.get("operationId")
    if operation in OWN_SCHEMA:
        return
    if body.get("code") in STATES.get(operation, set()):
        return
    paths = {issue["path"].split(".")[0] for issue in body.get("issues", [{"path": "?"}])}
    unexplained = paths - STORED.get(operation, set()) - CURSOR
    assert not unexplained, f"{body.get('code')} at {sorted(unexplained)}: {body.get('error', body.get('message'))}"


@schemathesis.check
def every_answer_is_named(ctx, response, case):
    """Every response has X-Request-Id."""
    assert response.headers.get("x-request-id"), "no X-Request-Id"

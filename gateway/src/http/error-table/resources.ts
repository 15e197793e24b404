import { RETRY_AFTER, type ErrorEntries } from "./entry";

/** Errors of what a request names: it is missing, or its state conflicts. */
export const RESOURCE_ERRORS = {
  WORKFLOW_NOT_FOUND: {
    status: 404,
    when: "The workflow doesn't exist, isn't yours, or has a schema that isn't public.",
    fix: "Check the slug. `GET /api/workflows` lists your workflows.",
  },
  VERSION_NOT_FOUND: {
    status: 404,
    when: "The workflow has no published version with this number, or you may not see it.",
    fix: "`GET /api/workflows/:slug/versions` lists the versions.",
  },
  ALIAS_NOT_FOUND: {
    status: 404,
    when: "The workflow has no alias with this name, or it isn't yours: other people's workflows only have `production`.",
    fix: "`GET /api/workflows/:slug/aliases` lists the aliases. `PUT /api/workflows/:slug/aliases/:name` creates one.",
  },
  EXECUTION_NOT_FOUND: {
    status: 404,
    when: "The execution doesn't exist, isn't yours, or was deleted after its retention time.",
    fix: "Check the id, and that you use a key of the same account.",
  },
  MODEL_NOT_FOUND: {
    status: 404,
    when: "No enabled model has this name, or the model isn't installed on this machine.",
    fix: "`GET /api/models` lists the models that you can run. If the model is retired, `successor` names the one to use.",
    members: { successor: "the model that replaces a retired one" },
  },
  NOT_FOUND: {
    status: 404,
    when: "The key, budget, folder, batch, user, tier, file, schedule, hook or published app doesn't exist or isn't yours.",
    fix: "Check the id, and that you use a key of the same account.",
  },
  ROUTE_NOT_FOUND: { status: 404, when: "The path doesn't exist.", fix: "Check the path: the API reference lists every endpoint." },
  SOLE_OWNER: {
    status: 409,
    when: "The account is the only owner of one or more organizations, so it can't be deleted.",
    fix: "Make another member the owner of each organization, or delete the organization.",
    members: { organizations: "their ids and names" },
  },
  PLAN_STALE: {
    status: 409,
    when: "A workflow, an alias or the bundle changed since the plan with this `planId` was made.",
    fix: "Send the bundle with `dryRun` again, read the new plan, and send its `planId`.",
  },
  BUNDLE_CONFLICT: {
    status: 409,
    when: "Workflows of the bundle were changed since the last import, or have a slug that is also a name in the bundle.",
    fix: "Export them and merge the changes, or send `overwrite` to replace them.",
    members: { workflows: "the names in conflict, each with its reason" },
  },
  TESTS_REQUIRED: {
    status: 409,
    when: "The alias only moves to versions that passed the workflow's tests, and this version didn't pass the tests that the workflow has now.",
    fix: "Run the tests on the version with `POST /api/workflows/:slug/tests/run`, wait until they pass, then move the alias.",
    members: { version: "the version to test" },
  },
  CANARY_SHAPE: {
    status: 409,
    when: "The canary's version has other input fields or result names than the version of the alias, so callers would notice the difference.",
    fix: "Publish a version with the same fields and names, or give the other version an alias of its own.",
    members: { fields: "names of the input fields that differ", results: "names in only one of the results" },
  },
  NOT_WAITING: {
    status: 409,
    when: "The execution doesn't wait for this decision: it is already decided, the run is over, or it hasn't reached the node yet.",
    fix: "Read the execution to see which approvals are pending.",
    members: {
      decision: "the decision that was made: `approve` or `reject`",
      decidedBy: "`owner`; `timeout` if the time ran out; `rerun` if it was taken from an earlier run",
      decidedAt: "when it was made",
    },
  },
  EXECUTION_NOT_FINAL: {
    status: 409,
    when: "The execution isn't over, so it can't be deleted.",
    fix: "Cancel the execution or wait until it ends, then delete it.",
  },
  SOURCE_ERASED: {
    status: 409,
    when: "The execution is kept for 0 days (`retentionDays`): its inputs, calls and texts were removed at its end, so it can't be rerun, its webhook can't be sent again, and its files can't be kept.",
    fix: "Run the workflow again with its inputs. To keep more of its executions, set a higher `retentionDays`.",
  },
  ALREADY_EXISTS: {
    status: 409,
    when: "The email address is registered already, or a model with this name exists.",
    fix: "Sign in with this address, or choose another name.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    when: "A request with the same `Idempotency-Key` is still being processed.",
    fix: "Wait `retryAfter` seconds and send the same request again: you get the first one's response.",
    members: RETRY_AFTER,
  },
  EXECUTION_CANCELLED: {
    status: 409,
    when: "The run was cancelled and has no result. Work that was already sent to providers is charged.",
    fix: "Start a new run.",
    members: { executionId: "the run" },
  },
  PRECONDITION_FAILED: {
    status: 412,
    when: "The current state doesn't allow it: changed since `If-Match`, still in use, no webhook, or too many keys, schedules or hooks.",
    fix: "`error` names the condition. After a conflict with `If-Match`, read the resource and apply your change again.",
    members: { limit: "the highest number allowed", workflows: "workflows that have the account's schedules or hooks" },
  },
} satisfies ErrorEntries;

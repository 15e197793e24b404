/** Tests of workflows: runs of all tests on a version, with their results. */
import { randomUUID } from "node:crypto";
import { EXPECTATION_KINDS, toCredits, workflowNotFound } from "@nodeloom/kernel";
import { batchJson } from "@nodeloom/platform";
import type { batches as proto } from "@nodeloom/proto";
import { z } from "zod";
import { markReplayed } from "../../edge/lease";
import { content, defineRoute, STREAMED } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";
import { BATCH_CREATE_MS } from "../../http/limits";
import { notFound } from "../../http/errors";
import { raw, toJson } from "../../http/json";
import {
  anyObject,
  credits,
  cursor,
  cursorPage,
  iso,
  limit,
  listQuery,
  nextCursor,
  runOutputs,
  slug,
  timestamp,
  uuid,
  workflowParams,
  type ParamsSpec,
} from "../../http/schemas";
import { quoted, quotedView } from "../batches/creating";
import { batch } from "../batches/view";
import { specific } from "../runs/schemas";
import { junitXml, type JunitTest } from "./junit";
import { ORDER_ERRORS, testOrder, testsBody } from "./test-orders";

const ACCEPTED = 202;
const XML = "application/xml";

const count = z.number().int();
const checked = {
  kind: z.enum([...EXPECTATION_KINDS, "status", "maxCredits", "maxMs"]),
  index: count.optional().meta({ description: "Index in `expect`; absent for `status`, `maxCredits` and `maxMs`" }),
  path: z.string().optional(),
  expected: z.unknown(),
};
const failure = z
  .object({ ...checked, got: z.unknown().meta({ description: "Of files, only what doesn't match. Cut after 2,000 characters" }) })
  .meta({ id: "TestFailure" });
const check = z
  .object({
    ...checked,
    passed: z.boolean(),
    got: z.unknown().meta({
      description: "The measured value. Cut after 2,000 characters, or after 200 if it passed. A judge has its `score` and `reason`",
    }),
  })
  .meta({ id: "TestCheck" });
const side = z.object({
  executionId: uuid,
  status: z.enum(["waiting", "processing", "passed", "failed"]),
  failures: z.array(failure).meta({ description: "Also empty for a failed test whose results were deleted since" }),
  checks: z.array(check).meta({ description: "Each expectation and limit with the measured value; empty before the test ends" }),
  creditsCost: credits.meta({ description: "Charged for it and its judges. Calls that it reused cost nothing" }),
  judgesCost: credits.meta({ description: "Part of `creditsCost`: charged for its judges" }),
  judgeRuns: z.array(uuid).meta({ description: "Executions of its judges and of text recognition" }),
  price: credits.meta({ description: "Price of all of its calls, those included that it reused: compared with `maxCredits`" }),
  durationMs: count.nullable().meta({ description: "Calls that it reused take no time" }),
  result: runOutputs.optional(),
});
const difference = z.object({
  path: z.string().meta({ description: "Place in the result, as JMESPath" }),
  now: z.unknown(),
  before: z.unknown(),
});
const testResult = side
  .extend({
    name: z.string(),
    against: side.optional().meta({ description: "The same test on the version to compare with" }),
    differences: z.array(difference).optional().meta({
      description: "Members of the two results that differ, at most 20. Files are equal if their addresses are: reused files are",
    }),
  })
  .meta({ id: "TestResult" });
const runHead = {
  batchId: uuid,
  status: z.enum(["running", "paused", "passed", "failed", "cancelled"]),
  reason: batch.shape.reason,
  version: z.number().nullable().meta({ description: "The published version; null for the draft" }),
  alias: z.string().nullable(),
  total: count,
  passed: count,
  failed: count,
  creditsCost: credits,
  settings: anyObject.optional().meta({ description: "Settings that replaced those of the tested graph" }),
  recentRuns: z.literal(true).optional().meta({ description: "Inputs of earlier runs ran instead of tests" }),
  createdAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  against: z
    .object({ batchId: uuid, version: z.number().nullable(), alias: z.string().nullable(), creditsCost: credits })
    .optional()
    .meta({ description: "The version that it was compared with" }),
};
const testRun = z.object(runHead).meta({ id: "TestRun" });
const testRunWithResults = z.object({ ...runHead, results: z.array(testResult) }).meta({ id: "TestRunWithResults" });

const sideView = (result: proto.TestResult): Record<string, unknown> => ({
  executionId: result.executionId,
  status: result.status,
  failures: raw(result.failuresJson, "[]"),
  checks: raw(result.checksJson, "[]"),
  creditsCost: toCredits(result.millicredits),
  judgesCost: toCredits(result.measuringMillicredits),
  judgeRuns: result.measuringIds,
  price: toCredits(result.priceMillicredits),
  durationMs: result.durationMs ?? null,
  result: result.resultJson === "" ? undefined : raw(result.resultJson),
});

const resultView = (result: proto.TestResult): Record<string, unknown> => ({
  name: result.name,
  ...sideView(result),
  against: result.against && sideView(result.against),
  differences: result.differencesJson === "" ? undefined : raw(result.differencesJson),
});

const batchHead = ({ batchId, version, alias, millicredits }: proto.Batch): Record<string, unknown> => ({
  batchId,
  version: version || null,
  alias: alias || null,
  creditsCost: toCredits(millicredits),
});

const runView = (run: proto.TestRun): Record<string, unknown> => {
  const { batch: tested, status, passed, failed, against, settingsJson, isRecentRuns } = run;
  if (!tested) throw new Error("executions answered without a batch");
  return {
    ...batchHead(tested),
    // The version to compare with runs first.
    ...{ status, reason: batchJson(tested).reason ?? (against && batchJson(against).reason) ?? null },
    ...{ total: tested.total, passed, failed },
    settings: settingsJson === "" ? undefined : raw(settingsJson),
    recentRuns: isRecentRuns || undefined,
    createdAt: iso(tested.createdAt),
    finishedAt: iso(tested.finishedAt),
    against: against && batchHead(against),
  };
};

const runParams: ParamsSpec<{ slug: string; id: string }> = {
  schema: z.object({ slug, id: uuid }),
  invalid: () => notFound("test run"),
};

const shared = { tag: "Workflows", auth: "any", limit: "user" } as const;
const reading = { ...shared, method: "GET", role: "viewer", capability: "execution:read" } as const;

const starting = {
  ...shared,
  method: "POST",
  role: "runner",
  approval: true,
  capability: specific("workflow", "slug"),
  params: workflowParams,
  body: jsonBody(testsBody),
  example: { version: 4, against: { alias: "production" } },
} as const;
export const testRoutes = [
  defineRoute({
    ...starting,
    path: "/api/workflows/:slug/tests/run",
    operationId: "runTests",
    summary: "Run the tests of a workflow on a version, or on the draft",
    description:
      "Runs every test of your workflow (its member `tests`) as one batch: on the draft, unless `version` or `alias` says otherwise. Calls that an earlier run of the same test made with equal inputs are reused and cost nothing. `GET …/tests/runs/{id}` has the results.",
    idempotent: "rebuild",
    responses: { [ACCEPTED]: z.object({ batchId: uuid, total: count }).meta({ id: "StartedTests" }) },
    errors: [...ORDER_ERRORS, "CONCURRENCY_LIMIT_EXCEEDED"],
    handler: async (context) => {
      const { gateway, executionId, fingerprint } = context;
      const order = { ...testOrder(context), batchId: executionId || randomUUID(), fingerprint };
      const { batch, replayed } = await gateway.services.batches.runTests(order, { deadlineMs: BATCH_CREATE_MS });
      if (!batch) throw new Error("executions answered without a batch");
      if (replayed && fingerprint !== "") markReplayed(context.response);
      return { status: ACCEPTED, body: { batchId: batch.batchId, total: batch.total } };
    },
  }),
  defineRoute({
    ...starting,
    path: "/api/workflows/:slug/tests/quote",
    operationId: "quoteTests",
    summary: "Validate and price a run of a workflow's tests without running it",
    description:
      "The price includes `against`, and excludes judges and calls that an earlier run made with equal inputs. Calls that both sides make with equal inputs are charged once, so a run can cost less.",
    responses: { 200: quoted },
    errors: ORDER_ERRORS,
    handler: async (context) => {
      const { quote } = await context.gateway.services.batches.quoteTests({ tests: testOrder(context) }, { deadlineMs: BATCH_CREATE_MS });
      if (!quote) throw new Error("executions answered without a quote");
      return { status: 200, body: quotedView(quote) };
    },
  }),
  defineRoute({
    ...reading,
    path: "/api/workflows/:slug/tests/runs",
    operationId: "listTestRuns",
    summary: "List the runs of a workflow's tests, newest first",
    params: workflowParams,
    query: listQuery(z.object({ limit, cursor: cursor.optional() })),
    responses: { 200: cursorPage(testRun) },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async ({ gateway, caller, params, query }) => {
      const { workflow } = await gateway.services.workflows.getWorkflow({ slug: params.slug, userId: caller.user.id });
      if (workflow?.createdBy !== caller.user.id) throw workflowNotFound();
      const page = await gateway.services.batches.listTestRuns({
        ...{ userId: caller.user.id, slug: params.slug, limit: query.limit, cursor: query.cursor ?? "" },
      });
      return { status: 200, body: { rows: page.runs.map(runView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...reading,
    path: "/api/workflows/:slug/tests/runs/:id",
    operationId: "getTestRun",
    summary: "A run of a workflow's tests, with the result of each",
    description: "`format=junit` answers with JUnit XML.",
    params: runParams,
    query: z.strictObject({ format: z.enum(["json", "junit"]).default("json") }),
    responses: { 200: content({ "application/json": testRunWithResults, [XML]: z.string() }) },
    errors: ["NOT_FOUND"],
    handler: async ({ gateway, caller, params, query, response }) => {
      const one = { userId: caller.user.id, slug: params.slug, batchId: params.id };
      const { run } = await gateway.services.batches.getTestRun(one);
      if (!run) throw new Error("executions answered without a run");
      const results = run.results.map(resultView);
      if (query.format === "json") return { status: 200, body: { ...runView(run), results } };
      const signed = JSON.parse(await gateway.mediaUrls.leave(toJson(results), caller)) as JunitTest[];
      response.status(200).type(`${XML}; charset=utf-8`).send(junitXml(params.slug, signed));
      return STREAMED;
    },
  }),
];

import { type DomainError, GRAPH_BOUNDS, invalidInputs, invalidRequest, RUN_METADATA, type Issue } from "@nodeloom/kernel";
import { z } from "zod";
import { runCapability } from "../../auth/caller";
import { runWebhook } from "./webhook";
import { retentionDays } from "../executions/retention";
import { webhookConfiguration } from "../executions/view";
import {
  anyObject,
  credits,
  line,
  MAX_CREDITS,
  nodeWarnings,
  queryFlag,
  routeMembers,
  runOutputs,
  selection,
  uuid,
} from "../../http/schemas";
import { jsonBody, type Body } from "../../http/body/kinds";

const ASYNC_DESCRIPTION = "With `async=true`, the response is 202 at once, and you poll the run";

export const inputs = anyObject.meta({ description: "Keys are the schema's field names; omitted fields take their defaults" });
export const maxCredits = z.number().min(0).max(MAX_CREDITS).optional();
/** Member name that is lost when an object is copied. */
export const NO_NAME = "__proto__";
export const BAD_NAME = "can't be a name in metadata";
/** A NUL character separates names from values in storage, and a line can't contain one. */
export const metadataName = line(RUN_METADATA.nameChars)
  .min(1)
  .refine((name) => name !== NO_NAME, BAD_NAME);
export const metadata = z
  .record(metadataName, z.string().max(RUN_METADATA.valueChars))
  .refine((runMetadata) => Object.keys(runMetadata).length <= RUN_METADATA.entries, {
    error: `can have at most ${RUN_METADATA.entries} members`,
  })
  .meta({ description: "Your own names and texts for the run. They are on the execution, its webhooks and its usage row" });
const provenance = z
  .literal("full")
  .optional()
  .meta({ description: "Keeps prompts and settings with the files that the run makes (`GET /api/media/{id}/provenance`)" });
export const quoteBody = z
  .strictObject({
    inputs,
    maxCredits: maxCredits.meta({ description: "Ignored, so that you can send the body of a run" }),
    metadata: metadata.optional().meta({ description: "Ignored" }),
    provenance: provenance.meta({ description: "Ignored" }),
    webhook: runWebhook.optional().meta({ description: "Ignored" }),
    retentionDays: retentionDays.meta({ description: "Ignored" }),
  })
  .meta({ id: "QuoteRequest" });
export const runBody = z
  .strictObject({
    inputs,
    metadata: metadata.optional(),
    provenance,
    webhook: runWebhook.optional(),
    retentionDays,
    maxCredits: maxCredits.meta({
      description:
        "Rejects the run with INSUFFICIENT_CREDITS if it could cost more credits than this. Calls that trial grants pay cost none. The `estimatedCreditCost` of a quote is sufficient",
    }),
  })
  .meta({ id: "RunRequest" });
export const until = z.string().min(1).max(GRAPH_BOUNDS.nodeIdBytes).optional().meta({
  description: "Id of a node in your own workflow: only that node and the nodes it depends on run. Inputs that they don't use are ignored",
});
export const workflowRunBody = runBody.extend({ until }).meta({ id: "WorkflowRunRequest" });
export const workflowQuoteBody = quoteBody.extend({ until }).meta({ id: "WorkflowQuoteRequest" });
export const runQuery = z.strictObject({ async: queryFlag.optional().meta({ description: ASYNC_DESCRIPTION }) });
export const workflowRunQuery = runQuery.extend(selection);
export const workflowQuoteQuery = z.strictObject(selection);

const runWarnings = nodeWarnings.optional().meta({
  description: "Warnings about nodes, such as misspelled settings and shortened texts. Absent if there are none",
});

export const runResult = z
  .object({
    success: z.literal(true),
    result: runOutputs,
    cost: credits.meta({ description: "Credits consumed; 0 when a trial grant paid" }),
    ms: z.number(),
    warnings: runWarnings,
  })
  .meta({ id: "RunResult" });

export const submitResult = z
  .object({
    _async: z.literal(true),
    executionId: uuid,
    requestId: z.string().nullable(),
    status: z.literal("processing"),
    webhookDelivery: webhookConfiguration,
    pollUrl: z.string(),
    warnings: runWarnings,
  })
  .meta({ id: "SubmitResult" });

const quoteGrant = z.object({
  model: z.string(),
  total: z.number().meta({ description: "Trial runs ever granted" }),
  remaining: z.number().meta({ description: "Trial runs left after this run. `/api/me` returns the current number" }),
});
export const quoteNode = z.object({
  id: z.string(),
  type: z.string(),
  model: z.string(),
  items: z.number().meta({ description: "Maximum number of calls" }),
  estimatedCreditCost: credits.meta({ description: "Maximum cost of its calls, without calls that trial grants pay for" }),
  grant: z.boolean().meta({ description: "True if a trial grant pays for at least one of its calls" }),
  ...routeMembers,
});
export const quoteResult = z
  .object({
    estimatedCreditCost: credits.nullable().meta({
      description:
        "Expected cost of the run, which it holds when it starts. A list of unknown length counts as one item, or as `maxItems` of its node; a text of unknown length as 1,000 tokens. Null without generators",
    }),
    maxCreditCost: credits.nullable().meta({
      description:
        "Maximum cost of the run: every list of unknown length has `maxItems` or 50 items, and every text of unknown length the maximum size for its node. It can be higher if another run uses up trial grants first",
    }),
    exact: z.boolean().meta({
      description:
        "True if a completed run costs exactly this. False if estimate and maximum differ, a switch decides during the run, a fallback model has another price, or a model is paid by tokens",
    }),
    nodes: z.array(quoteNode),
    grants: z.array(quoteGrant).meta({ description: "Trial grants for the run's models" }),
    warnings: nodeWarnings.meta({ description: "Placeholders that become empty text, and misspelt settings" }),
  })
  .meta({ id: "Quote" });

/** Errors in `inputs`, and a missing body, are INVALID_INPUTS. */
const invalid = (issues: Issue[]): DomainError => {
  const isAboutInputs = issues.some(({ path }) => path === "" || path === "inputs" || path.startsWith("inputs."));
  return isAboutInputs ? invalidInputs(issues) : invalidRequest(issues);
};
export const inputsBody = <B>(schema: z.ZodType<B>): Body<B> => jsonBody(schema, { invalid });

/** The run capability for the id in the path. @param parameter path parameter */
export const specific =
  (kind: "workflow" | "model", parameter: string) =>
  (params: Readonly<Record<string, string>>): string =>
    runCapability(kind, params[parameter] ?? "");

export const GRAPH_ERRORS = ["INVALID_INPUTS", "WORKFLOW_INVALID", "MODEL_TIER_REQUIRED", "MODEL_NOT_FOUND"] as const;
/** Errors of a run that isn't accepted. */
export const START_ERRORS = [
  "INVALID_INPUTS",
  "CONTENT_REFUSED",
  "INSUFFICIENT_CREDITS",
  "BUDGET_EXCEEDED",
  "grant_exhausted",
  "MODEL_TIER_REQUIRED",
  "CONCURRENCY_LIMIT_EXCEEDED",
] as const;
/** Errors of a run that was accepted. */
export const END_ERRORS = [
  "EXECUTION_CANCELLED",
  "EXECUTION_FAILED",
  "OUTGOING_LIMIT_EXCEEDED",
  "PROVIDER_SUBMIT_FAILED",
  "PROVIDER_RESPONSE_INCOMPLETE",
] as const;
export const RUN_ERRORS = [...START_ERRORS, "ASYNC_NOT_SUPPORTED", ...END_ERRORS] as const;
/** Errors of a run that isn't accepted, if its target has a name of another API. */
export const NAMED_START_ERRORS = [
  ...START_ERRORS,
  "CAPABILITY_DENIED",
  "MODEL_NOT_FOUND",
  "WORKFLOW_NOT_FOUND",
  "ALIAS_NOT_FOUND",
  "WORKFLOW_INVALID",
] as const;

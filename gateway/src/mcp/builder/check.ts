import { DomainError, inputFields, isRecord, readGraph, takesFiles, uploadFamily, type InputField } from "@nodeloom/kernel";
import type { GraphTexts } from "@nodeloom/kernel/graph-patch";
import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { requireApproved } from "../../auth/caller";
import type { CallContext } from "../../edge/route";
import { credits, nodeWarnings } from "../../http/schemas";
import { GRAPH_ERRORS, quoteNode } from "../../routes/runs/schemas";
import { quoteView } from "../../routes/runs/routes";
import { toRunner } from "../../routes/runs/run";

/** Checks and prices a graph that isn't saved, like a quote of a run. */

const issue = z.object({
  nodeId: z.string().nullable().meta({ description: "Null if it concerns the whole graph" }),
  code: z.string(),
  message: z.string(),
  path: z.string().optional().meta({ description: "The setting or input that it concerns" }),
});

export const checkSchema = z.object({
  valid: z.boolean().meta({ description: "False if a run would be rejected because of `issues`" }),
  issues: z.array(issue),
  warnings: nodeWarnings,
  estimatedCreditCost: credits.nullable().meta({ description: "Expected cost of a run; null without models, and while it isn't valid" }),
  maxCreditCost: credits.nullable().meta({ description: "The most that a run can cost" }),
  exact: z.boolean().meta({ description: "True if a completed run costs exactly this" }),
  prices: z.array(quoteNode).meta({ description: "Prices of nodes that call models" }),
  assumedInputs: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: "Example values of inputs without a default, used for this check only" }),
});
export type Check = z.infer<typeof checkSchema>;

export interface CheckRequest {
  graph: GraphTexts;
  /** Slug of the graph's workflow; empty if it has none. */
  slug: string;
  inputs: Readonly<Record<string, unknown>>;
  /** Last node to check; empty for all. */
  until: string;
}

const EXAMPLE_FILE = "https://example.com/example";
const EXAMPLE_TEXT = "…";
const REFUSED: ReadonlySet<string> = new Set([...GRAPH_ERRORS, "ACCOUNT_NOT_APPROVED"]);

const exampleOf = (field: InputField): unknown => {
  if (uploadFamily(field)) return takesFiles(field) ? [EXAMPLE_FILE] : EXAMPLE_FILE;
  switch (field.type) {
    case "number":
      return field.min ?? Math.min(1, field.max ?? 1);
    case "boolean":
      return true;
    case "select":
      return field.options?.[0] ?? "";
    case "json":
      return {};
    default:
      return EXAMPLE_TEXT.repeat(Math.max(1, field.min ?? 1));
  }
};

/** Examples for inputs that have neither a value nor a default. */
const examplesFor = ({ nodesJson, edgesJson }: GraphTexts, inputs: CheckRequest["inputs"]): Record<string, unknown> => {
  const fields = inputFields(readGraph(nodesJson, edgesJson));
  return Object.fromEntries(
    fields.flatMap((field) => (field.default !== undefined || Object.hasOwn(inputs, field.name) ? [] : [[field.name, exampleOf(field)]])),
  );
};

const INVALID = { valid: false, warnings: [], estimatedCreditCost: null, maxCreditCost: null, exact: false, prices: [] } as const;

const textOr = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);

/** Issues of an error; an error without any is itself the issue. */
const issuesOf = ({ reason, message, metadata }: DomainError): Check["issues"] => {
  const issues = Array.isArray(metadata.issues) ? metadata.issues.filter(isRecord) : [];
  if (issues.length === 0) return [{ nodeId: null, code: reason, message }];
  return issues.map(({ nodeId, code, path, message: text }) => ({
    nodeId: typeof nodeId === "string" ? nodeId : null,
    code: textOr(code, reason),
    message: textOr(text, message),
    ...(typeof path === "string" ? { path } : {}),
  }));
};

/** @throws DomainError for anything but problems of the graph and its inputs */
export const checkGraph = async ({ gateway, caller }: CallContext<"any">, { graph, slug, inputs, until }: CheckRequest): Promise<Check> => {
  const examples = examplesFor(graph, inputs);
  const assumed = Object.keys(examples).length > 0 ? { assumedInputs: examples } : {};
  try {
    requireApproved(caller);
    const quoted = await gateway.services.executions.quote({
      target: executions.Target.fromPartial({ target: { $case: "workflowSlug", value: slug }, until }),
      runner: toRunner(caller, "workflow"),
      inputsJson: JSON.stringify({ ...examples, ...inputs }),
      rerun: undefined,
      unsaved: graph,
    });
    const { estimatedCreditCost, maxCreditCost, exact, nodes: prices, warnings } = quoteView(quoted);
    return { valid: true, issues: [], warnings, estimatedCreditCost, maxCreditCost, exact, prices, ...assumed };
  } catch (error) {
    if (!(error instanceof DomainError) || !REFUSED.has(error.reason)) throw error;
    return { ...INVALID, warnings: [], prices: [], issues: issuesOf(error), ...assumed };
  }
};

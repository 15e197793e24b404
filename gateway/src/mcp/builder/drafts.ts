import { DomainError, invalidRequest, isUnavailable, LIMITS } from "@nodeloom/kernel";
import { patchGraph, type GraphTexts } from "@nodeloom/kernel/graph-patch";
import { elements, valuesIn } from "@nodeloom/kernel/json-text";
import type { workflows } from "@nodeloom/proto";
import { z } from "zod";
import type { CallContext } from "../../edge/route";
import { anyObject, slug } from "../../http/schemas";
import { revisionTag } from "../../http/revisions";
import { NO_NODES } from "../../routes/workflows/requests";
import { until } from "../../routes/runs/schemas";
import { workflowRoutes } from "../../routes/workflows/routes";
import { callRoute } from "../calls";
import { routeNamed } from "../named";
import { checkGraph, checkSchema, type CheckRequest } from "./check";
import { operations } from "./operations";
import { operationRoute } from "./routes";

/** Checks and changes of a workflow's draft. */

type Context = CallContext<"any">;

const updateRoute = routeNamed(workflowRoutes, "updateWorkflow");
/** Attempts to apply operations to the newest revision. */
const ATTEMPTS = 4;
/** Enough to change the graph, and not to approve a change that waits for approval. */
const EDITING = ["workflow:read", "workflow:write"] as const;

const revision = z.number().int().min(0).meta({ description: "Number of the draft's revision; every save raises it" });
const inputs = anyObject.optional().meta({ description: "Inputs for the check. Others take their defaults, or example values" });
const savedSlug = slug.meta({ description: "The slug of your workflow" });

const texts = ({ nodesJson, edgesJson }: workflows.Workflow): GraphTexts => ({
  nodesJson: nodesJson || NO_NODES,
  edgesJson: edgesJson || NO_NODES,
});

/** @throws DomainError WORKFLOW_NOT_FOUND, INVALID_REQUEST for another user's template */
const ownDraft = async ({ gateway, caller }: Context, value: string): Promise<workflows.Workflow> => {
  const { workflow } = await gateway.services.workflows.getWorkflow({ slug: value, userId: caller.user.id });
  if (!workflow) throw new Error("workflows answered without a workflow");
  if (workflow.createdBy === caller.user.id) return workflow;
  throw invalidRequest([{ path: "slug", message: "is another user's template: copy it first with `clone_workflow`" }]);
};

const validation = z.strictObject({
  slug: savedSlug.optional().meta({ description: "Checks this workflow's draft. Otherwise send `nodes` and `edges`" }),
  nodes: z.array(z.unknown()).max(LIMITS.nodes).optional().meta({ description: "Checks this graph instead of the saved draft" }),
  edges: z.array(z.unknown()).max(LIMITS.edges).optional(),
  inputs,
  until: until.meta({ description: "Id of a node: checks only that node and the nodes it depends on" }),
});

export const validateRoute = operationRoute({
  name: "validate",
  summary: "Check and price a graph",
  role: "viewer",
  capability: "workflow:read",
  body: validation,
  lossless: ["nodes", "edges"],
  reply: checkSchema,
  handler: async (context) => {
    const { slug: value, nodes, edges, inputs = {}, until = "" } = context.body;
    if (nodes === undefined && edges !== undefined) throw invalidRequest([{ path: "nodes", message: "is required with `edges`" }]);
    if (value === undefined && nodes === undefined)
      throw invalidRequest([{ path: "", message: "send slug, to check a workflow, or nodes, to check a graph" }]);
    const saved = value === undefined ? undefined : await ownDraft(context, value);
    const sentTexts = context.members();
    const graph =
      nodes === undefined && saved
        ? texts(saved)
        : { nodesJson: sentTexts.get("nodes") ?? NO_NODES, edgesJson: sentTexts.get("edges") ?? NO_NODES };
    return { status: 200, body: await checkGraph(context, { graph, slug: value ?? "", inputs, until }) };
  },
});

const patch = z.strictObject({
  slug: savedSlug,
  revision: revision.optional().meta({ description: "Applies the operations only to this revision. Default: the newest" }),
  operations: operations.meta({ description: "Applied in order: all of them, or none" }),
  dryRun: z.boolean().optional().meta({ description: "Checks the changed graph without saving it" }),
  inputs,
});

const patched = z.object({
  slug,
  revision,
  saved: z.boolean(),
  pendingChange: z
    .boolean()
    .optional()
    .meta({ description: "True if an earlier change still waits for `publish` by someone who can run it" }),
  checkError: z
    .object({ code: z.string(), message: z.string() })
    .optional()
    .meta({ description: "Set if the draft was saved and couldn't be checked: call `validate`" }),
  ...checkSchema.partial().shape,
});

/** @throws DomainError INVALID_REQUEST if the graph has more values than a saved graph can have */
const checkValues = ({ nodesJson, edgesJson }: GraphTexts): void => {
  if (valuesIn(nodesJson) + valuesIn(edgesJson) <= LIMITS.jsonValues) return;
  throw invalidRequest([
    { path: "operations", message: `would give the graph more than ${LIMITS.jsonValues} values: remove nodes or settings` },
  ]);
};

const isStale = (error: unknown): boolean => error instanceof DomainError && error.reason === "PRECONDITION_FAILED";

/** Saves the graph if the draft still has its revision. */
const save = async (context: Context, { slug: value, revision, pendingChange }: workflows.Workflow, graph: GraphTexts): Promise<number> => {
  const caller = pendingChange ? { ...context.caller, capabilities: [...EDITING] } : context.caller;
  const body = `{"nodes":${graph.nodesJson},"edges":${graph.edgesJson}}`;
  const { headers } = await callRoute({ ...context, caller }, updateRoute, {
    params: { slug: value },
    body,
    ifMatch: revisionTag(revision),
  });
  return revisionOf(headers);
};

/** Number of the revision in an entity tag. */
export const revisionOf = (headers: Readonly<Record<string, string>> | undefined): number =>
  Number(/^"(\d+)/.exec(headers?.ETag ?? "")?.[1] ?? 0);

const stale = (current: number): DomainError =>
  new DomainError(
    "precondition",
    "PRECONDITION_FAILED",
    `the draft has revision ${current}: read it with \`get_workflow\`, and adapt the operations`,
    {
      revision: current,
    },
  );

/** The check of a saved graph: its failure doesn't undo the save. */
const checkSaved = (context: Context, request: CheckRequest): Promise<Partial<z.infer<typeof patched>>> =>
  checkGraph(context, request).catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    const { reason: code, message } = error;
    if (!isUnavailable(error)) context.logger.info({ err: error }, "a saved draft was not checked");
    return { checkError: { code, message } };
  });

export const patchRoute = operationRoute({
  name: "patch_workflow",
  summary: "Change the draft of a workflow",
  role: "editor",
  capability: [...EDITING],
  body: patch,
  lossless: ["operations"],
  reply: patched,
  handler: async (context) => {
    const { slug: value, revision: expectedRevision, operations: changes, dryRun = false, inputs: values = {} } = context.body;
    const operationTexts = elements(context.members().get("operations") ?? NO_NODES);
    for (let attempt = 1; ; attempt += 1) {
      const draft = await ownDraft(context, value);
      if (expectedRevision !== undefined && expectedRevision !== draft.revision) throw stale(draft.revision);
      const graph = patchGraph(texts(draft), changes, operationTexts);
      checkValues(graph);
      const request = { graph, slug: value, inputs: values, until: "" };
      const pending = draft.pendingChange ? { pendingChange: true } : {};
      if (dryRun)
        return {
          status: 200,
          body: { slug: value, revision: draft.revision, saved: false, ...pending, ...(await checkGraph(context, request)) },
        };
      try {
        const saved = await save(context, draft, graph);
        return { status: 200, body: { slug: value, revision: saved, saved: true, ...pending, ...(await checkSaved(context, request)) } };
      } catch (error) {
        if (!isStale(error) || expectedRevision !== undefined || attempt >= ATTEMPTS) throw error;
      }
    }
  },
});

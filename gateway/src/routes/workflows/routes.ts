import { tierOf } from "../../auth/caller";
import { DomainError, isRefusal, LIMITS, type Reason } from "@nodeloom/kernel";
import { z } from "zod";
import { PAGE_DEFAULT } from "../../http/limits";
import { markReplayed, REPLAYED, reused } from "../../edge/lease";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute, type Reply } from "../../edge/route";
import { cursor, identifier, listQuery, optionalLimit, selection, workflowParams } from "../../http/schemas";
import { selectedGraph } from "./selection";
import { createRequest, LOSSLESS, updateRequest, wantedRevision } from "./requests";
import { changes, creation, folderId, inputSchema, publicSchema, workflowSchema, workflowSummary, workflowWithQuoteError } from "./schemas";
import { quoteError } from "./quote-error";
import { graphWarnings, schemaView, summaryView, workflowReply } from "./views";
import { jsonBody } from "../../http/body/kinds";

/** Saves of the same members of a workflow by one person within this time share an audit row. The console saves while people edit. */
const SAVES_SHARED_MS = 600_000;

/** Members that decide who can see or run the workflow. Rows have their values; of other members, they have the names. */
const EXPOSING = ["isTemplate", "publicPlayground", "mcp"] as const;

/** Row of an update. Publishing or withdrawing an app has an action of its own. */
const updateRow = (body: z.infer<typeof changes>): { action: string; change: object } => {
  const values = EXPOSING.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]));
  const change = { members: Object.keys(body).sort(), ...Object.fromEntries(values) };
  if (body.app === undefined) return { action: "workflow.update", change };
  const isPublished = body.app?.published === true;
  return { action: isPublished ? "workflow.app-publish" : "workflow.app-unpublish", change };
};

/** Filter for workflows outside of folders. */
const ROOT = "null";
const filters = z.strictObject({
  limit: optionalLimit,
  cursor: cursor.optional(),
  q: z.string().normalize().max(LIMITS.searchChars).optional().meta({ description: "Searches name, description, slug and tags" }),
  tag: z.string().normalize().max(LIMITS.tagChars).optional(),
  folderId: identifier.optional().meta({ description: "Only the caller's workflows in this folder. `null`: at the root level" }),
});

const nextPage = (query: z.infer<typeof filters>, next: string): string => {
  const parameters = Object.entries({ ...query, cursor: next }).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, String(value)]],
  );
  return `</api/workflows?${new URLSearchParams(parameters).toString()}>; rel="next"`;
};

/** True if the workflow created under a key was deleted since. */
const isDeletedSince = (error: unknown): boolean => error instanceof DomainError && error.reason === "WORKFLOW_NOT_FOUND";

const readRoute = { tag: "Workflows", auth: "any", role: "viewer", capability: "workflow:read", limit: "user" } as const;
const write = { tag: "Workflows", auth: "any", role: "editor", capability: "workflow:write", limit: "user" } as const;

export const workflowRoutes = [
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/workflows",
    operationId: "listWorkflows",
    summary: "List the caller's workflows and everyone's templates",
    description: "Newest first; at most 1,000 templates. With `limit`, the next page is in the `Link` header.",
    query: listQuery(filters),
    headers: ["Link"],
    responses: { 200: z.array(workflowSummary) },
    handler: async ({ gateway, caller, query }) => {
      const request = {
        userId: caller.user.id,
        limit: query.limit ?? (query.cursor === undefined ? 0 : PAGE_DEFAULT),
        cursor: query.cursor ?? "",
        query: query.q ?? "",
        tag: query.tag ?? "",
        folderId: query.folderId === undefined || query.folderId === ROOT ? "" : query.folderId,
        rootLevel: query.folderId === ROOT,
        own: false,
      };
      const [{ workflows: rows, nextCursor: next }, estimate, obstacle] = await Promise.all([
        gateway.services.workflows.listWorkflows(request),
        gateway.catalog.estimator(caller.user.plan.markupPermille),
        gateway.catalog.obstacles(tierOf(caller)),
      ]);
      const headers: Record<string, string> = next === "" ? {} : { Link: nextPage(query, next) };
      return { status: 200, body: rows.map((row) => summaryView(row, estimate(row.generators), obstacle(row.generators))), headers };
    },
  }),
  defineRoute({
    ...write,
    method: "POST",
    path: "/api/workflows",
    operationId: "createWorkflow",
    summary: "Create a workflow",
    idempotent: "rebuild",
    body: jsonBody(creation, { lossless: LOSSLESS }),
    headers: ["ETag", "Location"],
    responses: { 201: workflowSchema },
    description: "Repeated with the same Idempotency-Key, it returns the workflow's current state, or 404 after its deletion.",
    errors: [
      "WORKFLOW_CAP_REACHED",
      "TEMPLATE_CAP_REACHED",
      "ACCOUNT_NOT_APPROVED",
      "SESSION_REQUIRED",
      "WORKFLOW_NOT_FOUND",
      "WORKFLOW_INVALID",
    ],
    example: { name: "Poster maker", tags: ["print"] },
    handler: async (context) => {
      const { executionId, fingerprint, gateway } = context;
      const create = async (headers: Record<string, string> = {}): Promise<Reply> => {
        const reference = fingerprint === "" ? undefined : executionId;
        const stored = await auditedForOwner(context, { action: "workflow.create", target: context.body.name, reference }, async () => {
          const { workflow: value } = await gateway.services.workflows.createWorkflow(createRequest(context.body, context));
          return { value, after: { slug: value?.slug } };
        });
        const warnings = await graphWarnings(gateway.catalog, stored);
        return workflowReply(201, stored, { headers: { Location: `/api/workflows/${stored?.slug}`, ...headers }, warnings });
      };
      if (fingerprint === "") return create();
      const earlier = await gateway.leases.remember(executionId, fingerprint);
      if (earlier !== undefined && earlier !== fingerprint) throw reused();
      try {
        return await create(earlier === undefined ? {} : REPLAYED);
      } catch (error) {
        if (isDeletedSince(error)) markReplayed(context.response);
        // If the first attempt was rejected, the key is free again.
        else if (earlier === undefined && isRefusal(error)) await gateway.leases.forget(executionId);
        throw error;
      }
    },
  }),
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/workflows/:slug",
    operationId: "getWorkflow",
    summary: "Read a workflow",
    params: workflowParams,
    headers: ["ETag"],
    responses: { 200: workflowWithQuoteError },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async ({ gateway, caller, params: { slug } }) => {
      const [{ workflow: stored }, error] = await Promise.all([
        gateway.services.workflows.getWorkflow({ slug, userId: caller.user.id }),
        quoteError(gateway, slug, caller.user.id),
      ]);
      return workflowReply(200, stored, { more: stored?.createdBy === caller.user.id ? error : {} });
    },
  }),
  defineRoute({
    ...write,
    method: "PUT",
    path: "/api/workflows/:slug",
    operationId: "updateWorkflow",
    summary: "Change fields of a workflow",
    description:
      "Omitted fields are kept. If the caller can't run the workflow, apps, hooks and schedules keep running the earlier graph until a caller who can run it saves the whole graph, publishes or confirms it (`pendingChange`). With If-Match, only that revision is changed.",
    params: workflowParams,
    body: jsonBody(changes, { lossless: LOSSLESS, values: LIMITS.jsonValues + LIMITS.workflowMemberValues }),
    headers: ["If-Match", "ETag"],
    responses: { 200: workflowSchema },
    errors: [
      ...["WORKFLOW_NOT_FOUND", "PRECONDITION_FAILED"],
      ...["WORKFLOW_CAP_REACHED", "TEMPLATE_CAP_REACHED", "ACCOUNT_NOT_APPROVED", "SESSION_REQUIRED", "WORKFLOW_INVALID"],
    ] as Reason[],
    example: { description: "Posters for the summer fair", hidden: false },
    handler: async (context) => {
      const { gateway, params } = context;
      const request = { ...updateRequest(params.slug, context.body, context), ifRevision: await wantedRevision(context) };
      const { action, change } = updateRow(context.body);
      const reference = String(Math.floor(context.receivedAtMs / SAVES_SHARED_MS));
      const stored = await auditedForOwner(context, { action, target: params.slug, change, reference }, async () => ({
        value: (await gateway.services.workflows.updateWorkflow(request)).workflow,
      }));
      const warnings = context.body.nodes === undefined ? [] : await graphWarnings(gateway.catalog, stored);
      return workflowReply(200, stored, { warnings });
    },
  }),
  defineRoute({
    ...write,
    method: "PUT",
    path: "/api/workflows/:slug/move",
    operationId: "moveWorkflow",
    summary: "Move a workflow to a folder or to the root level",
    description: "With `If-Match`, only that revision is moved.",
    params: workflowParams,
    body: jsonBody(z.strictObject({ folderId })),
    headers: ["If-Match", "ETag"],
    responses: { 200: workflowSchema },
    errors: ["WORKFLOW_NOT_FOUND", "PRECONDITION_FAILED"],
    example: { folderId: null },
    handler: async (context) => {
      const { gateway, caller, params, body } = context;
      const which = { slug: params.slug, ownerId: caller.user.id, ifRevision: await wantedRevision(context) };
      const request = { ...which, folderId: body.folderId ?? undefined };
      const stored = await auditedForOwner(context, { action: "workflow.move", target: params.slug, change: body }, async () => ({
        value: (await gateway.services.workflows.moveWorkflow(request)).workflow,
      }));
      return workflowReply(200, stored);
    },
  }),
  defineRoute({
    ...write,
    method: "DELETE",
    path: "/api/workflows/:slug",
    operationId: "deleteWorkflow",
    summary: "Delete a workflow for good",
    description: "With `If-Match`, only that revision is deleted.",
    headers: ["If-Match"],
    params: workflowParams,
    responses: { 204: null },
    errors: ["WORKFLOW_NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const ifRevision = await wantedRevision(context);
      await auditedForOwner(context, { action: "workflow.delete", target: params.slug }, async () => ({
        value: await gateway.services.workflows.deleteWorkflow({ slug: params.slug, ownerId: caller.user.id, ifRevision }),
      }));
      return { status: 204 };
    },
  }),
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/workflows/:slug/schema",
    operationId: "getWorkflowSchema",
    summary: "Read the input schema of a workflow",
    params: workflowParams,
    query: z.strictObject(selection),
    responses: { 200: inputSchema },
    errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND", "ALIAS_NOT_FOUND"],
    handler: async ({ gateway, caller, params, query }) => {
      const [{ schema, generators }, estimate] = await Promise.all([
        gateway.services.workflows.getSchema({ slug: params.slug, userId: caller.user.id, ...selectedGraph(caller, query) }),
        gateway.catalog.estimator(caller.user.plan.markupPermille),
      ]);
      return { status: 200, body: { ...schemaView(schema), estimatedCreditCost: estimate(generators) } };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/workflows/:slug/public-schema",
    operationId: "getPublicSchema",
    summary: "Read the input schema of a public playground",
    tag: "Workflows",
    auth: "none",
    role: "self",
    limit: "ip",
    params: workflowParams,
    responses: { 200: publicSchema },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async ({ gateway, params }) => {
      const { schema } = await gateway.services.workflows.getPublicSchema({ slug: params.slug });
      return { status: 200, body: schemaView(schema) };
    },
  }),
];

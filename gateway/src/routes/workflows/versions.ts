import { tierOf } from "../../auth/caller";
import { LIMITS, versionNotFound } from "@nodeloom/kernel";
import { workflows } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { CLONE_MS } from "../../http/limits";
import { defineRoute } from "../../edge/route";
import {
  anyObject,
  cursor,
  cursorPage,
  iso,
  limit,
  listQuery,
  name as workflowName,
  slug,
  timestamp,
  workflowParams,
  type ParamsSpec,
} from "../../http/schemas";
import { auditedForOwner } from "../../edge/audit";
import { readyModels } from "../../clients/ranking";
import { mediaQuota } from "../media/uploads";
import { specific } from "../runs/schemas";
import { authorOf, isWithoutRun, wantedRevision, workflowCap } from "./requests";
import { workflowReply } from "./views";
import { workflowSchema } from "./schemas";
import { jsonBody } from "../../http/body/kinds";

/** Copies and published versions of workflows. */

const head = z
  .object({
    version: z.number(),
    note: z.string(),
    createdAt: timestamp.nullable(),
    createdBy: z.string(),
    name: z.string(),
    description: z.string(),
    pinnedModels: z
      .record(z.string(), z.string())
      .optional()
      .meta({
        description: "Models that replaced its tasks when it was published with `pinModels`",
        example: { "auto:image": "sandbox-image" },
      }),
  })
  .meta({ id: "WorkflowVersionHead" });
const version = head
  .extend({ nodes: z.array(z.unknown()), edges: z.array(z.unknown()), viewport: anyObject })
  .meta({ id: "WorkflowVersion" });

const headView = (stored: workflows.Version): z.infer<typeof head> => ({
  version: stored.version,
  note: stored.note,
  createdAt: iso(stored.createdAt),
  createdBy: stored.createdBy,
  name: stored.name,
  description: stored.description,
  ...(Object.keys(stored.pinnedModels).length > 0 ? { pinnedModels: stored.pinnedModels } : {}),
});

const view = (stored: workflows.Version | undefined): Record<string, unknown> => {
  if (!stored) throw new Error("workflows answered without a version");
  return { ...headView(stored), nodes: raw(stored.nodesJson), edges: raw(stored.edgesJson), viewport: raw(stored.viewportJson) };
};

const versionParams: ParamsSpec<{ slug: string; version: number }> = {
  schema: z.object({
    slug,
    version: z
      .string()
      .regex(/^[1-9]\d{0,8}$/)
      .transform(Number)
      .meta({ override: { type: "integer", minimum: 1 } }),
  }) as unknown as z.ZodType<{ slug: string; version: number }>,
  invalid: versionNotFound,
};

/** A cursor of versions is the last number of the previous page. */
const beforeOf = (versionText: string | undefined): number =>
  versionText !== undefined && /^[1-9]\d{0,8}$/.test(versionText) ? Number(versionText) : 0;

const readRoute = { tag: "Workflows", auth: "any", role: "viewer", capability: "workflow:read", limit: "user" } as const;
const write = { tag: "Workflows", auth: "any", role: "editor", capability: "workflow:write", limit: "user" } as const;

export const versionRoutes = [
  defineRoute({
    ...write,
    method: "POST",
    path: "/api/workflows/:slug/clone",
    operationId: "cloneWorkflow",
    summary: "Copy a workflow or a template",
    description:
      "The copy belongs to the caller and has its own copies of the author's files. For another person's template, the newest published version is copied.",
    idempotent: "replay",
    params: workflowParams,
    body: jsonBody(z.strictObject({ name: workflowName.optional() }).nullish()),
    headers: ["ETag", "Location"],
    responses: { 201: workflowSchema },
    errors: ["WORKFLOW_NOT_FOUND", "WORKFLOW_CAP_REACHED", "ACCOUNT_NOT_APPROVED", "MEDIA_QUOTA_EXCEEDED"],
    example: { name: "My poster maker" },
    handler: async (context) => {
      const { gateway, caller, params, body, executionId } = context;
      const request = workflows.CloneWorkflowRequest.fromPartial({
        slug: params.slug,
        userId: caller.user.id,
        authorId: authorOf(caller),
        name: body?.name ?? "",
        maxWorkflows: workflowCap(caller),
        reference: executionId,
        unapproved: !caller.user.approved,
        mediaQuotaBytes: mediaQuota(caller),
        withoutRun: isWithoutRun(caller),
      });
      const action = { action: "workflow.clone", target: params.slug, change: body ?? undefined };
      const stored = await auditedForOwner(context, action, async () => {
        const { workflow: value } = await gateway.services.workflows.cloneWorkflow(request, { deadlineMs: CLONE_MS });
        return { value, after: { slug: value?.slug } };
      });
      return workflowReply(201, stored, { headers: { Location: `/api/workflows/${stored?.slug}` } });
    },
  }),
  defineRoute({
    ...write,
    method: "POST",
    path: "/api/workflows/:slug/versions",
    operationId: "publishVersion",
    summary: "Publish the draft as the next version",
    description:
      "From then on, runs use this version. Later changes of the draft don't affect it, and versions never change. If the caller can't run the workflow, apps, hooks and schedules don't run the version until a caller who can run it publishes or confirms it (`pendingChange`). With If-Match, only that revision of the draft is published.",
    idempotent: "replay",
    params: workflowParams,
    body: jsonBody(
      z
        .strictObject({
          note: z.string().max(LIMITS.noteChars).optional(),
          pinModels: z.boolean().optional().meta({ description: "Replaces its tasks (`auto:image`) by the models that they have now" }),
        })
        .nullish(),
    ),
    headers: ["If-Match", "Location"],
    responses: { 201: head },
    errors: ["WORKFLOW_NOT_FOUND", "ACCOUNT_NOT_APPROVED", "PRECONDITION_FAILED", "WORKFLOW_INVALID"],
    example: { note: "Warmer colours" },
    handler: async (context) => {
      const { gateway, caller, params, body, executionId } = context;
      const request = {
        slug: params.slug,
        ownerId: caller.user.id,
        authorId: authorOf(caller),
        note: body?.note ?? "",
        reference: executionId,
        unapproved: !caller.user.approved,
        withoutRun: isWithoutRun(caller, params.slug),
        ifRevision: await wantedRevision(context),
        pinsModels: body?.pinModels === true,
        pinnedModels: body?.pinModels === true ? await readyModels(gateway.services.models, tierOf(caller)) : {},
      };
      const action = { action: "workflow.publish", target: params.slug, change: body ?? undefined };
      const stored = await auditedForOwner(context, action, async () => {
        const { version } = await gateway.services.workflows.publishVersion(request);
        if (!version) throw new Error("workflows answered without a version");
        return { value: version, after: { version: version.version } };
      });
      return { status: 201, body: headView(stored), headers: { Location: `/api/workflows/${params.slug}/versions/${stored.version}` } };
    },
  }),
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/workflows/:slug/versions",
    operationId: "listVersions",
    summary: "List the published versions of a workflow, newest first",
    params: workflowParams,
    query: listQuery(
      z.strictObject({
        limit,
        cursor: cursor.regex(/^[1-9]\d{0,8}$/, "doesn't belong to this list: send the nextCursor of its last page").optional(),
      }),
    ),
    responses: { 200: cursorPage(head) },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async ({ gateway, caller, params, query }) => {
      const request = { slug: params.slug, ownerId: caller.user.id, limit: query.limit, before: beforeOf(query.cursor) };
      const { versions } = await gateway.services.workflows.listVersions(request);
      const last = versions.length === query.limit ? versions.at(-1)!.version : 1;
      return { status: 200, body: { rows: versions.map(headView), nextCursor: last > 1 ? String(last) : null } };
    },
  }),
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/workflows/:slug/versions/:version",
    operationId: "getVersion",
    summary: "Read a published version",
    params: versionParams,
    responses: { 200: version },
    errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      const request = { slug: params.slug, ownerId: caller.user.id, version: params.version };
      const { version: stored } = await gateway.services.workflows.getVersion(request);
      return { status: 200, body: view(stored) };
    },
  }),
  defineRoute({
    ...write,
    method: "POST",
    path: "/api/workflows/:slug/versions/:version/restore",
    operationId: "restoreVersion",
    summary: "Restore a published version to the draft",
    description: "With `If-Match`, only that revision of the draft is overwritten.",
    params: versionParams,
    headers: ["If-Match", "ETag"],
    responses: { 200: workflowSchema },
    errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const which = { slug: params.slug, ownerId: caller.user.id, version: params.version };
      const request = { ...which, ifRevision: await wantedRevision(context), withoutRun: isWithoutRun(caller, params.slug) };
      const action = { action: "workflow.restore", target: params.slug, change: { version: params.version } };
      const stored = await auditedForOwner(context, action, async () => ({
        value: (await gateway.services.workflows.restoreVersion(request)).workflow,
      }));
      return workflowReply(200, stored);
    },
  }),
  defineRoute({
    tag: "Workflows",
    auth: "any",
    role: "runner",
    capability: specific("workflow", "slug"),
    limit: "user",
    method: "POST",
    path: "/api/workflows/:slug/confirm",
    operationId: "confirmWorkflow",
    summary: "Approve a change of a workflow by a caller who can't run it",
    description:
      "From then on, its app, hooks and schedules run the same graph as other runs, and `pendingChange` is false. With If-Match, only that revision of the draft is confirmed.",
    approval: true,
    headers: ["If-Match"],
    params: workflowParams,
    responses: { 200: z.object({ pendingChange: z.literal(false) }).meta({ id: "ConfirmedWorkflow" }) },
    errors: ["WORKFLOW_NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const request = { slug: params.slug, ownerId: caller.user.id, ifRevision: await wantedRevision(context) };
      await auditedForOwner(context, { action: "workflow.confirm", target: params.slug }, async () => {
        await gateway.services.workflows.approveGraph(request);
        return { value: undefined };
      });
      return { status: 200, body: { pendingChange: false } };
    },
  }),
];

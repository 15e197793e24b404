import { DomainError, LIMITS, type Reason } from "@nodeloom/kernel";
import { workflows } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import { payloadTooLarge } from "../../http/errors";
import { raw } from "../../http/json";
import { REPLAYED, reused } from "../../http/lease";
import { matchRevision, revisionTag } from "../../http/revisions";
import { defineRoute, type CallContext, type Reply } from "../../http/route";
import { PAGE_DEFAULT } from "../../http/limits";
import {
  anyObject,
  credits,
  cursor,
  identifier,
  iso,
  name,
  optionalLimit,
  slug,
  timestamp,
  versionQuery,
  workflowParams,
} from "../../schemas";

const NO_NODES = "[]";
const DEFAULT_VIEWPORT = '{"x":0,"y":0,"zoom":1}';
/** Members that are kept and given back as the text that was sent. */
const LOSSLESS = ["nodes", "edges", "viewport", "cover"] as const;

const description = z.string().max(LIMITS.descriptionChars);
const tags = z.array(z.string().max(LIMITS.tagChars)).max(LIMITS.tags);
const cover = anyObject
  .nullable()
  .meta({ description: "`{ image, video? }`, media-storage URLs", example: { image: "https://example.com/media/cover.png" } });
const thumbnail = z.string().nullable();
const folderId = identifier.nullable();
const nodes = z.array(z.unknown()).max(LIMITS.nodes).meta({ description: "Each with `id`, `type`, `position`, `data`" });
const edges = z
  .array(z.unknown())
  .max(LIMITS.edges)
  .meta({ description: "Each with `id`, `source`, `target`, `sourceHandle`, `targetHandle`" });
const viewport = anyObject.meta({ description: "`{ x, y, zoom }`" });

const flags = { isTemplate: z.boolean(), hidden: z.boolean(), archived: z.boolean(), publicPlayground: z.boolean() };

const published = {
  publishedVersion: z.number().nullable().meta({ description: "The newest published version, which runs run; null when there is none" }),
  changedSincePublished: z.boolean().meta({ description: "Whether the draft's graph differs from it" }),
};
const takedown = z.object({ reason: z.string(), at: timestamp.nullable() });

const workflow = z
  .object({
    slug,
    name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    ...flags,
    folderId,
    thumbnail,
    cover,
    createdBy: z.string(),
    nodes: z.array(z.unknown()),
    edges: z.array(z.unknown()),
    viewport,
    createdAt: timestamp,
    updatedAt: timestamp,
    ...published,
    takedown: takedown.optional().meta({ description: "Of a template that an administrator took down; its owner alone sees it" }),
  })
  .meta({ id: "Workflow" });

const estimatedCreditCost = credits.nullable().meta({ description: "Credits per run at the caller's tier; null without generators" });

const summary = workflow
  .omit({ publicPlayground: true, nodes: true, edges: true, viewport: true, createdAt: true })
  .omit({ publishedVersion: true, changedSincePublished: true, takedown: true })
  .extend({ estimatedCreditCost })
  .meta({ id: "WorkflowSummary" });

const fieldSchema = z
  .object({
    name: z.string(),
    type: z.string(),
    label: z.string(),
    default: z.unknown().optional(),
    options: z.array(z.string()).optional(),
    required: z.boolean().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
  })
  .meta({ id: "SchemaField" });

const publicSchema = z
  .object({ fields: z.array(fieldSchema), values: anyObject, name: z.string(), description: z.string() })
  .meta({ id: "PublicSchema" });
const inputSchema = publicSchema.extend({ estimatedCreditCost }).meta({ id: "InputSchema" });

/** What a client may change. Other members of a full workflow are accepted and have no effect. */
const changes = z
  .object({ name, description, tags, ...flags, folderId, thumbnail, cover, nodes, edges, viewport })
  .partial()
  .meta({ id: "WorkflowChanges" });
const creation = changes.required({ name: true }).meta({ id: "NewWorkflow" });
type Changes = z.infer<typeof changes>;

const view = (stored: workflows.Workflow): Record<string, unknown> => ({
  slug: stored.slug,
  name: stored.name,
  description: stored.description,
  tags: stored.tags,
  isTemplate: stored.isTemplate,
  hidden: stored.hidden,
  archived: stored.archived,
  publicPlayground: stored.publicPlayground,
  folderId: stored.folderId ?? null,
  thumbnail: stored.thumbnail ?? null,
  cover: raw(stored.coverJson),
  createdBy: stored.createdBy,
  nodes: raw(stored.nodesJson, NO_NODES),
  edges: raw(stored.edgesJson, NO_NODES),
  viewport: raw(stored.viewportJson, DEFAULT_VIEWPORT),
  createdAt: iso(stored.createdAt),
  updatedAt: iso(stored.updatedAt),
  publishedVersion: stored.publishedVersion || null,
  changedSincePublished: stored.changedSincePublished,
  ...(stored.takedown ? { takedown: { reason: stored.takedown.reason, at: iso(stored.takedown.at) } } : {}),
});

const summaryView = (stored: workflows.WorkflowSummary): Record<string, unknown> => ({
  slug: stored.slug,
  name: stored.name,
  description: stored.description,
  tags: stored.tags,
  isTemplate: stored.isTemplate,
  hidden: stored.hidden,
  archived: stored.archived,
  cover: raw(stored.coverJson),
  thumbnail: stored.thumbnail ?? null,
  createdBy: stored.createdBy,
  folderId: stored.folderId ?? null,
  updatedAt: iso(stored.updatedAt),
});

const fieldView = (field: workflows.SchemaField): Record<string, unknown> => ({
  name: field.name,
  type: field.type,
  label: field.label,
  default: field.defaultJson === "" ? undefined : raw(field.defaultJson),
  options: field.type === "select" ? field.options : undefined,
  required: field.required || undefined,
  min: field.min,
  max: field.max,
});

const schemaView = (schema: workflows.Schema | undefined): Record<string, unknown> => ({
  fields: (schema?.fields ?? []).map(fieldView),
  values: raw(schema?.valuesJson ?? "", "{}"),
  name: schema?.name ?? "",
  description: schema?.description ?? "",
});

export const workflowReply = (status: number, stored: workflows.Workflow | undefined, headers: Record<string, string> = {}): Reply => {
  if (!stored) throw new Error("workflows answered without a workflow");
  return { status, body: view(stored), headers: { ETag: revisionTag(stored.revision), ...headers } };
};

/** The members to keep as text, by field name; those that were not sent are absent. */
const losslessTexts = (context: Pick<CallContext, "members">): Partial<Record<(typeof LOSSLESS)[number], string>> => {
  const texts: Partial<Record<(typeof LOSSLESS)[number], string>> = {};
  let bytes = 0;
  for (const member of LOSSLESS) {
    const text = context.members().get(member);
    if (text === undefined) continue;
    texts[member] = text;
    bytes += Buffer.byteLength(text);
  }
  if (bytes > LIMITS.workflowBytes) throw payloadTooLarge(LIMITS.workflowBytes);
  return texts;
};

/** Saved workflows the caller may have; undefined when uncapped. */
export const workflowCap = ({ isAdmin, user }: Caller): number | undefined => (isAdmin ? undefined : (user.plan.maxWorkflows ?? undefined));

const createRequest = (body: z.infer<typeof creation>, context: CallContext<"any">): workflows.CreateWorkflowRequest => {
  const texts = losslessTexts(context);
  return workflows.CreateWorkflowRequest.fromPartial({
    ownerId: context.caller.user.id,
    name: body.name,
    description: body.description ?? "",
    tags: body.tags ?? [],
    isTemplate: body.isTemplate ?? false,
    hidden: body.hidden ?? false,
    archived: body.archived ?? false,
    publicPlayground: body.publicPlayground ?? false,
    folderId: body.folderId ?? undefined,
    thumbnail: body.thumbnail ?? undefined,
    coverJson: texts.cover ?? "",
    nodesJson: texts.nodes ?? NO_NODES,
    edgesJson: texts.edges ?? NO_NODES,
    viewportJson: texts.viewport ?? DEFAULT_VIEWPORT,
    maxWorkflows: workflowCap(context.caller),
    // Under an Idempotency-Key every attempt has the same id, the one after a crash too.
    reference: context.executionId,
    unapproved: !context.caller.user.approved,
  });
};

const updateRequest = (workflowSlug: string, body: Changes, context: CallContext<"any">): workflows.UpdateWorkflowRequest => {
  const texts = losslessTexts(context);
  return workflows.UpdateWorkflowRequest.fromPartial({
    slug: workflowSlug,
    ownerId: context.caller.user.id,
    name: body.name,
    description: body.description,
    tags: body.tags && { values: body.tags },
    isTemplate: body.isTemplate,
    hidden: body.hidden,
    archived: body.archived,
    publicPlayground: body.publicPlayground,
    folderId: body.folderId ?? undefined,
    clearFolderId: body.folderId === null,
    thumbnail: body.thumbnail ?? undefined,
    clearThumbnail: body.thumbnail === null,
    coverJson: texts.cover,
    nodesJson: texts.nodes,
    edgesJson: texts.edges,
    viewportJson: texts.viewport,
    maxWorkflows: workflowCap(context.caller),
    unapproved: !context.caller.user.approved,
  });
};

/** Where a list narrows to workflows of the root level. */
const ROOT = "null";
const listQuery = z.strictObject({
  limit: optionalLimit,
  cursor: cursor.optional(),
  q: z.string().max(LIMITS.searchChars).optional().meta({ description: "In name, description, slug or a tag" }),
  tag: z.string().max(LIMITS.tagChars).optional(),
  folderId: identifier.optional().meta({ description: "The caller's own in this folder; `null`: at the root level" }),
});

/** The address of a list's next page. */
const nextPage = (query: z.infer<typeof listQuery>, next: string): string => {
  const given = Object.entries({ ...query, cursor: next }).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, String(value)]],
  );
  return `</api/workflows?${new URLSearchParams(given).toString()}>; rel="next"`;
};

const read = { tag: "Workflows", auth: "any", capability: "workflow:read", limit: "user" } as const;
const write = { tag: "Workflows", auth: "any", capability: "workflow:write", limit: "user" } as const;

export { workflow as workflowSchema };

export const workflowRoutes = [
  defineRoute({
    ...read,
    method: "GET",
    path: "/api/workflows",
    list: true,
    operationId: "listWorkflows",
    summary: "List the caller's workflows and everyone's templates",
    description: "Newest first; at most 1,000 templates. With `limit`, the next page is in the `Link` header.",
    query: listQuery,
    responses: { 200: z.array(summary) },
    handler: async ({ gateway, caller, query }) => {
      const request = {
        userId: caller.user.id,
        limit: query.limit ?? (query.cursor === undefined ? 0 : PAGE_DEFAULT),
        cursor: query.cursor ?? "",
        query: query.q ?? "",
        tag: query.tag ?? "",
        folderId: query.folderId === undefined || query.folderId === ROOT ? "" : query.folderId,
        rootLevel: query.folderId === ROOT,
      };
      const [{ workflows: rows, nextCursor: next }, estimate] = await Promise.all([
        gateway.services.workflows.listWorkflows(request),
        gateway.catalog.estimator(caller.user.plan.markupPermille),
      ]);
      const headers: Record<string, string> = next === "" ? {} : { Link: nextPage(query, next) };
      return { status: 200, body: rows.map((row) => ({ ...summaryView(row), estimatedCreditCost: estimate(row.generators) })), headers };
    },
  }),
  defineRoute({
    ...write,
    method: "POST",
    path: "/api/workflows",
    operationId: "createWorkflow",
    summary: "Create a workflow",
    idempotent: "rebuild",
    body: creation,
    responses: { 201: workflow },
    errors: ["WORKFLOW_CAP_REACHED", "TEMPLATE_CAP_REACHED", "ACCOUNT_NOT_APPROVED", "NOT_FOUND"],
    example: { name: "Poster maker", tags: ["print"] },
    handler: async (context) => {
      const { executionId, fingerprint, gateway } = context;
      const create = async (headers: Record<string, string> = {}): Promise<Reply> => {
        const { workflow: stored } = await gateway.services.workflows.createWorkflow(createRequest(context.body, context));
        return workflowReply(201, stored, { Location: `/api/workflows/${stored?.slug}`, ...headers });
      };
      if (fingerprint === "") return create();
      const earlier = await gateway.leases.remember(executionId, fingerprint);
      if (earlier !== undefined && earlier !== fingerprint) throw reused();
      if (earlier !== undefined) return create(REPLAYED);
      try {
        return await create();
      } catch (error) {
        // Refused, it leaves no trace: the key may be used for something else.
        if (error instanceof DomainError && error.kind !== "unavailable" && error.kind !== "internal")
          await gateway.leases.forget(executionId);
        throw error;
      }
    },
  }),
  defineRoute({
    ...read,
    method: "GET",
    path: "/api/workflows/:slug",
    operationId: "getWorkflow",
    summary: "Read a workflow",
    params: workflowParams,
    responses: { 200: workflow },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      const { workflow: stored } = await gateway.services.workflows.getWorkflow({ slug: params.slug, userId: caller.user.id });
      return workflowReply(200, stored);
    },
  }),
  defineRoute({
    ...write,
    method: "PUT",
    path: "/api/workflows/:slug",
    operationId: "updateWorkflow",
    summary: "Change fields of a workflow",
    description: "Omitted fields are kept. With If-Match the change happens only at that revision.",
    params: workflowParams,
    body: changes,
    responses: { 200: workflow },
    errors: [
      ...["WORKFLOW_NOT_FOUND", "NOT_FOUND", "PRECONDITION_FAILED"],
      ...["WORKFLOW_CAP_REACHED", "TEMPLATE_CAP_REACHED", "ACCOUNT_NOT_APPROVED"],
    ] as Reason[],
    example: { description: "Posters for the summer fair", hidden: false },
    handler: async (context) => {
      const { gateway, params, caller, request } = context;
      const { workflows: service } = gateway.services;
      const current = async (): Promise<number> =>
        (await service.getWorkflow({ slug: params.slug, userId: caller.user.id })).workflow?.revision ?? 0;
      const ifRevision = await matchRevision(request.headers["if-match"], current);
      const { workflow: stored } = await service.updateWorkflow({ ...updateRequest(params.slug, context.body, context), ifRevision });
      return workflowReply(200, stored);
    },
  }),
  defineRoute({
    ...write,
    method: "PUT",
    path: "/api/workflows/:slug/move",
    operationId: "moveWorkflow",
    summary: "Move a workflow to a folder or to the root level",
    params: workflowParams,
    body: z.strictObject({ folderId }),
    responses: { 200: workflow },
    errors: ["WORKFLOW_NOT_FOUND", "NOT_FOUND"],
    example: { folderId: null },
    handler: async ({ gateway, caller, params, body }) => {
      const request = { slug: params.slug, ownerId: caller.user.id, folderId: body.folderId ?? undefined };
      const { workflow: stored } = await gateway.services.workflows.moveWorkflow(request);
      return workflowReply(200, stored);
    },
  }),
  defineRoute({
    ...write,
    method: "DELETE",
    path: "/api/workflows/:slug",
    operationId: "deleteWorkflow",
    summary: "Delete a workflow for good",
    params: workflowParams,
    responses: { 204: null },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      await gateway.services.workflows.deleteWorkflow({ slug: params.slug, ownerId: caller.user.id });
      return { status: 204 };
    },
  }),
  defineRoute({
    ...read,
    method: "GET",
    path: "/api/workflows/:slug/schema",
    operationId: "getWorkflowSchema",
    summary: "Read the input schema of a workflow",
    params: workflowParams,
    query: z.strictObject({ version: versionQuery }),
    responses: { 200: inputSchema },
    errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
    handler: async ({ gateway, caller, params, query }) => {
      const [{ schema, generators }, estimate] = await Promise.all([
        gateway.services.workflows.getSchema({ slug: params.slug, userId: caller.user.id, version: query.version ?? "" }),
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

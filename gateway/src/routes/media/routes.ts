import { DomainError, LIMITS, unlessNotFound } from "@nodeloom/kernel";
import { media } from "@nodeloom/proto";
import { z } from "zod";
import { requireApproved } from "../../auth/caller";
import { notFound } from "../../http/errors";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute, type CallContext } from "../../edge/route";
import { anyObject, cursor, cursorPage, idParams, iso, limit, listQuery, nextCursor, timestamp } from "../../http/schemas";
import { mediaQuota, storeUpload, uploadBytes, withSentFile } from "./uploads";
import { fileBody, jsonBody } from "../../http/body/kinds";

const measured = z.number().int().optional();
const stored = z
  .object({
    id: z.string(),
    url: z.string(),
    contentType: z.string(),
    bytes: z.number(),
    width: measured.meta({ description: "In pixels, as displayed. Absent if the file has no width or it can't be read" }),
    height: measured.meta({ description: "In pixels, as displayed" }),
    durationMs: measured.meta({ description: "Duration of a video or audio file in milliseconds" }),
  })
  .meta({
    id: "Media",
    example: {
      ...{ id: "med_1", url: "http://127.0.0.1:8080/media/med_1.png", contentType: "image/png", bytes: 20480 },
      ...{ width: 640, height: 480 },
    },
  });

const file = stored
  .extend({
    origin: z.enum(["upload", "generated"]).meta({ description: "`generated`: made by a run" }),
    kept: z.boolean().meta({
      description: "True if it is kept until you delete it. It then counts against the quota. Other files are removed after 90 days",
    }),
    createdAt: timestamp.nullable(),
    public: z.boolean().meta({ description: "Anyone reads it by its address without a signature" }),
    model: z.string().nullable().meta({ description: "The model that made the file; null for uploads and files that no model made" }),
    title: z.string().nullable().meta({ description: "The first words of the prompt that made the file; null for files without a prompt" }),
  })
  .meta({ id: "MediaFile" });
const filePage = cursorPage(file)
  .extend({ usedBytes: z.number(), quotaBytes: z.number().nullable().meta({ description: "Null: no bound" }) })
  .meta({ id: "MediaPage" });

const storedView = ({ id, url, contentType, bytes, width, height, durationMs }: media.StoredObject): z.infer<typeof stored> => ({
  ...{ id, url, contentType, bytes },
  ...(width === undefined || height === undefined ? {} : { width, height }),
  ...(durationMs === undefined ? {} : { durationMs }),
});

const view = (object: media.StoredObject | undefined): z.infer<typeof file> => {
  if (!object) throw new Error("media answered without an object");
  const { kept, createdAt } = object;
  const origin = object.origin === media.Origin.ORIGIN_GENERATED ? "generated" : "upload";
  return {
    ...storedView(object),
    origin,
    kept,
    createdAt: iso(createdAt),
    public: object.public,
    model: object.model || null,
    title: object.title || null,
  };
};

const FILE_KEY = /^[0-9a-f]{32}\.[a-z0-9]{1,8}$/;

type Access = Pick<CallContext<"any">, "gateway" | "caller">;

/** A file of the caller, by its id or by the name in its address. @param withPublic true for public files of others too @throws NOT_FOUND */
const find = async ({ gateway, caller }: Access, name: string, withPublic: boolean): Promise<media.StoredObject> => {
  const { media: service } = gateway.services;
  const ownerId = caller.user.id;
  const { objects } = await (FILE_KEY.test(name)
    ? service.getObjectsByKey({ keys: [name] })
    : service.getObjects({ ids: [name], ownerId, withPublic }));
  const readable = objects.find((object) => object.ownerId === ownerId || (withPublic && object.id === name));
  if (!readable) throw notFound("media");
  // A public file doesn't reveal its prompt to others.
  return readable.ownerId === ownerId ? readable : { ...readable, title: "" };
};

const record = file
  .extend({
    digitalSourceType: z
      .string()
      .nullable()
      .meta({ description: "Origin of the file as an IPTC digital source type; null if no model made it" }),
    nodeId: z.string().nullable(),
    executionId: z.string().nullable(),
    parents: z.array(z.string()).meta({ description: "Source files: ids, or addresses of external files" }),
    signed: z.boolean().nullable().meta({
      description: "The file has signed content credentials (C2PA). Null for uploads, and for files from before there were signatures",
    }),
    unsignedReason: z.enum(["format", "size", "busy", "failed", "off"]).nullable().meta({
      description:
        "Reason for a generated file without a signature: its format, its size, too many files at once, an error, or `PROVENANCE`",
    }),
    inputs: anyObject.nullable().meta({ description: 'Prompts and settings, if the run had `provenance: "full"`' }),
  })
  .meta({ id: "ProvenanceRecord" });
const provenance = record
  .extend({
    ancestors: z.array(record).meta({ description: "Its source files and their sources, nearest first. Only your own files" }),
    truncated: z.boolean().meta({ description: "True if there are more than the 200 files or 20 steps shown" }),
  })
  .meta({ id: "Provenance" });

const recordView = (provenanceRecord: media.ProvenanceRecord | undefined): z.infer<typeof record> => {
  const making = provenanceRecord?.making;
  return {
    ...view(provenanceRecord?.object),
    digitalSourceType: provenanceRecord?.digitalSourceType || null,
    nodeId: making?.nodeId || null,
    executionId: making?.executionId || null,
    parents: making?.parents ?? [],
    signed: provenanceRecord?.signed ?? null,
    unsignedReason: (provenanceRecord?.unsignedReason || null) as z.infer<typeof record>["unsignedReason"],
    inputs: making?.inputsJson ? (JSON.parse(making.inputsJson) as Record<string, unknown>) : null,
  };
};

const readRoute = { tag: "Media", auth: "any", role: "viewer", capability: "workflow:read", limit: "user" } as const;
const write = { tag: "Media", auth: "any", role: "editor", capability: "workflow:write", limit: "user" } as const;

/** A file of a run with a retention of 0 days is erased with the run. @throws NOT_FOUND, SOURCE_ERASED */
const requireKeepable = async ({ gateway, caller }: Access, id: string): Promise<void> => {
  const { media: service, executions } = gateway.services;
  const userId = caller.user.id;
  const { record: own } = await service.getProvenance({ id, ownerId: userId });
  const executionId = own?.making?.executionId;
  if (!executionId) return;
  const { execution } = (await unlessNotFound(executions.getExecution({ executionId, userId }))) ?? {};
  if (execution?.retentionDays !== 0) return;
  const message = "the execution that made the file is kept for 0 days, so its files can't be kept: download the file";
  throw new DomainError("conflict", "SOURCE_ERASED", message);
};

export const mediaRoutes = [
  defineRoute({
    ...write,
    method: "POST",
    path: "/api/media",
    operationId: "uploadMedia",
    summary: "Upload a file; its bytes are the body",
    description:
      "At most 100 MB, as the body or as a form with one file. The type is recognized from the bytes. Files count against the quota of your tier until you delete them.",
    body: fileBody(),
    approval: true,
    responses: { 201: stored },
    errors: ["INVALID_REQUEST", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "ACCOUNT_NOT_APPROVED", "MEDIA_QUOTA_EXCEEDED"],
    handler: ({ gateway, caller, request }) =>
      withSentFile(request, uploadBytes(caller), async (file) => ({
        status: 201,
        body: storedView(await storeUpload(gateway, caller, file)),
      })),
  }),
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/media",
    operationId: "listMedia",
    summary: "List the caller's files, newest first",
    description:
      "`q` finds files that runs made by words of their prompt, model, node and workflow. Every word must match the beginning of a word. Files of runs with a retention of 0 days, and of deleted runs, have no words.",
    query: listQuery(
      z.object({
        limit,
        cursor: cursor.optional(),
        q: z.string().max(LIMITS.searchChars).optional().meta({ description: "Words of the prompt, the model, the node or the workflow" }),
        from: timestamp.optional().meta({ description: "From this time on" }),
      }),
    ),
    responses: { 200: filePage },
    handler: async ({ gateway, caller, query }) => {
      const { limit: most, cursor: after = "", q = "", from } = query;
      const search = { query: q, from: from === undefined ? undefined : new Date(from) };
      const request = media.ListObjectsRequest.fromPartial({ ownerId: caller.user.id, limit: most, cursor: after, ...search });
      const page = await gateway.services.media.listObjects(request);
      const { usedBytes } = page;
      const quotaBytes = mediaQuota(caller) ?? null;
      return { status: 200, body: { rows: page.objects.map(view), nextCursor: nextCursor(page.nextCursor), usedBytes, quotaBytes } };
    },
  }),
  defineRoute({
    ...readRoute,
    capability: "execution:read",
    method: "GET",
    path: "/api/media/:id",
    operationId: "getMedia",
    summary: "Read a file's entry, with a new address",
    description:
      "`:id` is the file's id, or the name in its address. The address can have expired. By its id you also read a public file of another account, such as the example file of a template.",
    params: idParams("media"),
    responses: { 200: file },
    errors: ["NOT_FOUND"],
    handler: async (context) => ({ status: 200, body: view(await find(context, context.params.id, true)) }),
  }),
  defineRoute({
    ...write,
    method: "PATCH",
    path: "/api/media/:id",
    operationId: "updateMedia",
    summary: "Make a file public, or private again",
    description:
      "Anyone reads a public file by its address without a signature. A file that becomes private stays in caches for up to 5 minutes.",
    params: idParams("media"),
    body: jsonBody(z.strictObject({ public: z.boolean() })),
    responses: { 200: file },
    errors: ["NOT_FOUND"],
    example: { public: true },
    handler: async (context) => {
      const { gateway, caller, params, body } = context;
      const { id } = await find(context, params.id, false);
      const action = { action: body.public ? "media.publish" : "media.unpublish", target: id };
      const object = await auditedForOwner(context, action, async () => ({
        value: (await gateway.services.media.setPublic({ id, ownerId: caller.user.id, public: body.public })).object,
      }));
      return { status: 200, body: view(object) };
    },
  }),
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/media/:id/provenance",
    operationId: "getMediaProvenance",
    summary: "Get the provenance of a file",
    description: "Returns the file's model and source files. Generated files are also marked in their own metadata.",
    params: idParams("media"),
    responses: { 200: provenance },
    errors: ["NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      const request = { id: params.id, ownerId: caller.user.id };
      const { record: own, ancestors, truncated } = await gateway.services.media.getProvenance(request);
      return { status: 200, body: { ...recordView(own), ancestors: ancestors.map(recordView), truncated } };
    },
  }),
  defineRoute({
    ...write,
    method: "DELETE",
    path: "/api/media/:id",
    operationId: "deleteMedia",
    summary: "Delete a file at once",
    description: "From then on, its address returns 404, and workflows that name it can't run.",
    params: idParams("media"),
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      await auditedForOwner(context, { action: "media.delete", target: params.id }, async () => ({
        value: await gateway.services.media.deleteObject({ id: params.id, ownerId: caller.user.id }),
      }));
      return { status: 204 };
    },
  }),
  defineRoute({
    ...write,
    method: "POST",
    path: "/api/media/:id/keep",
    operationId: "keepMedia",
    summary: "Keep a generated file",
    description:
      "Generated files are removed after 90 days, unless you keep them or a workflow names them. Kept files count against the quota.",
    params: idParams("media"),
    responses: { 200: file },
    errors: ["NOT_FOUND", "SOURCE_ERASED", "ACCOUNT_NOT_APPROVED", "MEDIA_QUOTA_EXCEEDED"],
    handler: async ({ gateway, caller, params }) => {
      requireApproved(caller);
      await requireKeepable({ gateway, caller }, params.id);
      const request = media.KeepObjectRequest.fromPartial({ id: params.id, ownerId: caller.user.id, quotaBytes: mediaQuota(caller) });
      const { object } = await gateway.services.media.keepObject(request);
      return { status: 200, body: view(object) };
    },
  }),
];

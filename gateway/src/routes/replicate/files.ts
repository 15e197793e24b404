import { notFound } from "../../http/errors";
import { formBody } from "../../http/body/kinds";
import { invalidRequest } from "@nodeloom/kernel";
import type { media } from "@nodeloom/proto";
import { z } from "zod";
import { readForm } from "../../http/form";
import { anyObject, cursor, idParams, iso, listQuery, timestamp } from "../../http/schemas";
import { defineRoute } from "../../edge/route";
import { storeUpload } from "../media/uploads";
import { nextPage, pageOf, pageView } from "./view";

/** Uploads of Replicate's API. */

const PAGE_ROWS = 100;
/** Field of a form that has the file. Other fields, such as `metadata`, are ignored. */
const CONTENT = "content";

const file = z
  .object({
    id: z.string(),
    name: z.string(),
    content_type: z.string(),
    size: z.number(),
    etag: z.string(),
    checksums: z.object({ sha256: z.string() }),
    metadata: anyObject,
    created_at: timestamp,
    expires_at: z.null(),
    urls: z.object({ get: z.string() }).meta({ description: "An input of a prediction" }),
  })
  .meta({ id: "ReplicateFile" });
const upload = z
  .looseObject({ content: z.string().meta({ override: { format: "binary" } }) })
  .meta({ id: "ReplicateFileForm", description: "A form with the file's bytes as `content`" });

const view = ({ id, key, contentType, bytes, sha256, createdAt, url }: media.StoredObject): z.infer<typeof file> => ({
  ...{ id, name: key, content_type: contentType, size: bytes, etag: sha256, checksums: { sha256 }, metadata: {} },
  ...{ created_at: iso(createdAt) ?? new Date().toISOString(), expires_at: null, urls: { get: url } },
});

const shared = { tag: "Replicate", auth: "any", protocol: "replicate", limit: "user" } as const;
const readRoute = { ...shared, method: "GET", role: "viewer", capability: "workflow:read" } as const;
const write = { ...shared, role: "editor", capability: "workflow:write" } as const;

async function drop(bytes: AsyncIterable<Buffer>): Promise<string> {
  for await (const _ of bytes);
  return "";
}

export const replicateFileRoutes = [
  defineRoute({
    ...write,
    method: "POST",
    path: "/replicate/v1/files",
    operationId: "replicateCreateFile",
    summary: "Upload a file",
    description: "Send at most 100 MB in the form field `content`. The type is detected from the bytes.",
    body: formBody(upload),
    approval: true,
    responses: { 201: file },
    errors: ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "ACCOUNT_NOT_APPROVED", "MEDIA_QUOTA_EXCEEDED"],
    handler: async ({ gateway, caller, request }) => {
      let stored: media.StoredObject | undefined;
      const keep = async (bytes: AsyncIterable<Buffer>, name: string): Promise<string> => {
        if (name !== CONTENT || stored) return drop(bytes);
        stored = await storeUpload(gateway, caller, bytes);
        return stored.id;
      };
      await readForm(request, keep, CONTENT);
      if (!stored) throw invalidRequest([{ path: CONTENT, message: "is required, and must be a file" }]);
      return { status: 201, body: view(stored) };
    },
  }),
  defineRoute({
    ...readRoute,
    path: "/replicate/v1/files",
    operationId: "replicateListFiles",
    summary: "List files, newest first",
    query: listQuery(z.object({ cursor: cursor.optional() })),
    responses: {
      200: pageOf(file).meta({ id: "ReplicateFiles" }),
    },
    handler: async ({ gateway, caller, query }) => {
      const request = { ownerId: caller.user.id, limit: PAGE_ROWS, cursor: query.cursor ?? "" };
      const page = await gateway.services.media.listObjects(request);
      return { status: 200, body: pageView(page.objects.map(view), nextPage(gateway, "files", page.nextCursor)) };
    },
  }),
  defineRoute({
    ...readRoute,
    path: "/replicate/v1/files/:id",
    operationId: "replicateGetFile",
    summary: "Read a file's type, size and dimensions",
    params: idParams("file"),
    responses: { 200: file },
    errors: ["NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      const { objects } = await gateway.services.media.getObjects({ ids: [params.id], ownerId: caller.user.id });
      if (!objects[0]) throw notFound("file");
      return { status: 200, body: view(objects[0]) };
    },
  }),
  defineRoute({
    ...write,
    method: "DELETE",
    path: "/replicate/v1/files/:id",
    operationId: "replicateDeleteFile",
    summary: "Delete a file",
    params: idParams("file"),
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      await gateway.services.media.deleteObject({ id: params.id, ownerId: caller.user.id });
      return { status: 204 };
    },
  }),
];

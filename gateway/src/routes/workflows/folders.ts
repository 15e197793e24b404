import type { workflows } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { idParams, iso, listQuery, name, timestamp } from "../../http/schemas";
import { jsonBody } from "../../http/body/kinds";

const folder = z.object({ id: z.string(), name: z.string(), createdAt: timestamp.nullable() }).meta({ id: "Folder" });
const change = z.strictObject({ name });

const view = (stored: workflows.Folder | undefined): z.infer<typeof folder> => {
  if (!stored) throw new Error("workflows answered without a folder");
  return { id: stored.id, name: stored.name, createdAt: iso(stored.createdAt) };
};

const shared = { tag: "Folders", auth: "any", limit: "user" } as const;
const write = { ...shared, capability: "workflow:write" } as const;
const ofFolder = { ...write, params: idParams("folder"), errors: ["NOT_FOUND"] } as const;

export const folderRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/folders",
    query: listQuery(),
    operationId: "listFolders",
    summary: "List the caller's folders",
    capability: "workflow:read",
    role: "viewer",
    responses: { 200: z.array(folder) },
    handler: async ({ gateway, caller }) => {
      const { folders } = await gateway.services.workflows.listFolders({ ownerId: caller.user.id });
      return { status: 200, body: folders.map(view) };
    },
  }),
  defineRoute({
    ...write,
    method: "POST",
    path: "/api/folders",
    operationId: "createFolder",
    summary: "Create a folder",
    role: "editor",
    idempotent: "replay",
    body: jsonBody(change),
    responses: { 201: folder },
    example: { name: "Campaigns" },
    handler: async ({ gateway, caller, body }) => {
      const { folder: stored } = await gateway.services.workflows.createFolder({ ownerId: caller.user.id, name: body.name });
      return { status: 201, body: view(stored) };
    },
  }),
  defineRoute({
    ...ofFolder,
    method: "PATCH",
    path: "/api/folders/:id",
    operationId: "renameFolder",
    summary: "Rename a folder",
    role: "editor",
    body: jsonBody(change),
    responses: { 200: folder },
    example: { name: "Campaigns 2027" },
    handler: async ({ gateway, caller, params, body }) => {
      const request = { ownerId: caller.user.id, folderId: params.id, name: body.name };
      const { folder: stored } = await gateway.services.workflows.renameFolder(request);
      return { status: 200, body: view(stored) };
    },
  }),
  defineRoute({
    ...ofFolder,
    method: "DELETE",
    path: "/api/folders/:id",
    operationId: "deleteFolder",
    summary: "Delete a folder; its workflows move to the root level",
    role: "editor",
    responses: { 204: null },
    handler: async ({ gateway, caller, params }) => {
      await gateway.services.workflows.deleteFolder({ ownerId: caller.user.id, folderId: params.id });
      return { status: 204 };
    },
  }),
];

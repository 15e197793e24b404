import { MODALITIES } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";
import { z } from "zod";
import { matchRevision, revisionTag } from "../../http/revisions";
import { defineRoute, type CallContext, type Reply } from "../../edge/route";
import { anyObject, modelParams, slug } from "../../http/schemas";
import { model, modelView } from "../models/view";
import { audited } from "../../edge/audit";
import { forAdmins } from "./shared";
import { jsonBody } from "../../http/body/kinds";

/** Models that administrators add as entries in the format of registry files. */

const MAX_APP_CHARS = 300;
/** Includes the request for the provider's schema. */
const IMPORT_DEADLINE_MS = 20_000;

const entry = anyObject.meta({
  id: "ModelEntry",
  description: "A registry entry: see the guide, Add a provider. If `price` is null, the model stays disabled",
  example: { internalName: "lumen-video", displayName: "Lumen Video", modality: "video" },
});
const app = z.string().min(1).max(MAX_APP_CHARS).optional();
const importRequest = z
  .strictObject({
    provider: z.enum(["fal", "replicate", "openrouter"]),
    app: app.describe("fal: path of the application. Replicate: `owner/name`"),
    model: app.describe("Another name of the parameter, for OpenRouter's models"),
    internalName: slug.optional().describe("Name of the new model. Default: derived from the provider's name"),
    modality: z.enum(MODALITIES).optional().describe("Kind of output, if the provider doesn't declare it"),
  })
  .refine(({ app: path, model: id }) => (path === undefined) !== (id === undefined), {
    path: ["app"],
    message: "is required: the provider's name of the model, as app or as model",
  })
  .meta({ id: "ModelImport" });
const imported = z
  .object({ model, entry, notes: z.array(z.string()).meta({ description: "Parts that couldn't be imported, and remaining steps" }) })
  .meta({ id: "ImportedModel" });

const parsed = (json: string): Record<string, unknown> | undefined =>
  json === "" ? undefined : (JSON.parse(json) as Record<string, unknown>);

const viewFor = (context: Pick<CallContext<"admin">, "caller">, { model: stored }: models.PutEntryResponse): Record<string, unknown> => {
  if (!stored) throw new Error("models answered without a model");
  return modelView(stored, context.caller.user.plan.markupPermille);
};

const wantedRevision = ({ gateway, params, request }: CallContext<"admin", { internalName: string }>): Promise<number | undefined> =>
  matchRevision(
    request.headers["if-match"],
    async () => (await gateway.services.models.getEntry({ internalName: params.internalName })).revision,
  );

interface EntryChange {
  action: "model.add" | "model.replace" | "model.import";
  entry: Readonly<Record<string, unknown>>;
  internalName?: string;
  ifRevision?: number | undefined;
}

const put = (context: CallContext<"admin", unknown, unknown, unknown>, change: EntryChange): Promise<models.PutEntryResponse> => {
  const target = change.internalName ?? String(change.entry.internalName);
  return audited(context, { action: change.action, target, change: change.entry }, async () => {
    const storedEntry = await context.gateway.services.models.putEntry({
      entryJson: JSON.stringify(change.entry),
      create: change.action !== "model.replace",
      internalName: change.internalName ?? "",
      ifRevision: change.ifRevision,
    });
    return { value: storedEntry, before: parsed(storedEntry.beforeJson), after: parsed(storedEntry.entryJson) };
  });
};

const created = (internalName: unknown, revision: number): Reply["headers"] => ({
  ETag: revisionTag(revision),
  Location: `/api/admin/models/${String(internalName)}`,
});

export const adminModelEntryRoutes = [
  defineRoute({
    ...forAdmins,
    method: "POST",
    path: "/api/admin/models",
    operationId: "adminAddModel",
    summary: "Add a model as an entry of the registry",
    description: "Repeating the request with the same entry changes nothing.",
    body: jsonBody(entry),
    headers: ["ETag", "Location"],
    responses: { 201: model },
    errors: ["ALREADY_EXISTS", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const saved = await put(context, { action: "model.add", entry: context.body });
      const view = viewFor(context, saved);
      return { status: 201, body: view, headers: created(view.internalName, saved.revision)! };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "POST",
    path: "/api/admin/models/import",
    operationId: "adminImportModel",
    summary: "Add a model of fal, Replicate or OpenRouter from its published description",
    description:
      "The model stays disabled until it has a price. `entry` is the registry entry made from the provider's schema; replace it with PUT. Repeating the import on the same day changes nothing.",
    body: jsonBody(importRequest),
    headers: ["ETag", "Location"],
    responses: { 201: imported },
    errors: ["ALREADY_EXISTS", "PRECONDITION_FAILED"],
    example: { provider: "fal", app: "fal-ai/flux-2-pro" },
    handler: async (context) => {
      const { provider, app: path, model: id, internalName = "", modality = "" } = context.body;
      const drafted = await context.gateway.services.models.draftEntry(
        { provider, app: path ?? id ?? "", internalName, modality },
        { deadlineMs: IMPORT_DEADLINE_MS },
      );
      const draft = parsed(drafted.entryJson)!;
      const saved = await put(context, { action: "model.import", entry: draft });
      const body = { model: viewFor(context, saved), entry: draft, notes: drafted.notes };
      return { status: 201, body, headers: created(draft.internalName, saved.revision)! };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/models/:internalName",
    operationId: "adminGetModelEntry",
    summary: "Read the entry of a model: a file of the registry, or one that was added",
    params: modelParams,
    headers: ["ETag"],
    responses: { 200: entry },
    errors: ["INVALID_SLUG", "MODEL_NOT_FOUND"],
    handler: async ({ gateway, params }) => {
      const { entryJson, revision } = await gateway.services.models.getEntry({ internalName: params.internalName });
      return { status: 200, body: parsed(entryJson), headers: { ETag: revisionTag(revision) } };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "PUT",
    path: "/api/admin/models/:internalName",
    operationId: "adminPutModel",
    summary: "Replace the entry of a model that was added, or add it",
    description: "Changes that were made with PATCH are lost with the replaced entry. With If-Match, only that revision is replaced.",
    params: modelParams,
    body: jsonBody(entry),
    headers: ["If-Match", "ETag"],
    responses: { 200: model },
    errors: ["INVALID_SLUG", "ALREADY_EXISTS", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const ifRevision = await wantedRevision(context);
      const { internalName } = context.params;
      const saved = await put(context, { action: "model.replace", entry: context.body, internalName, ifRevision });
      return { status: 200, body: viewFor(context, saved), headers: { ETag: revisionTag(saved.revision) } };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "DELETE",
    path: "/api/admin/models/:internalName",
    operationId: "adminDeleteModel",
    summary: "Delete a model that was added",
    description: "Active runs finish. With `If-Match`, only that revision is deleted.",
    headers: ["If-Match"],
    params: modelParams,
    responses: { 204: null },
    errors: ["INVALID_SLUG", "MODEL_NOT_FOUND", "ALREADY_EXISTS", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { internalName } = context.params;
      const ifRevision = await wantedRevision(context);
      await audited(context, { action: "model.delete", target: internalName }, async () => {
        const { beforeJson } = await context.gateway.services.models.deleteEntry({ internalName, ifRevision });
        return { value: undefined, before: parsed(beforeJson) };
      });
      return { status: 204 };
    },
  }),
];

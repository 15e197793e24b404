import { aliasNotFound, workflowNotFound } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import { z } from "zod";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";
import { aliasName, iso, listQuery, slug, timestamp, workflowParams, type ParamsSpec } from "../../http/schemas";
import { specific } from "../runs/schemas";
import { canary, canaryMessage, canarySettings, canaryView, lastCanary, lastCanaryView } from "./canaries";
import { authorOf } from "./requests";

/** Aliases of workflows: `production`, `staging` and the owner's own names for published versions. */

const versionNumber = z.number().int().min(1).max(999_999_999);
const alias = z
  .object({
    name: aliasName.meta({ example: "staging" }),
    version: z.number().nullable().meta({ description: "The published version that it points to; null if no version is published" }),
    isDefault: z.boolean().meta({ description: "True for `production` until you set it: it follows the newest published version" }),
    updatedAt: timestamp.nullable().meta({ description: "Time when it was set; null for the default" }),
    updatedBy: z.string().nullable().meta({ description: "User id of the person who set it; null for the default" }),
    requireTests: z
      .literal(true)
      .optional()
      .meta({ description: "Set if the alias only moves to versions that passed the workflow's tests" }),
    canary: canary.optional().meta({ description: "Set while another version gets a share of the runs" }),
    lastCanary: lastCanary.optional(),
  })
  .meta({ id: "WorkflowAlias" });
const move = z
  .strictObject({
    version: versionNumber.meta({ description: "A published version" }),
    if: z
      .strictObject({ version: versionNumber.nullable() })
      .optional()
      .meta({ description: "Move the alias only if it points to this version now; null: only if there is no such alias" }),
    requireTests: z.boolean().optional().meta({
      description:
        "Stored on the alias: it then only moves to versions that passed the tests that the workflow has (`409 TESTS_REQUIRED`). Without it, the alias keeps its setting",
    }),
    canary: canarySettings.nullable().optional().meta({
      description:
        "Sends a share of the runs to another version, until it is promoted or rolled back. Null ends a canary. Without it, a canary goes on if the alias keeps its version, and ends otherwise",
    }),
  })
  .meta({ id: "AliasMove" });

const aliasParams: ParamsSpec<{ slug: string; name: string }> = {
  schema: z.object({ slug, name: z.string().meta({ example: "staging" }) }),
  invalid: workflowNotFound,
};

const view = (message: workflows.Alias | undefined): z.infer<typeof alias> => {
  if (!message) throw new Error("workflows answered without an alias");
  const { name, version, isDefault, updatedAt, updatedBy, requireTests, canary: running, lastCanary: ended } = message;
  return {
    name,
    version: version || null,
    isDefault,
    updatedAt: iso(updatedAt),
    updatedBy: updatedBy || null,
    ...(requireTests ? { requireTests: true as const } : {}),
    ...(running ? { canary: canaryView(running) } : {}),
    ...(ended ? { lastCanary: lastCanaryView(ended) } : {}),
  };
};
/** Members of an alias in the audit. */
const audited = (message: workflows.Alias | undefined): object | undefined =>
  message && {
    version: message.version || null,
    ...(message.requireTests ? { requireTests: true } : {}),
    ...(message.canary?.settings ? { canary: { version: message.canary.settings.version, percent: message.canary.settings.percent } } : {}),
  };

const shared = { tag: "Workflows", auth: "any", limit: "user" } as const;
const readRoute = { ...shared, role: "viewer", capability: "workflow:read" } as const;
/** Moving an alias changes what callers run. */
const moving = { ...shared, role: "editor", capability: ["workflow:write", specific("workflow", "slug")], params: aliasParams } as const;

export const aliasRoutes = [
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/workflows/:slug/aliases",
    operationId: "listAliases",
    query: listQuery(),
    summary: "List the aliases of a workflow, `production` first",
    params: workflowParams,
    responses: { 200: z.array(alias) },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      const { aliases } = await gateway.services.workflows.listAliases({ slug: params.slug, ownerId: caller.user.id });
      return { status: 200, body: aliases.map(view) };
    },
  }),
  defineRoute({
    ...readRoute,
    method: "GET",
    path: "/api/workflows/:slug/aliases/:name",
    operationId: "getAlias",
    summary: "Read an alias of a workflow",
    params: aliasParams,
    responses: { 200: alias },
    errors: ["WORKFLOW_NOT_FOUND", "ALIAS_NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      const { aliases } = await gateway.services.workflows.listAliases({ slug: params.slug, ownerId: caller.user.id });
      const aliasRow = aliases.find(({ name }) => name === params.name);
      if (!aliasRow) throw aliasNotFound(params.name);
      return { status: 200, body: view(aliasRow) };
    },
  }),
  defineRoute({
    ...moving,
    method: "PUT",
    path: "/api/workflows/:slug/aliases/:name",
    operationId: "setAlias",
    summary: "Point an alias to a published version: promote it, or roll back",
    description:
      "Creates the alias or moves it. From then on, runs that name the alias run this version. Runs that name neither an alias nor a version run `production`. Needs the capability to run the workflow and `workflow:write`.",
    body: jsonBody(move),
    responses: { 200: alias },
    errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND", "PRECONDITION_FAILED", "TESTS_REQUIRED", "CANARY_SHAPE", "ACCOUNT_NOT_APPROVED"],
    example: { version: 3, if: { version: 2 } },
    handler: async (context) => {
      const { gateway, caller, params, body } = context;
      const request = {
        ...{ slug: params.slug, ownerId: caller.user.id, authorId: authorOf(caller), name: params.name, version: body.version },
        ifVersion: body.if && (body.if.version ?? 0),
        unapproved: !caller.user.approved,
        requireTests: body.requireTests,
        canary: body.canary ? canaryMessage(body.canary) : undefined,
        withoutCanary: body.canary === null,
      };
      const action = { action: "workflow.alias", target: params.slug, change: { name: params.name, ...body } };
      const moved = await auditedForOwner(context, action, async () => {
        const { alias: value, earlier } = await gateway.services.workflows.setAlias(request);
        return { value, before: audited(earlier), after: audited(value) };
      });
      return { status: 200, body: view(moved) };
    },
  }),
  defineRoute({
    ...moving,
    method: "DELETE",
    path: "/api/workflows/:slug/aliases/:name",
    operationId: "deleteAlias",
    summary: "Delete an alias",
    description: "Runs that name it are rejected then. `production` follows the newest published version again.",
    responses: { 204: null },
    errors: ["WORKFLOW_NOT_FOUND", "ALIAS_NOT_FOUND", "ACCOUNT_NOT_APPROVED"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const request = { slug: params.slug, ownerId: caller.user.id, name: params.name, unapproved: !caller.user.approved };
      const action = { action: "workflow.alias-delete", target: params.slug, change: { name: params.name } };
      await auditedForOwner(context, action, async () => {
        const { earlier } = await gateway.services.workflows.deleteAlias(request);
        return { value: undefined, before: audited(earlier) };
      });
      return { status: 204 };
    },
  }),
];

import { maxFiles, misspeltIn, nodeSchema, readGraph } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import { raw } from "../../http/json";
import { revisionTag } from "../../http/revisions";
import type { Reply } from "../../edge/route";
import type { Catalog } from "../../clients/catalog";
import type { Obstacle } from "../../clients/obstacles";
import { appSettingsView } from "../apps/settings";
import { iso, type NodeWarning } from "../../http/schemas";
import { DEFAULT_VIEWPORT, NO_NODES } from "./requests";

const NO_TESTS = "[]";

const ownerView = ({ createdBy, authorId }: Pick<workflows.Workflow, "createdBy" | "authorId">) =>
  authorId ? { createdBy: authorId, organizationId: createdBy } : { createdBy };

const view = (stored: workflows.Workflow): Record<string, unknown> => ({
  slug: stored.slug,
  name: stored.name,
  description: stored.description,
  tags: stored.tags,
  isTemplate: stored.isTemplate,
  hidden: stored.hidden,
  archived: stored.archived,
  publicPlayground: stored.publicPlayground,
  ...(stored.mcp ? { mcp: true } : {}),
  ...(stored.app ? { app: appSettingsView(stored.app) } : {}),
  ...(stored.retentionDays === undefined ? {} : { retentionDays: stored.retentionDays }),
  folderId: stored.folderId ?? null,
  thumbnail: stored.thumbnail ?? null,
  cover: raw(stored.coverJson),
  ...ownerView(stored),
  nodes: raw(stored.nodesJson, NO_NODES),
  edges: raw(stored.edgesJson, NO_NODES),
  viewport: raw(stored.viewportJson, DEFAULT_VIEWPORT),
  ...(stored.testsJson === "" || stored.testsJson === NO_TESTS ? {} : { tests: raw(stored.testsJson) }),
  createdAt: iso(stored.createdAt),
  updatedAt: iso(stored.updatedAt),
  publishedVersion: stored.publishedVersion || null,
  ...(stored.productionVersion > 0 ? { productionVersion: stored.productionVersion } : {}),
  changedSincePublished: stored.changedSincePublished,
  ...(stored.pendingChange ? { pendingChange: true } : {}),
  ...(stored.takedown ? { takedown: { reason: stored.takedown.reason, at: iso(stored.takedown.at) } } : {}),
});

export const summaryView = (
  stored: workflows.WorkflowSummary,
  estimatedCreditCost: number | null,
  obstacle: Obstacle | undefined,
): Record<string, unknown> => ({
  slug: stored.slug,
  name: stored.name,
  description: stored.description,
  tags: stored.tags,
  isTemplate: stored.isTemplate,
  hidden: stored.hidden,
  archived: stored.archived,
  cover: raw(stored.coverJson),
  thumbnail: stored.thumbnail ?? null,
  ...ownerView(stored),
  folderId: stored.folderId ?? null,
  updatedAt: iso(stored.updatedAt),
  estimatedCreditCost,
  ...(stored.featured ? { featured: true } : {}),
  ...(obstacle && { unavailable: obstacle }),
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
  multiple: field.multiple,
  maxItems: field.multiple ? maxFiles(field) : undefined,
});

export const schemaView = (schema: workflows.Schema | undefined): Record<string, unknown> => ({
  fields: (schema?.fields ?? []).map(fieldView),
  values: raw(schema?.valuesJson ?? "", "{}"),
  name: schema?.name ?? "",
  description: schema?.description ?? "",
});

/** Publishing, confirmations and takedowns don't change the draft's revision, but reads show all three. */
const tagOf = ({ revision, publishedVersion, pendingChange, takedown }: workflows.Workflow): string =>
  revisionTag(
    revision,
    ...(publishedVersion > 0 ? [`v${publishedVersion}`] : []),
    ...(pendingChange ? ["p"] : []),
    ...(takedown?.at ? [`t${takedown.at.getTime()}`] : []),
  );

/** Warnings about a saved graph. */
export const graphWarnings = async (
  catalog: Pick<Catalog, "inputSchemas">,
  stored: Pick<workflows.Workflow, "nodesJson" | "edgesJson"> | undefined,
): Promise<NodeWarning[]> => {
  if (!stored) return [];
  const schemas = await catalog.inputSchemas();
  const { nodes } = readGraph(stored.nodesJson || NO_NODES, stored.edgesJson || NO_NODES);
  return misspeltIn(nodes, (node) => nodeSchema(node, schemas)).map(({ nodeId, message }) => ({ nodeId, message }));
};

interface ReplyParts {
  headers?: Record<string, string>;
  warnings?: readonly NodeWarning[];
  /** Additional members of the body. */
  more?: Record<string, unknown>;
}

export const workflowReply = (
  status: number,
  stored: workflows.Workflow | undefined,
  { headers, warnings = [], more }: ReplyParts = {},
): Reply => {
  if (!stored) throw new Error("workflows answered without a workflow");
  const body = { ...view(stored), ...(warnings.length > 0 ? { warnings } : {}), ...more };
  return { status, body, headers: { ETag: tagOf(stored), ...headers } };
};

import { PRODUCTION, type InputField } from "@nodeloom/kernel";
import { workflows as proto } from "@nodeloom/proto";
import { hasPendingChange } from "./approval";
import type { App } from "./definition/app";
import type { PublishedApp } from "./apps/apps";
import {
  aliasOf,
  newest,
  type SchemaPart,
  type Settings,
  type Summary,
  type Tool,
  type Version,
  type VersionHead,
  type Workflow,
} from "./definition/workflow";
import type { Folder } from "./folders/folders";
import type { Pictures } from "./definition/pictures";
import { isChanged } from "./versions/versions";

/** Messages of the service. */

const EMPTY_LIST = "[]";
const EMPTY_OBJECT = "{}";

export const toWorkflow = (workflow: Workflow): proto.Workflow =>
  proto.Workflow.fromPartial({
    ...workflow,
    folderId: workflow.folderId ?? undefined,
    thumbnail: workflow.thumbnail ?? undefined,
    publishedVersion: newest(workflow),
    productionVersion: aliasOf(workflow, PRODUCTION)?.version ?? 0,
    changedSincePublished: isChanged(workflow),
    pendingChange: hasPendingChange(workflow),
    takedown: workflow.takedown ?? undefined,
    app: workflow.app ?? undefined,
    retentionDays: workflow.retentionDays ?? undefined,
    bundleName: workflow.bundle?.name ?? "",
  });

export const toVersion = ({ pinnedModels = {}, ...version }: VersionHead | Version): proto.Version =>
  proto.Version.fromPartial({ ...version, pinnedModels: { ...pinnedModels } });

const toField = ({ default: fallback, ...field }: InputField): proto.SchemaField =>
  proto.SchemaField.fromPartial({ ...field, defaultJson: fallback === undefined ? "" : JSON.stringify(fallback) });

export const toSchema = ({ fieldsJson, valuesJson, name, description }: SchemaPart): proto.Schema =>
  proto.Schema.fromPartial({ fields: (JSON.parse(fieldsJson) as InputField[]).map(toField), valuesJson, name, description });

export const toTool = ({ slug, name, description, fieldsJson, resultsJson = EMPTY_LIST }: Tool): proto.Tool =>
  proto.Tool.fromPartial({
    ...{ slug, name, description },
    fields: (JSON.parse(fieldsJson) as InputField[]).map(toField),
    results: JSON.parse(resultsJson) as string[],
  });

export const toFolder = ({ id, name, createdAt }: Folder): proto.Folder => proto.Folder.fromPartial({ id, name, createdAt });

/** Payer and theme are validated later, together with the other settings. */
const appOf = (app: proto.App | undefined): App | undefined => {
  if (!app) return undefined;
  const { publishedBy: _, publishedAt: __, ...settings } = app;
  return settings as App;
};

export const toPublishedApp = ({ schema, settings, ...app }: PublishedApp): proto.PublishedApp =>
  proto.PublishedApp.fromPartial({ ...app, settings, schema: toSchema({ ...schema, generators: [] }) });

export const newSettings = (request: proto.CreateWorkflowRequest): Settings => {
  const { name, description, tags, isTemplate, hidden, archived, publicPlayground, mcp, coverJson } = request;
  return {
    ...{ name, description, tags, isTemplate, hidden, archived, publicPlayground, mcp, coverJson },
    app: appOf(request.app) ?? null,
    retentionDays: request.retentionDays ?? null,
    ...(request.testsJson === "" ? {} : { testsJson: request.testsJson }),
    folderId: request.folderId ?? null,
    thumbnail: request.thumbnail ?? null,
    nodesJson: request.nodesJson || EMPTY_LIST,
    edgesJson: request.edgesJson || EMPTY_LIST,
    viewportJson: request.viewportJson || EMPTY_OBJECT,
  };
};

export const changes = (request: proto.UpdateWorkflowRequest): Partial<Settings> => {
  const { name, description, isTemplate, hidden, archived, publicPlayground, mcp, coverJson } = request;
  const { nodesJson, edgesJson, viewportJson, testsJson } = request;
  return {
    ...{ name, description, isTemplate, hidden, archived, publicPlayground, mcp, coverJson, nodesJson, edgesJson, viewportJson },
    testsJson,
    tags: request.tags?.values,
    app: request.clearApp ? null : appOf(request.app),
    retentionDays: request.clearRetentionDays ? null : request.retentionDays,
    folderId: request.clearFolderId ? null : request.folderId,
    thumbnail: request.clearThumbnail ? null : request.thumbnail,
  };
};

/** Creates a list row. For other users, it has no pictures outside media storage. */
export const toSummary = (row: Summary, userId: string, thumbnail: string | undefined, pictures: Pictures): proto.WorkflowSummary => {
  const isOwn = row.createdBy === userId;
  // Members are listed one by one, because spreading the driver's rows takes as long as reading them.
  return proto.WorkflowSummary.fromPartial({
    slug: row.slug,
    name: row.name,
    description: row.description,
    tags: row.tags,
    isTemplate: row.isTemplate,
    hidden: row.hidden,
    archived: row.archived,
    createdBy: row.createdBy,
    authorId: row.authorId ?? "",
    updatedAt: row.updatedAt,
    folderId: row.folderId ?? undefined,
    thumbnail: isOwn || (thumbnail !== undefined && pictures.isOurs(thumbnail)) ? thumbnail : undefined,
    coverJson: isOwn ? row.coverJson : pictures.safeCover(row.coverJson),
    featured: row.isTemplate && row.featured === true,
    generators: aliasOf(row, PRODUCTION)?.generators ?? row.published?.generators ?? row.generators,
  });
};

import { PRODUCTION, type InputField } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { workflows as proto } from "@nodeloom/proto";
import { hasPendingChange } from "./approval";
import type { Apps, PublishedApp } from "./apps/apps";
import type { App } from "./apps/app";
import type { BundledWorkflows } from "./bundled";
import type { Clone } from "./clone";
import type { Folder, Folders } from "./folders/folders";
import type { Pictures } from "./pictures/pictures";
import type { Templates } from "./templates";
import type { Tools } from "./tools";
import type { ThumbnailAddresses } from "./pictures/thumbnails";
import type { Aliases } from "./versions/aliases";
import type { PassedTests } from "./versions/passed-tests";
import { isChanged, type Versions } from "./versions/versions";
import { aliasOf, newest } from "./definition/workflow";
import type { SchemaPart, Settings, Summary, Tool, Version, VersionHead, Workflow } from "./definition/workflow";
import type { Workflows } from "./workflows";

const EMPTY_LIST = "[]";
const EMPTY_OBJECT = "{}";

const toWorkflow = (workflow: Workflow): proto.Workflow =>
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

const toVersion = ({ pinnedModels = {}, ...version }: VersionHead | Version): proto.Version =>
  proto.Version.fromPartial({ ...version, pinnedModels: { ...pinnedModels } });

const toField = ({ default: fallback, ...field }: InputField): proto.SchemaField =>
  proto.SchemaField.fromPartial({ ...field, defaultJson: fallback === undefined ? "" : JSON.stringify(fallback) });

const toSchema = ({ fieldsJson, valuesJson, name, description }: SchemaPart): proto.Schema =>
  proto.Schema.fromPartial({ fields: (JSON.parse(fieldsJson) as InputField[]).map(toField), valuesJson, name, description });

const toTool = ({ slug, name, description, fieldsJson, resultsJson = EMPTY_LIST }: Tool): proto.Tool =>
  proto.Tool.fromPartial({
    ...{ slug, name, description },
    fields: (JSON.parse(fieldsJson) as InputField[]).map(toField),
    results: JSON.parse(resultsJson) as string[],
  });

const toFolder = ({ id, name, createdAt }: Folder): proto.Folder => proto.Folder.fromPartial({ id, name, createdAt });

/** Payer and theme are validated later, together with the other settings. */
const appOf = (app: proto.App | undefined): App | undefined => {
  if (!app) return undefined;
  const { publishedBy: _, publishedAt: __, ...settings } = app;
  return settings as App;
};

const toPublishedApp = ({ schema, settings, ...app }: PublishedApp): proto.PublishedApp =>
  proto.PublishedApp.fromPartial({ ...app, settings, schema: toSchema({ ...schema, generators: [] }) });

const newSettings = (request: proto.CreateWorkflowRequest): Settings => {
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

const changes = (request: proto.UpdateWorkflowRequest): Partial<Settings> => {
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

export interface Handled {
  workflows: Workflows;
  folders: Folders;
  versions: Versions;
  aliases: Aliases;
  passedTests: PassedTests;
  bundled: BundledWorkflows;
  templates: Templates;
  clone: Clone;
  tools: Tools;
  apps: Apps;
  pictures: Pictures;
  thumbnailAddresses: ThumbnailAddresses;
}

/** Creates a list row. For other users, it has no pictures outside media storage. */
const toSummary = (row: Summary, userId: string, thumbnail: string | undefined, pictures: Pictures): proto.WorkflowSummary => {
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

export const workflowsHandlers = ({
  workflows,
  folders,
  versions,
  aliases,
  passedTests,
  bundled,
  templates,
  clone,
  tools,
  apps,
  pictures,
  thumbnailAddresses,
}: Handled): proto.WorkflowsServiceServer => ({
  createWorkflow: unary(async (request) => {
    const { ownerId, authorId, maxWorkflows, reference, unapproved, byKey, mediaQuotaBytes: mediaQuota, withoutRun } = request;
    const allowed = { authorId, maxWorkflows, unapproved, byKey, mediaQuota, withoutRun };
    const created = await workflows.create({ ownerId, settings: newSettings(request), reference, ...allowed });
    return proto.CreateWorkflowResponse.fromPartial({ workflow: toWorkflow(created) });
  }),
  getWorkflow: unary(async ({ slug, userId }) =>
    proto.GetWorkflowResponse.fromPartial({ workflow: toWorkflow(await workflows.get(slug, userId)) }),
  ),
  listWorkflows: unary(async ({ userId, limit, cursor, query, tag, folderId, rootLevel, own }) => {
    const filter = { query, tag, folderId: rootLevel ? null : folderId || undefined, own };
    const { rows, next } = await workflows.list({ userId, filter, limit, cursor });
    const thumbnails = await thumbnailAddresses(rows);
    // The rows are already messages; fromPartial would copy each of them again.
    return { workflows: rows.map((row) => toSummary(row, userId, thumbnails.get(row.slug), pictures)), nextCursor: next ?? "" };
  }),
  updateWorkflow: unary(async (request) => {
    const { slug, ownerId, authorId, ifRevision, maxWorkflows, unapproved, byKey, mediaQuotaBytes: mediaQuota, withoutRun } = request;
    const allowed = { authorId, maxWorkflows, unapproved, byKey, mediaQuota, withoutRun };
    const updated = await workflows.update({ slug, ownerId, ifRevision, changes: changes(request), ...allowed });
    return proto.UpdateWorkflowResponse.fromPartial({ workflow: toWorkflow(updated) });
  }),
  moveWorkflow: unary(async ({ folderId, ...which }) =>
    proto.MoveWorkflowResponse.fromPartial({ workflow: toWorkflow(await workflows.move(which, folderId ?? null)) }),
  ),
  deleteWorkflow: unary(async (which) => {
    await workflows.remove(which);
    return {};
  }),
  getSchema: unary(async ({ slug, userId, ...selection }) => {
    const schema = await workflows.schema(slug, userId, selection);
    const { generators, pendingChange } = schema;
    return proto.GetSchemaResponse.fromPartial({ schema: toSchema(schema), generators, pendingChange });
  }),
  getPublicSchema: unary(async ({ slug }) =>
    proto.GetPublicSchemaResponse.fromPartial({ schema: toSchema(await workflows.publicSchema(slug)) }),
  ),
  listTools: unary(async ({ ownerId, ...which }) =>
    proto.ListToolsResponse.fromPartial({ tools: (await tools(ownerId, which)).map(toTool) }),
  ),
  getApp: unary(async ({ slug }) => proto.GetAppResponse.fromPartial({ app: toPublishedApp(await apps.get(slug)) })),
  listApps: unary(async ({ ownerId }) => proto.ListAppsResponse.fromPartial({ apps: await apps.list(ownerId) })),
  findAppOrigin: unary(async ({ origin }) => {
    const publications = await apps.publicationsOf(origin);
    return { found: publications.length > 0, publications };
  }),
  getDefinition: unary(async ({ slug, userId, knownRevision, ...selection }) => {
    const { graph, ...head } = await workflows.definition(slug, userId, knownRevision, selection);
    return proto.GetDefinitionResponse.fromPartial({ slug, ...head, unchanged: graph === undefined, ...graph });
  }),
  approveGraph: unary(async (request) => {
    await workflows.approve(request);
    return {};
  }),
  cloneWorkflow: unary(async ({ mediaQuotaBytes, maxWorkflows, ...cloning }) => {
    const cloned = await clone({ ...cloning, maxWorkflows, mediaQuota: mediaQuotaBytes });
    return proto.CloneWorkflowResponse.fromPartial({ workflow: toWorkflow(cloned) });
  }),
  publishVersion: unary(async (request) =>
    proto.PublishVersionResponse.fromPartial({
      version: toVersion(await versions.publish({ ...request, pinnedModels: request.pinsModels ? request.pinnedModels : undefined })),
    }),
  ),
  listVersions: unary(async ({ slug, ownerId, limit, before }) =>
    proto.ListVersionsResponse.fromPartial({ versions: (await versions.list(slug, ownerId, limit, before)).map(toVersion) }),
  ),
  getVersion: unary(async ({ slug, ownerId, version }) =>
    proto.GetVersionResponse.fromPartial({ version: toVersion(await versions.get(slug, ownerId, version)) }),
  ),
  restoreVersion: unary(async (request) =>
    proto.RestoreVersionResponse.fromPartial({ workflow: toWorkflow(await versions.restore(request)) }),
  ),
  listAliases: unary(async ({ slug, ownerId }) => proto.ListAliasesResponse.fromPartial({ aliases: await aliases.list(slug, ownerId) })),
  setAlias: unary(async (request) => proto.SetAliasResponse.fromPartial(await aliases.set(request))),
  deleteAlias: unary(async (request) => proto.DeleteAliasResponse.fromPartial({ earlier: await aliases.remove(request) })),
  getTests: unary(({ slug, ownerId }) => passedTests.tests(slug, ownerId)),
  notePassedTests: unary(async (request) => {
    await passedTests.note(request);
    return {};
  }),
  findBundled: unary(async ({ ownerId, names, alias }) =>
    proto.FindBundledResponse.fromPartial({ workflows: await bundled.find(ownerId, names, alias) }),
  ),
  saveBundled: unary(async (request) => proto.SaveBundledResponse.fromPartial(await bundled.save(request))),
  moderateTemplate: unary(async ({ slug, listed, reason }) => {
    const { before, after, featured } = await templates.moderate(slug, listed, reason);
    return proto.ModerateTemplateResponse.fromPartial({
      featured,
      ...{ listed: after === null, takedown: after ?? undefined },
      ...{ wasListed: before === null, earlierTakedown: before ?? undefined },
    });
  }),
  featureTemplate: unary(async ({ slug, featured }) => {
    const { before, takedown } = await templates.feature(slug, featured);
    return proto.FeatureTemplateResponse.fromPartial({ featured, wasFeatured: before, takedown: takedown ?? undefined });
  }),
  setOwnerSuspended: unary(async ({ ownerId, suspended, userRevision }) => {
    await templates.setOwnerSuspended(ownerId, suspended, userRevision);
    return {};
  }),
  listSecretUses: unary(async ({ ownerId }) => proto.ListSecretUsesResponse.fromPartial({ uses: await workflows.secretUses(ownerId) })),
  listModelUses: unary(async ({ models, cursor }) => proto.ListModelUsesResponse.fromPartial(await workflows.modelUses(models, cursor))),
  findNamedMedia: unary(async ({ names }) => ({ names: await templates.named(names) })),
  findShownMedia: unary(async ({ names, ownerId }) => ({ names: await templates.shown(names, ownerId) })),
  removeExpired: unary(async ({ cursor }) => proto.RemoveExpiredResponse.fromPartial(await workflows.removeExpired(cursor))),
  createFolder: unary(async ({ ownerId, name }) =>
    proto.CreateFolderResponse.fromPartial({ folder: toFolder(await folders.create(ownerId, name)) }),
  ),
  listFolders: unary(async ({ ownerId }) =>
    proto.ListFoldersResponse.fromPartial({ folders: (await folders.list(ownerId)).map(toFolder) }),
  ),
  renameFolder: unary(async ({ ownerId, folderId, name }) =>
    proto.RenameFolderResponse.fromPartial({ folder: toFolder(await folders.rename(folderId, ownerId, name)) }),
  ),
  deleteFolder: unary(async ({ ownerId, folderId }) => {
    await folders.remove(folderId, ownerId);
    return {};
  }),
});

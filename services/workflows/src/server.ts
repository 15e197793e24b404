import { unary } from "@nodeloom/platform";
import { workflows as proto } from "@nodeloom/proto";
import type { Apps } from "./apps/apps";
import type { BundledWorkflows } from "./bundled";
import type { Clone } from "./clone";
import type { Folders } from "./folders/folders";
import type { Pictures } from "./definition/pictures";
import type { Templates } from "./templates";
import type { Tools } from "./tools";
import type { ThumbnailAddresses } from "./pictures/thumbnails";
import type { Canaries } from "./canaries/counting";
import { toAlias, toCanarySettings, toDecision, toShare } from "./versions/alias-messages";
import type { Aliases } from "./versions/aliases";
import type { PassedTests } from "./versions/passed-tests";
import type { Versions } from "./versions/versions";
import { toWorkflow, toVersion, toSchema, toTool, toFolder, toPublishedApp, newSettings, changes, toSummary } from "./messages";
import type { Workflows } from "./workflows";

export interface Handlers {
  workflows: Workflows;
  folders: Folders;
  versions: Versions;
  aliases: Aliases;
  canaries: Canaries;
  passedTests: PassedTests;
  bundled: BundledWorkflows;
  templates: Templates;
  clone: Clone;
  tools: Tools;
  apps: Apps;
  pictures: Pictures;
  thumbnailAddresses: ThumbnailAddresses;
}

export const workflowsHandlers = ({
  workflows,
  folders,
  versions,
  aliases,
  canaries,
  passedTests,
  bundled,
  templates,
  clone,
  tools,
  apps,
  pictures,
  thumbnailAddresses,
}: Handlers): proto.WorkflowsServiceServer => ({
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
    const { graph, canary, ...head } = await workflows.definition(slug, userId, knownRevision, selection);
    const share = canary && toShare(canary);
    return proto.GetDefinitionResponse.fromPartial({ slug, ...head, unchanged: graph === undefined, ...graph, canary: share });
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
  listAliases: unary(async ({ slug, ownerId }) => ({ aliases: (await aliases.list(slug, ownerId)).map(toAlias) })),
  setAlias: unary(async ({ withoutCanary, canary, ...request }) => {
    const { alias, earlier } = await aliases.set({ ...request, canary: withoutCanary ? null : canary && toCanarySettings(canary) });
    return { alias: toAlias(alias), earlier: earlier && toAlias(earlier) };
  }),
  deleteAlias: unary(async (request) => ({ earlier: toAlias(await aliases.remove(request)) })),
  reserveCanaryRun: unary(async ({ canaryId, ...run }) => ({ reserved: await canaries.reserve(canaryId, run) })),
  releaseCanaryRun: unary(async ({ canaryId, holdId }) => {
    await canaries.release(canaryId, holdId);
    return {};
  }),
  countCanaryRun: unary(async ({ canaryId, outcome, ...run }) => {
    const isCounted = outcome === "completed" || outcome === "failed";
    const decided = await canaries.count(canaryId, { ...run, ...(isCounted ? { outcome } : {}) });
    return { decision: decided && toDecision(decided) };
  }),
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
  findNamedMedia: unary(async ({ names }) => ({ names: await templates.namedFiles(names) })),
  findShownMedia: unary(async ({ names, ownerId }) => ({ names: await templates.visibleFiles(names, ownerId) })),
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

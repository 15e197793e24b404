import type { InputField } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { workflows as proto } from "@nodeloom/proto";
import type { Folder, Folders } from "./folders";
import type { SchemaPart, Settings, Summary, Workflow } from "./workflow";
import type { Workflows } from "./workflows";

const toWorkflow = (workflow: Workflow): proto.Workflow =>
  proto.Workflow.fromPartial({ ...workflow, folderId: workflow.folderId ?? undefined, thumbnail: workflow.thumbnail ?? undefined });

const toSummary = (row: Summary): proto.WorkflowSummary =>
  proto.WorkflowSummary.fromPartial({ ...row, folderId: row.folderId ?? undefined, thumbnail: row.thumbnail ?? undefined });

const toField = ({ default: fallback, ...field }: InputField): proto.SchemaField =>
  proto.SchemaField.fromPartial({ ...field, defaultJson: fallback === undefined ? "" : JSON.stringify(fallback) });

const toSchema = ({ fieldsJson, valuesJson, name, description }: SchemaPart): proto.Schema =>
  proto.Schema.fromPartial({ fields: (JSON.parse(fieldsJson) as InputField[]).map(toField), valuesJson, name, description });

const toFolder = ({ id, name, createdAt }: Folder): proto.Folder => proto.Folder.fromPartial({ id, name, createdAt });

const EMPTY_LIST = "[]";
const EMPTY_OBJECT = "{}";

const newSettings = (request: proto.CreateWorkflowRequest): Settings => {
  const { name, description, tags, isTemplate, hidden, archived, publicPlayground, coverJson } = request;
  return {
    ...{ name, description, tags, isTemplate, hidden, archived, publicPlayground, coverJson },
    folderId: request.folderId ?? null,
    thumbnail: request.thumbnail ?? null,
    nodesJson: request.nodesJson || EMPTY_LIST,
    edgesJson: request.edgesJson || EMPTY_LIST,
    viewportJson: request.viewportJson || EMPTY_OBJECT,
  };
};

const changes = (request: proto.UpdateWorkflowRequest): Partial<Settings> => {
  const { name, description, isTemplate, hidden, archived, publicPlayground, coverJson, nodesJson, edgesJson, viewportJson } = request;
  return {
    ...{ name, description, isTemplate, hidden, archived, publicPlayground, coverJson, nodesJson, edgesJson, viewportJson },
    tags: request.tags?.values,
    folderId: request.clearFolderId ? null : request.folderId,
    thumbnail: request.clearThumbnail ? null : request.thumbnail,
  };
};

/** gRPC handlers of the workflows service. */
export const workflowsHandlers = (workflows: Workflows, folders: Folders): proto.WorkflowsServiceServer => ({
  createWorkflow: unary(async (request) => {
    const { ownerId, maxWorkflows, reference } = request;
    const created = await workflows.create({ ownerId, settings: newSettings(request), maxWorkflows, reference });
    return proto.CreateWorkflowResponse.fromPartial({ workflow: toWorkflow(created) });
  }),
  getWorkflow: unary(async ({ slug, userId }) =>
    proto.GetWorkflowResponse.fromPartial({ workflow: toWorkflow(await workflows.get(slug, userId)) }),
  ),
  // The rows are messages already; fromPartial would copy each once more.
  listWorkflows: unary(async ({ userId }) => ({ workflows: (await workflows.list(userId)).map(toSummary) })),
  updateWorkflow: unary(async (request) => {
    const { slug, ownerId, ifRevision, maxWorkflows } = request;
    const updated = await workflows.update({ slug, ownerId, ifRevision, maxWorkflows, changes: changes(request) });
    return proto.UpdateWorkflowResponse.fromPartial({ workflow: toWorkflow(updated) });
  }),
  moveWorkflow: unary(async ({ slug, ownerId, folderId }) =>
    proto.MoveWorkflowResponse.fromPartial({ workflow: toWorkflow(await workflows.move(slug, ownerId, folderId ?? null)) }),
  ),
  deleteWorkflow: unary(async ({ slug, ownerId }) => {
    await workflows.remove(slug, ownerId);
    return {};
  }),
  getSchema: unary(async ({ slug, userId }) => {
    const schema = await workflows.schema(slug, userId);
    return proto.GetSchemaResponse.fromPartial({ schema: toSchema(schema), generators: schema.generators });
  }),
  getPublicSchema: unary(async ({ slug }) =>
    proto.GetPublicSchemaResponse.fromPartial({ schema: toSchema(await workflows.publicSchema(slug)) }),
  ),
  getDefinition: unary(async ({ slug, userId, knownRevision }) => {
    const { graph, ...head } = await workflows.definition(slug, userId, knownRevision);
    return proto.GetDefinitionResponse.fromPartial({ slug, ...head, unchanged: graph === undefined, ...graph });
  }),
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

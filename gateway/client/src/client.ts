import type {
  AliasMove,
  Binary,
  CreatedErasure,
  Erasure,
  ErasureOrder,
  Execution,
  FileVerification,
  InputSchema,
  Media,
  Model,
  NewWorkflow,
  Operations,
  PublicSchema,
  UsagePage,
  UsageSummary,
  User,
  Workflow,
  WorkflowAlias,
  WorkflowChanges,
  WorkflowSummary,
  WorkflowVersionHead,
} from "./api-types";
import { createBatches, type Batches } from "./batches";
import { createBundles, type Bundles } from "./bundles";
import { createEvents, type Events } from "./events";
import {
  createDownload,
  createHooks,
  createMediaFiles,
  createSchedules,
  createVersions,
  createWebhookEndpoints,
  type Call,
  type Downloadable,
  type Hooks,
  type MediaFiles,
  type Schedules,
  type Versions,
  type WebhookEndpoints,
} from "./resources";
import { createRuns, selectionOf, type Runs, type Selection } from "./runs";
import { createTests, type Tests } from "./tests";
import {
  createTransport,
  type Answer,
  type OperationId,
  type RequestOf,
  type RequestOptions,
  type ResponseOf,
  type TextRequest,
  type TransportOptions,
} from "./transport";

export type ClientOptions = TransportOptions;

export interface UpdateOptions extends RequestOptions {
  /** An ETag: the change applies only to this revision. */
  ifMatch?: string;
}

export interface Workflows {
  list(options?: RequestOptions): Promise<WorkflowSummary[]>;
  get(slug: string, options?: RequestOptions): Promise<Workflow>;
  create(workflow: NewWorkflow, options?: RequestOptions): Promise<Workflow>;
  /** Replaces the given fields. A workflow can be sent back as it was read. */
  update(slug: string, changes: WorkflowChanges, options?: UpdateOptions): Promise<Workflow>;
  /** Moves to a folder, or to the root level with null. */
  move(slug: string, folderId: string | null, options?: RequestOptions): Promise<Workflow>;
  delete(slug: string, options?: RequestOptions): Promise<void>;
  schema(slug: string, options?: RequestOptions & Selection): Promise<InputSchema>;
  publicSchema(slug: string, options?: RequestOptions): Promise<PublicSchema>;
  /** Publishes the draft as the next version. */
  publish(slug: string, note?: string, options?: RequestOptions): Promise<WorkflowVersionHead>;
  /** Lists aliases, `production` first. */
  aliases(slug: string, options?: RequestOptions): Promise<WorkflowAlias[]>;
  /**
   * Points an alias to a published version: promotes it, or rolls back. `move.canary` sends a share of the runs to another version.
   * @throws NodeloomError PRECONDITION_FAILED if `move.if` doesn't hold; TESTS_REQUIRED if the alias requires tests that it didn't pass;
   *   CANARY_SHAPE if the canary has other input fields or result names
   */
  setAlias(slug: string, name: string, move: AliasMove, options?: RequestOptions): Promise<WorkflowAlias>;
  deleteAlias(slug: string, name: string, options?: RequestOptions): Promise<void>;
}

export interface Models {
  list(options?: RequestOptions): Promise<Model[]>;
  get(internalName: string, options?: RequestOptions): Promise<Model>;
}

/** Filters of the list of executions. `"metadata.customer": "acme"` finds the runs with that metadata. */
export type ExecutionsQuery = NonNullable<Operations["listExecutions"]["query"]> & { [name: `metadata.${string}`]: string };

export interface Executions {
  list(query?: ExecutionsQuery, options?: RequestOptions): Promise<ResponseOf<"listExecutions">>;
  get(executionId: string, options?: RequestOptions): Promise<Execution>;
  /**
   * Deletes an ended run with its inputs, outputs and files. It is hidden at once, and its data is removed within 10 minutes.
   * @throws NodeloomError EXECUTION_NOT_FINAL while the run is in progress
   */
  delete(executionId: string, options?: RequestOptions): Promise<void>;
}

export interface Erasures {
  /** Erases executions by id, metadata or workflow; the key needs `erasure:write`. `dryRun` only counts. */
  create(order: ErasureOrder, options?: RequestOptions): Promise<CreatedErasure>;
  /** Progress of an erasure: `remaining` is 0 when everything is removed. */
  get(erasureId: string, options?: RequestOptions): Promise<Erasure>;
  /** Erasures of the account, newest first. */
  list(query?: Operations["listErasures"]["query"], options?: RequestOptions): Promise<ResponseOf<"listErasures">>;
}

export interface Usage {
  /** Cost of runs by day and model, or by another group. */
  summary(query?: Operations["getUsageSummary"]["query"], options?: RequestOptions): Promise<UsageSummary>;
  list(query?: Operations["listUsage"]["query"], options?: RequestOptions): Promise<UsagePage>;
  models(options?: RequestOptions): Promise<string[]>;
}

export interface Client extends Runs {
  /** Follows an execution live and resumes after a lost connection. */
  events: Events;
  workflows: Workflows;
  models: Models;
  executions: Executions;
  erasures: Erasures;
  /** Many runs of one workflow or model with a shared budget. */
  batches: Batches;
  /** Workflows with their files as one archive, for other accounts and for version control. */
  bundles: Bundles;
  /** Runs of workflows' tests. */
  tests: Tests;
  usage: Usage;
  /** Published versions of workflows. */
  versions: Versions;
  schedules: Schedules;
  /** Addresses by which other services start a workflow. */
  hooks: Hooks;
  /** Receivers of the messages about all runs of an account. */
  webhookEndpoints: WebhookEndpoints;
  media: MediaFiles;
  /** Stores a file; use its `id` or `url` as an input. The type is detected from the bytes. */
  upload(file: Binary, options?: RequestOptions): Promise<Media>;
  /** Reads a file of a result or an upload. */
  download(file: Downloadable, options?: Pick<RequestOptions, "signal">): Promise<Blob>;
  /** Checks the signed content credentials (C2PA) of a file of at most 32 MB. The file isn't stored. */
  verify(file: Binary, options?: RequestOptions): Promise<FileVerification>;
  whoami(options?: RequestOptions): Promise<User>;
  /** Calls any operation by its id; also returns status and headers. */
  request<O extends OperationId>(operation: O, request: RequestOf<O>): Promise<Answer<ResponseOf<O>>>;
  /** Like `request`, with JSON as text in both directions, so that workflows stay unchanged byte for byte. */
  requestText(operation: OperationId, request: TextRequest): Promise<Answer<string>>;
}

const createWorkflows = (call: Call): Workflows => ({
  list: (options = {}) => call("listWorkflows", options),
  get: (slug, options = {}) => call("getWorkflow", { ...options, params: { slug } }),
  create: (body, options = {}) => call("createWorkflow", { ...options, body }),
  update: (slug, body, { ifMatch, ...options } = {}) => {
    const headers = { ...options.headers, ...(ifMatch === undefined ? {} : { "if-match": ifMatch }) };
    return call("updateWorkflow", { ...options, headers, params: { slug }, body });
  },
  move: (slug, folderId, options = {}) => call("moveWorkflow", { ...options, params: { slug }, body: { folderId } }),
  delete: async (slug, options = {}) => void (await call("deleteWorkflow", { ...options, params: { slug } })),
  schema: (slug, { alias, version, ...options } = {}) =>
    call("getWorkflowSchema", { ...options, params: { slug }, query: selectionOf({ alias, version }) }),
  publicSchema: (slug, options = {}) => call("getPublicSchema", { ...options, params: { slug } }),
  publish: (slug, note, options = {}) => call("publishVersion", { ...options, params: { slug }, body: note === undefined ? {} : { note } }),
  aliases: (slug, options = {}) => call("listAliases", { ...options, params: { slug } }),
  setAlias: (slug, name, body, options = {}) => call("setAlias", { ...options, params: { slug, name }, body }),
  deleteAlias: async (slug, name, options = {}) => void (await call("deleteAlias", { ...options, params: { slug, name } })),
});

/** Creates a client of one service. It respects the rate limits in responses and retries repeatable requests. */
export const createClient = (options: ClientOptions): Client => {
  const transport = createTransport(options);
  const call: Call = async (operation, request) => (await transport.send(operation, request)).body;
  const events = createEvents(transport);
  return {
    ...createRuns(transport, events),
    events,
    workflows: createWorkflows(call),
    models: {
      list: (more = {}) => call("listModels", more),
      get: (internalName, more = {}) => call("getModel", { ...more, params: { internalName } }),
    },
    executions: {
      list: (query = {}, more = {}) => call("listExecutions", { ...more, query }),
      get: (id, more = {}) => call("getExecution", { ...more, params: { id } }),
      delete: async (id, more = {}) => void (await call("deleteExecution", { ...more, params: { id } })),
    },
    erasures: {
      create: (body, more = {}) => call("createErasure", { ...more, body }),
      get: (id, more = {}) => call("getErasure", { ...more, params: { id } }),
      list: (query = {}, more = {}) => call("listErasures", { ...more, query }),
    },
    batches: createBatches(transport),
    bundles: createBundles(transport),
    tests: createTests(transport),
    versions: createVersions(call),
    schedules: createSchedules(call),
    hooks: createHooks(call),
    webhookEndpoints: createWebhookEndpoints(call),
    media: createMediaFiles(call),
    usage: {
      summary: (query = {}, more = {}) => call("getUsageSummary", { ...more, query }),
      list: (query = {}, more = {}) => call("listUsage", { ...more, query }),
      models: (more = {}) => call("listUsageModels", more),
    },
    upload: (body, more = {}) => call("uploadMedia", { ...more, body }),
    download: createDownload(options.fetch ?? globalThis.fetch),
    verify: (body, more = {}) => call("verifyFile", { ...more, body }),
    whoami: async (more = {}) => (await call("whoami", more)).user,
    request: (operation, request) => transport.send(operation, request),
    requestText: (operation, request) => transport.sendText(operation, request),
  };
};

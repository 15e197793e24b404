import {
  aliasNotFound,
  APPROVED_DRAFT_VERSION,
  APPROVED_VERSION,
  invalidRequest,
  LIMITS,
  PRODUCTION,
  versionNotFound,
  workflowNotFound,
} from "@nodeloom/kernel";
import { fromCursor, toCursor } from "@nodeloom/platform";
import { hasPendingChange, standingDraft, storedNumber } from "./approval";
import type { Canary } from "./definition/canary";
import { requireFound } from "./definition/errors";
import type { ListFilter, SchemaRow, WorkflowHead, WorkflowStore } from "./definition/storage";
import {
  aliasOf,
  inProduction,
  newest,
  type Alias,
  type ApprovedGraph,
  type ModelUse,
  type PinnedModels,
  type SchemaPart,
  type SecretUse,
  type Summary,
  type Workflow,
} from "./definition/workflow";
import type { Pictures } from "./definition/pictures";
import { collectSummaries } from "./summaries";
import type { VersionStore } from "./definition/storage";

export interface Listing {
  userId: string;
  filter: Omit<ListFilter, "after">;
  /** Rows per page; 0 for all. */
  limit: number;
  cursor: string;
}

export interface Definition extends Pick<WorkflowHead, "name" | "revision" | "createdBy"> {
  /** Number of the version; 0 for the draft. */
  version: number;
  /** True if the user can run the workflow and read its schema, but not its graph. */
  graphHidden: boolean;
  /** The alias that selected the graph; empty if a version number or the draft was selected. */
  alias: string;
  /** The canary of the alias that selected the graph, for the owner's runs; undefined if there is none. */
  canary?: Canary | undefined;
  /** Set only for a version. */
  pinnedModels: PinnedModels;
  /** Days for which the owner's runs are kept; undefined for other users. */
  retentionDays: number | undefined;
  /** The graph; undefined if the caller already has the current revision. */
  graph: Pick<Workflow, "nodesJson" | "edgesJson"> | undefined;
}

export interface Selection {
  /** A number, `draft`, or empty for the version of the alias. */
  version: string;
  /** An alias; empty or absent for `production`. */
  alias?: string | undefined;
  /** True to use `production` if the workflow doesn't have the alias. */
  orProduction?: boolean | undefined;
}

/** Reads workflows on behalf of owners and other users. */
export interface Reading {
  get(slug: string, userId: string): Promise<Workflow>;
  /** Returns a page of rows. `next` is the next cursor, or undefined at the end. */
  list(listing: Listing): Promise<{ rows: Summary[]; next: string | undefined }>;
  /** @throws DomainError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND, ALIAS_NOT_FOUND or INVALID_REQUEST */
  schema(slug: string, userId: string, selection: Selection): Promise<SchemaPart & { pendingChange: boolean }>;
  publicSchema(slug: string): Promise<SchemaPart>;
  /** Returns an owner's workflows whose drafts send secrets, newest first. */
  secretUses(ownerId: string): Promise<SecretUse[]>;
  /**
   * Returns one page of the workflows of all accounts that name one of the models, sorted by owner and slug.
   * @param cursor the last account of the previous page; empty for the first page
   * @throws DomainError INVALID_REQUEST for too many models
   */
  modelUses(models: readonly string[], cursor: string): Promise<{ uses: ModelUse[]; nextCursor: string }>;
  /**
   * Returns a workflow's graph. For an own workflow, `version` can also be `approved` or `approved-draft`, which select the graphs for
   * apps, hooks and schedules.
   * @throws the errors of `schema`
   */
  definition(slug: string, userId: string, knownRevision: number, selection: Selection): Promise<Definition>;
}

export interface ReadingDeps {
  store: WorkflowStore;
  versions: VersionStore;
  pictures: Pictures;
}

/** Maximum listed workflows that send secrets. */
const SECRET_USES = 1_000;
const MOST_MODELS = 200;
/** Maximum workflows in a page of uses. An account's workflows aren't split between pages; those above this number are omitted. */
const MODEL_USES = 500;
const DRAFT = "draft";
const VERSION = /^[1-9]\d{0,8}$/;

interface Choice {
  /** Number of the version; 0 for the draft. */
  version: number;
  /** Name of the alias that selected the version; empty if none did. */
  alias: string;
  /** The alias, if it was set. */
  set?: Alias | undefined;
}

/**
 * Resolves an alias. Users other than the owner can use only `production`.
 * @throws DomainError ALIAS_NOT_FOUND
 */
const chosenByAlias = (
  head: Pick<WorkflowHead, "createdBy" | "published" | "aliases">,
  userId: string,
  { alias = "", orProduction }: Selection,
): Choice => {
  const set = alias === "" || head.createdBy !== userId ? undefined : aliasOf(head, alias);
  if (set) return { version: set.version, alias, set };
  if (alias !== "" && alias !== PRODUCTION && !orProduction)
    throw aliasNotFound(alias, head.createdBy === userId ? Object.keys(head.aliases ?? {}) : []);
  const version = inProduction(head);
  return { version, alias: version === 0 ? "" : PRODUCTION, set: aliasOf(head, PRODUCTION) };
};

/**
 * Resolves a selection. Aliases become versions only here. Users other than the owner can use only the version in production, or the draft
 * if no version is published.
 * @throws DomainError INVALID_REQUEST, VERSION_NOT_FOUND or ALIAS_NOT_FOUND
 */
const chosenVersion = (head: Pick<WorkflowHead, "createdBy" | "published" | "aliases">, userId: string, selection: Selection): Choice => {
  const { version } = selection;
  if (version === "") return chosenByAlias(head, userId, selection);
  if (version !== DRAFT && !VERSION.test(version))
    throw invalidRequest([{ path: "version", message: `must be a version's number, or ${DRAFT}` }]);
  const chosenNumber = version === DRAFT ? 0 : Number(version);
  const isVisible = head.createdBy === userId ? chosenNumber <= newest(head) : chosenNumber === inProduction(head);
  if (!isVisible) throw versionNotFound(chosenNumber);
  return { version: chosenNumber, alias: "" };
};

async function* nothing(): AsyncIterable<Summary[]> {
  // The list is empty.
}

/** Approved graphs by selector. `otherwise` is the version to use if no change is pending. */
const STANDING: ReadonlyMap<string, { otherwise: string; approved(head: WorkflowHead): ApprovedGraph | null | undefined }> = new Map([
  [APPROVED_VERSION, { otherwise: "", approved: (head: WorkflowHead) => head.approved }],
  [APPROVED_DRAFT_VERSION, { otherwise: DRAFT, approved: standingDraft }],
]);

export const createReading = ({ store, versions, pictures }: ReadingDeps): Reading => {
  /** The workflow as other users see it, with the graph of its version in production and without pictures outside media storage. */
  const asOthersSee = async (workflow: Workflow): Promise<Workflow> => {
    const {
      takedown: _takedown,
      app: _app,
      approved: _approved,
      approvedDraft: _draft,
      aliases: _aliases,
      bundle: _bundle,
      testsJson: _tests,
      ...rest
    } = workflow;
    const cover = { coverJson: pictures.safeCover(workflow.coverJson), thumbnail: pictures.safeThumbnail(workflow.thumbnail) };
    const version = inProduction(workflow);
    if (version === 0) return { ...rest, ...cover };
    const stored = await versions.get(workflow.creationId, version);
    if (!stored) throw versionNotFound();
    const { nodesJson, edgesJson, viewportJson, generators, graphDigest } = stored;
    return { ...rest, ...cover, nodesJson, edgesJson, viewportJson, generators, graphDigest };
  };

  const versionSchema = async (row: SchemaRow, version: number): Promise<SchemaPart> => {
    if (version === 0) return row;
    const stored = await versions.get(row.creationId, version);
    if (!stored) throw versionNotFound();
    const { fieldsJson, valuesJson, generators } = stored;
    return { name: row.name, description: row.description, fieldsJson, valuesJson, generators };
  };

  const summaries = async ({ userId, filter, limit, cursor }: Listing): Promise<{ rows: Summary[]; next: string | undefined }> => {
    const narrowing = { ...filter, after: fromCursor(cursor) };
    const most = limit === 0 ? 0 : limit + 1;
    const isShared = filter.folderId === undefined && !filter.own;
    const others = isShared ? store.othersTemplates(userId, narrowing, most || LIMITS.listedTemplates) : nothing();
    const all = await collectSummaries([store.ownSummaries(userId, narrowing, most), others]);
    if (limit === 0 || all.length <= limit) return { rows: all, next: undefined };
    const { slug: id, updatedAt: at } = all[limit - 1]!;
    return { rows: all.slice(0, limit), next: toCursor({ at, id }) };
  };

  return {
    secretUses: (ownerId) => store.secretUses(ownerId, SECRET_USES),
    modelUses: async (models, cursor) => {
      if (models.length > MOST_MODELS) throw invalidRequest([{ path: "models", message: `must be at most ${MOST_MODELS}` }]);
      const uses = models.length === 0 ? [] : await store.modelUses(models, cursor, MODEL_USES);
      if (uses.length < MODEL_USES) return { uses, nextCursor: "" };
      const last = uses.at(-1)!.ownerId;
      const whole = uses.filter(({ ownerId }) => ownerId !== last);
      const page = whole.length === 0 ? uses : whole;
      return { uses: page, nextCursor: page.at(-1)!.ownerId };
    },
    get: async (slug, userId) => {
      const workflow = requireFound(await store.visible(slug, userId));
      return workflow.createdBy === userId ? workflow : asOthersSee(workflow);
    },
    list: summaries,
    schema: async (slug, userId, selection) => {
      const row = requireFound(await store.runnableSchema(slug, userId));
      const schema = await versionSchema(row, chosenVersion(row, userId, selection).version);
      return { ...schema, pendingChange: row.createdBy === userId && hasPendingChange(row) };
    },
    publicSchema: async (slug) => {
      const row = requireFound(await store.publicSchema(slug));
      return versionSchema(row, inProduction(row));
    },
    definition: async (slug, userId, knownRevision, selection) => {
      const head = requireFound(await store.runnableHead(slug, userId));
      const { name, createdBy, creationId, published } = head;
      const standing = STANDING.get(selection.version);
      const choice = chosenVersion(head, userId, { ...selection, version: standing?.otherwise ?? selection.version });
      // An alias that was set is approved, because only callers who can run the workflow can set one.
      const approved = (createdBy === userId && !choice.set && standing?.approved(head)) || undefined;
      const version = approved?.version ?? choice.version;
      const alias = version === 0 ? "" : choice.alias;
      const graphHidden = createdBy !== userId && !head.isTemplate;
      const current = version === 0 ? head : version === published?.version ? published : undefined;
      const identity = approved ?? choice.set ?? current;
      const { revision, ...rest } = identity ?? (await versions.identity(creationId, version)) ?? { revision: 0 };
      const pinnedModels = "pinnedModels" in rest ? (rest.pinnedModels ?? {}) : {};
      const retentionDays = createdBy === userId ? (head.retentionDays ?? undefined) : undefined;
      const canary = createdBy === userId && choice.alias !== "" ? choice.set?.canary : undefined;
      const definition = { name, createdBy, version, alias, graphHidden, pinnedModels, retentionDays, canary };
      if (knownRevision > 0 && revision === knownRevision) return { ...definition, revision, graph: undefined };
      const storedVersion = approved ? storedNumber(approved) : version;
      const graph = storedVersion === 0 ? requireFound(await store.runnable(slug, userId)) : await versions.get(creationId, storedVersion);
      // No caller who can run the workflow has approved a graph.
      if (!graph) throw approved?.version === 0 ? workflowNotFound() : versionNotFound();
      // The draft may have changed after its head was read.
      const { nodesJson, edgesJson } = graph;
      return { ...definition, revision: graph.revision, graph: { nodesJson, edgesJson } };
    },
  };
};

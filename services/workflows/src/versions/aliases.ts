/** Aliases are names for published versions. Moving an alias publishes, promotes or rolls back. */
import { randomUUID } from "node:crypto";
import {
  ALIAS,
  aliasNotFound,
  CANARY_BOUNDS,
  CONFLICT_ATTEMPTS,
  invalidRequest,
  LIMITS,
  PRODUCTION,
  unavailable,
  versionNotFound,
} from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { checkNoCredentials } from "../definition/credentials";
import type { CanaryResults, CanaryStore } from "../canaries/canary-store";
import { differences } from "../canaries/interface";
import { sameSettings, type Canary, type CanaryOutcome, type CanarySettings, type EndedCanary } from "../definition/canary";
import { aliasMoved, canaryDiffers, notApproved, requireFound, testsRequired } from "../definition/errors";
import { testsDigest } from "../definition/settings";
import type { VersionStore, WorkflowStore } from "../definition/storage";
import { aliasOf, newest, type Alias, type Version, type Workflow } from "../definition/workflow";

const NO_TESTS = "[]";

export interface NamedAlias {
  name: string;
  /** Number of the version; 0 if no version is published. */
  version: number;
  /** True for `production` until it is set. Until then it means the newest version. */
  isDefault: boolean;
  updatedAt?: Date;
  updatedBy: string;
  /** True if the alias can move only to versions that passed the workflow's tests. */
  requireTests: boolean;
  canary?: Canary | undefined;
  /** Results of the canary; only in lists. */
  results?: CanaryResults | undefined;
  lastCanary?: EndedCanary | undefined;
}

export interface WhichAlias {
  slug: string;
  ownerId: string;
  name: string;
  /** True if the owner's account awaits approval. */
  unapproved: boolean;
}

export interface AliasMove extends WhichAlias {
  version: number;
  /** Moves only from this version; 0 if the alias must be unset. */
  ifVersion?: number | undefined;
  /** The person who moves it, if the owner is an organization. */
  authorId?: string | undefined;
  /** Undefined leaves the setting unchanged. */
  requireTests?: boolean | undefined;
  /** Null ends the canary. Undefined keeps it if the alias keeps its version. */
  canary?: CanarySettings | null | undefined;
}

/** Callers can run the workflow, so an alias always selects an approved graph. */
export interface Aliases {
  /** Lists aliases by name, after `production`. @throws DomainError WORKFLOW_NOT_FOUND */
  list(slug: string, ownerId: string): Promise<NamedAlias[]>;
  /**
   * @throws DomainError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND, PRECONDITION_FAILED, TESTS_REQUIRED, CANARY_SHAPE, ACCOUNT_NOT_APPROVED or
   *   INVALID_REQUEST
   */
  set(move: AliasMove): Promise<{ alias: NamedAlias; earlier: NamedAlias | undefined }>;
  /** @throws DomainError WORKFLOW_NOT_FOUND, ALIAS_NOT_FOUND or ACCOUNT_NOT_APPROVED */
  remove(which: WhichAlias): Promise<NamedAlias>;
  /** Promotes a canary or rolls it back. @returns false if it was ended otherwise first; true again for a repeated call */
  endCanary(results: CanaryResults, outcome: CanaryOutcome): Promise<boolean>;
}

export interface AliasesDeps {
  store: Pick<WorkflowStore, "owned" | "setAlias">;
  versions: Pick<VersionStore, "get">;
  canaries: Pick<CanaryStore, "open" | "close" | "get">;
}

/** Returns undefined if the alias isn't set; `production` always exists. */
const viewOf = (workflow: Workflow, name: string): NamedAlias | undefined => {
  const set = aliasOf(workflow, name);
  if (set) {
    const { version, updatedAt, updatedBy, requireTests = false, canary, lastCanary } = set;
    return { name, version, isDefault: false, updatedAt, updatedBy, requireTests, canary, lastCanary };
  }
  return name === PRODUCTION ? { name, version: newest(workflow), isDefault: true, updatedBy: "", requireTests: false } : undefined;
};

const checkName = ({ aliases = {} }: Workflow, name: string): void => {
  if (!ALIAS.test(name))
    throw invalidRequest([{ path: "name", message: "must be at most 32 lowercase letters, digits and hyphens, and begin with a letter" }]);
  const names = Object.keys(aliases);
  if (!names.includes(name) && names.length >= LIMITS.aliases)
    throw invalidRequest([{ path: "name", message: `a workflow can have at most ${LIMITS.aliases} aliases; delete one first` }]);
};

/** Other users read a template's version in production. */
const checkShown = ({ isTemplate }: Workflow, name: string, version: Version | undefined, unapproved: boolean): void => {
  if (!isTemplate || name !== PRODUCTION) return;
  if (unapproved) throw notApproved();
  if (version) checkNoCredentials(version);
};

/** @throws DomainError TESTS_REQUIRED unless the version passed the workflow's current tests */
const checkTested = ({ testsJson = "" }: Workflow, name: string, { version, passedTests }: Version): void => {
  const hasTests = testsJson !== "" && testsJson !== NO_TESTS;
  if (!hasTests || passedTests !== testsDigest(testsJson)) throw testsRequired(name, version);
};

/** @throws DomainError INVALID_REQUEST */
const checkCanary = ({ version, percent, minRuns }: CanarySettings, aliasVersion: number): void => {
  const { percent: most, leastRuns, mostRuns } = CANARY_BOUNDS;
  const issues = [
    ...(version === aliasVersion ? [{ path: "canary.version", message: "must be another version than the alias's" }] : []),
    ...(percent >= 1 && percent <= most ? [] : [{ path: "canary.percent", message: `must be from 1 to ${most}` }]),
    ...(minRuns >= leastRuns && minRuns <= mostRuns
      ? []
      : [{ path: "canary.minRuns", message: `must be from ${leastRuns} to ${mostRuns}` }]),
  ];
  if (issues.length > 0) throw invalidRequest(issues);
};

const aliasFor = ({ version, revision, pinnedModels, generators }: Version, name: string, updatedBy: string): Alias => ({
  ...{ version, revision, updatedBy, updatedAt: new Date() },
  ...(pinnedModels ? { pinnedModels } : {}),
  ...(name === PRODUCTION ? { generators } : {}),
});

export const createAliases = ({ store, versions, canaries }: AliasesDeps): Aliases => {
  const owned = async (slug: string, ownerId: string): Promise<Workflow> => requireFound(await store.owned(slug, ownerId));

  /** A higher number can belong to a publication that is in progress or crashed. @throws DomainError VERSION_NOT_FOUND */
  const published = async (head: Workflow, version: number): Promise<Version> => {
    const stored = version >= 1 && version <= newest(head) ? await versions.get(head.creationId, version) : undefined;
    if (!stored) throw versionNotFound(version);
    return stored;
  };

  /** The canary that the alias has after a move. @param id of a new canary */
  const canaryAfter = async (
    head: Workflow,
    move: AliasMove,
    base: Version,
    requireTests: boolean,
    id: string,
  ): Promise<Canary | undefined> => {
    const { name, version, canary: settings, slug, ownerId, authorId: startedBy = ownerId } = move;
    const current = aliasOf(head, name);
    const running = current?.version === version ? current.canary : undefined;
    if (!settings) return settings === undefined ? running : undefined;
    checkCanary(settings, version);
    const stored = await published(head, settings.version);
    checkShown(head, name, stored, move.unapproved);
    if (requireTests) checkTested(head, name, stored);
    const differing = differences(base, stored);
    if (differing.fields.length + differing.results.length > 0) throw canaryDiffers(settings.version, differing);
    if (running && sameSettings(running, settings)) return running;
    const { percent, minRuns, maxMillicredits } = settings;
    const limit = maxMillicredits === undefined ? {} : { maxMillicredits };
    const canary: Canary = { id, version: settings.version, percent, minRuns, ...limit, startedAt: new Date(), startedBy };
    await canaries.open({ ...canary, creationId: head.creationId, slug, ownerId, alias: name, versionBefore: version });
    return canary;
  };

  const setOnce = async (move: AliasMove, newCanaryId: string) => {
    const { slug, ownerId, name, version, ifVersion, authorId = ownerId, unapproved, ...settings } = move;
    const head = await owned(slug, ownerId);
    checkName(head, name);
    const current = aliasOf(head, name);
    const { requireTests = current?.requireTests ?? false } = settings;
    const earlier = viewOf(head, name);
    if (ifVersion !== undefined && ifVersion !== (earlier?.version ?? 0)) throw aliasMoved(name, earlier?.version ?? 0);
    const stored = await published(head, version);
    checkShown(head, name, stored, unapproved);
    if (requireTests) checkTested(head, name, stored);
    const canary = await canaryAfter(head, move, stored, requireTests, newCanaryId);
    const alias = {
      ...aliasFor(stored, name, authorId),
      ...(requireTests ? { requireTests } : {}),
      ...(canary ? { canary } : {}),
      ...(current?.lastCanary ? { lastCanary: current.lastCanary } : {}),
    };
    if (!(await store.setAlias(head, name, alias))) return undefined;
    if (current?.canary && current.canary.id !== canary?.id) await canaries.close(current.canary.id);
    return { alias: viewOf({ ...head, aliases: { ...head.aliases, [name]: alias } }, name)!, earlier };
  };

  const endOnce = async (results: CanaryResults, outcome: CanaryOutcome): Promise<{ hasEnded: boolean } | undefined> => {
    const { _id: id, slug, ownerId, alias: name, version } = results;
    const head = await store.owned(slug, ownerId);
    const current = head && aliasOf(head, name);
    if (!head || current?.canary?.id !== id) return { hasEnded: current?.lastCanary?.id === id };
    const { canary, ...rest } = current;
    const { requireTests } = current;
    const promoted =
      outcome.outcome === "promoted"
        ? { ...aliasFor(await published(head, version), name, canary.startedBy), ...(requireTests ? { requireTests } : {}) }
        : rest;
    return (await store.setAlias(head, name, { ...promoted, lastCanary: { id, version, ...outcome } })) ? { hasEnded: true } : undefined;
  };

  const removeOnce = async ({ slug, ownerId, name, unapproved }: WhichAlias): Promise<NamedAlias | undefined> => {
    const head = await owned(slug, ownerId);
    if (!aliasOf(head, name)) throw aliasNotFound(name);
    checkShown(head, name, await versions.get(head.creationId, newest(head)), unapproved);
    if (!(await store.setAlias(head, name, undefined))) return undefined;
    const { canary } = aliasOf(head, name)!;
    if (canary) await canaries.close(canary.id);
    return viewOf(head, name);
  };

  const retried = async <T>(attempt: () => Promise<T | undefined>): Promise<T> => {
    const outcome = await retryOnConflict(CONFLICT_ATTEMPTS.publication, attempt);
    if (outcome === undefined) throw unavailable("the workflow is being changed by too many at once");
    return outcome;
  };

  return {
    list: async (slug, ownerId) => {
      const workflow = await owned(slug, ownerId);
      const others = Object.keys(workflow.aliases ?? {}).filter((name) => name !== PRODUCTION);
      const rows = [PRODUCTION, ...others.sort()].map((name) => viewOf(workflow, name)!);
      return Promise.all(
        rows.map(async (alias) => (alias.canary ? { ...alias, results: (await canaries.get(alias.canary.id)) ?? undefined } : alias)),
      );
    },
    set: (move) => {
      const newCanaryId = randomUUID();
      return retried(() => setOnce(move, newCanaryId));
    },
    endCanary: async (results, outcome) => (await retried(() => endOnce(results, outcome))).hasEnded,
    remove: (which) => retried(() => removeOnce(which)),
  };
};

/** Aliases are names for published versions. Moving an alias publishes, promotes or rolls back. */
import {
  ALIAS,
  aliasNotFound,
  CONFLICT_ATTEMPTS,
  invalidRequest,
  LIMITS,
  PRODUCTION,
  unavailable,
  versionNotFound,
} from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { checkNoCredentials } from "../definition/credentials";
import { requireFound, aliasMoved, notApproved, testsRequired } from "../definition/errors";
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
}

/** Callers can run the workflow, so an alias always selects an approved graph. */
export interface Aliases {
  /** Lists aliases by name, after `production`. @throws DomainError WORKFLOW_NOT_FOUND */
  list(slug: string, ownerId: string): Promise<NamedAlias[]>;
  /** @throws DomainError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND, PRECONDITION_FAILED, TESTS_REQUIRED, ACCOUNT_NOT_APPROVED or INVALID_REQUEST */
  set(move: AliasMove): Promise<{ alias: NamedAlias; earlier: NamedAlias | undefined }>;
  /** @throws DomainError WORKFLOW_NOT_FOUND, ALIAS_NOT_FOUND or ACCOUNT_NOT_APPROVED */
  remove(which: WhichAlias): Promise<NamedAlias>;
}

export interface AliasesDeps {
  store: Pick<WorkflowStore, "owned" | "setAlias">;
  versions: Pick<VersionStore, "get">;
}

/** Returns undefined if the alias isn't set; `production` always exists. */
const viewOf = (workflow: Workflow, name: string): NamedAlias | undefined => {
  const set = aliasOf(workflow, name);
  if (set) {
    const { version, updatedAt, updatedBy, requireTests = false } = set;
    return { name, version, isDefault: false, updatedAt, updatedBy, requireTests };
  }
  return name === PRODUCTION ? { name, version: newest(workflow), isDefault: true, updatedBy: "", requireTests: false } : undefined;
};

const checkName = ({ aliases = {} }: Workflow, name: string): void => {
  if (!ALIAS.test(name))
    throw invalidRequest([{ path: "name", message: "must be lowercase letters, digits and hyphens, and begin with a letter" }]);
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

const aliasFor = ({ version, revision, pinnedModels, generators }: Version, name: string, updatedBy: string): Alias => ({
  ...{ version, revision, updatedBy, updatedAt: new Date() },
  ...(pinnedModels ? { pinnedModels } : {}),
  ...(name === PRODUCTION ? { generators } : {}),
});

export const createAliases = ({ store, versions }: AliasesDeps): Aliases => {
  const owned = async (slug: string, ownerId: string): Promise<Workflow> => requireFound(await store.owned(slug, ownerId));

  const setOnce = async ({ slug, ownerId, name, version, ifVersion, authorId = ownerId, unapproved, ...settings }: AliasMove) => {
    const head = await owned(slug, ownerId);
    checkName(head, name);
    const { requireTests = aliasOf(head, name)?.requireTests ?? false } = settings;
    const earlier = viewOf(head, name);
    if (ifVersion !== undefined && ifVersion !== (earlier?.version ?? 0)) throw aliasMoved(name, earlier?.version ?? 0);
    // A higher number can belong to a publication that is in progress or crashed.
    const stored = version >= 1 && version <= newest(head) ? await versions.get(head.creationId, version) : undefined;
    if (!stored) throw versionNotFound();
    checkShown(head, name, stored, unapproved);
    if (requireTests) checkTested(head, name, stored);
    const alias = { ...aliasFor(stored, name, authorId), ...(requireTests ? { requireTests } : {}) };
    if (!(await store.setAlias(head, name, alias))) return undefined;
    return { alias: viewOf({ ...head, aliases: { ...head.aliases, [name]: alias } }, name)!, earlier };
  };

  const removeOnce = async ({ slug, ownerId, name, unapproved }: WhichAlias): Promise<NamedAlias | undefined> => {
    const head = await owned(slug, ownerId);
    if (!aliasOf(head, name)) throw aliasNotFound(name);
    checkShown(head, name, await versions.get(head.creationId, newest(head)), unapproved);
    return (await store.setAlias(head, name, undefined)) ? viewOf(head, name) : undefined;
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
      return [PRODUCTION, ...others.sort()].map((name) => viewOf(workflow, name)!);
    },
    set: (move) => retried(() => setOnce(move)),
    remove: (which) => retried(() => removeOnce(which)),
  };
};

/** Workflows that imports of bundles create and update. In an account, a name in bundles identifies one workflow. */
import { createHash } from "node:crypto";
import { PRODUCTION } from "@nodeloom/kernel";
import { requireFound } from "./definition/errors";
import { checkSettings, graphDigest, testsDigest } from "./definition/settings";
import type { BundledHead, WorkflowStore } from "./definition/storage";
import { aliasOf, newest, type Workflow } from "./definition/workflow";
import type { Folders } from "./folders/folders";
import { creationIdOf, type Saving } from "./saving";
import type { Aliases } from "./versions/aliases";
import type { Versions } from "./versions/versions";

export interface BundledWorkflow {
  name: string;
  /** The slug; empty if the workflow doesn't exist. */
  slug: string;
  revision: number;
  /** True if an import created the workflow or took it over. Otherwise only its slug equals the name. */
  bundled: boolean;
  source: string;
  changed: boolean;
  publishedVersion: number;
  aliasVersion: number;
  aliasSetAt: number;
  generation: number;
}

export interface BundledSave {
  ownerId: string;
  authorId?: string | undefined;
  name: string;
  slug: string;
  revision: number;
  generation: number;
  source: string;
  title: string;
  description: string;
  tags: string[];
  folder: string;
  nodesJson: string;
  edgesJson: string;
  viewportJson: string;
  /** Absent: the tests stay as they are. */
  testsJson?: string | undefined;
  publish: boolean;
  keepProduction: boolean;
  maxWorkflows?: number | undefined;
  unapproved: boolean;
  withoutRun: boolean;
  reference: string;
}

export interface BundledWorkflows {
  /** Returns one entry per name, in order. */
  find(ownerId: string, names: readonly string[], alias: string): Promise<BundledWorkflow[]>;
  /**
   * Creates or updates a workflow and publishes it. It can be repeated: content that is already stored isn't stored again.
   * @throws DomainError PRECONDITION_FAILED if the workflow has another revision and other content
   */
  save(save: BundledSave): Promise<{ slug: string; version: number }>;
}

export interface BundledDeps {
  store: Pick<WorkflowStore, "bundled" | "setBundle" | "owned" | "wasRemoved">;
  workflows: Pick<Saving, "create" | "update">;
  versions: Pick<Versions, "publish">;
  aliases: Pick<Aliases, "set">;
  folders: Pick<Folders, "list" | "create">;
}

/** More deletions of one name suggest a faulty program. */
const MAX_GENERATIONS = 1_000;

type Content = Pick<Workflow, "name" | "description" | "tags" | "graphDigest" | "testsJson">;

/** @param withTests whether the bundle has tests; without them, edits of tests aren't changes */
const contentOf = ({ name, description, tags, graphDigest: graph, testsJson = "" }: Content, withTests: boolean): string =>
  createHash("sha256")
    .update(JSON.stringify([name, description, tags, graph, ...(withTests ? [testsDigest(testsJson)] : [])]))
    .digest("base64url");

/** The tests of a bundle, if it has any: without them, stored tests stay. */
const testsIn = ({ testsJson }: Pick<BundledSave, "testsJson">): { testsJson?: string } => (testsJson === undefined ? {} : { testsJson });

const referenceOf = (name: string, generation: number): string => `bundle\n${name}\n${generation}`;

export const createBundled = ({ store, workflows, versions, aliases, folders }: BundledDeps): BundledWorkflows => {
  /** Number of the first creation of a name whose workflow wasn't deleted. */
  const generationOf = async (ownerId: string, name: string): Promise<number> => {
    let generation = 0;
    while (generation < MAX_GENERATIONS && (await store.wasRemoved(creationIdOf(ownerId, referenceOf(name, generation))))) generation += 1;
    return generation;
  };

  const viewOf = (name: string, head: BundledHead, alias: string): BundledWorkflow => {
    const bundle = head.bundle?.name === name ? head.bundle : undefined;
    const set = alias === "" ? undefined : aliasOf(head, alias);
    return {
      ...{ name, slug: head.slug, revision: head.revision, bundled: bundle !== undefined, source: bundle?.source ?? "" },
      changed: bundle !== undefined && bundle.content !== contentOf(head, bundle.tests ?? false),
      publishedVersion: head.published?.graphDigest === head.graphDigest ? newest(head) : 0,
      ...{ aliasVersion: set?.version ?? 0, aliasSetAt: set?.updatedAt.getTime() ?? 0, generation: 0 },
    };
  };

  const missing = async (ownerId: string, name: string): Promise<BundledWorkflow> => ({
    ...{ name, slug: "", revision: 0, bundled: false, source: "", changed: false, publishedVersion: 0, aliasVersion: 0, aliasSetAt: 0 },
    generation: await generationOf(ownerId, name),
  });

  const folderId = async (ownerId: string, name: string): Promise<string | null> => {
    if (name === "") return null;
    const existing = (await folders.list(ownerId)).find((folder) => folder.name === name);
    return (existing ?? (await folders.create(ownerId, name))).id;
  };

  const create = async (save: BundledSave): Promise<Workflow> => {
    const { ownerId, authorId, title, description, tags, nodesJson, edgesJson, viewportJson, unapproved, withoutRun } = save;
    const switches = { isTemplate: false, hidden: false, archived: false, publicPlayground: false, mcp: false, app: null };
    const texts = { nodesJson, edgesJson, viewportJson, coverJson: "", thumbnail: null, ...testsIn(save) };
    return workflows.create({
      ...{ ownerId, authorId, maxWorkflows: save.maxWorkflows, unapproved, mediaQuota: undefined, withoutRun },
      settings: { name: title, description, tags, ...switches, ...texts, folderId: await folderId(ownerId, save.folder) },
      reference: referenceOf(save.name, save.generation),
    });
  };

  const update = async (save: BundledSave): Promise<Workflow> => {
    const { slug, ownerId, authorId, revision, title, description, tags, nodesJson, edgesJson, viewportJson } = save;
    const current = requireFound(await store.owned(slug, ownerId));
    const tests = testsIn(save);
    const content = { name: title, description, tags, graphDigest: graphDigest(nodesJson, edgesJson), ...tests };
    const withTests = save.testsJson !== undefined;
    if (contentOf(current, withTests) === contentOf(content, withTests)) return current;
    const changes = { name: title, description, tags, nodesJson, edgesJson, viewportJson, ...tests };
    const allowed = { maxWorkflows: save.maxWorkflows, unapproved: save.unapproved, mediaQuota: undefined, withoutRun: save.withoutRun };
    return workflows.update({ slug, ownerId, authorId, ifRevision: revision, changes, ...allowed });
  };

  /** @returns the version with the draft's graph */
  const publish = async (saved: Workflow, save: BundledSave): Promise<number> => {
    const { ownerId, authorId, unapproved, withoutRun, reference } = save;
    const [slug, version] = [saved.slug, newest(saved)];
    if (saved.published?.graphDigest === saved.graphDigest) return version;
    if (save.keepProduction && version > 0 && !aliasOf(saved, PRODUCTION))
      await aliases.set({ slug, ownerId, authorId, name: PRODUCTION, version, unapproved });
    const published = await versions.publish({ slug, ownerId, authorId, note: "", reference, unapproved, withoutRun });
    return published.version;
  };

  return {
    find: async (ownerId, names, alias) => {
      const heads = await store.bundled(ownerId, names);
      const byName = new Map(heads.map((head) => [head.slug, head]));
      for (const head of heads) if (head.bundle) byName.set(head.bundle.name, head);
      return Promise.all(
        names.map(async (name) => {
          const head = byName.get(name);
          return head ? viewOf(name, head, alias) : missing(ownerId, name);
        }),
      );
    },
    save: async (save) => {
      const { title, description, tags, nodesJson, edgesJson, viewportJson } = save;
      checkSettings({ name: title, description, tags, nodesJson, edgesJson, viewportJson, ...testsIn(save) });
      const saved = await (save.slug === "" ? create(save) : update(save));
      const tests = save.testsJson !== undefined;
      await store.setBundle(saved, { name: save.name, source: save.source, content: contentOf(saved, tests), tests });
      return { slug: saved.slug, version: save.publish ? await publish(saved, save) : 0 };
    },
  };
};

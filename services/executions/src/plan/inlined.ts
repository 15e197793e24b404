/** Finds the inner workflows of a workflow. Each graph is read with its owner's permissions. */
import { createHash } from "node:crypto";
import {
  APPROVED_DRAFT_VERSION,
  APPROVED_VERSION,
  DomainError,
  findingInWords,
  innerId,
  LIMITS,
  member,
  turnId,
  type GraphIssue,
  type InlinedWorkflow,
  type WorkflowReference,
} from "@nodeloom/kernel";
import type { SelectedGraph, Definition, Definitions, Needs, GraphSelection } from "./definitions";
import type { KeptGraph, KeptVersion } from "./kept-graphs";
import type { InnerTask, TaskGraph } from "./planner/protocol";
import type { Grants } from "./files";

/** Maximum nodes to search, because each workflow node adds at least one node to the graph. */
const MOST_NODES = LIMITS.nodes;

const WANTING: ReadonlySet<string> = new Set(["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"]);

const invalid = (nodeId: string, problem: string): DomainError => {
  const issues: GraphIssue[] = [{ nodeId, ...findingInWords("WORKFLOW_UNFIT", problem) }];
  return new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't run: ${nodeId}: ${problem}`, { issues });
};

export const graphOf = (slug: string, { saved, key }: Pick<SelectedGraph, "saved" | "key">): TaskGraph => {
  const { revision, nodesJson, edgesJson } = saved;
  return { key: key ?? `${slug}@${revision}`, nodesJson, edgesJson };
};

const DRAFT = "draft";
const keyOf = ({ slug, version }: Pick<WorkflowReference, "slug" | "version">, { ownerId }: Pick<Container, "ownerId">): string =>
  `${ownerId} ${slug} ${version}`;

/** Returns a graph in the stored form of runs and batches. */
export const keptOf = ({ saved: { nodesJson, edgesJson }, pinnedModels }: SelectedGraph): KeptGraph => ({
  nodesJson,
  edgesJson,
  pinnedModels,
});

const hashOf = ({ nodesJson, edgesJson }: Definition): string =>
  createHash("sha256").update(nodesJson).update("\n").update(edgesJson).digest("hex");

export interface InlinedTask {
  inner: InnerTask;
  /** Models that the graphs need. */
  models: string[];
  /** Inner workflows that the execution stores. */
  workflows: InlinedWorkflow[];
  /** References without a version number, by reader and reference. */
  changing: Record<string, KeptVersion>;
}

interface Container {
  key: string;
  ownerId: string;
  /** Slugs, starting with the outermost workflow. */
  path: readonly string[];
  /** Prefix of the node ids of this graph. */
  prefix: string;
}

export interface InliningRequest {
  slug: string;
  selected: GraphSelection;
  ownerId: string;
  userId: string;
  references: readonly WorkflowReference[];
  /** The `changing` member of an earlier plan. It pins each reference. */
  pinned?: Readonly<Record<string, KeptVersion>> | undefined;
}

/**
 * Finds the inner workflows of a workflow at any depth. References are resolved for the graph's owner, to an own workflow or a template.
 * @throws DomainError WORKFLOW_INVALID for a missing workflow, a circle, or too many levels
 */
export const findInlined = async (
  definitions: Pick<Definitions, "read" | "needs" | "saved">,
  { slug, selected, ownerId, userId, references, pinned = {} }: InliningRequest,
): Promise<InlinedTask> => {
  const definitionsByKey = new Map<string, InnerTask["definitions"][number]>();
  const meanings: InnerTask["references"] = [];
  const models = new Set<string>();
  const workflows: InlinedWorkflow[] = [];
  const changing: Record<string, KeptVersion> = {};
  const reads = new Map<string, Promise<SelectedGraph>>();
  const hashes = new Map<string, string>();
  // An approval covers the inner workflows. Versions never change.
  const standing: Readonly<Record<string, string>> =
    selected.version === APPROVED_VERSION ? { "": APPROVED_VERSION, draft: APPROVED_DRAFT_VERSION } : {};
  let chars = 0;

  const read = (
    { slug: innerSlug, version, nodeId }: WorkflowReference,
    { ownerId: reader, prefix }: Container,
  ): Promise<SelectedGraph> => {
    const key = keyOf({ slug: innerSlug, version }, { ownerId: reader });
    const wanting = invalid(prefix + nodeId, `there is no workflow ${innerSlug}${version === "" ? "" : ` (version ${version})`}`);
    const reading =
      reads.get(key) ??
      definitions
        .read(innerSlug, reader, { version: member(standing, version) ?? version, alias: selected.alias, orProduction: true })
        .then(
          (defined) => {
            if (defined.graphHidden) throw wanting;
            const keptGraph = member(pinned, key);
            return keptGraph ? definitions.saved(defined, keptGraph) : defined;
          },
          (error: unknown) => {
            throw error instanceof DomainError && WANTING.has(error.reason) ? wanting : error;
          },
        );
    reads.set(key, reading);
    return reading;
  };

  const visit = async (container: Container, nodes: readonly WorkflowReference[]): Promise<void> => {
    for (const reference of nodes) {
      const nodeId = container.prefix + reference.nodeId;
      const path = [...container.path, reference.slug];
      const shownPath = path.join(" → ");
      if (container.path.includes(reference.slug)) throw invalid(nodeId, `the workflow contains itself: ${shownPath}`);
      if (container.path.length > LIMITS.workflowDepth)
        throw invalid(nodeId, `workflows are nested more than ${LIMITS.workflowDepth} levels deep: ${shownPath}`);
      if (workflows.length >= MOST_NODES) throw invalid(nodeId, `the graph and the workflows in it have more than ${LIMITS.nodes} nodes`);
      const defined = await read(reference, container);
      const { saved, pinnedModels } = defined;
      if (reference.version === "" || reference.version === DRAFT)
        changing[keyOf(reference, container)] = { ...keptOf(defined), version: saved.version };
      const graph = graphOf(reference.slug, defined);
      const key = `${graph.key} ${saved.version}`;
      const needs: Needs = await definitions.needs(saved, graph, userId);
      for (const name of needs.models) models.add(member(pinnedModels, name) ?? name);
      if (!definitionsByKey.has(key)) {
        chars += graph.nodesJson.length + graph.edgesJson.length;
        if (chars > LIMITS.workflowBytes) throw invalid(nodeId, `the workflows in it have more than ${LIMITS.workflowBytes} bytes`);
        definitionsByKey.set(key, { key, graph, ownerId: saved.createdBy, pinnedModels: Object.entries(pinnedModels) });
        hashes.set(key, hashOf(saved));
      }
      meanings.push([container.key, reference.nodeId, key]);
      const contentHash = hashes.get(key)!;
      workflows.push({ nodeId, slug: reference.slug, contentHash, ...(saved.version > 0 ? { version: saved.version } : {}) });
      // Each turn of a loop runs the same workflows.
      const prefix = innerId(reference.isLoop ? turnId(nodeId, 1) : nodeId, "");
      await visit({ key, ownerId: saved.createdBy, path, prefix }, needs.workflows);
    }
  };

  await visit({ key: "", ownerId, path: [slug], prefix: "" }, references);
  return { inner: { definitions: [...definitionsByKey.values()], references: meanings }, models: [...models], workflows, changing };
};

export interface GraphNeeds {
  /** Models of the graph and of its inner workflows. */
  models: string[];
  /** Undefined if the graph has no workflow nodes. */
  inlined: InlinedTask | undefined;
}

/** @param saved with `needs` only if the graph is the saved one, without overriding settings */
export type FindNeeds = (saved: Definition, graph: TaskGraph, inlining: Omit<InliningRequest, "references">) => Promise<GraphNeeds>;

/** Finds the models and inner workflows that a graph needs, and grants the runner the files that the graphs name. */
export const createFindNeeds =
  (definitions: Definitions, grants: Pick<Grants, "grantNamed">): FindNeeds =>
  async (saved, graph, inlining) => {
    const { ownerId, userId } = inlining;
    const { models, workflows: references } = await definitions.needs(saved, graph, userId);
    const inlined = references.length === 0 ? undefined : await findInlined(definitions, { ...inlining, references });
    const innerGraphs = (inlined?.inner.definitions ?? []).map((inner) => [inner.graph.nodesJson, inner.ownerId] as const);
    for (const [nodesJson, authorId] of [[graph.nodesJson, ownerId] as const, ...innerGraphs])
      await grants.grantNamed(nodesJson, authorId, userId);
    return { models: inlined ? [...new Set([...models, ...inlined.models])] : models, inlined };
  };

/**
 * Selects the graph for apps, hooks and schedules, which run on their owners' accounts. It is the graph that a caller who can run the
 * workflow approved last. A caller with only `workflow:write` can change or publish the draft; the approved graph stays until a new
 * approval.
 */
import { PRODUCTION } from "@nodeloom/kernel";
import { aliasOf, type ApprovedGraph, type PublishedVersion, type Version, type Workflow } from "./definition/workflow";
import type { VersionStore } from "./definition/storage";

type Graph = Pick<Workflow, "revision" | "graphDigest" | "published">;

/** The graph of normal runs: the newest version, or the draft if no version is published. */
const currentOf = ({ revision, graphDigest, published }: Graph): ApprovedGraph => {
  if (!published) return { version: 0, revision, graphDigest };
  const { version, revision: of, graphDigest: digest, pinnedModels } = published;
  return { version, revision: of, graphDigest: digest, ...(pinnedModels ? { pinnedModels } : {}) };
};

const pinsOf = ({ pinnedModels = {} }: ApprovedGraph): string => JSON.stringify(Object.entries(pinnedModels).sort());

const isSame = (one: ApprovedGraph, other: ApprovedGraph): boolean =>
  one.graphDigest === other.graphDigest && pinsOf(one) === pinsOf(other);

type Approvals = Pick<Workflow, "approved" | "approvedDraft">;

/** Approvals of a new workflow whose creator can't run it. */
export const nothingApproved = (revision: number): Approvals => {
  const approved = { version: 0, revision, graphDigest: "" };
  return { approved, approvedDraft: approved };
};

/**
 * The approved draft while a change to the draft is pending. Rows of version 1.0.0 store it in `approved` if there is no published version.
 */
export const standingDraft = ({ approved, approvedDraft }: Approvals): ApprovedGraph | null =>
  approvedDraft === undefined && approved?.version === 0 ? approved : (approvedDraft ?? null);

/** The draft that stays approved after a change by a caller who can't run the workflow; null if the draft itself is approved. */
export const approvedDraftAfter = (before: Workflow, { graphDigest }: Graph): ApprovedGraph | null => {
  const approved = standingDraft(before) ?? { version: 0, revision: before.revision, graphDigest: before.graphDigest };
  return approved.graphDigest === graphDigest ? null : approved;
};

/** The graph that stays approved after a change by a caller who can't run the workflow; null if the current graph is approved. */
export const approvedAfter = (before: Workflow, after: Graph): ApprovedGraph | null => {
  const approved = before.approved ?? currentOf(before);
  return isSame(approved, currentOf(after)) ? null : approved;
};

/** After `production` is set, apps, hooks and schedules run its version, which is approved. */
export const hasPendingChange = (workflow: Approvals & Pick<Workflow, "aliases">): boolean =>
  Boolean((aliasOf(workflow, PRODUCTION) ? undefined : workflow.approved) ?? standingDraft(workflow));

/** Storage number of an approved graph. Published versions have positive numbers; a draft has its negative revision. */
export const storedNumber = ({ version, revision }: ApprovedGraph): number => (version === 0 ? -revision : version);

/** Stores the approved draft while a change to it is pending. Call it before writing the change. */
export const keepApproved = async (versions: Pick<VersionStore, "keepDraft">, draft: Workflow, after: Approvals): Promise<void> => {
  const standing = [after.approved, after.approvedDraft].flatMap((one) => one ?? []);
  const isDraft = (one: ApprovedGraph): boolean =>
    one.version === 0 && one.revision === draft.revision && one.graphDigest === draft.graphDigest;
  if (!standing.some(isDraft)) return;
  const { creationId, revision, name, description, nodesJson, edgesJson, viewportJson, createdBy } = draft;
  const { generators, fieldsJson, valuesJson, graphDigest, mediaNames } = draft;
  const keptVersion: Version = {
    ...{ creationId, revision, name, description, nodesJson, edgesJson, viewportJson, createdBy },
    ...{ generators, fieldsJson, valuesJson, graphDigest, mediaNames },
    ...{ version: -revision, note: "", reference: "", createdAt: new Date() },
  };
  const before = [draft.approved, draft.approvedDraft].flatMap((one) => one ?? []);
  await versions.keepDraft(keptVersion, [...before, ...standing].map(storedNumber));
};

/** Approvals after a version is published. */
export const approvedByPublishing = (
  draft: Workflow,
  published: PublishedVersion,
  { withoutRun }: Pick<Version, "withoutRun">,
): ApprovedGraph | null => (withoutRun ? approvedAfter(draft, { ...draft, published }) : null);

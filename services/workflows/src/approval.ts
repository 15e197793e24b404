/**
 * Which graph apps, hooks and schedules run, on the account of those who set them up: what a caller who can run the workflow approved last.
 * A caller with `workflow:write` alone changes the draft, or publishes it, and what was approved is kept until then.
 */
import type { Approved, Published, Version, Workflow } from "./definition/workflow";
import type { VersionStore } from "./definition/storage";

type Graph = Pick<Workflow, "revision" | "graphDigest" | "published">;

/** What runs run: the newest version, or the draft while there is none. */
const currentOf = ({ revision, graphDigest, published }: Graph): Approved => {
  if (!published) return { version: 0, revision, graphDigest };
  const { version, revision: of, graphDigest: digest, pinnedModels } = published;
  return { version, revision: of, graphDigest: digest, ...(pinnedModels ? { pinnedModels } : {}) };
};

const pinsOf = ({ pinnedModels = {} }: Approved): string => JSON.stringify(Object.entries(pinnedModels).sort());

const isSame = (one: Approved, other: Approved): boolean => one.graphDigest === other.graphDigest && pinsOf(one) === pinsOf(other);

type Approvals = Pick<Workflow, "approved" | "approvedDraft">;

/** Of a new workflow whose creator can't run it: nothing is approved. */
export const nothingApproved = (revision: number): Approvals => {
  const approved = { version: 0, revision, graphDigest: "" };
  return { approved, approvedDraft: approved };
};

/** The draft that was approved last, while a change of it is pending. Rows of 1.0.0 say it where no version stands before the draft. */
export const standingDraft = ({ approved, approvedDraft }: Approvals): Approved | null =>
  approvedDraft === undefined && approved?.version === 0 ? approved : (approvedDraft ?? null);

/** The draft that stays approved when a caller who can't run a workflow changes it; null where it is as approved. */
export const approvedDraftAfter = (before: Workflow, { graphDigest }: Graph): Approved | null => {
  const approved = standingDraft(before) ?? { version: 0, revision: before.revision, graphDigest: before.graphDigest };
  return approved.graphDigest === graphDigest ? null : approved;
};

/** What stays approved when a caller who can't run a workflow changes it; null where what runs is as approved. */
export const approvedAfter = (before: Workflow, after: Graph): Approved | null => {
  const approved = before.approved ?? currentOf(before);
  return isSame(approved, currentOf(after)) ? null : approved;
};

export const hasPendingChange = (workflow: Approvals): boolean => Boolean(workflow.approved ?? standingDraft(workflow));

/** The number under which versions keep an approved graph: published ones have positive numbers, drafts the negative of their revision. */
export const storedNumber = ({ version, revision }: Approved): number => (version === 0 ? -revision : version);

/** Keeps the draft that stays approved while a change of it is pending. Called before the change is written. */
export const keepApproved = async (versions: Pick<VersionStore, "keepDraft">, draft: Workflow, after: Approvals): Promise<void> => {
  const standing = [after.approved, after.approvedDraft].flatMap((one) => one ?? []);
  const isDraft = (one: Approved): boolean => one.version === 0 && one.revision === draft.revision && one.graphDigest === draft.graphDigest;
  if (!standing.some(isDraft)) return;
  const { creationId, revision, name, description, nodesJson, edgesJson, viewportJson, createdBy } = draft;
  const { generators, fieldsJson, valuesJson, graphDigest, mediaNames } = draft;
  const kept: Version = {
    ...{ creationId, revision, name, description, nodesJson, edgesJson, viewportJson, createdBy },
    ...{ generators, fieldsJson, valuesJson, graphDigest, mediaNames },
    ...{ version: -revision, note: "", reference: "", createdAt: new Date() },
  };
  const before = [draft.approved, draft.approvedDraft].flatMap((one) => one ?? []);
  await versions.keepDraft(kept, [...before, ...standing].map(storedNumber));
};

/** What is approved once a version is published. */
export const approvedByPublishing = (
  draft: Workflow,
  published: Published,
  { withoutRun }: Pick<Version, "withoutRun">,
): Approved | null => (withoutRun ? approvedAfter(draft, { ...draft, published }) : null);

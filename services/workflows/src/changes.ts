import { approvedAfter, approvedDraftAfter, standingDraft } from "./approval";
import { isSameApp } from "./definition/app-settings";
import { sessionRequired } from "./definition/errors";
import { namedBy } from "./definition/named-media";
import { derive } from "./definition/settings";
import { newest, type Settings, type Workflow } from "./definition/workflow";

/** Returns the members that were sent, and members derived from a changed graph. */
export const changedMembers = (current: Workflow, changes: Partial<Settings>): Partial<Workflow> => {
  const sentMembers: Partial<Workflow> = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  if (Object.keys(sentMembers).length === 0) return sentMembers;
  const { nodesJson, edgesJson } = sentMembers;
  const isGraph = nodesJson !== undefined || edgesJson !== undefined;
  // Old rows have no result members.
  const isFirstTool = sentMembers.mcp === true && current.resultsJson === undefined;
  const derived = isGraph || isFirstTool ? derive(nodesJson ?? current.nodesJson, edgesJson ?? current.edgesJson) : {};
  return { ...sentMembers, ...derived, mediaNames: namedBy({ ...current, ...sentMembers }) };
};

/** Only a session can change tool and app settings. A key can send their current values. */
export const checkSwitches = ({ mcp, app }: Partial<Settings>, before: Pick<Workflow, "mcp" | "app">): void => {
  if (mcp !== undefined && mcp !== (before.mcp ?? false)) throw sessionRequired("mcp");
  if (app !== undefined && !isSameApp(app, before.app)) throw sessionRequired("app");
};

/** Approvals after a save. A caller who can run the workflow approves by sending the whole graph or publishing the app. */
export const approvalsOf = (
  current: Workflow,
  next: Workflow,
  { changes, withoutRun }: { changes: Partial<Settings>; withoutRun?: boolean },
): Pick<Workflow, "approved" | "approvedDraft"> => {
  const { approved = null } = current;
  if (withoutRun) return { approved: approvedAfter(current, next), approvedDraft: approvedDraftAfter(current, next) };
  const isWhole = changes.nodesJson !== undefined && changes.edgesJson !== undefined;
  const publishesApp = next.app?.published === true && current.app?.published !== true;
  const isDraftRun = newest(next) === 0;
  return {
    approved: publishesApp || (isWhole && isDraftRun) ? null : approved,
    approvedDraft: isWhole || (publishesApp && isDraftRun) ? null : standingDraft(current),
  };
};

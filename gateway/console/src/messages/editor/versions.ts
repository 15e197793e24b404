import { plural } from "../forms";

export const ALIASES = {
  nowRunsVersion: (name: string, version: number) => `${name} now runs version ${version}.`,
  followsNewest: "production now follows the newest version.",
  aliasDeleted: (name: string) => `Alias ${name} deleted.`,
  promote: "Promote",
  rollBack: "Roll back",
  toVersion: (version: number) => `to version ${version}`,
  alias: "Alias",
  aliasHint: "Callers select it with ?alias=",
  pointToVersion: (version: number) => `Point to version ${version}`,
  aliases: "Aliases",
  runsVersion: "runs version",
  followNewest: "Follow the newest version",
  namedAlias: (name: string) => `alias ${name}`,
};

const percentOf = (share: number): string => `${Math.floor(share * 100)} %`;
const REASONS = { errors: "more errors", cost: "higher cost", time: "longer time", max_credits: "its credit limit" };

export const CANARIES = {
  start: "Start canary",
  stop: "Stop canary",
  percent: "Share of production",
  percentHint: (most: number) => `Percent, at most ${most}`,
  minRuns: "Promote after",
  minRunsHint: (least: number) => `Runs, at least ${least}`,
  started: (name: string, version: number, percent: number) => `${percent} % of the runs of ${name} now run version ${version}.`,
  ofAlias: (name: string) => `Canary of ${name}`,
  running: (version: number, percent: number, minRuns: number) =>
    `Canary: version ${version} gets ${percent} % of the runs, and is promoted after ${minRuns}`,
  arm: (version: number, runs: number, failed: number, cost: string, time: string) =>
    `Version ${version}: ${plural(runs, "run", "runs")}, ${failed} failed, mean cost ${cost}, mean time ${time}`,
  confidence: ({ errors, cost, time }: { errors: number; cost: number; time: number }) =>
    `Confidence that the canary is worse: errors ${percentOf(errors)}, cost ${percentOf(cost)}, time ${percentOf(time)}`,
  promoted: (version: number, runs: number) => `The canary, version ${version}, was promoted after ${plural(runs, "run", "runs")}.`,
  rolledBack: (version: number, runs: number, reason: keyof typeof REASONS | null, confidence: number) =>
    `The canary, version ${version}, was rolled back after ${plural(runs, "run", "runs")} for ${REASONS[reason ?? "errors"]}, with a confidence of ${percentOf(confidence)}.`,
};

export const COMPARISON = {
  changedTo: "changed to",
  link: (source: string) => `link ${source}`,
  to: "to",
  noDifferences: "No differences.",
  fromTo: (title: string, title2: string) => `From ${title} to ${title2}`,
};

export const GRAPH_PICTURE = {
  node: "node",
  nodes: "nodes",
};

export const VERSIONS_DIALOG = {
  notSaved: "The workflow isn't saved yet, so it wasn't published. The reason is next to its name.",
  published: (version: number) => `Published version ${version}. Promote it when it is ready.`,
  publishedVersion: (version: number) => `Published version ${version}.`,
  note: "Note",
  noteHint: "Describe the changes for readers of the list. Optional.",
  publishVersion: (version: number) => `Publish version ${version}`,
  problems: (count: number) => `${plural(count, "problem", "problems")} on the canvas: calls of this version would fail.`,
  triggersRunChanged: "The app, hooks and schedules now run the changed workflow.",
  changeAwaitsConfirmation: "Change awaits confirmation",
  confirmChange: "Confirm change",
  changedByKey:
    "An API key that can't run this workflow changed it. Callers run the new graph. The app, hooks and schedules run the previous one.",
  restoreVersion: (version: number) => `Restore version ${version}`,
  restored: (version: number) => `The draft is version ${version} again. You can undo this.`,
  version: (version: number) => `Version ${version}`,
  draft: "Draft",
  restoreQuestion: (version: number) => `Replace the draft with version ${version}?`,
  replaceDraft: "Replace draft",
  keepDraft: "Keep draft",
  restoreHint: "This replaces the canvas. You can undo it. Callers aren't affected until you publish.",
  restoreAsDraft: "Restore as draft…",
  olderVersions: "Older versions",
  versions: "Versions",
  publishedVersions: "Published versions",
};

import { noun, plural } from "./forms";

export const AFFORDABLE = {
  tooExpensive: (most: string, available: string) => `It can cost ${most} credits, and you have ${available}.`,
  notEnoughCredits: "Not enough credits",
  freePlan: (monthly: number, runs: number, workflows: number) =>
    `Free: ${plural(monthly, "credit", "credits")} per month, ${plural(runs, "run", "runs")} at a time, ${plural(workflows, "workflow", "workflows")}.`,
  youHave: (available: string) => `You have ${available}.`,
};

export const RERUN = {
  noModels: "It calls no models.",
  nothingReusable: "No results can be reused.",
  reused: (calls: number, of: number, saved: string) => `${calls} of ${of} reused${saved && `, saves ${saved}`}`,
  item: (title: string, item: number) => `${title}, item ${item}`,
};

export const REUSED_FROM = {
  reusedFrom: (date: string | undefined) => `reused from ${date === undefined ? "an earlier run" : `the run of ${date}`}`,
  ofReused: (reused: number, count: number) => `${reused} of ${count} reused`,
};

export const CONSIDERED = {
  chosen: (title: string | undefined, model: string, reason: string) => `${title === undefined ? "" : `${title}: `}${model}, ${reason}`,
  model: "Model",
  price: "Credits",
  speed: "Median time",
  errors: "Errors",
  reason: "Reason",
  unknown: "–",
};

export const RUN_AGAIN = {
  regenerateNodes: "Regenerate nodes",
  nodesToRegenerate: "Nodes to regenerate",
  runAgain: "Run again",
  checking: "Checking which results can be reused…",
  nothingChanged: "Nothing has changed. Change something, or choose nodes to regenerate.",
  regenerates: (failed: string) => `Regenerates: ${failed}.`,
  free: "free",
};

export const DECISION_CARD = {
  valueTooLong: "The value is too long to show here.",
  text: "Text to continue with",
  approved: "Approved.",
  rejected: "Rejected.",
  approve: "Approve",
  reject: "Reject",
  editText: "Edit text…",
  addComment: "Add comment…",
  decidedAutomatically: (isApproved: boolean) => `${isApproved ? "Approves" : "Rejects"} automatically`,
  holdHint: ". The run holds its credits until then. Plan credits returned after the month ends expire.",
  waitingForApproval: (title: string) => `Waiting for approval: ${title}`,
};

export const DECISIONS = {
  decisions: "Decisions",
  approvedBy: (who: string) => `Approved by ${who}`,
  rejectedBy: (who: string) => `Rejected by ${who}`,
  approvedAfterTimeout: "Approved automatically when the time ran out",
  rejectedAfterTimeout: "Rejected automatically when the time ran out",
  approvedEarlier: "Approved in an earlier run",
  rejectedEarlier: "Rejected in an earlier run",
  key: (name: string) => `API key “${name}”`,
  byMail: (address: string) => `${address}, by a mailed link`,
  aKey: "an API key",
  aMember: "a former member",
  anOwner: "an owner of the account",
};

export const WAITING = {
  waitingForApproval: (title: string) => `Waiting for approval: ${title}`,
  waitingForApprovalTitle: "Waiting for approval",
};

export const RESULT_VIEW = {
  copy: (name: string) => `Copy ${name}`,
  empty: "The result is empty: the Results node has no inputs.",
  hideJson: "Hide JSON",
  showJson: "Show JSON",
  resultAsJson: "Result as JSON",
};

export const RUN_PRICE = {
  aboutAtMost: (about: string, most: string, unit: string) => `about ${about}, at most ${most} ${unit}`,
  trialRun: "This uses a trial run.",
  free: "This run is free.",
  mostReturned: (most: string, count: number) => `At most ${most} ${noun(count, "credit", "credits")}. Unused credits are returned.`,
  creditLimit: "Credit limit",
  rangeHint: "The final price depends on how long lists get. A node that would exceed the limit stops. Unused credits are returned.",
};

export const SOURCE = {
  apiOneModel: "API, one model",
};

export const STATUS = {
  waiting: "Waiting",
  skipped: "Skipped",
  stopped: "Stopped. No more work was sent.",
  cancellationAccepted: "The provider accepted the cancellation.",
  cancellationUnsupported: "The provider doesn't support cancellation. Calls already sent are charged.",
};

export const TEMPORAL_LINK = {
  hint: "This run's workflow in Temporal. Runs without model calls have none.",
  temporal: "Temporal",
};

export const TOOK_VIEW = {
  noInputsOrSettings: "No inputs or settings.",
  from: (join: string) => `from ${join}`,
  inputsAndSettings: "Inputs and settings",
};

export const TROUBLE_NOTICE = {
  seeBalance: "See balance",
  seeModels: "See models",
  openNode: "Open node",
  raiseLimit: "Raise limit",
  showProblems: "Show problems",
};

export const TRY_IT = {
  details: "Details",
  run: "Run",
  runForPrice: (price: string) => `Run · ${price}`,
};

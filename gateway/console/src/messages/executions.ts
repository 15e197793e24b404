import { plural } from "./forms";
export const AGAIN_CARD = {
  reuseUnchanged: "Run again and reuse unchanged results",
};

export const DETAIL_PAGE = {
  receipt: "Receipt",
  ended: "Ended",
  rerunOf: "Rerun of",
  anEarlierRun: "an earlier run",
  id: "ID",
  copyId: "Copy ID",
  providerId: "Provider ID",
  run: "Run",
  deleteThisRun: "Delete this run?",
  deleteHint:
    "This deletes its inputs, outputs, events and files within 10 minutes. Files that you keep, or that a workflow or another run uses, stay. Its cost stays in your usage. You can't undo this.",
  runDeleted: "Run deleted.",
  cancellingTheRun: "Cancelling the run.",
  runAgain: "Run again…",
  saveAsTest: "Save as test",
  openWorkflow: "Open workflow",
  resultsBeforeTheFailure: "Results before the failure",
  resultsByNode: "Results by node",
  subtitle: "See the inputs, results, cost and receipt of one run.",
  showJson: "Show JSON",
  executionAsJson: "Execution as JSON",
  runNotFound: "Run not found",
  goToRuns: "Go to runs",
  notFoundHint: "It expired, was deleted, or belongs to another account.",
};

export const FILTERS = {
  metadataNameValue: "Metadata: name=value",
  allWorkflows: "All workflows",
  fromDate: "From date",
  from: "From",
  toDate: "To date",
  to: "To",
};

export const LIST_PAGE = {
  eraseRuns: "Erase runs",
  result: (index: number) => `Result ${index}`,
  output: "Output",
  runAgainOf: (workflowSlug: string) => `Run ${workflowSlug} again with the same inputs…`,
  runAgain: "Run again with the same inputs…",
  subtitle: "Every run of your workflows and models, from the console and the API.",
  noRuns: "No runs",
  noMatches: "No run matches these filters.",
  emptyHint: "Open a workflow and press Run.",
};

export const TIMELINE = {
  outputs: (count: number) => (count > 1 ? `Outputs (${plural(count, "item", "items")})` : "Outputs"),
  shortened: ", shortened",
  item: (item: number) => `Item ${item}`,
  credits: (creditsCost: string) => ` · ${creditsCost} credits`,
  span: (start: string, length: string) => `from ${start} for ${length}`,
  tookNoTime: "less than 1 ms",
  cr: (creditsCost: string) => `${creditsCost} cr`,
  providerStatus: (providerStatus: number) => ` · the provider returned status ${providerStatus}`,
};

export const WEBHOOK = {
  sendingAgain: "Sending the webhook again.",
};

import { plural } from "../forms";

export const FIXES = {
  removeLink: "Remove link",
  use: (suggested: string) => `Use ${suggested}`,
  compareWith: (model: string) => `Compare with ${model}`,
  edit: "Edit",
  addText: "Add text",
  breakTheCycle: "Break the cycle",
};

export const LIBRARY = {
  selectedFiles: "Selected files",
  useFile: "Use file",
  addToCanvas: "Add to canvas",
  add: (count: number) => `Add ${count}`,
  downloadAsZip: "Download as ZIP",
  keep: "Keep",
  deleteFile: "Delete file",
  deleteFiles: (count: number) => `Delete ${count} files`,
  clearSelection: "Clear selection",
  yourFiles: "Your files",
  chooseAFile: "Choose a file",
  closeFiles: "Close files",
  emptyHint: "Files that you upload and files that runs make appear here.",
  noMatchingFiles: "No matching files.",
  selectAll: "Select all",
};

export const NOTHING_FOUND = {
  triggersHint: "Start a workflow on a schedule or by a call from outside under Schedules and hooks, in the menu above.",
  modelLoadingHint: "Models load, encode and decode by themselves. Add an Image node and choose its model.",
  tableHint:
    "To run a workflow once for each row of a table, choose Run with a table, in the menu above. Several values of one text are a List node.",
  controlHint:
    "There is no node for poses, depth or outlines. Link your picture to the image port of an Image node, and say in the prompt what to keep.",
  seedHint: "The seed is on the node: without one, each run is different. The dice choose a new one.",
  bypassHint: "To leave out a node, select it and press B. What flows into it flows through.",
  linksHint: "Links find their way by themselves, so there is no node for it.",
  failuresHint:
    "There is no node for failures. A failed run continues where it stopped, and pays only for the rest. A webhook can tell you about failures.",
  runsHint: "Nodes run in parallel by themselves, and results that haven't changed are reused.",
  compareHint: "To compare results, open one in full size. To compare settings or models, select a node and press E or Shift+M.",
  secretsHint: "Store keys of other services under Secrets. Use one with {{secrets.NAME}} in an HTTP request.",
  noMatches:
    "No matching nodes or models. An administrator can enable more models with a provider's API key. Use HTTP request to call any other service.",
  noNodeMatchesThisPort: "No node matches this port.",
};

export const RECENT_RUNS = {
  recentRuns: "Recent runs",
  allRuns: "All runs",
  cr: (creditsCost: string) => ` · ${creditsCost} cr`,
};

export const PROBLEMS = {
  noProblems: "No problems: this workflow can run.",
  problem: "Problem",
  warning: "Warning",
};

export const RUN_PANEL = {
  runsTo: "Runs to",
  andTheNodesItNeeds: "and the nodes it needs.",
  runAllNodes: "Run all nodes",
  showTheLastRun: "Show the last run",
  moreProblems: (count: number) => `${plural(count, "more problem", "more problems")}.`,
  awaitsApproval: "Your account awaits approval. You can build workflows, and run them once an administrator approves it.",
  runAllNodesAgain: "Run all nodes again",
  run: "Run",
  useAsApi: "Use as API",
  keepsResults: (names: string) => `Keeps the results of ${names} while their inputs stay the same`,
  runInProgress: "A run is in progress. You can start another one.",
};

export const REAL_MODELS = {
  title: "Drawn by the sandbox, without AI",
  hint: "For AI images, set up one of these:",
  hintForUsers: "For AI images, an administrator can add a provider's API key, a ComfyUI server or a local model.",
  addKey: "Add a provider's API key",
  addServer: "Connect your ComfyUI server",
  local: "Draw images on this machine",
};

export const RUN_VIEW = {
  saveAsTest: "Save as test",
  nodesOfThisRun: "Nodes of this run",
  turn: (numbers: string) => `Turn ${numbers}`,
  run: "Run",
  queued: "queued",
  live: "live",
  connecting: "connecting…",
  openRun: "Open run",
  clearFromCanvas: "Clear from canvas",
  cancelHint: "Calls already sent are charged.",
  notUpdating: "Not updating",
  reconnecting: "The run continues. Trying to reconnect.",
};

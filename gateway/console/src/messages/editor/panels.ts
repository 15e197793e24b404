export const FIXES = {
  removeLink: "Remove link",
  use: (suggested: string) => `Use ${suggested}`,
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
  filesThatYouUploadAnd: "Files that you upload and files that runs make appear here.",
  noMatchingFiles: "No matching files.",
  selectAll: "Select all",
};

export const MODEL_STATE = {
  needsKey: "needs an API key",
  downloading: "downloading",
  unavailable: "unavailable",
  thisMachine: "this machine",
  sandboxNoAi: "sandbox (no AI)",
  plan: (minTier: string) => `${minTier} plan`,
};

export const NOTHING_FOUND = {
  startAWorkflowOnA: "Start a workflow on a schedule or by a call from outside under Schedules and hooks, in the menu above.",
  modelsLoadEncodeAndDecode: "Models load, encode and decode by themselves. Add an Image node and choose its model.",
  storeKeysOfOtherServices: "Store keys of other services under Secrets. Use one with {{secrets.NAME}} in an HTTP request.",
  noMatchingNodesOrModels:
    "No matching nodes or models. An administrator can enable more models with a provider's API key. Use HTTP request to call any other service.",
  noNodeMatchesThisPort: "No node matches this port.",
};

export const PALETTE_BOX = {
  insertANode: "Insert a node",
  sendTo: (name: string) => `Send “${name}” to`,
  fillFrom: (name: string) => `Fill “${name}” from`,
  searchNodesAndModels: "Search nodes and models",
};

export const RECENT_RUNS = {
  recentRuns: "Recent runs",
  allRuns: "All runs",
  cr: (creditsCost: string) => ` · ${creditsCost} cr`,
};

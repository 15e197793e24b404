import { plural } from "../forms";

export const FILES = {
  addAFile: "Add a file",
  addFiles: (count: number) => `Add ${plural(count, "file", "files")}`,
  wrongFileType: "Only images, video, audio and 3D models can become nodes.",
  fileTooLarge: (name: string, size: string, most: string) => `${name} has ${size}. Files can have at most ${most}.`,
  uploading: (name: string) => `Uploading ${name}…`,
  uploadingFiles: (count: number) => `Uploading ${plural(count, "file", "files")}…`,
  couldntUpload: (name: string, error: string) => `Couldn't upload ${name}. ${error}`,
};

export const FRAME_ACTIONS = {
  selectNodes: "Select the nodes to frame.",
  addFrame: "Add frame",
  frame: "Frame",
};

export const MEDIA_ACTIONS = {
  previewSize: (size: string) => `Preview size: ${size}`,
  resizeNode: "Resize node",
};

export const NODE_ACTIONS = {
  selectNodesOrFrame: "Select nodes or a frame first.",
  expand: "Expand",
  collapse: "Collapse",
  selectNodesToBypass: "Select the nodes to bypass.",
  restore: "Restore",
  bypass: "Bypass",
  colour: "Colour",
  selectNodeToRename: "Select the one node to rename.",
};

export const PASTE = {
  paste: (count: string) => `Paste ${count}`,
};

export const VIEW_MADE = {
  nodeTotal: "Total of the node",
  run: "Run",
};

export const VIEW_NODE = {
  viewerFailed: "Couldn't load the viewer. Check your connection.",
};

export const COMMAND_GROUPS = { edit: "Edit", select: "Select", arrange: "Arrange", view: "View", run: "Run" } as const;

export const ACTIONS = {
  replaced: (names: string) => `This replaced the link from ${names}.`,
  undo: "Undo",
  changedSince: "The workflow has changed since. Press Ctrl+Z to undo.",
  connect: "Connect",
  wouldFormCycle: "This link would form a cycle: a run could never end.",
  noPortAccepts: (node: string, type: string) => `No port of “${node}” accepts ${type}.`,
  portTaken: (node: string) => `The port of “${node}” is already linked. Drop the link on the port to replace it.`,
  outputToInput: "Connect an output to an input.",
  notToItself: "A node can't connect to itself.",
  typeMismatch: (target: string, accepted: string, source: string) =>
    `“${target}” accepts ${accepted}, but “${source}” outputs text. Link a file, or start the text with an address (https://…).`,
  acceptsButOutputs: (target: string, accepted: string, source: string, output: string) =>
    `“${target}” accepts ${accepted}, but “${source}” outputs ${output}.`,
  delete: (what: string) => `Delete ${what}`,
  deleteAndReconnect: "Delete and reconnect",
  copied: (what: string) => `Copied ${what}.`,
  clipboardBlocked: "Your browser blocked writing to the clipboard.",
  duplicate: (size: string) => `Duplicate ${size}`,
  move: (count: string) => `Move ${count}`,
  align: "Align",
  tidyUp: "Tidy up",
};

export const COMMANDS_TEXTS = {
  alignLeft: "Align left",
  alignCenters: "Align centers",
  alignRight: "Align right",
  alignTop: "Align top",
  alignMiddles: "Align middles",
  alignBottom: "Align bottom",
  distributeHorizontally: "Distribute horizontally",
  distributeVertically: "Distribute vertically",
  selectNodeToRunTo: "Select the one node to run to.",
  notesDontRun: "Notes don't run.",
  noResultsYet: "No results yet. Run the workflow first.",
  readOnlyHint: "You can view, run and copy this workflow, but only its owner can change it.",
  allSaved: "All changes are saved.",
  notSavedYet: "Not saved yet. Nodeloom keeps trying.",
  selectOneWorkflowNode: "Select one Workflow node.",
  selectModelNode: "Select the one node whose model to change.",
  selectNodeToVary: "Select the one node to vary.",
  addNodeAfterSelected: "Add a node after the selected one",
  viewResults: "View results",
  files: "Files…",
  openInnerWorkflow: "Open inner workflow",
  editSettings: "Edit settings",
  saveNow: "Save now",
  exportAsJson: "Export as JSON",
  undo: "Undo",
  redo: "Redo",
  copy: "Copy",
  cut: "Cut",
  paste: "Paste",
  duplicate: "Duplicate",
  deleteAndReconnect: "Delete and reconnect",
  bypassOrRestore: "Bypass or restore",
  pinOrUnpinResult: "Pin or unpin result",
  collapseOrExpand: "Collapse or expand",
  connectTo: "Connect to…",
  selectAll: "Select all",
  clearSelection: "Clear selection",
  lasso: "Lasso",
  findANode: "Find a node",
  goToPreviousNode: "Go to previous node",
  goToNextNode: "Go to next node",
  goToNodeAbove: "Go to node above",
  goToNodeBelow: "Go to node below",
  moveLeft: "Move left",
  moveRight: "Move right",
  moveUp: "Move up",
  moveDown: "Move down",
  moveLeftFar: "Move left by 50",
  moveRightFar: "Move right by 50",
  frameTheSelection: "Frame the selection",
  convertToWorkflow: "Convert to workflow",
  tidyUp: "Tidy up",
  lockOrUnlockCanvas: "Lock or unlock canvas",
  fitToScreen: "Fit to screen",
  fitSelection: "Fit selection",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  zoomToFullSize: "Zoom to 100%",
  showOrHideSidePanel: "Show or hide side panel",
  askTheAssistant: "Ask the assistant",
  showProblems: "Show problems",
  allCommands: "All commands",
  keyboardShortcuts: "Keyboard shortcuts",
  inputsAndPrice: "Inputs and price…",
  tryVariations: "Try variations",
  tryAnotherModel: "Try another model",
  runToThisNode: "Run to this node",
  publishAndVersions: "Publish and versions…",
  tests: "Tests…",
  useAsApi: "Use as API",
  runWithATable: "Run with a table…",
  schedulesAndHooks: "Schedules and hooks…",
  publishAsAnApp: "Publish as an app…",
  settingsAndSharing: "Settings and sharing…",
};

export const NEW_NODES = {
  add: (title: string) => `Add ${title}`,
};

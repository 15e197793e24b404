export const SAVE_STATE = {
  readOnly: "Read only",
  saved: "Saved",
  saving: "Saving…",
  notSaved: "Not saved",
  keptInBrowser: (message: string) => `${message} Your changes are kept in this browser.`,
  notSavedSentence: "Not saved.",
  retryIn: (seconds: number) => ` Trying again in ${seconds} s.`,
  tryNow: "Try now",
};

export const TOOLBAR = {
  useIt: "Use it",
  undoLast: "Undo",
  running: (percent: number, name: string) => `${percent} % · ${name}`,
  nothingToUndo: "Nothing to undo",
  undo: (undone: string) => `Undo: ${undone}`,
  nothingToRedo: "Nothing to redo",
  redo: (redone: string) => `Redo: ${redone}`,
  problem: "problem",
  problems: "problems",
  warning: "warning",
  warnings: "warnings",
  backToWorkflows: "Back to workflows",
  settingsAndSharing: "Settings and sharing",
  hideSidePanel: "Hide side panel",
  showSidePanel: "Show side panel",
  run: "Run",
  tidyUp: "Tidy up",
  yourFiles: "Your files",
  lasso: "Lasso: draw around nodes",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fitToScreen: "Fit to screen",
  unlockCanvas: "Unlock canvas",
  lockCanvas: "Lock canvas",
  canvas: "Canvas",
};

export const OUTLINE = {
  outgoingLinks: (title: string, count: number) => `, ${title}, ${count} outgoing links`,
};

export const EDITOR_PAGE = {
  node: "Node",
  run: "Run",
  problems: "Problems",
  assistant: "Assistant",
  sidePanel: "Side panel",
  addYourFirstNode: "Add your first node",
  slashHint: "or press / anywhere on the canvas",
  dropHint: "Drop images, video and audio here, or paste nodes and ComfyUI workflows.",
  workflowNotFound: "Workflow not found",
  goToWorkflows: "Go to workflows",
  notFoundHint: "It was deleted, or belongs to another account.",
};

export const TITLES = {
  frame: "Frame",
};

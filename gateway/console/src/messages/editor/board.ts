export const LOST_NODES = {
  showNodes: "Show nodes",
};

export const NODE_MENU = {
  addANote: "Add a note",
};

export const FRAME_VIEW = {
  resizeFrame: "Resize frame",
  node: "node",
  nodes: "nodes",
  failed: "failed",
  running: "running",
  expandFrame: "Expand frame",
  collapseFrame: "Collapse frame",
  frame: "Frame",
};

export const NODE_FOOTER = {
  reusedForFree: "The next run reuses this result for free",
  reusedNext: "reused next",
  free: "free",
  creditsShort: (credits: string) => `${credits} cr`,
  highestCostHint: "The most this node can cost in one run, in credits",
};

export const NOTE_VIEW = {
  note: "Note",
  emptyNote: "Empty note",
};

export const USE_DRAGGING = {
  moveNode: "Move node",
  moveNodes: (size: number) => `Move ${size} nodes`,
};

export const USE_DROP = {
  comfyUIWorkflowAdded: (name: string) => `Added the ComfyUI workflow in ${name}.`,
  addTheImage: "Add the image",
};

export const USE_STAGE = {
  clipboardBlocked: "Your browser blocked reading the clipboard. Press Ctrl+V or ⌘V on the canvas instead.",
  selectOneNode: "Select the one node to add after.",
};

export const MINIMAP = { label: "Map of the canvas" };

export const NODE_ELAPSED = {
  ofAbout: (time: string) => `of about ${time}`,
  percent: (share: number) => `${share} %`,
};

export const BOARD = {
  moveLink: "Move link",
  removeLink: "Remove link",
};

export const EDGE_VIEW = {
  edge: (id: string) => `edge ${id}`,
  insertANode: "Insert a node",
  removeThisLink: "Remove this link",
  removeLink: "Remove link",
};

export const NODE_HEAD = {
  waitingForApproval: "waiting for approval",
  running: "running",
  completed: "completed",
  failed: "failed",
  bypassed: "bypassed",
  pinned: "pinned",
  comment: (comment: string) => `Comment: ${comment}`,
  hasAProblem: "has a problem",
  hasAWarning: "has a warning",
  expandNode: "Expand node",
  collapseNode: "Collapse node",
};

export const NODE_MEDIA = {
  running: "running",
  unfinished: "Preview of the unfinished picture",
  noResultOfItem: "This item has no result.",
  of: (index: number, count: number) => `${index} of ${count}`,
  from: (at: string) => `from ${at}`,
  beforeYourLastChange: "before your last change",
  size: "Size",
  show: (size: string) => `Preview size: ${size}`,
  allResults: "All results",
  item: (index: number, status: string, cost: string) => `Item ${index}, ${status}${cost && `, ${cost} credits`}`,
  itemOf: (title: string, chosenItem: number, count: number) => `${title}, item ${chosenItem} of ${count}`,
  viewFullSize: "View full size",
  creditsShort: (credits: string) => `${credits} cr`,
};

export const NODE_VIEW = {
  node: (id: string) => `node ${id}`,
};

export const PORT_ROWS = {
  listOf: "list of ",
  addANodeAfter: "Add a node after",
  addANodeBefore: "Add a node before",
};

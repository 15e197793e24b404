import { plural } from "../forms";

export const FILES = {
  addAFile: "Add a file",
  addFiles: (count: number) => `Add ${plural(count, "file", "files")}`,
  onlyImagesVideoAndAudio: "Only images, video and audio can become nodes.",
  hasFilesCanHaveAt: (name: string, size: string, mAXUPLOADBYTES: string) =>
    `${name} has ${size}. Files can have at most ${mAXUPLOADBYTES}.`,
  uploading: (name: string) => `Uploading ${name}…`,
  uploadingFiles: (count: number) => `Uploading ${plural(count, "file", "files")}…`,
  couldntUpload: (name: string, error: string) => `Couldn't upload ${name}. ${error}`,
};

export const FRAME_ACTIONS = {
  selectTheNodesToFrame: "Select the nodes to frame.",
  addFrame: "Add frame",
  frame: "Frame",
};

export const MEDIA_ACTIONS = {
  previewSize: (size: string) => `Preview size: ${size}`,
  resizeNode: "Resize node",
};

export const NODE_ACTIONS = {
  selectNodesOrAFrame: "Select nodes or a frame first.",
  expand: "Expand",
  collapse: "Collapse",
  selectTheNodesToBypass: "Select the nodes to bypass.",
  restore: "Restore",
  bypass: "Bypass",
  colour: "Colour",
  selectTheOneNodeTo: "Select the one node to rename.",
};

export const PASTE = {
  paste: (count: string) => `Paste ${count}`,
};

export const VIEW_MADE = {
  totalOfTheNode: "Total of the node",
  run: "Run",
};

export const VIEW_NODE = {
  couldntLoadTheViewerCheck: "Couldn't load the viewer. Check your connection.",
};

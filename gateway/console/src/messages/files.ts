import { plural } from "./forms";

export const FILES_PAGE = {
  earlier: "Earlier",
  verify: "Verify a file",
  runExpired: "The run that made this file has expired.",
  selectedFiles: "Selected files",
  filesChosen: (count: number) => `${plural(count, "file", "files")}`,
  openRun: "Open run",
  keep: "Keep",
  clearSelection: "Clear selection",
  yourFiles: "Your files",
  subtitle: "Files from runs, and files that you uploaded.",
  noFilesYet: "No files yet",
  noMatchingFiles: "No matching files",
  emptyHint: "Files that you upload and files that runs make appear here.",
  olderMayMatch: "Older files may match. Load them below.",
  otherWords: "Try other words, or fewer.",
  filesFrom: (day: string) => `Files from ${day}`,
};

export const LIBRARY = {
  all: "All",
  images: "Images",
  video: "Video",
  audio: "Audio",
  models3d: "3D models",
  generated: "Generated",
  uploaded: "Uploaded",
  kept: "Kept",
  searchYourFiles: "Search your files",
  searchByPrompt: "Prompt, model, workflow or name",
  time: "Time",
  anyTime: "Any time",
  today: "Today",
  lastDays: (days: number) => `${days} days`,
  type: "Type",
  used: (used: string, quota: string, keptDays: number) =>
    `${used}${quota && ` of ${quota}`} kept · generated files expire after ${plural(keptDays, "day", "days")}`,
  fileDeleted: "File deleted.",
  filesDeleted: (count: number) => `${plural(count, "file", "files")} deleted.`,
  keptHint: "Kept until you delete them.",
};

export const TILE = {
  expires: (days: number) => `expires in ${plural(days, "day", "days")}`,
  run: "Run",
  size: "Size",
  kept: "Kept",
  keptUntilDeleted: "until you delete it",
  keptForDays: (days: number) => `for ${days} days, or while a workflow uses it`,
  view: (file: string) => `View ${file}`,
};

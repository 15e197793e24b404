export const FILE_TITLE = {
  generated: "Generated",
  uploaded: "Uploaded",
};

export const FILE_VALUE = {
  yourFile: "Your file",
  exampleFile: "The workflow's example file",
  noFile: "Empty: the run gets no file here.",
  choose: "Choose",
  removeItFrom: (label: string) => `Remove it from ${label}`,
  hint: "Choose a file, or enter an address.",
  onePerLine: "One https address or file id per line.",
  https: "https://…",
};

export const GALLERY = {
  result: (at: number) => `Result ${at}`,
  viewResult: (index: number) => `View result ${index}`,
  resultNumber: (index: number) => `Result ${index}`,
  openFile: (index: number) => `Open file ${index}`,
  open: "Open",
  downloadFile: (index: number) => `Download file ${index}`,
  downloadAll: "Download all",
};

export const UPLOAD_BUTTON = {
  uploadFile: "Upload file",
  fileTooLarge: (name: string, size: string, most: string) => `${name} has ${size}. Files can have at most ${most}.`,
  couldntUpload: (name: string, error: string) => `Couldn't upload ${name}. ${error}`,
};

export const FACTS = {
  prompt: "Prompt",
  settingsOfAAndB: "Settings of A and B",
  differences: "Differences",
  inCommon: "In common",
  settings: "Settings",
  none: "No settings are known for this file.",
  loading: "Loading…",
};

export const SOUND = {
  waveformOf: (label: string) => `Waveform of ${label}`,
  loadingWaveformOf: (label: string) => `Loading waveform of ${label}`,
};

export const STAGE = {
  clip: "Clip",
  previousFrame: "Previous frame",
  nextFrame: "Next frame",
  loop: "Loop",
  b: (title: string) => `B: ${title}`,
  a: (title: string) => `A: ${title}`,
  sideA: "A",
  sideB: "B",
  shareOfA: "Share of A",
  contactSheet: "Contact sheet",
  view: (title: string) => `View ${title}`,
  loading: "Loading…",
  notLoaded: "The picture couldn't be loaded.",
  loadAgain: "Load again",
  sameItem: "A and B are the same item. Choose another one below.",
};

export const VIEWER = {
  single: "Single",
  compareWithSlider: "Compare with slider",
  sideBySide: "Side by side",
  difference: "Difference",
  contactSheet: "Contact sheet",
  promptCopied: "Prompt copied.",
  copied: "Prompt and seed copied.",
  copyBlocked: "Your browser blocked copying.",
  itemsOfThisRun: "Items of this run",
  viewing: (title: string) => `Viewing ${title}`,
  of: (index: number, count: number, title: string) => `${index} of ${count} · ${title}`,
  runOf: (set: number, count: number) => ` · run ${set} of ${count}`,
  viewMode: "View mode",
  zoomOut: "Zoom out",
  zoomIn: "Zoom in",
  copyPromptAndSeed: "Copy prompt and seed",
  useAsInput: "Use as input",
  downloadAllAsZip: "Download all as ZIP",
  settings: "Settings",
  previous: "Previous",
  appliesToBothSides: "Applies to both sides",
};

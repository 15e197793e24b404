import { plural } from "./forms";

export const LAYOUT = {
  tookTooLong: "The layout took too long. Select fewer nodes and try again.",
};

export const APPROVAL = {
  approval: "Approval",
  summary: "Waits until a person approves or rejects",
  approveThis: "Approve this?",
  waitsAtMost: (hours: number) => `Waits at most ${plural(hours, "hour", "hours")}`,
};

export const GENERATE_IMAGE = {
  image: "Image",
  summary: "Generates images with a model",
};

export const GENERATE_VIDEO = {
  video: "Video",
  summary: "Generates video with a model",
};

export const GENERATE_3D = {
  model3d: "3D model",
  summary: "Generates 3D models with a model",
};

export const HTTP_REQUEST = {
  httpRequest: "HTTP request",
  summary: "Calls another service for text, JSON or a file",
  https: "https://…",
};

export const KINDS_TEXTS = {
  frame: "Frame",
  frameSummary: "Groups nodes so that they move and collapse together",
  unknownKind: "This version doesn't know this kind of node",
};

export const JSON_TEXTS = {
  json: "JSON",
  summary: "Extracts values from JSON",
  theWholeValue: "The whole value",
  expression: "Expression",
};

export const LIST = {
  list: "List",
  summary: "Several values: the nodes after it run once for each",
  emptyList: "Empty list",
  oneItemPerLine: "One item per line",
};

export const LOOP = {
  loop: "Loop",
  summary: "Runs a workflow until its result is good enough",
  turns: (most: number) => `At most ${plural(most, "turn", "turns")}`,
  until: (expression: string) => `until ${expression}`,
};

export const LLM_ASSISTANT = {
  assistant: "Assistant",
  summary: "Writes text with a language model",
};

export const MEDIA_UPLOAD = {
  summary: "A file that you upload",
};

export const MEDIA = {
  fileOperation: "File operation",
  summary: "Edits images, video and audio",
  chooseAnOperation: "Choose an operation",
};

export const NOTE = {
  note: "Note",
  summary: "A comment for people. It never runs",
};

export const REQUEST_INPUT = {
  summary: "The inputs of the form and the API",
  prompt: "Prompt",
  noInputsYet: "No inputs yet",
};

export const RESPONSE_OUTPUT = {
  results: "Results",
  summary: "The results that a run returns",
};

export const SWITCH = {
  switch: "Switch",
  summary: "Continues on one of several branches",
};

export const TEXT_BOX = {
  summary: "Text with {{placeholders}} that become ports",
  emptyText: "Empty text",
  placeholder: "Enter a text. {{name}} becomes a port",
};

export const WORKFLOW = {
  summary: "Runs another workflow as a step",
};

export const FACE = {
  prompt: "Prompt",
  promptPlaceholder: "Enter a prompt, or link a text",
  textPlaceholder: "Enter a text, or link one",
};

export const GENERATE_AUDIO = {
  audio: "Audio",
  summary: "Generates speech, sound or music with a model",
};

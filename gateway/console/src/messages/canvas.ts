import { plural } from "./forms";

export const LAYOUT = {
  tookTooLong: "The layout took too long. Select fewer nodes and try again.",
};

export const APPROVAL = {
  approval: "Approval",
  searchWords:
    "approve, reject, review, human in the loop, human, person, wait, decide, decision, check, sign off, confirm, pause, wait for approval, manual approval, ask a person",
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
  searchWords:
    "generate 3d, 3d, 3d model, image to 3d, picture to 3d, text to 3d, mesh, glb, gltf, object, asset, hunyuan3d, trellis, tripo, meshy, rodin, triposr, stable fast 3d",
};

export const HTTP_REQUEST = {
  httpRequest: "HTTP request",
  searchWords:
    "http, request, api call, fetch, rest, call url, url, curl, webhook call, slack, discord, telegram, notion, airtable, google sheets, send email, email, post, get, download url, graphql, hook",
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
  searchWords:
    "json, jmespath, query, pick, extract, code, transform, map, filter items, parse, function, javascript, python, expression, math, aggregate, sort, item lists, set fields, calculate, limit, remove duplicates",
  summary: "Extracts values from JSON",
  theWholeValue: "The whole value",
  expression: "Expression",
};

export const LIST = {
  list: "List",
  searchWords:
    "items, array, batch, fan out, fanout, for each, foreach, each, iterate, loop over items, split in batches, split out, many, image batch list, multiple prompts, variations, xy plot",
  summary: "Several values: the nodes after it run once for each",
  emptyList: "Empty list",
  oneItemPerLine: "One item per line",
};

export const LOOP = {
  loop: "Loop",
  searchWords:
    "loop, repeat, until, while, do while, retry, again, turns, rounds, iterations, feedback, refine, improve, counter, while loop, for loop, loop until, loop open, loop close, repeat until",
  summary: "Runs a workflow until its result is good enough",
  turns: (most: number) => `At most ${plural(most, "turn", "turns")}`,
  until: (expression: string) => `until ${expression}`,
};

export const LLM_ASSISTANT = {
  assistant: "Assistant",
  searchWords:
    "llm, language model, chat, gpt, chatgpt, claude, gemini, write, agent, ai agent, ai, translate, summarize, summarise, llm chain, basic llm chain, openai, describe image, prompt enhancer, question, classify, structured output, information extractor, text classifier, rewrite, vision, caption an image, sentiment",
  summary: "Writes text with a language model",
};

export const MEDIA_UPLOAD = {
  searchWords:
    "upload, load, load image, load video, load audio, load media, import file, asset, image upload, read file, read files, open, my photo, upload photo, vhs load video, attachment, binary file",
  summary: "A file that you upload",
};

export const MEDIA = {
  fileOperation: "File operation",
  searchWords: "operation, ffmpeg, process file",
  summary: "Edits images, video and audio",
  chooseAnOperation: "Choose an operation",
};

export const NOTE = {
  note: "Note",
  searchWords: "comment, sticky, sticky note, remark, annotation, markdown note, markdown, memo, label",
  summary: "A comment for people. It never runs",
};

export const REQUEST_INPUT = {
  searchWords:
    "request, input, form, field, api, start, trigger, manual trigger, manual, webhook, webhook trigger, form trigger, chat trigger, parameter, variable, begin, user input, primitive, on form submission, entry",
  summary: "The inputs of the form and the API",
  prompt: "Prompt",
  noInputsYet: "No inputs yet",
};

export const RESPONSE_OUTPUT = {
  results: "Results",
  searchWords:
    "response, output, result, end, return, save, preview, save image, preview image, save video, save audio, respond to webhook, respond, preview any, show image, display, finish, download, vhs video combine",
  summary: "The results that a run returns",
};

export const SWITCH = {
  switch: "Switch",
  searchWords:
    "if, else, condition, branch, router, route, case, filter, conditional, if else, gate, boolean switch, comfy switch, compare values, merge branches",
  summary: "Continues on one of several branches",
};

export const TEXT_BOX = {
  searchWords:
    "template, prompt, string, join text, concat text, clip text encode, cliptextencode, positive prompt, negative prompt, negative, set, edit fields, string multiline, primitive string, string concatenate, variables, text multiline, constant, concatenate strings",
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
  searchWords:
    "generate audio, sound, sound effect, sfx, generate music, text to audio, foley, audio generation, generate speech, noise, tts model, text to speech model, music model",
};

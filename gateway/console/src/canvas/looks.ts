import {
  AudioLines,
  Braces,
  FileOutput,
  FileUp,
  Film,
  Globe,
  Image,
  List,
  MessageSquareText,
  Scissors,
  Split,
  SquarePen,
  StickyNote,
  TextCursorInput,
  Workflow,
  UserCheck,
  type LucideIcon,
} from "lucide-react";
import { fieldsOf, mediaOperation } from "@nodeloom/kernel/graph";

type Data = Readonly<Record<string, unknown>>;
export type Group = "Start and end" | "Text" | "Generate" | "Data" | "Notes";

/** A setting that is written on the node. */
export interface Writes {
  setting: string;
  label: string;
  /** Shown while it is empty. */
  placeholder: string;
  /** Lines that are shown at first. */
  lines: number;
  /** It is a list of texts: one to a line. */
  isList?: boolean;
}

/** How a kind is shown where its entry in the kernel's table leaves that open. A kind without a look works as well. */
export interface Look {
  title: string;
  /** One line in the palette. */
  description: string;
  group: Group;
  icon: LucideIcon;
  /** Id of the first node of the kind. */
  id: string;
  /** Other words that find it. */
  words: string;
  /** What a new node begins with. */
  data?: Data;
  /** What it begins with where a port is to feed it, by the port's name. */
  fedBy?: (port: string) => Data;
  /** In two lines, of its own settings. */
  summary?: (data: Data) => string;
  /** The text among its settings that is written on the node itself. */
  writes?: Writes;
  /** A line of its settings above that text. */
  line?: (data: Data) => string;
  /** Its outputs are lists. */
  givesLists?: boolean;
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

/** The model, and the prompt that stands in the node. */
const modelAndPrompt = (data: Data): string => {
  const inputs = (typeof data.inputs === "object" && data.inputs !== null ? data.inputs : {}) as Record<string, unknown>;
  const prompt = textOf(inputs.prompt) || textOf(data.prompt);
  return `${textOf(data.model) || "Choose a model"}${prompt === "" ? "" : `\n${prompt}`}`;
};

const generator = (title: string, id: string, icon: LucideIcon, description: string, words: string): Look => ({
  title,
  id,
  icon,
  description,
  words,
  group: "Generate",
  data: { inputs: {} },
  summary: modelAndPrompt,
});

/** In the palette's order; kinds without a look follow. */
export const LOOKS: Readonly<Record<string, Look>> = {
  "request-input": {
    title: "Inputs",
    group: "Start and end",
    icon: TextCursorInput,
    id: "input",
    words: "request input form field api start trigger manual webhook parameter variable",
    description: "The form and the API's inputs",
    data: { fields: [{ name: "prompt", type: "textarea", label: "Prompt" }], values: {} },
    summary: (data) =>
      fieldsOf(data)
        .map(({ label }) => label)
        .join(", ") || "No inputs yet",
  },
  "response-output": {
    title: "Results",
    group: "Start and end",
    icon: FileOutput,
    id: "output",
    words: "response output result end return save preview respond to webhook image video audio",
    description: "What a run gives back",
  },
  "text-box": {
    title: "Text",
    group: "Text",
    icon: SquarePen,
    id: "text",
    words: "text box template prompt string join merge concat combine clip text encode positive negative set edit fields",
    description: "Text with {{placeholders}} that become ports",
    data: { text: "" },
    fedBy: (port) => ({ text: `{{${port}}}` }),
    summary: (data) => textOf(data.text) || "Empty text",
    writes: { setting: "text", label: "Text", placeholder: "Write a text; {{name}} becomes a port", lines: 3 },
  },
  "llm-assistant": {
    title: "Assistant",
    group: "Text",
    icon: MessageSquareText,
    id: "assistant",
    words: "llm language model chat gpt assistant write agent ai translate summarize caption",
    description: "A language model writes",
    data: { prompt: "" },
    summary: modelAndPrompt,
  },
  "generate-image": generator(
    "Image",
    "image",
    Image,
    "Makes pictures with a model",
    "generate text to image picture photo draw edit upscale ksampler sampler diffusion img2img txt2img checkpoint inpaint",
  ),
  "generate-video": generator(
    "Video",
    "video",
    Film,
    "Makes a clip with a model",
    "generate text to image to video clip film movie animate",
  ),
  "generate-audio": generator(
    "Audio",
    "audio",
    AudioLines,
    "Makes speech, sound or music with a model",
    "generate text to audio music speech voice sound tts song",
  ),
  "media-upload": {
    title: "File",
    group: "Data",
    icon: FileUp,
    id: "file",
    words: "upload load media file image video audio asset",
    description: "A file you upload",
  },
  list: {
    title: "List",
    group: "Data",
    icon: List,
    id: "list",
    words: "list items array batch fan out loop each iterate split",
    description: "Several values: what follows runs once for each",
    data: { items: [] },
    summary: ({ items }) => (Array.isArray(items) && items.length > 0 ? items.map(String).join(" · ") : "Empty list"),
    writes: { setting: "items", label: "Items", placeholder: "One item to a line", lines: 3, isList: true },
    givesLists: true,
  },
  "http-request": {
    title: "HTTP request",
    group: "Data",
    icon: Globe,
    id: "request",
    words: "http request api fetch webhook rest call url curl",
    description: "Asks another service, for text, JSON or a file",
    data: { method: "GET", url: "" },
    summary: (data) => `${textOf(data.method) || "GET"} ${textOf(data.url)}`,
    writes: { setting: "url", label: "Address", placeholder: "https://…", lines: 1 },
    line: (data) => textOf(data.method) || "GET",
  },
  json: {
    title: "JSON",
    group: "Data",
    icon: Braces,
    id: "json",
    words: "json jmespath query pick extract code transform map filter parse",
    description: "Picks values out of JSON",
    data: { expression: "" },
    summary: (data) => textOf(data.expression) || "The whole value",
    writes: { setting: "expression", label: "Expression", placeholder: "The whole value", lines: 1 },
  },
  switch: {
    title: "Switch",
    group: "Data",
    icon: Split,
    id: "switch",
    words: "switch if else condition branch router route case filter",
    description: "Goes one way or another",
    data: { cases: [{ name: "yes", left: "{{value}}", op: "exists" }] },
    summary: ({ cases }) =>
      [...(Array.isArray(cases) ? cases : []).map((one: { name?: unknown } | null) => textOf(one?.name)), "else"]
        .filter(Boolean)
        .join(" · "),
  },
  approval: {
    title: "Approval",
    group: "Data",
    icon: UserCheck,
    id: "approval",
    words: "approval approve reject review human person wait decide decision check sign off",
    description: "Waits for a person's yes or no",
    data: { title: "Good to go?", timeoutHours: 72, onTimeout: "reject" },
    summary: ({ timeoutHours }) => `Waits for ${typeof timeoutHours === "number" ? timeoutHours : 72} hours at most`,
  },
  media: {
    title: "File operation",
    group: "Data",
    icon: Scissors,
    id: "operation",
    words: "media file resize crop join concat mux slideshow caption subtitle trim convert mix ffmpeg sharp",
    description: "Works on images, videos and sounds",
    data: { operation: "image-resize" },
    summary: ({ operation }) => mediaOperation(operation)?.title ?? "Choose an operation",
  },
  workflow: {
    title: "Workflow",
    group: "Data",
    icon: Workflow,
    id: "part",
    words: "workflow subflow nested inner call reuse part component function",
    description: "Runs another workflow as a part",
    data: { slug: "" },
    summary: ({ slug }) => textOf(slug) || "Choose a workflow",
  },
  note: {
    title: "Note",
    group: "Notes",
    icon: StickyNote,
    id: "note",
    words: "note comment sticky group",
    description: "For people; never runs",
    data: { text: "" },
  },
};

/** The kind that holds a text: what a quick fix puts in front of an empty input. */
export const TEXT_TYPE = "text-box";
/** The kinds that declare a workflow's inputs and its result. */
export const END_TYPES = { inputs: "request-input", results: "response-output" } as const;
/** The kind that holds a file of the library. */
export const FILE_TYPE = "media-upload";

import {
  AudioLines,
  Braces,
  Clapperboard,
  FileOutput,
  FileUp,
  Film,
  Globe,
  Image,
  List,
  MessageSquareText,
  Split,
  SquarePen,
  StickyNote,
  TextCursorInput,
  CircleHelp,
  type LucideIcon,
} from "lucide-react";

/** What the canvas says of a node kind. Ports, checks and prices are the kernel's. */
export interface Kind {
  type: string;
  title: string;
  /** One line in the palette. */
  description: string;
  group: "Start and end" | "Text" | "Generate" | "Data" | "Notes";
  icon: LucideIcon;
  /** Id of the first node of the kind. */
  id: string;
  /** Other words that find it. */
  words: string;
  data: () => Record<string, unknown>;
  /** Registry modality of the models it may call. */
  modality?: "text" | "image" | "video" | "audio";
}

const kind = (
  type: string,
  title: string,
  group: Kind["group"],
  icon: LucideIcon,
  rest: Pick<Kind, "description" | "id" | "words"> & Partial<Kind>,
): Kind => ({
  type,
  title,
  group,
  icon,
  data: () => ({}),
  ...rest,
});

const generator = (modality: "image" | "video" | "audio", title: string, icon: LucideIcon, words: string): Kind =>
  kind(`generate-${modality}`, title, "Generate", icon, {
    id: modality,
    words,
    modality,
    description: `Makes ${modality === "audio" ? "speech, sound or music" : `${modality === "image" ? "pictures" : "a clip"}`} with a model`,
    data: () => ({ inputs: {} }),
  });

export const KINDS: readonly Kind[] = [
  kind("request-input", "Inputs", "Start and end", TextCursorInput, {
    id: "input",
    words: "request input form field api start",
    description: "The form and the API's inputs",
    data: () => ({ fields: [{ name: "prompt", type: "textarea", label: "Prompt" }], values: {} }),
  }),
  kind("response-output", "Results", "Start and end", FileOutput, {
    id: "output",
    words: "response output result end return",
    description: "What a run gives back",
  }),
  kind("text-box", "Text", "Text", SquarePen, {
    id: "text",
    words: "text box template prompt string",
    description: "Text with {{placeholders}} that become ports",
    data: () => ({ text: "" }),
  }),
  kind("llm-assistant", "Assistant", "Text", MessageSquareText, {
    id: "assistant",
    words: "llm language model chat gpt assistant write",
    description: "A language model writes",
    modality: "text",
    data: () => ({ prompt: "" }),
  }),
  generator("image", "Image", Image, "generate image picture photo"),
  generator("video", "Video", Film, "generate video clip film movie"),
  generator("audio", "Audio", AudioLines, "generate audio music speech voice sound"),
  kind("media", "Edit media", "Generate", Clapperboard, {
    id: "media",
    words: "crop resize concat trim mux slideshow composite",
    description: "Crops, cuts and joins files",
    data: () => ({ operation: "resize" }),
  }),
  kind("media-upload", "File", "Data", FileUp, {
    id: "file",
    words: "upload media file image video audio",
    description: "A file you upload",
  }),
  kind("list", "List", "Data", List, {
    id: "list",
    words: "list items array batch fan out",
    description: "Several values: what follows runs once for each",
    data: () => ({ items: [] }),
  }),
  kind("http-request", "HTTP request", "Data", Globe, {
    id: "request",
    words: "http request api fetch webhook rest",
    description: "Asks another service",
    data: () => ({ method: "GET", url: "" }),
  }),
  kind("json", "JSON", "Data", Braces, {
    id: "json",
    words: "json jmespath query pick extract",
    description: "Picks values out of JSON",
    data: () => ({ expression: "" }),
  }),
  kind("switch", "Switch", "Data", Split, {
    id: "switch",
    words: "switch if condition branch case",
    description: "Sends a value one way or another",
    data: () => ({ cases: [{ name: "yes", left: "{{value}}", op: "exists", right: "" }] }),
  }),
  kind("note", "Note", "Notes", StickyNote, {
    id: "note",
    words: "note comment sticky",
    description: "For people; never runs",
    data: () => ({ text: "" }),
  }),
];

const BY_TYPE = new Map(KINDS.map((one) => [one.type, one]));

/** The kind of a type; types that nobody here knows have one, too: they are kept as they are. */
export const kindOf = (type: string): Kind =>
  BY_TYPE.get(type) ??
  kind(type, type, "Data", CircleHelp, { id: "node", words: "", description: "A node kind that this version does not know" });

export const isKnownKind = (type: string): boolean => BY_TYPE.has(type);

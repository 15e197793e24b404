import { MEDIA_FAMILIES } from "../values/media";

/** Tasks. A node can name a purpose such as `auto:image` instead of a model. */

/** What a model generates. */
export const MODALITIES = [...MEDIA_FAMILIES, "text"] as const;
export type Modality = (typeof MODALITIES)[number];

/** Names that models use for each task input, the most common first. */
const COMMON_INPUTS = {
  prompt: ["prompt", "text", "promptText"],
  image: ["image", "image_url", "input_image", "promptImage", "images"],
  audio: ["audio", "audio_url", "file"],
  seconds: ["seconds", "duration"],
  ratio: ["ratio", "aspect_ratio", "size", "image_size"],
  count: ["count", "num_images", "n"],
  negative: ["negative", "negative_prompt"],
  voice: ["voice", "voice_id"],
  language: ["language", "language_code"],
  system: ["system"],
  maxTokens: ["maxTokens"],
  temperature: ["temperature"],
  scale: ["scale", "factor"],
  seed: ["seed"],
} as const satisfies Record<string, readonly string[]>;
export type CommonInput = keyof typeof COMMON_INPUTS;

export interface Task {
  modality: Modality;
  summary: string;
  /** Inputs that a node can set for any model of the task. */
  inputs: readonly CommonInput[];
}

/** Tasks that a node can name as `auto:<task>`. */
export const TASKS = {
  image: { modality: "image", summary: "A picture from words", inputs: ["prompt", "ratio", "count", "negative", "seed"] },
  edit: { modality: "image", summary: "A picture changed by words", inputs: ["prompt", "image", "ratio", "count", "seed"] },
  upscale: { modality: "image", summary: "A picture enlarged", inputs: ["image", "scale"] },
  cutout: { modality: "image", summary: "What a picture shows, without its background", inputs: ["image"] },
  vector: { modality: "image", summary: "A vector picture (SVG) from words", inputs: ["prompt", "ratio", "seed"] },
  video: { modality: "video", summary: "A video from words", inputs: ["prompt", "seconds", "ratio", "negative", "seed"] },
  "image-to-video": {
    modality: "video",
    summary: "A video that begins with a picture",
    inputs: ["prompt", "image", "seconds", "ratio", "negative", "seed"],
  },
  speech: { modality: "audio", summary: "Words spoken", inputs: ["prompt", "voice", "language", "seed"] },
  music: { modality: "audio", summary: "Music from words", inputs: ["prompt", "seconds", "seed"] },
  "3d": { modality: "model3d", summary: "A 3D model from words", inputs: ["prompt", "seed"] },
  "image-to-3d": { modality: "model3d", summary: "A 3D model from a picture", inputs: ["prompt", "image", "seed"] },
  text: {
    modality: "text",
    summary: "Text from words, by a language model",
    inputs: ["prompt", "system", "image", "maxTokens", "temperature"],
  },
  transcribe: { modality: "text", summary: "What a recording says, as text", inputs: ["audio", "language"] },
} as const satisfies Record<string, Task>;
export type TaskName = keyof typeof TASKS;

export const TASK_NAMES = Object.keys(TASKS) as [TaskName, ...TaskName[]];

const PREFIX = "auto:";

export const isTaskName = (name: string): name is TaskName => Object.hasOwn(TASKS, name);

/** The task in `auto:<task>`, whether known or not; undefined for a model name. */
export const taskOf = (model: string): string | undefined => (model.startsWith(PREFIX) ? model.slice(PREFIX.length) : undefined);

export const autoName = (task: string): string => `${PREFIX}${task}`;

/** The model's name for a task input, or undefined if it has no such input. */
export const nameIn = (input: string, knownInputs: ReadonlySet<string>): string | undefined => {
  if (knownInputs.has(input)) return input;
  const names: readonly string[] = Object.hasOwn(COMMON_INPUTS, input) ? COMMON_INPUTS[input as CommonInput] : [];
  return names.find((name) => knownInputs.has(name));
};

/** The model's name for another model's input, or undefined if it has no such input. */
export const counterpartIn = (input: string, knownInputs: ReadonlySet<string>): string | undefined => {
  if (knownInputs.has(input)) return input;
  const names: readonly string[] = Object.values(COMMON_INPUTS).find((all: readonly string[]) => all.includes(input)) ?? [];
  return names.find((name) => knownInputs.has(name));
};

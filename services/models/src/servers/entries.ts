import { createHash } from "node:crypto";
import type { JsonSchema } from "@nodeloom/kernel";
import type { ComfyUiSettings, ProviderSettings } from "@nodeloom/providers";
import type { RegisteredModel } from "../registry";
import { SAMPLING_INPUTS, toolInputs } from "../chat-inputs";
import { keyNameOf, slugOf, type ListedModel, type ServerRecord, type StoredWorkflow } from "./server-record";

/** Registry entries for a server's models. */

const MAX_TEXT_CHARS = 262_144;
const MAX_ANSWER_TOKENS = 32_768;
const MAX_IMAGES = 8;
/** All files are embedded in the request. */
const FILES = { send: ["data-url" as const] };
const HASH_CHARS = 6;
const MODEL_SLUG_CHARS = 100;

const text = (title: string, more: JsonSchema = {}): JsonSchema => ({ type: "string", title, ...more });
const prompt = text("Prompt", { description: "Description of the result.", minLength: 1, maxLength: MAX_TEXT_CHARS });
const image: JsonSchema = { type: "string", format: "media", contentMediaType: "image/*", minLength: 1 };

const schema = (required: string[], properties: Record<string, JsonSchema>) => ({
  type: "object" as const,
  additionalProperties: false,
  required,
  properties,
});

type EntryParts = Pick<RegisteredModel, "modality" | "outputs" | "price" | "inputSchema"> & { provider: ProviderSettings };
type Base = Pick<ProviderSettings, "baseUrl" | "auth" | "server">;

const FREE = { basis: "run", microUsd: 0 } as const;
const FREE_TOKENS = { basis: "tokens", inputMicroUsdPerMillion: 0, outputMicroUsdPerMillion: 0 } as const;

/** Returns the entry of a text model with an OpenAI-compatible API. */
export const chat = (base: Base, { id, sees }: Pick<ListedModel, "id" | "sees">): EntryParts => ({
  modality: "text",
  outputs: ["text"],
  price: FREE_TOKENS,
  provider: {
    ...base,
    kind: "llm",
    model: id,
    stream: true,
    structuredOutput: "json_schema",
    tools: true,
    ...(sees ? { files: { image: FILES, images: FILES } } : {}),
  },
  inputSchema: schema(["prompt"], {
    prompt: { ...prompt, description: "The question or task." },
    system: text("System prompt", { description: "Instructions for the answers.", maxLength: MAX_TEXT_CHARS }),
    ...(sees
      ? {
          image: { ...image, title: "Image", description: "A picture for the model to read." },
          images: {
            type: "array",
            title: "Images",
            description: "Pictures that the model reads together.",
            items: image,
            maxItems: MAX_IMAGES,
          },
        }
      : {}),
    maxTokens: { type: "integer", title: "Longest answer", default: 2_048, minimum: 1, maximum: MAX_ANSWER_TOKENS },
    temperature: { type: "number", title: "Temperature", minimum: 0, maximum: 2 },
    ...SAMPLING_INPUTS,
    ...toolInputs(MAX_TEXT_CHARS),
  }),
});

const drawing = (base: Base, { id }: ListedModel): EntryParts => ({
  modality: "image",
  outputs: ["images"],
  price: FREE,
  provider: {
    ...base,
    kind: "direct-http",
    request: {
      path: "/images/generations",
      body: { model: id, prompt: { $input: "prompt" }, n: { $input: "count" }, size: { $input: "size" }, response_format: "b64_json" },
    },
    outputs: { images: ["/data/*/b64_json", "/data/*/url"] },
    downloadWithKey: true,
  },
  inputSchema: schema(["prompt"], {
    prompt,
    size: text("Size", { description: "Width and height, such as 1024x1024.", default: "1024x1024", pattern: "^[0-9]{2,4}x[0-9]{2,4}$" }),
    count: { type: "integer", title: "Images", default: 1, minimum: 1, maximum: 4 },
  }),
});

const speaking = (base: Base, { id }: ListedModel): EntryParts => ({
  modality: "audio",
  outputs: ["audios"],
  price: FREE,
  provider: {
    ...base,
    kind: "direct-http",
    request: {
      path: "/audio/speech",
      body: { model: id, input: { $input: "prompt" }, voice: { $input: "voice" }, speed: { $input: "speed" } },
    },
    answer: "bytes",
    outputs: { audios: "" },
  },
  inputSchema: schema(["prompt"], {
    prompt: { ...prompt, title: "Text", description: "The text to speak." },
    voice: text("Voice", { description: "One of the server's voices.", default: "alloy", minLength: 1, maxLength: 200 }),
    speed: { type: "number", title: "Speed", minimum: 0.25, maximum: 4 },
  }),
});

const listening = (base: Base, { id }: ListedModel): EntryParts => ({
  modality: "text",
  outputs: ["text"],
  price: FREE,
  provider: {
    ...base,
    kind: "direct-http",
    files: { audio: { send: ["form"] } },
    request: {
      path: "/audio/transcriptions",
      form: { model: id, file: { $input: "audio" }, language: { $input: "language" }, response_format: "json" },
    },
    outputs: { text: "/text" },
  },
  inputSchema: schema(["audio"], {
    audio: { ...image, contentMediaType: "audio/*", title: "Sound", description: "The recording to transcribe." },
    language: text("Language", { description: "Two letters, such as en.", pattern: "^[a-z]{2}$" }),
  }),
});

const MAKERS = { chat, image: drawing, speech: speaking, transcribe: listening };

const baseOf = ({ _id, name, url, hasKey }: ServerRecord): Base => ({
  baseUrl: url,
  server: { id: _id, name },
  ...(hasKey ? { auth: { scheme: "Bearer", secretEnv: keyNameOf(_id) } } : {}),
});

/** Members of all models that the operator runs. They are enabled for every tier. */
export const AT_HOME: Pick<RegisteredModel, "sandbox" | "runsAt" | "minTier" | "trialRuns" | "enabled" | "missing"> = {
  sandbox: false,
  runsAt: "local",
  minTier: "free",
  trialRuns: 0,
  enabled: true,
  missing: [],
};

const entry = (server: ServerRecord, internalName: string, called: string, description: EntryParts): RegisteredModel => ({
  ...description,
  internalName,
  displayName: `${called} (${server.name})`,
  description: `Runs on the server ${server.name}.`,
  ...AT_HOME,
});

/** Returns the display name of a model. llama.cpp lists a file path instead of a name. */
const calledOf = (id: string): string =>
  /^(?:\/|[A-Za-z]:\\)/.test(id)
    ? id
        .split(/[\\/]/)
        .at(-1)!
        .replace(/\.gguf$/i, "")
    : id;

/** Different ids can have the same slug. In that case, a hash of the id is appended to the names of later models. */
const namesOf = (prefix: string, ids: readonly string[]): string[] => {
  const takenNames = new Set<string>();
  return ids.map((id) => {
    const hash = createHash("sha256").update(id).digest("hex").slice(0, HASH_CHARS);
    const plain = [prefix, slugOf(calledOf(id), MODEL_SLUG_CHARS) || hash].join("-");
    const name = takenNames.has(plain) ? `${plain}-${hash}` : plain;
    takenNames.add(name);
    return name;
  });
};

/** Returns the models of a server with the administrators' choices applied. */
export const modelsOf = ({ listed, choices }: Pick<ServerRecord, "listed" | "choices">): ListedModel[] => {
  const choicesById = new Map(choices.map((choice) => [choice.id, choice]));
  return listed.map((model) => ({ ...model, ...choicesById.get(model.id) }));
};

const workflowEntry = (server: ServerRecord, stored: StoredWorkflow): RegisteredModel => {
  const inputSchema = JSON.parse(stored.inputSchema) as RegisteredModel["inputSchema"];
  const files = Object.entries(inputSchema.properties).flatMap(([name, { format }]) => (format === "media" ? [name] : []));
  const provider: ComfyUiSettings = {
    ...baseOf(server),
    kind: "comfyui",
    workflow: stored.workflow,
    inputs: JSON.parse(stored.inputs) as ComfyUiSettings["inputs"],
    makes: stored.modality,
    ...(stored.keepMetadata ? { keepMetadata: true } : {}),
    upload: { api: "comfyui" },
    files: Object.fromEntries(files.map((name) => [name, { send: ["upload" as const] }])),
  };
  const outputs = ({ image: ["images"], video: ["videos"], audio: ["audios"] } as const)[stored.modality];
  const description: EntryParts = { modality: stored.modality, outputs: [...outputs], price: FREE, inputSchema, provider };
  return entry(server, `${server._id}-${stored.slug}`, stored.name, description);
};

/** Returns the registry entries of a server. They are free until an administrator sets a price. */
export const entriesOf = (server: ServerRecord): RegisteredModel[] => {
  if (server.kind === "comfyui") return server.workflows.map((stored) => workflowEntry(server, stored));
  const models = modelsOf(server);
  const names = namesOf(server._id, models.map(({ id }) => id)); // prettier-ignore
  return models.flatMap((model, index) => {
    if (model.task === "none") return [];
    return [entry(server, names[index]!, calledOf(model.id), MAKERS[model.task](baseOf(server), model))];
  });
};

/** Returns the entry names by model id. */
export const entryNames = (server: ServerRecord): ReadonlyMap<string, string> => {
  const ids = server.listed.map(({ id }) => id);
  const names = namesOf(server._id, ids);
  return new Map(ids.map((id, index) => [id, names[index]!]));
};

import { resultMember, type Modality } from "@nodeloom/kernel";
import { at, dayOf, ImportProblem, nameOf, textAt, type Draft, type Json, type ImportRequest, type PublicDescriptions } from "./draft";
import { inputsOf, plain } from "./inputs";

/** Imports from Replicate, which publishes the schema of each model's latest version. */

const APP = /^[\w.-]+\/[\w.-]+$/;
const ENDINGS: readonly [RegExp, Modality][] = [
  [/\.(?:png|jpe?g|webp|gif)(?:$|\?)/i, "image"],
  [/\.(?:mp4|mov|webm)(?:$|\?)/i, "video"],
  [/\.(?:mp3|wav|ogg|flac|m4a)(?:$|\?)/i, "audio"],
  [/\.glb(?:$|\?)/i, "model3d"],
];

/** Returns the modality of a model, based on its published example. */
const madeIn = (model: unknown, output: Json): Modality | undefined => {
  const example = at(model, "default_example", "output");
  const first: unknown = Array.isArray(example) ? example[0] : example;
  const byEnding = ENDINGS.find(([ending]) => typeof first === "string" && ending.test(first))?.[1];
  const isText = output.type === "string" && output.format !== "uri";
  return byEnding ?? (isText ? "text" : undefined);
};

export const replicateDraft = async (
  { app, internalName, modality, now }: ImportRequest,
  published: PublicDescriptions,
): Promise<Draft> => {
  if (!APP.test(app)) throw new ImportProblem({ path: "app", message: "must be owner/name, such as black-forest-labs/flux-schnell" });
  const address = `https://api.replicate.com/v1/models/${app}`;
  const model = await published.json(address, { header: "Authorization", scheme: "Bearer", secretEnv: "REPLICATE_API_TOKEN" });
  const components = (at(model, "latest_version", "openapi_schema", "components", "schemas") ?? {}) as Json;
  const version = textAt(model, "latest_version", "id");
  const output = plain(at(components, "Output"), components);
  const outputModality = modality ?? madeIn(model, output);
  if (version === undefined || !components.Input) throw new ImportProblem({ path: "app", message: "Replicate publishes no schema for it" });
  if (outputModality === undefined)
    throw new ImportProblem({ path: "modality", message: "is required: Replicate doesn't say what this model makes" });
  const { properties, required, body, files, notes } = inputsOf(at(components, "Input"), components);
  const send = { send: ["url", "data-url", "upload"], maxDataChars: 262_144 };
  const result = resultMember(outputModality);
  const entry = {
    internalName: internalName ?? nameOf("replicate", app),
    displayName: textAt(model, "name") ?? app,
    description: (textAt(model, "description") ?? `${app}, hosted on Replicate.`).slice(0, 500),
    modality: outputModality,
    company: "replicate",
    asOf: dayOf(now),
    source: address,
    provider: {
      kind: "inference-platform",
      dialect: "replicate",
      baseUrl: "https://api.replicate.com",
      // Only official models can be called without a version.
      app: at(model, "is_official") === true ? app : version,
      ...(files.length > 0 ? { files: Object.fromEntries(files.map((name) => [name, send])), upload: { api: "replicate" } } : {}),
      auth: { scheme: "Bearer", secretEnv: "REPLICATE_API_TOKEN" },
      body,
      intervalMs: 500,
      maxIntervalMs: 5_000,
      outputs: { [result]: output.type === "array" ? "/output/*" : "/output" },
    },
    inputSchema: { type: "object", additionalProperties: false, required, properties },
    outputs: [result],
    price: null,
    minTier: "pro",
  };
  return { entry, notes: [...notes, "Replicate publishes no price in this form: set it, from the model's page"] };
};

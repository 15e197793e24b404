import {
  at,
  dayOf,
  ImportProblem,
  isJson,
  nameOf,
  textAt,
  type Draft,
  type Json,
  type ImportRequest,
  type PublicDescriptions,
} from "./draft";
import { inputsOf, plain } from "./inputs";
import { resultOf } from "./results";

/** Imports from fal, which publishes an OpenAPI document for each application of its queue. */

const APP = /^[\w.-]+(?:\/[\w.-]+){1,6}$/;

const jsonSchema = (operation: unknown, ...way: string[]): unknown => at(operation, ...way, "content", "application/json", "schema");

/** Returns the first schema of an operation with this method in the document. */
const schemaOf = (document: unknown, method: string, isWanted: (path: string) => boolean, way: string[], components: Json): unknown => {
  const paths = Object.entries((at(document, "paths") ?? {}) as Json).filter(([path]) => isWanted(path));
  const publishedSchema = paths.map(([, item]) => jsonSchema(at(item, method), ...way)).find(isJson);
  return publishedSchema && plain(publishedSchema, components);
};

export const falDraft = async ({ app, internalName, now }: ImportRequest, published: PublicDescriptions): Promise<Draft> => {
  if (!APP.test(app)) throw new ImportProblem({ path: "app", message: "must be the path of an application, such as fal-ai/flux-2-pro" });
  const address = `https://fal.ai/api/openapi/queue/openapi.json?endpoint_id=${encodeURIComponent(app)}`;
  const document = await published.json(address);
  const components = (at(document, "components", "schemas") ?? {}) as Json;
  const input = schemaOf(document, "post", () => true, ["requestBody"], components);
  const output = schemaOf(document, "get", (path) => path.endsWith("/{request_id}"), ["responses", "200"], components);
  const result = resultOf(output, components);
  if (!input || !result)
    throw new ImportProblem({
      path: "app",
      message: "fal's description of it has no inputs, or no pictures, video, sound, 3D model or text as output",
    });
  const { properties, required, body, files, notes } = inputsOf(input, components);
  const send = { send: ["url", "upload", "data-url"] };
  const entry = {
    internalName: internalName ?? nameOf("fal", app),
    displayName: textAt(document, "info", "x-fal-metadata", "displayName") ?? app,
    description: (textAt(document, "info", "description") ?? `${app}, hosted on fal.`).slice(0, 500),
    modality: result.modality,
    company: "fal",
    asOf: dayOf(now),
    source: address,
    provider: {
      kind: "inference-platform",
      dialect: "fal-queue",
      baseUrl: "https://queue.fal.run",
      app,
      ...(files.length > 0
        ? { files: Object.fromEntries(files.map((name) => [name, send])), upload: { api: "fal", baseUrl: "https://rest.fal.ai" } }
        : {}),
      auth: { scheme: "Key", secretEnv: "FAL_KEY" },
      body,
      intervalMs: 500,
      maxIntervalMs: 5_000,
      outputs: result.outputs,
    },
    inputSchema: { type: "object", additionalProperties: false, required, properties },
    outputs: Object.keys(result.outputs),
    price: null,
    minTier: "pro",
  };
  return { entry, notes: [...notes, "fal publishes no price in this form: set it, from the model's page"] };
};

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonSchema } from "../../../services/kernel/src";
import type { EgressClient, EgressRequest } from "../../../services/platform/src";
import { createProvider, ProviderError } from "../../../services/providers/src";

/** Builds the requests of registry entries with the product's own dialects, without a provider. */

export const REGISTRY = join(__dirname, "..", "..", "..", "services", "models", "registry");

export interface RegistryFile {
  internalName: string;
  displayName: string;
  company?: string;
  sandbox?: boolean;
  runsAt?: string;
  asOf?: string;
  source?: string;
  retiresOn?: string;
  provider: Record<string, unknown> & {
    kind: string;
    baseUrl: string;
    app?: string;
    structuredOutput?: string;
    auth?: { header?: string };
  };
  inputSchema: Record<string, unknown> & { examples?: Record<string, unknown>[] };
}

export const readEntries = (): RegistryFile[] =>
  readdirSync(REGISTRY)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(REGISTRY, name), "utf8")) as RegistryFile);

export const isHosted = ({ sandbox, runsAt }: RegistryFile): boolean => sandbox !== true && runsAt !== "local";

export interface SentRequest {
  method: string;
  /** Path with the query. */
  path: string;
  url: string;
  contentType: string;
  headers: Record<string, string>;
  body: string;
}

const SECRET = "secret-of-the-drill";
/** Placeholder for addresses that are set in the environment. */
const HOST = "https://provider.example";

const textOf = async (body: EgressRequest["body"]): Promise<string> => {
  if (body === undefined) return "";
  if (typeof body === "string" || Buffer.isBuffer(body)) return body.toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
};

async function* empty(): AsyncIterable<Buffer> {
  yield Buffer.from("{}");
}

/** An egress client that records requests and answers `{}`. */
const keeping = (requests: SentRequest[]): EgressClient => ({
  stream: async ({ url, method = "GET", headers = {}, body }) => {
    const { pathname, search } = new URL(url);
    const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
    requests.push({ method, url, path: pathname + search, contentType, headers, body: await textOf(body) });
    return { status: 200, headers: { "content-type": "application/json" }, body: empty() };
  },
  request: () => Promise.reject(new Error("dialects stream")),
  listen: () => Promise.reject(new Error("dialects stream")),
  close: () => Promise.resolve(),
});

const FILE = Buffer.from("bytes of a file");
/** A file for form uploads, as input-files passes it. */
const PIXEL = {
  name: "pixel.png",
  contentType: "image/png",
  length: FILE.length,
  read: async function* (): AsyncIterable<Uint8Array> {
    yield FILE;
  },
};

/** Placeholders for file inputs sent only as data URLs. */
const DATA_URLS: Readonly<Record<string, string>> = {
  "application/pdf": `data:application/pdf;base64,${FILE.toString("base64")}`,
  "audio/*": `data:audio/mpeg;base64,${FILE.toString("base64")}`,
  "image/*": `data:image/png;base64,${FILE.toString("base64")}`,
};

const inlineOf = (property: unknown, value: unknown): unknown => {
  const { contentMediaType, items } = property as { contentMediaType?: string; items?: object };
  return Array.isArray(value) ? value.map((one) => inlineOf(items, one)) : (DATA_URLS[contentMediaType ?? ""] ?? value);
};

/** Inputs with files in the form that the entry uses if there are no public addresses. */
const withFiles = ({ provider, inputSchema }: RegistryFile, inputs: Record<string, unknown>): Record<string, unknown> => {
  const properties = inputSchema.properties as Record<string, object>;
  const files = (provider.files ?? {}) as Record<string, { send: string[] }>;
  const parts = Object.entries(inputs).map(([name, value]): [string, unknown] => {
    const send = files[name]?.send ?? ["url"];
    if (send.includes("form")) return [name, PIXEL];
    return [name, send.includes("url") ? value : inlineOf(properties[name], value)];
  });
  return Object.fromEntries(parts);
};

export interface ExampleCall {
  inputs: Record<string, unknown>;
  /** Schema for a text model's answer. */
  schema?: JsonSchema;
}

/** A schema with most keywords. */
const SCHEMA: JsonSchema = {
  type: "object",
  properties: { names: { type: "array", items: { type: "string" } }, best: { enum: ["a", "b"] } },
  required: ["names"],
};

/** Inputs to check for an entry: each of its examples, and the first one with a schema if the model supports schemas. */
export const examplesOf = ({ internalName, provider, inputSchema: { examples = [] } }: RegistryFile): [ExampleCall, ...ExampleCall[]] => {
  const [first, ...others] = examples.map((inputs): ExampleCall => ({ inputs }));
  if (!first) throw new Error(`${internalName}: its inputSchema has no examples`);
  return [first, ...others, ...(provider.structuredOutput === undefined ? [] : [{ ...first, schema: SCHEMA }])];
};

/**
 * Request of an entry for these inputs, completed as during planning.
 * @param priced inputs that the price depends on
 * @throws Error if the entry sends no request
 */
export const requestOf = async (
  entry: RegistryFile,
  priced: (inputs: Record<string, unknown>) => Record<string, unknown>,
  { inputs, ...ask }: ExampleCall = examplesOf(entry)[0],
): Promise<SentRequest> => {
  const requests: SentRequest[] = [];
  const settings = JSON.stringify(entry.provider).replaceAll(/\$\{[A-Z][A-Z0-9_]*\}/g, HOST);
  const provider = createProvider(settings, { egress: keeping(requests), secret: () => SECRET });
  const call = {
    ...ask,
    inputs: withFiles(entry, priced(inputs)),
    idempotencyKey: "drill",
    reserve: () => Promise.resolve(),
    onText: () => undefined,
  };
  const pending = provider.type === "job" ? provider.submit(call) : provider.run(call);
  // The recorded answer isn't a provider's, so errors after the request are ignored.
  await pending.catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
  });
  const [request] = requests;
  if (!request) throw new Error(`${entry.internalName}: no request was made`);
  return request;
};

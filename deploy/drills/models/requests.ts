import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createProvider, ProviderError } from "../../../services/executions/src/calls/providers";
import type { EgressClient, EgressRequest } from "../../../services/platform/src";

/** The requests that registry entries make, by the product's own dialects and without a provider. */

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
  provider: Record<string, unknown> & { kind: string; baseUrl: string; app?: string; auth?: { header?: string } };
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
  /** Path and query. */
  path: string;
  url: string;
  contentType: string;
  headers: Record<string, string>;
  body: string;
}

const SECRET = "secret-of-the-drill";
/** Stands for addresses that the environment says. */
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

/** An egress client that keeps what it is given, and answers `{}`. */
const keeping = (sent: SentRequest[]): EgressClient => ({
  stream: async ({ url, method = "GET", headers = {}, body }) => {
    const { pathname, search } = new URL(url);
    const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
    sent.push({ method, url, path: pathname + search, contentType, headers, body: await textOf(body) });
    return { status: 200, headers: { "content-type": "application/json" }, body: empty() };
  },
  request: () => Promise.reject(new Error("dialects stream")),
  close: () => Promise.resolve(),
});

const FILE = Buffer.from("bytes of a file");
/** A file that an input sends inside a form, as input-files hands it over. */
const PIXEL = {
  name: "pixel.png",
  contentType: "image/png",
  length: FILE.length,
  read: async function* (): AsyncIterable<Uint8Array> {
    yield FILE;
  },
};

const formInputs = ({ provider }: RegistryFile): string[] =>
  Object.entries((provider.files ?? {}) as Record<string, { send: string[] }>).flatMap(([name, { send }]) =>
    send.includes("form") ? [name] : [],
  );

/**
 * The request that an entry makes of its example input, with what planning adds to it.
 * @param priced the inputs that are sent because the price depends on them
 * @throws Error where the entry has no example, or makes no request of it
 */
export const requestOf = async (
  entry: RegistryFile,
  priced: (inputs: Record<string, unknown>) => Record<string, unknown>,
): Promise<SentRequest> => {
  const [example] = entry.inputSchema.examples ?? [];
  if (!example) throw new Error(`${entry.internalName}: its inputSchema has no examples`);
  const sent: SentRequest[] = [];
  const settings = JSON.stringify(entry.provider).replaceAll(/\$\{[A-Z][A-Z0-9_]*\}/g, HOST);
  const provider = createProvider(settings, { egress: keeping(sent), secret: () => SECRET });
  const inputs = priced(example);
  for (const name of formInputs(entry)) if (inputs[name] !== undefined) inputs[name] = PIXEL;
  const call = { inputs, idempotencyKey: "drill", reserve: () => Promise.resolve(), onText: () => undefined };
  const made = provider.type === "job" ? provider.submit(call) : provider.run(call);
  // The stand-in's answer is none of a provider's: only the request counts.
  await made.catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
  });
  const [request] = sent;
  if (!request) throw new Error(`${entry.internalName}: no request was made`);
  return request;
};

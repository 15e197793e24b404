import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHttpServer } from "@nodeloom/platform";
import { createSandbox } from "../../src/app";

export const API_KEY = "a-key-for-tests";
export const CONTROL_KEY = "a-control-key-for-tests";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed JSON; undefined if it is invalid. */
  body: unknown;
  /** The member at a dotted path, for example `output.images.0.url`. */
  at(path: string): unknown;
}

export interface TestSandbox {
  url: string;
  /** Advances the sandbox's clock. */
  advance(milliseconds: number): void;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  bytes(url: string): Promise<Buffer>;
  stop(): Promise<void>;
}

/** A new folder under the temporary directory. */
export const createFolder = (): string => mkdtempSync(join(tmpdir(), "nodeloom-sandbox-test-"));
export const removeFolder = (path: string): void => rmSync(path, { recursive: true, force: true });

const memberAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((inside, name) => (inside as Record<string, unknown> | undefined)?.[name], value);

export const callAt = async (
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const scheme = path.startsWith("/queue") ? "Key" : "Bearer";
  const control: Record<string, string> = path.startsWith("/sandbox/") ? { "x-sandbox-control-key": CONTROL_KEY } : {};
  const response = await fetch(new URL(path, base), {
    method,
    headers: { authorization: `${scheme} ${API_KEY}`, "content-type": "application/json", ...control, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status: response.status, headers: response.headers, text, body: parsed, at: (where) => memberAt(parsed, where) };
};

/** A sandbox over real HTTP on a free port, with a clock that only the test advances. */
export const startSandbox = async (): Promise<TestSandbox> => {
  const dataDirectory = createFolder();
  let now = 1_750_000_000_000;
  const app = createSandbox({ apiKey: API_KEY, controlKey: CONTROL_KEY, dataDirectory, clock: () => now });
  const server = await startHttpServer({ listen: "127.0.0.1:0", app, graceMs: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    advance: (milliseconds) => void (now += milliseconds),
    call: (method, path, body, headers) => callAt(url, method, path, body, headers),
    bytes: async (address) => Buffer.from(await (await fetch(address)).arrayBuffer()),
    stop: async () => {
      await server.stop();
      removeFolder(dataDirectory);
    },
  };
};

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgressClient, startHttpServer, type RunningHttpServer } from "@nodeloom/platform";
import { createInference, type Inference, type InferenceOptions } from "../../src/app";
import { assetFolder } from "@nodeloom/platform";
import { ASSETS } from "../../src/fetch/assets";

export const API_KEY = "key-of-the-test";
export const STAND_IN = join(__dirname, "stand-in.mjs");

export interface Running {
  base: string;
  /** Folder in which the fake engines record their requests. */
  engines: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  stop(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Record<string, unknown>;
}

export const callAt = async (base: string, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> => {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  let json: Record<string, unknown> = {};
  try {
    json = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // The body is a file or a stream.
  }
  return { status: response.status, headers: response.headers, text, json };
};

export const createFolder = (): string => mkdtempSync(join(tmpdir(), "inference-"));
export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** An assets folder whose engines are empty. */
export const withEngines = (root: string): string => {
  const engines = assetFolder(root, "engines", ASSETS.engines);
  mkdirSync(engines, { recursive: true });
  return engines;
};

/** The service with fake engines. */
export const startInference = async (folder: string, options: Partial<InferenceOptions> = {}, port = 0): Promise<Running> => {
  const egress = createEgressClient();
  const assetsRoot = join(folder, "assets");
  const engines = withEngines(assetsRoot);
  const inference: Inference = await createInference({
    apiKey: API_KEY,
    dataDirectory: join(folder, "data"),
    assetsRoots: [assetsRoot],
    sources: { own: undefined, other: egress },
    concurrency: 2,
    threads: 1,
    idleMs: 60_000,
    program: STAND_IN,
    availability: () => Promise.resolve({ status: "ready" }),
    ...options,
  });
  const server: RunningHttpServer = await startHttpServer({ listen: `127.0.0.1:${port}`, app: inference.app, graceMs: 100 });
  const base = `http://127.0.0.1:${server.port}`;
  return {
    base,
    engines,
    call: (...request) => callAt(base, ...request),
    stop: async () => {
      await Promise.all([server.stop(), inference.stop()]);
      await egress.close();
    },
  };
};

/** Polls a job until it has ended. */
export const waitForEnd = async (base: string, id: unknown): Promise<Record<string, unknown>> => {
  for (;;) {
    const { json } = await callAt(base, "GET", `/v1/jobs/${String(id)}`);
    if (json.status !== "queued" && json.status !== "running") return json;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

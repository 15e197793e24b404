import type { EgressClient } from "@nodeloom/platform";
import { z } from "zod";

/** Status of the models that run on this machine, from the inference service. */

const availability = z.discriminatedUnion("status", [
  z.object({ status: z.literal("ready") }),
  z.object({ status: z.literal("downloading"), retryAfterSeconds: z.number() }),
  z.object({ status: z.literal("away"), reason: z.string() }),
]);
const answerSchema = z.object({
  models: z.record(z.string(), availability),
  own: z.array(z.object({ name: z.string(), title: z.string() })).default([]),
  onRequest: z.array(z.string()).default([]),
  fetch: z.object({ state: z.string(), fetchedBytes: z.number(), totalBytes: z.number() }).nullable(),
});
type Answer = z.infer<typeof answerSchema>;

export interface ModelStatus {
  state: "ready" | "needs-key" | "downloading" | "away";
  /** The next step, or the reason why the model is unavailable. */
  reason: string;
  retryAfterSeconds: number;
  /** True if the model's files are neither installed nor downloading. */
  notInstalled?: boolean;
}

export interface LocalProgress {
  state: "ready" | "downloading" | "away" | "off";
  reason: string;
  fetchedBytes: number;
  totalBytes: number;
}

/** A model from the operator's own files. */
export interface OwnModel {
  name: string;
  /** File name without its extension. */
  title: string;
}

export interface LocalModels {
  statusOf(internalName: string): Promise<ModelStatus>;
  /** Returns models that aren't in the registry's files; undefined while the service is unreachable. */
  own(): Promise<readonly OwnModel[] | undefined>;
  progress(): Promise<LocalProgress>;
}

export const READY: ModelStatus = { state: "ready", reason: "", retryAfterSeconds: 0 };

/** How long an answer is cached. */
const FRESH_MS = 2_000;
const TIMEOUT_MS = 2_000;
const MAX_BYTES = 64 * 1_024;
const RETRY_SECONDS = 60;
const MB = 1_000_000;

const unavailableStatus = (reason: string): ModelStatus => ({ state: "away", reason, retryAfterSeconds: RETRY_SECONDS });
const notInstalled = (reason: string): ModelStatus => ({ state: "away", reason, retryAfterSeconds: 0, notInstalled: true });
const megabytes = (bytes: number): number => Math.round(bytes / MB);

const statusIn = ({ models, fetch }: Answer, internalName: string): ModelStatus => {
  const localModel = Object.hasOwn(models, internalName) ? models[internalName] : undefined;
  if (!localModel) return notInstalled("the inference service does not know it");
  if (localModel.status === "ready") return READY;
  if (localModel.status === "away") return notInstalled(`it is not installed on this machine: ${localModel.reason}`);
  const { fetchedBytes = 0, totalBytes = 0 } = fetch ?? {};
  const reason = `its files are being downloaded (${megabytes(fetchedBytes)} of ${megabytes(totalBytes)} MB): wait for them`;
  return { state: "downloading", reason, retryAfterSeconds: localModel.retryAfterSeconds };
};

export interface LocalModelsOptions {
  egress: EgressClient;
  /** Base URL of the inference service; undefined if there is none. */
  url: string | undefined;
  apiKey: string;
  now?: () => number;
}

/** Queries the inference service, with a cache. */
export const createLocalModels = ({ egress, url, apiKey, now = Date.now }: LocalModelsOptions): LocalModels => {
  let lastAnswer: { at: number; answer: Promise<Answer | undefined> } | undefined;

  const ask = async (): Promise<Answer | undefined> => {
    try {
      const headers = { authorization: `Bearer ${apiKey}` };
      const { status, body } = await egress.request({ url: `${url}/v1/status`, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
      return status === 200 ? answerSchema.safeParse(JSON.parse(body.toString())).data : undefined;
    } catch {
      return undefined;
    }
  };
  const latest = (): Promise<Answer | undefined> => {
    if (!lastAnswer || now() - lastAnswer.at >= FRESH_MS) lastAnswer = { at: now(), answer: ask() };
    return lastAnswer.answer;
  };

  return {
    statusOf: async (internalName) => {
      const answer = await latest();
      return answer ? statusIn(answer, internalName) : unavailableStatus("the inference service does not answer: see its log");
    },
    own: async () => (url === undefined ? [] : (await latest())?.own),
    progress: async () => {
      const none = { fetchedBytes: 0, totalBytes: 0 };
      if (url === undefined) return { state: "off", reason: "this installation has no models of its own (LOCAL_MODELS)", ...none };
      const answer = await latest();
      if (!answer) return { state: "away", reason: "the inference service does not answer: see its log", ...none };
      const { fetchedBytes, totalBytes } = answer.fetch ?? none;
      const expected = Object.keys(answer.models).filter((name) => !answer.onRequest.includes(name));
      const states = expected.map((name) => statusIn(answer, name));
      const worst = (["downloading", "away"] as const).map((state) => states.find((one) => one.state === state)).find(Boolean);
      const state = worst?.state === "downloading" || worst?.state === "away" ? worst.state : "ready";
      return { state, reason: worst?.reason ?? "", fetchedBytes, totalBytes };
    },
  };
};

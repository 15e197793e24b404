import type { ComfyUiSettings } from "../../entries/settings";
import { ProviderError, type DialectContext, type JobProvider, type PollState, type ProviderFile } from "../../dialect";
import { isRecord, LIMITS } from "@nodeloom/kernel";
import { pointer } from "../../pointer";
import { createTransport, DIRECT_TIMEOUT_MS } from "../../transport";
import { errorIn, filesIn, type OutputFile } from "./history";
import { progressIn } from "./progress";
import { workflowWith } from "./workflow";

/**
 * Runs workflows on a ComfyUI server. They are submitted to its queue and read from its history. Follows `server.py` and `execution.py`.
 */

const INTERVAL_MS = 500;
const MAX_INTERVAL_MS = 3_000;
/** Large, because a queue or history can contain embedded images. */
const MAX_HISTORY_BYTES = 32 * 1_024 * 1_024;
const NOT_FOUND = 404;
/** Number of newest history entries in which a recently submitted job is searched. */
const SEARCHED_ENTRIES = 64;

const clientOf = (idempotencyKey: string): string => `nodeloom-${idempotencyKey}`;

/** Prompts in a queue or history. Each has a number, an id, a workflow, extra data, … */
const promptsIn = (answer: unknown): unknown[][] =>
  (isRecord(answer) ? Object.values(answer) : [])
    .flatMap((part) => (Array.isArray(part) ? (part as unknown[]) : [pointer(part, "/prompt")]))
    .filter((item) => Array.isArray(item));

/** State of a prompt in the queue. Each element of its lists has a number, an id, a workflow, … */
const placeIn = (queue: unknown, id: string): "running" | "pending" | undefined => {
  const has = (name: string): boolean => {
    const items = pointer(queue, `/${name}`);
    return Array.isArray(items) && items.some((item) => Array.isArray(item) && item[1] === id);
  };
  if (has("queue_running")) return "running";
  return has("queue_pending") ? "pending" : undefined;
};

/** Errors of the nodes in a rejected workflow. */
const nodeErrors = (body: string | undefined): string => {
  const detailTexts = [...(body ?? "").matchAll(/"details":\s*"((?:[^"\\]|\\.){1,200})"/g)].map(([, details]) => details!);
  return detailTexts.length === 0 ? "" : ` (${[...new Set(detailTexts)].slice(0, 3).join("; ")})`;
};

export const comfyUi = (settings: ComfyUiSettings, context: DialectContext): JobProvider => {
  const { baseUrl } = settings;
  const transport = createTransport(context, settings);
  const get = (path: string, signal?: AbortSignal): Promise<unknown> =>
    transport.json({ method: "GET", url: `${baseUrl}${path}`, maxBytes: MAX_HISTORY_BYTES, signal });

  const fileOf = ({ filename, subfolder, type }: OutputFile): ProviderFile => {
    const query = new URLSearchParams({ filename, subfolder, type }).toString();
    const call = { method: "GET", url: `${baseUrl}/view?${query}`, headers: { accept: "*/*" } };
    return {
      stripMetadata: settings.keepMetadata !== true,
      read: async function* () {
        yield* (await transport.open({ ...call, timeoutMs: DIRECT_TIMEOUT_MS, maxBytes: LIMITS.mediaBytes })).body;
      },
    };
  };
  const endedState = (entry: unknown): PollState => {
    const problem = errorIn(entry);
    if (problem === "interrupted") return { state: "cancelled" };
    if (problem !== undefined) return { state: "failed", message: transport.reason(problem) };
    return { state: "succeeded", output: { files: filesIn(entry, settings.makes).map(fileOf), text: null } };
  };
  /** Returns the history of a prompt, which is empty until the prompt ends. */
  const historyOf = async (id: string, signal?: AbortSignal): Promise<unknown> => {
    const history = await get(`/history/${encodeURIComponent(id)}`, signal);
    return isRecord(history) && Object.hasOwn(history, id) ? history[id] : undefined;
  };

  return {
    type: "job",
    idempotentSubmit: false,
    intervalMs: INTERVAL_MS,
    maxIntervalMs: MAX_INTERVAL_MS,
    submit: async ({ inputs, idempotencyKey, signal }) => {
      const body = {
        prompt: workflowWith(settings, inputs),
        client_id: clientOf(idempotencyKey),
        // By default, servers send no previews.
        extra_data: { preview_method: "auto" },
      };
      try {
        const answer = await transport.json({ method: "POST", url: `${baseUrl}/prompt`, body, signal });
        const id = pointer(answer, "/prompt_id");
        if (typeof id !== "string" || id === "")
          throw transport.errorInside(answer, true) ?? new ProviderError("refused", "the server's answer has no prompt_id");
        return { requestId: id };
      } catch (error) {
        if (!(error instanceof ProviderError) || error.status !== 400) throw error;
        throw new ProviderError("refused", `${error.message}${nodeErrors(error.body)}`, error.status, error.body);
      }
    },
    find: async (idempotencyKey, signal) => {
      const client = clientOf(idempotencyKey);
      const isOurs = (prompt: unknown[]): boolean => pointer(prompt[3], "/client_id") === client;
      const answers = [await get("/queue", signal), await get(`/history?max_items=${SEARCHED_ENTRIES}`, signal)];
      const id = answers.flatMap(promptsIn).find(isOurs)?.[1];
      return typeof id === "string" ? { requestId: id } : undefined;
    },
    poll: async ({ requestId }, signal) => {
      const entry = await historyOf(requestId, signal);
      if (entry !== undefined) return endedState(entry);
      if (placeIn(await get("/queue", signal), requestId) !== undefined) return { state: "running" };
      // The prompt may have ended between the two reads. After a restart, the server lists it in neither.
      const late = await historyOf(requestId, signal);
      if (late !== undefined) return endedState(late);
      throw new ProviderError("refused", "the server does not know the job", NOT_FOUND);
    },
    watch: ({ submission, idempotencyKey, onProgress, signal }) =>
      transport.listen({
        url: `${baseUrl}/ws?${new URLSearchParams({ clientId: clientOf(idempotencyKey) }).toString()}`,
        signal,
        onMessage: (message) => {
          const progress = progressIn(message, submission.requestId);
          if (progress) onProgress(progress);
        },
      }),
    cancel: async ({ requestId }) => {
      const post = (path: string, body: object): Promise<void> => transport.done({ method: "POST", url: `${baseUrl}${path}`, body });
      await post("/queue", { delete: [requestId] });
      // Servers that don't support `prompt_id` here would stop any running prompt. Therefore only a running prompt is interrupted.
      if (placeIn(await get("/queue"), requestId) === "running") await post("/interrupt", { prompt_id: requestId });
      return true;
    },
  };
};

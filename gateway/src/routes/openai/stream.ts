import { once } from "node:events";
import { EVENT_HEARTBEAT_MS, EVENT_STREAM_MS } from "../../http/limits";
import { EVENT_STREAM_HEADERS, whileConnected } from "../../http/event-stream";
import { errorReply } from "../../http/errors";
import { asOpenAiError } from "../../http/openai-errors";
import { readEnd, textOf, type RunContext, type Usage } from "./runs";
import type { OpenAiTarget } from "./target";

/** An answer of chat completions, piece by piece: server-sent events that end with `[DONE]`. */

const DELTA = "node.delta";
const MODEL_NODE = "model";

interface Delta {
  nodeId: string;
  text: string;
  /** The text begins, or begins anew; or all of it so far comes again. */
  reset?: boolean;
}

/** Pieces of the text of a model's run, as they are written. A text that begins anew ends them: what is missing comes with the result. */
async function* piecesOf(
  { gateway, caller, executionId }: RunContext,
  { kind }: Pick<OpenAiTarget, "kind">,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const query = { executionId, userId: caller.user.id, afterSequence: 0 };
  let written = "";
  let isAnew = false;
  for await (const { type, dataJson } of gateway.services.executions.watchExecution(query, { deadlineMs: EVENT_STREAM_MS, signal: gone })) {
    // Which node of a workflow makes its text is not known: that comes with the result.
    if (type !== DELTA || isAnew || kind === "workflow") continue;
    const { nodeId, text, reset } = JSON.parse(dataJson) as Delta;
    if (nodeId !== MODEL_NODE) continue;
    isAnew = reset === true && !text.startsWith(written);
    if (isAnew) continue;
    const piece = reset ? text.slice(written.length) : text;
    written += piece;
    yield piece;
  }
}

export interface Chunks {
  /** A chunk of what is new. */
  piece(delta: object, finishReason: "stop" | null): object;
  /** The chunk that says what was used; undefined where it isn't asked for. */
  usage?: ((usage: Usage | null) => object) | undefined;
}

/** Streams the text of a run that has begun. The client may go away: the run goes on, and is paid. */
export const streamChat = async (context: RunContext, target: Pick<OpenAiTarget, "kind">, chunks: Chunks): Promise<void> => {
  const { response, gateway } = context;
  const gone = whileConnected(response, gateway.stopping);
  response.status(200).set(EVENT_STREAM_HEADERS);
  response.flushHeaders();
  const heartbeat = setInterval(() => response.write(": still here\n\n"), EVENT_HEARTBEAT_MS);
  const write = async (data: object | string): Promise<void> => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    if (!response.write(`data: ${text}\n\n`)) await once(response, "drain", { signal: gone }).catch(() => undefined);
  };
  let written = "";
  const writeText = async (text: string): Promise<void> => {
    if (text === "") return;
    written += text;
    await write(chunks.piece({ content: text }, null));
  };
  try {
    await write(chunks.piece({ role: "assistant", content: "" }, null));
    for await (const text of piecesOf(context, target, gone)) await writeText(text);
    if (gone.aborted) return;
    const { result, usage } = await readEnd(context);
    const whole = textOf(result);
    if (whole.startsWith(written)) await writeText(whole.slice(written.length));
    await write(chunks.piece({}, "stop"));
    if (chunks.usage) await write(chunks.usage(usage ?? null));
    await write("[DONE]");
  } catch (error) {
    if (!gone.aborted) await write(asOpenAiError(errorReply(error)).body);
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
};

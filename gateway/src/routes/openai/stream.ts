import { once } from "node:events";
import { DomainError } from "@nodeloom/kernel";
import { EVENT_HEARTBEAT_MS, EVENT_STREAM_MS } from "../../http/limits";
import { EVENT_STREAM_HEADERS, whileConnected } from "../../http/event-stream";
import { errorReply, type ErrorReply } from "../../http/errors";
import { asOpenAiError } from "../../http/openai-errors";
import { answerOf, type Answer } from "./answer";
import { readEnd, type RunContext, type Wanted } from "./runs";

/** The text of a run, piece by piece, as server-sent events. */

const DELTA = "node.delta";
const MODEL_NODE = "model";

interface Delta {
  nodeId: string;
  text: string;
  /** The text begins, or begins again; or all of it so far comes again. */
  reset?: boolean;
}

/**
 * Pieces of the text of a model's run, as they are written. They end where the text begins again: the result says whether it goes on as
 * it began. An answer by a schema comes as a whole, since it may have to be repaired.
 */
async function* piecesOf(
  { gateway, caller, executionId }: RunContext,
  { target: { kind }, schema }: Wanted,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const query = { executionId, userId: caller.user.id, afterSequence: 0 };
  let written = "";
  let isAgain = false;
  for await (const { type, dataJson } of gateway.services.executions.watchExecution(query, { deadlineMs: EVENT_STREAM_MS, signal: gone })) {
    // Which node of a workflow makes its text is not known: that comes with the result.
    if (type !== DELTA || isAgain || kind === "workflow" || schema !== undefined) continue;
    const { nodeId, text, reset } = JSON.parse(dataJson) as Delta;
    if (nodeId !== MODEL_NODE) continue;
    isAgain = reset === true && !text.startsWith(written);
    if (isAgain) continue;
    const piece = reset ? text.slice(written.length) : text;
    written += piece;
    yield piece;
  }
}

/** The events of one answer, in order. Those that have a `type` are named by it. */
export interface AnswerEvents {
  begin(): object[];
  piece(text: string): object[];
  /** After the whole text. */
  end(answer: Answer): (object | string)[];
  failed(error: ErrorReply): object[];
}

/** Clients have read the beginning of another answer than the one that the run gave. */
const otherAnswer = (executionId: string): DomainError =>
  new DomainError(
    "failed",
    "EXECUTION_FAILED",
    `the provider's answer broke off after a part of it was streamed, and another attempt gave another answer: GET /api/executions/${executionId} has it`,
    { executionId },
  );

const format = (event: object | string): string => {
  if (typeof event === "string") return `data: ${event}\n\n`;
  const name = "type" in event && typeof event.type === "string" ? `event: ${event.type}\n` : "";
  return `${name}data: ${JSON.stringify(event)}\n\n`;
};

/**
 * Streams the answer of a run that has begun. What is streamed is the run's result, or the stream ends with an error. The client may
 * leave: the run goes on, and is paid.
 */
export const streamAnswer = async (context: RunContext, wanted: Wanted, events: AnswerEvents): Promise<void> => {
  const { response, gateway } = context;
  const gone = whileConnected(response, gateway.stopping);
  response.status(200).set(EVENT_STREAM_HEADERS);
  response.flushHeaders();
  const heartbeat = setInterval(() => response.write(": still here\n\n"), EVENT_HEARTBEAT_MS);
  const write = async (all: readonly (object | string)[]): Promise<void> => {
    if (all.length === 0 || response.write(all.map(format).join(""))) return;
    await once(response, "drain", { signal: gone }).catch(() => undefined);
  };
  let written = "";
  const writeText = async (text: string): Promise<void> => {
    if (text === "") return;
    written += text;
    await write(events.piece(text));
  };
  try {
    await write(events.begin());
    for await (const text of piecesOf(context, wanted, gone)) await writeText(text);
    if (gone.aborted) return;
    const answer = answerOf(await readEnd(context), wanted);
    if (!answer.text.startsWith(written)) throw otherAnswer(context.executionId);
    await writeText(answer.text.slice(written.length));
    await write(events.end(answer));
  } catch (error) {
    if (!gone.aborted) await write(events.failed(asOpenAiError(errorReply(error))));
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
};

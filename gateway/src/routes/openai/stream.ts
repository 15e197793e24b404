import { once } from "node:events";
import { DomainError } from "@nodeloom/kernel";
import { EVENT_HEARTBEAT_MS, EVENT_STREAM_MS } from "../../http/limits";
import { EVENT_STREAM_HEADERS, whileConnected } from "../../http/event-stream";
import { errorReply, type ErrorReply } from "../../http/errors";
import { asOpenAiError } from "../../http/openai-errors";
import { textPieces } from "../executions/text-pieces";
import { answerOf, type Answer } from "./answer";
import { readEnd, type RunContext, type OpenAiRun } from "./runs";

/** Streams the text of a run as server-sent events. */

/** Streams pieces of a model's text. Answers with a schema are sent whole, because they can be repaired. */
async function* piecesOf(
  { gateway, caller, executionId }: RunContext,
  { target: { kind }, schema }: OpenAiRun,
  disconnect: AbortSignal,
): AsyncGenerator<string> {
  const query = { executionId, userId: caller.user.id, afterSequence: 0 };
  const events = gateway.services.executions.watchExecution(query, { deadlineMs: EVENT_STREAM_MS, signal: disconnect });
  for await (const text of textPieces(events)) if (kind !== "workflow" && schema === undefined) yield text;
}

/** Events of one answer in order, named by their `type` if they have one. */
export interface AnswerEvents {
  begin(): object[];
  piece(text: string): object[];
  /** Events after the whole text. */
  end(answer: Answer): (object | string)[];
  failed(error: ErrorReply): object[];
}

/** Error if the client has already read the beginning of a different answer. */
const otherAnswer = (executionId: string): DomainError =>
  new DomainError(
    "failed",
    "EXECUTION_FAILED",
    `the provider's answer broke off while it was streamed, and the next attempt returned a different one: read it with GET /api/executions/${executionId}`,
    { executionId },
  );

const format = (event: object | string): string => {
  if (typeof event === "string") return `data: ${event}\n\n`;
  const name = "type" in event && typeof event.type === "string" ? `event: ${event.type}\n` : "";
  return `${name}data: ${JSON.stringify(event)}\n\n`;
};

/**
 * Streams the answer of a started run. The stream is exactly the run's result, or it ends with an error. If the client disconnects, the run
 * continues and is charged.
 */
export const streamAnswer = async (context: RunContext, runRequest: OpenAiRun, events: AnswerEvents): Promise<void> => {
  const { response, gateway, caller } = context;
  const disconnect = whileConnected(response, gateway.stopping);
  response.status(200).set(EVENT_STREAM_HEADERS);
  response.flushHeaders();
  const heartbeat = setInterval(() => response.write(": still here\n\n"), EVENT_HEARTBEAT_MS);
  const write = async (all: readonly (object | string)[]): Promise<void> => {
    if (all.length === 0 || response.write(all.map(format).join(""))) return;
    await once(response, "drain", { signal: disconnect }).catch(() => undefined);
  };
  let writtenText = "";
  const writeText = async (text: string): Promise<void> => {
    if (text === "") return;
    writtenText += text;
    await write(events.piece(await gateway.mediaUrls.leave(text, caller)));
  };
  try {
    await write(events.begin());
    for await (const text of piecesOf(context, runRequest, disconnect)) await writeText(text);
    if (disconnect.aborted) return;
    const answer = answerOf(await readEnd(context), runRequest);
    if (!answer.text.startsWith(writtenText)) throw otherAnswer(context.executionId);
    await writeText(answer.text.slice(writtenText.length));
    await write(events.end(answer));
  } catch (error) {
    if (!disconnect.aborted) await write(events.failed(asOpenAiError(errorReply(error))));
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
};

import type { executions } from "@nodeloom/proto";
import { authorize } from "../../auth/caller";
import { resolveCaller } from "../../edge/resolve";
import { streamEvents, whileAdmitted, whileConnected, type StreamedEvent } from "../../http/event-stream";
import { EVENT_STREAM_MS } from "../../http/limits";
import type { Protocol } from "../../http/protocols";
import { STREAMED } from "../../edge/route";
import { ownExecution } from "../executions/own";
import { DELTA, PREVIEW } from "../executions/text-pieces";
import { isFinal } from "../executions/view";
import { reading, type RunContext } from "./runs";

/** Streams runs as server-sent events in the form of the requested API. */

/** Converts a run's events to events of the stream. */
export type Tell = (
  events: AsyncIterable<executions.WatchExecutionResponse>,
  first: executions.Execution,
) => AsyncGenerator<Omit<StreamedEvent, "id">, void>;

/** Numbers events, and signs addresses of files in them. */
async function* numbered(
  events: AsyncGenerator<Omit<StreamedEvent, "id">, void>,
  leave: (data: string) => Promise<string>,
): AsyncGenerator<StreamedEvent, void> {
  let id = 0;
  for await (const event of events) yield { ...event, data: await leave(event.data), id: ++id };
}

/**
 * Follows a run of the caller until it ends, or the client disconnects or loses access.
 * @throws DomainError EXECUTION_NOT_FOUND, CONCURRENCY_LIMIT_EXCEEDED
 */
export const followRun = async (context: RunContext, executionId: string, protocol: Protocol, tell: Tell): Promise<typeof STREAMED> => {
  const { gateway, caller, request, response } = context;
  const first = await ownExecution(context, executionId);
  const giveBack = gateway.eventStreams.take(caller.person.id);
  const disconnect = whileAdmitted(whileConnected(response, gateway.stopping), async () => {
    authorize(await resolveCaller(gateway, { ...reading, protocol }, request, response), "any", reading.capability);
  });
  const query = { executionId, userId: caller.user.id, afterSequence: 0 };
  const messages = gateway.services.executions.watchExecution(query, { deadlineMs: EVENT_STREAM_MS, signal: disconnect });
  const events = numbered(tell(messages, first), (data) => gateway.mediaUrls.leave(data, caller));
  try {
    await streamEvents(response, events, disconnect);
    return STREAMED;
  } finally {
    giveBack();
    events.return().catch(() => undefined);
  }
};

/** Yields a run after each change until it ends. Pieces of texts and previews don't count as changes. */
export async function* changesOf(
  context: RunContext,
  events: AsyncIterable<executions.WatchExecutionResponse>,
  first: executions.Execution,
): AsyncGenerator<executions.Execution, void> {
  yield first;
  if (isFinal(first)) return;
  for await (const { type } of events) {
    if (type === DELTA || type === PREVIEW) continue;
    const run = await ownExecution(context, first.executionId);
    yield run;
    if (isFinal(run)) return;
  }
}

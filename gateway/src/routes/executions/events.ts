import { unavailable } from "@nodeloom/kernel";
import { withTimeout } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { eventsForVisitors } from "../../apps/executions";
import { authorize } from "../../auth/caller";
import { addressOf } from "../../edge/rate/counting";
import { resolveCaller } from "../../edge/resolve";
import { content, defineRoute, STREAMED, type CallContext, type Reply } from "../../edge/route";
import {
  EVENT_STREAM_HEADERS,
  lastEventId,
  streamEvents,
  whileAdmitted,
  whileConnected,
  type StreamedEvent,
} from "../../http/event-stream";
import { raw, toJson } from "../../http/json";
import { EVENT_STREAM_MS } from "../../http/limits";
import { iso } from "../../http/schemas";
import { ownExecution } from "./own";
import { reading } from "./settings";
import { isFinal } from "./view";

const NOTHING_MORE = 204;

/** OpenAPI 3.1 describes a stream of events by one event. */
const streamedEvent = z
  .object({
    id: z.string().regex(/^\d+$/).meta({ description: "Send it as `Last-Event-ID` to continue after this event" }),
    event: z.string().meta({ example: "node.completed" }),
    data: z.string().meta({ description: "JSON: `{type, at, data}`", contentMediaType: "application/json" }),
  })
  .meta({ id: "ExecutionEvent", description: "One event of the stream" });

async function* eventsOf(
  messages: AsyncIterable<executions.WatchExecutionResponse>,
  isVisitor: boolean,
): AsyncGenerator<StreamedEvent, void> {
  for await (const { sequence, type, at, dataJson, publicDataJson } of messages) {
    const publicData = (isVisitor && publicDataJson) || dataJson;
    yield { id: sequence, type, data: toJson({ type, at: iso(at), data: raw(publicData, "{}") }) };
  }
}

async function* signedEvents(
  events: AsyncGenerator<StreamedEvent, void>,
  leave: (data: string) => Promise<string>,
): AsyncGenerator<StreamedEvent, void> {
  for await (const event of events) yield { ...event, data: await leave(event.data) };
}

/** Continues an iteration after its first item. */
async function* resumed<T>(first: IteratorResult<T, void>, rest: AsyncIterable<T>): AsyncIterable<T> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

/** Longest wait for the first event; every execution has one. */
const FIRST_EVENT_MS = 5_000;

type Context = CallContext<"any", { id: string }>;

/** Streams the events after the ones that the client has seen, until the execution is final, or the client disconnects or loses access. */
const watch = ({ gateway, caller, params, request, response }: Context, afterSequence: number) => {
  const disconnect = whileAdmitted(whileConnected(response, gateway.stopping), async () => {
    authorize(await resolveCaller(gateway, reading, request, response), reading.auth, reading.capability);
  });
  const query = { executionId: params.id, userId: caller.user.id, afterSequence };
  const messages = gateway.services.executions.watchExecution(query, { deadlineMs: EVENT_STREAM_MS, signal: disconnect });
  const events = eventsOf(messages, Boolean(caller.visitor));
  const shownEvents = caller.visitor ? eventsForVisitors(events) : events;
  return { events: signedEvents(shownEvents, (data) => gateway.mediaUrls.leave(data, caller)), disconnect };
};

/** Follows an execution while the client has a stream slot, and ends the service's stream afterwards. */
const follow = async <T>(
  context: Context,
  afterSequence: number,
  tell: (following: ReturnType<typeof watch>) => Promise<T>,
): Promise<T> => {
  const { caller, request } = context;
  // Visitors of an app don't use the owner's stream slots.
  const giveBack = context.gateway.eventStreams.take(caller.visitor ? addressOf(request) : caller.person.id);
  const following = watch(context, afterSequence);
  try {
    return await tell(following);
  } finally {
    giveBack();
    // The stream can still wait for an event, so closing the connection ends it.
    following.events.return().catch(() => undefined);
  }
};

/** Follows from the beginning. Every execution has an event, so the first response shows whether the execution exists. */
const followAll = (context: Context): Promise<typeof STREAMED> =>
  follow<typeof STREAMED>(context, 0, async ({ events, disconnect }) => {
    const first = await withTimeout(events.next(), FIRST_EVENT_MS, () => {
      throw unavailable("executions does not answer");
    });
    await streamEvents(context.response, resumed(first, events), disconnect);
    return STREAMED;
  });

/** Continues after an event. A client that has seen the last event gets a response that stops it from reconnecting. */
const followFrom = (context: Context, afterSequence: number, knownExecution: executions.Execution): Promise<Reply | typeof STREAMED> =>
  follow(context, afterSequence, async ({ events, disconnect }) => {
    const { gateway, response } = context;
    if (!isFinal(knownExecution)) {
      await streamEvents(response, events, disconnect);
      return STREAMED;
    }
    const first = await events.next();
    // No event arrived, because this process stops or because the log ended. If the log ended, the client must not reconnect.
    if (first.done && gateway.stopping.aborted) throw unavailable("this process is stopping");
    if (first.done) return { status: NOTHING_MORE };
    await streamEvents(response, resumed(first, events), disconnect);
    return STREAMED;
  });

export const watchExecutionRoute = defineRoute({
  ...reading,
  path: "/api/executions/:id/events",
  operationId: "watchExecution",
  summary: "Follow an execution as server-sent events",
  headers: ["Last-Event-ID"],
  description:
    "Sends the events after `Last-Event-ID`. If there are no more events, the response is 204, and the client must not reconnect. Texts arrive in pieces while they are written: " +
    "`node.delta` events without an id, with the data `{nodeId, item, text, reset?}`. They aren't replayed: a client that connects later gets the text so far, with `reset: true`. " +
    "If a provider streams the progress of its job, `node.preview` events without an id have the data `{nodeId, item, percent?, image?}`; `image` is a `data:` URL. They are never stored.",
  responses: { 200: content({ "text/event-stream": streamedEvent }), 204: null },
  errors: ["EXECUTION_NOT_FOUND", "CONCURRENCY_LIMIT_EXCEEDED"],
  handler: async (context) => {
    const { caller, params, request } = context;
    const afterSequence = lastEventId(request.headers["last-event-id"]);
    // The first event shows that the execution exists. For visitors the row must also show that it belongs to them.
    if (request.method !== "HEAD" && afterSequence === 0 && !caller.visitor) return followAll(context);
    const knownExecution = await ownExecution(context, params.id);
    return request.method === "HEAD" ? { status: 200, headers: EVENT_STREAM_HEADERS } : followFrom(context, afterSequence, knownExecution);
  },
});

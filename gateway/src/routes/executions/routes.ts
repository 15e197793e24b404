import { executionNotFound, unavailable } from "@nodeloom/kernel";
import { webhookDeliveryJson, withTimeout } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { authorize, type Caller } from "../../auth/caller";
import { resolveCaller } from "../../edge/resolve";
import type { Services } from "../../clients/services";
import {
  EVENT_STREAM_HEADERS,
  lastEventId,
  streamEvents,
  whileAdmitted,
  whileConnected,
  type StreamedEvent,
} from "../../http/event-stream";
import { createdAtOf } from "../workflows/readable";
import { asVisitorSees, eventsForVisitors, ownOnly } from "../../apps/executions";
import { deleteExecutionRoute } from "./delete";
import { executionGraphRoute } from "./graph";
import { execution, executionView, EXECUTION_STATUSES, isFinal, webhookDelivery } from "./view";
import { toJson, raw } from "../../http/json";
import { addressOf } from "../../edge/rate/counting";
import { EVENT_STREAM_MS } from "../../http/limits";
import { content, defineRoute, STREAMED, type CallContext, type Reply } from "../../edge/route";
import {
  cursor,
  cursorPage,
  executionParams,
  iso,
  limit,
  listQuery,
  nextCursor,
  PAGES_END_EARLY,
  queryFlag,
  slug,
  uuid,
} from "../../http/schemas";
import { jsonBody } from "../../http/body/kinds";

const NOTHING_MORE = 204;

const shared = { tag: "Executions", auth: "any", params: executionParams, errors: ["EXECUTION_NOT_FOUND"] } as const;
const reading = { ...shared, method: "GET", capability: "execution:read", role: "viewer", limit: "user+id", app: "visitors" } as const;

/** OpenAPI 3.1 describes a stream of events by one event. */
const streamedEvent = z
  .object({
    id: z.string().regex(/^\d+$/).meta({ description: "Send it as `Last-Event-ID` to continue after this event" }),
    event: z.string().meta({ example: "node.completed" }),
    data: z.string().meta({ description: "JSON: `{type, at, data}`", contentMediaType: "application/json" }),
  })
  .meta({ id: "ExecutionEvent", description: "One event of the stream" });

/** An execution of the caller. @throws EXECUTION_NOT_FOUND */
const getExecution = async (
  service: Services["executions"],
  executionId: string,
  { user, visitor }: Caller,
): Promise<executions.Execution> => {
  const { execution: stored } = await service.getExecution({ executionId, userId: user.id });
  if (!stored) throw executionNotFound();
  return visitor ? asVisitorSees(stored, visitor) : stored;
};

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
  return { events: signedEvents(shownEvents, (data) => gateway.mediaUrls.leave(data, caller)), gone: disconnect };
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
  follow<typeof STREAMED>(context, 0, async ({ events, gone }) => {
    const first = await withTimeout(events.next(), FIRST_EVENT_MS, () => {
      throw unavailable("executions does not answer");
    });
    await streamEvents(context.response, resumed(first, events), gone);
    return STREAMED;
  });

/** Continues after an event. A client that has seen the last event gets a response that stops it from reconnecting. */
const followFrom = (context: Context, afterSequence: number, knownExecution: executions.Execution): Promise<Reply | typeof STREAMED> =>
  follow(context, afterSequence, async ({ events, gone }) => {
    const { gateway, response } = context;
    if (!isFinal(knownExecution)) {
      await streamEvents(response, events, gone);
      return STREAMED;
    }
    const first = await events.next();
    // No event arrived, because this process stops or because the log ended. If the log ended, the client must not reconnect.
    if (first.done && gateway.stopping.aborted) throw unavailable("this process is stopping");
    if (first.done) return { status: NOTHING_MORE };
    await streamEvents(response, resumed(first, events), gone);
    return STREAMED;
  });

const METADATA_PREFIX = "metadata.";
const moment = z.iso.datetime({ offset: true }).optional();
const namedFilters = z.object({
  status: z.enum(EXECUTION_STATUSES).optional(),
  workflowSlug: slug.optional(),
  batchId: uuid.optional().meta({ description: "Only items of this batch. Without it, only executions that aren't items of a batch" }),
  createdAfter: moment.meta({ description: "Only executions created at or after this time", example: "2026-05-04T12:00:00Z" }),
  createdBefore: moment.meta({ description: "Only executions created before this time", example: "2026-05-05T12:00:00Z" }),
  waiting: queryFlag.optional().meta({ description: "`true`: only executions that wait for a decision" }),
  limit,
  cursor: cursor.optional(),
});
const filters = namedFilters.catchall(z.string()).superRefine((query, context) => {
  for (const path of Object.keys(query)) {
    // No run has metadata with a NUL character or with this name.
    const isOfMetadata = path.startsWith(METADATA_PREFIX) && !path.includes("\0") && path !== `${METADATA_PREFIX}__proto__`;
    if (Object.hasOwn(namedFilters.shape, path) || isOfMetadata) continue;
    context.addIssue({ code: "custom", path: [path], message: "is not known" });
  }
});

/** `metadata.<name>=<value>`: runs with all of these pairs. */
const metadataFilter = (query: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      name.startsWith(METADATA_PREFIX) ? [[name.slice(METADATA_PREFIX.length), String(value)]] : [],
    ),
  );

const latest = (...dates: readonly (Date | undefined)[]): Date | undefined =>
  dates.reduce((one, other) => (one === undefined || (other !== undefined && other > one) ? other : one));
const dateOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

export const executionRoutes = [
  // Comes before the routes of one execution, because `cancel` isn't an id.
  defineRoute({
    method: "POST",
    path: "/api/executions/cancel",
    operationId: "cancelQueuedExecutions",
    summary: "Cancel all queued executions",
    description: "These executions never started, so they cost nothing.",
    tag: "Executions",
    auth: "any",
    role: "runner",
    capability: "execution:cancel",
    limit: "user",
    body: jsonBody(z.strictObject({ queued: z.literal(true) }).meta({ id: "CancelQueuedRequest" })),
    responses: { 200: z.object({ cancelled: z.number().meta({ description: "Number" }) }).meta({ id: "CancelQueuedResult" }) },
    handler: async ({ gateway, caller }) => {
      const { cancelled } = await gateway.services.executions.cancelQueued({ userId: caller.user.id });
      return { status: 200, body: { cancelled } };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/executions",
    operationId: "listExecutions",
    summary: "List the caller's executions, newest first",
    description: PAGES_END_EARLY,
    tag: "Executions",
    auth: "any",
    role: "viewer",
    capability: "execution:read",
    limit: "user",
    query: listQuery(filters),
    responses: { 200: cursorPage(execution) },
    app: "visitors",
    handler: async (context) => {
      const { gateway, caller, query } = context;
      const { visitor } = caller;
      const workflowSlug = visitor?.slug ?? query.workflowSlug ?? "";
      const workflowSince = workflowSlug === "" ? undefined : await createdAtOf(context, workflowSlug);
      const page = await gateway.services.executions.listExecutions({
        userId: caller.user.id,
        status: query.status ?? "",
        workflowSlug,
        batchId: query.batchId ?? "",
        limit: query.limit,
        cursor: query.cursor ?? "",
        metadata: metadataFilter(query),
        createdAfter: latest(dateOf(query.createdAfter), workflowSince),
        createdBefore: dateOf(query.createdBefore),
        waiting: query.waiting === true,
        ...(visitor ? ownOnly(query, visitor) : {}),
      });
      const rows = visitor ? page.executions.map((each) => asVisitorSees(each, visitor)) : page.executions;
      return { status: 200, body: { rows: rows.map(executionView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...reading,
    path: "/api/executions/:id",
    operationId: "getExecution",
    summary: "Poll an execution",
    responses: { 200: execution },
    handler: async ({ gateway, caller, params }) => ({
      status: 200,
      body: executionView(await getExecution(gateway.services.executions, params.id, caller)),
    }),
  }),
  deleteExecutionRoute,
  executionGraphRoute,
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/executions/:id/cancel",
    operationId: "cancelExecution",
    summary: "Cancel an execution",
    description: "Calls already sent to providers are charged; other calls are free. A queued run ends immediately and costs nothing.",
    capability: "execution:cancel",
    limit: "user+id",
    role: "runner",
    responses: {
      200: z
        .object({ status: z.enum(["cancel_requested", "already_completed", "already_failed", "already_cancelled"]) })
        .meta({ id: "CancelResult" }),
    },
    handler: async ({ gateway, caller, params }) => {
      const { status } = await gateway.services.executions.cancelExecution({ executionId: params.id, userId: caller.user.id });
      return { status: 200, body: { status } };
    },
  }),
  defineRoute({
    ...reading,
    path: "/api/executions/:id/events",
    operationId: "watchExecution",
    summary: "Follow an execution as server-sent events",
    headers: ["Last-Event-ID"],
    description:
      "Sends the events after `Last-Event-ID`. If there are no more events, the response is 204, and the client must not reconnect. Texts arrive in pieces while they are written: " +
      "`node.delta` events without an id, with the data `{nodeId, item, text, reset?}`. They aren't replayed: a client that connects later gets the text so far, with `reset: true`.",
    responses: { 200: content({ "text/event-stream": streamedEvent }), 204: null },
    errors: ["EXECUTION_NOT_FOUND", "CONCURRENCY_LIMIT_EXCEEDED"],
    handler: async (context) => {
      const { gateway, caller, params, request } = context;
      const afterSequence = lastEventId(request.headers["last-event-id"]);
      // The first event shows that the execution exists. For visitors the row must also show that it belongs to them.
      if (request.method !== "HEAD" && afterSequence === 0 && !caller.visitor) return followAll(context);
      const knownExecution = await getExecution(gateway.services.executions, params.id, caller);
      return request.method === "HEAD"
        ? { status: 200, headers: EVENT_STREAM_HEADERS }
        : followFrom(context, afterSequence, knownExecution);
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/executions/:id/redeliver",
    operationId: "redeliverWebhook",
    summary: "Deliver an execution's webhook again",
    description:
      "Sends it at once, with eight new attempts. It replaces a delivery that is still waiting. Returns 412 if there is no receiver: the run hasn't ended or has no webhook; the key's webhook is disabled, removed or not subscribed to this event; or the key no longer has `webhook:receive`.",
    capability: "webhook:receive",
    limit: "user+id",
    role: "runner",
    idempotent: "replay",
    responses: { 202: z.object({ webhookDelivery }).meta({ id: "RedeliverResult" }) },
    errors: ["EXECUTION_NOT_FOUND", "SOURCE_ERASED", "PRECONDITION_FAILED"],
    handler: async ({ gateway, caller, params }) => {
      const { webhookDelivery: delivery } = await gateway.services.executions.redeliverWebhook({
        executionId: params.id,
        userId: caller.user.id,
      });
      return { status: 202, body: { webhookDelivery: webhookDeliveryJson(delivery) } };
    },
  }),
];

/** Passes webhooks of executions to notifications, which delivers them. */
import { executionNotFound, preconditionFailed } from "@nodeloom/kernel";
import { notifications as proto } from "@nodeloom/proto";
import type { Notifications } from "../clients";
import { endEventOf, isAnnounced, isForEndpoints, isNotified, type DeliveryState, type WebhookState } from "../run/delivery";
import { BATCH_COMPLETED, type BatchRecord } from "../run/batch";
import type { ExecutionView } from "../run/record";
import { checkNotEmptied } from "../run/refusals";
import { isFinal, WAITING } from "../run/states";
import type { Stores } from "../record/stores";

/** How long a poll waits for notifications. Afterwards the poll shows the state that this service has. */
const READ = { deadlineMs: 500, reconnectMs: 0 } as const;

/** Returns the state of a delivery that version 1.0.0 started. */
const earlierOf = ({ state, delivery = 1, attempts = 0, history = [], ...rest }: WebhookState): proto.Delivery | undefined =>
  state &&
  proto.Delivery.fromPartial({
    ...{ state, delivery, attempts },
    deliveredAt: rest.deliveredAt ?? undefined,
    lastError: rest.lastError ?? undefined,
    nextAttemptAt: rest.nextAttemptAt ?? undefined,
    history: history.map(({ status, error, ...attempt }) => ({ ...attempt, status: status ?? undefined, error: error ?? undefined })),
  });

/** Builds the webhook message of a run that has ended, or of a node that waits for a decision. */
const runWebhook = (row: ExecutionView, nodeId = ""): proto.Webhook =>
  proto.Webhook.fromPartial({
    ...{ ownerId: row.userId, keyId: row.keyId ?? "", baseTier: row.baseTier ?? "" },
    event: nodeId === "" ? `execution.${row.status}` : WAITING,
    about: { $case: "run", value: { executionId: row._id, nodeId } },
    ...(row.webhook?.isOwn ? { url: row.webhook.url, events: row.webhook.events } : {}),
    ...(row.webhook && nodeId === "" ? { earlier: earlierOf(row.webhook) } : {}),
  });

const batchWebhook = ({ _id, userId, runner, webhook }: BatchRecord): proto.Webhook =>
  proto.Webhook.fromPartial({
    ...{ ownerId: userId, keyId: runner.keyId, baseTier: runner.baseTier, event: BATCH_COMPLETED },
    about: { $case: "batchId", value: _id },
    ...(webhook?.isOwn ? { url: webhook.url, events: [BATCH_COMPLETED] } : {}),
    ...(webhook && webhook.attempts > 0 ? { earlier: { ...webhook, delivery: 1, deliveredAt: undefined, lastError: undefined } } : {}),
  });

/** True if a batch's webhook is pending and notifications doesn't have it yet. */
const owesWebhook = ({ webhook }: BatchRecord): boolean => webhook?.state === "pending" && webhook.isHandedOver !== true;

type EndpointEvents = Parameters<typeof isForEndpoints>[0];

const standingOf = ({ state, deliveredAt, lastError, nextAttemptAt, history, delivery, attempts }: proto.Delivery) => ({
  ...{ state: state as DeliveryState, delivery, attempts },
  deliveredAt: deliveredAt ?? null,
  lastError: lastError ?? null,
  nextAttemptAt: nextAttemptAt ?? null,
  history: history.map(({ at = new Date(0), status, error, ...attempt }) => ({
    ...attempt,
    at,
    status: status ?? null,
    error: error ?? null,
    key: `${attempt.delivery}:${attempt.attempt}`,
  })),
});

export type HandOver = ReturnType<typeof createHandOver>;

export interface HandOverOptions {
  notifications: Pick<Notifications, "send" | "getDeliveries" | "redeliver">;
  stores: Pick<Stores, "deliveries" | "rows">;
}

export const createHandOver = ({ notifications, stores }: HandOverOptions) => {
  const send = async (id: string, webhook: proto.Webhook): Promise<void> => {
    await notifications.send({ id, message: { $case: "webhook", value: webhook } });
  };

  const deliveriesOf = async (ids: readonly string[]): Promise<Map<string, proto.Delivery>> => {
    if (ids.length === 0) return new Map();
    const { deliveries } = await notifications.getDeliveries({ ids: [...ids] });
    return new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  };

  /**
   * Adds delivery states. Rows that notifications doesn't know aren't changed. If notifications doesn't respond, the states are unknown.
   */
  const withDeliveries = async <Row extends { _id: string; webhook: object | null }>(
    rows: readonly Row[],
    isAsked: (row: Row) => boolean,
  ): Promise<Row[]> => {
    const ids = rows.filter(isAsked).map(({ _id }) => _id);
    if (ids.length === 0) return [...rows];
    const unknown = ids.map((id) => [id, { state: "unknown" as const }] as const);
    const deliveriesById = new Map<string, object>(
      await notifications.getDeliveries({ ids }, READ).then(
        ({ deliveries }) => deliveries.map((delivery) => [delivery.id, standingOf(delivery)] as const),
        () => unknown,
      ),
    );
    return rows.map((row) =>
      row.webhook && deliveriesById.has(row._id) ? { ...row, webhook: { ...row.webhook, ...deliveriesById.get(row._id) } } : row,
    );
  };

  /** Sends a message to the owner's endpoints that are subscribed to it. */
  const sendToEndpoints = async (of: EndpointEvents, id: string, webhook: proto.Webhook): Promise<void> => {
    if (isForEndpoints(of, webhook.event))
      await send(id, { ...webhook, toEndpoints: true, keyId: "", url: "", events: [], earlier: undefined });
  };

  return {
    /** Announces the end of a run. Repeating is safe, because a message with a known id is sent once. */
    end: async (row: ExecutionView): Promise<void> => {
      if (isAnnounced(row)) await send(row._id, runWebhook(row));
      await sendToEndpoints(row, row._id, { ...runWebhook(row), event: endEventOf(row) });
    },
    /** Announces that a node waits for a decision. A synchronous run that waits is answered with 202. */
    waiting: async (row: ExecutionView, nodeId: string): Promise<void> => {
      const [id, webhook] = [`${row._id}.waiting.${nodeId}`, runWebhook(row, nodeId)];
      if (row.webhook) await send(id, webhook);
      await sendToEndpoints(row, id, webhook);
    },
    batch: async (batch: BatchRecord): Promise<void> => {
      if (owesWebhook(batch)) await send(batch._id, batchWebhook(batch));
      await sendToEndpoints(batch.runner, batch._id, batchWebhook(batch));
    },
    send,

    /** Moves a delivery that version 1.0.0 started to notifications. */
    move: async (executionId: string): Promise<void> => {
      const row = await stores.deliveries.move(executionId);
      if (row?.webhook) await send(executionId, runWebhook(row));
    },

    runs: (rows: readonly ExecutionView[]): Promise<ExecutionView[]> =>
      withDeliveries(rows, (row) => isFinal(row) && isAnnounced(row) && row.webhook !== null && isNotified(row.webhook)),
    batches: (rows: readonly BatchRecord[]): Promise<BatchRecord[]> =>
      withDeliveries(rows, ({ webhook }) => webhook?.isHandedOver === true),

    /** Returns the runs that have a webhook in delivery. @throws if notifications is unavailable */
    pending: async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
      const deliveries = await deliveriesOf(ids);
      return new Set([...deliveries.values()].filter(({ state }) => state === "pending").map(({ id }) => id));
    },

    /**
     * Starts another delivery of a final execution's webhook, requested by its owner. @throws EXECUTION_NOT_FOUND, SOURCE_ERASED,
     * PRECONDITION_FAILED
     */
    redeliver: async (executionId: string, userId: string): Promise<ExecutionView> => {
      const ownedRow = await stores.rows.findOwned(executionId, userId);
      if (!ownedRow) throw executionNotFound();
      if (!ownedRow.webhook || (isFinal(ownedRow) && !isAnnounced(ownedRow))) throw preconditionFailed("the execution has no webhook");
      if (!isFinal(ownedRow)) throw preconditionFailed("the execution isn't final yet: its webhook is sent when it is");
      checkNotEmptied(ownedRow, "its webhook can't be sent again");
      const row = isNotified(ownedRow.webhook) ? ownedRow : ((await stores.deliveries.move(executionId)) ?? ownedRow);
      const { delivery } = await notifications.redeliver({ id: executionId, webhook: runWebhook(row) });
      return { ...row, webhook: { ...row.webhook!, ...(delivery ? standingOf(delivery) : {}) } };
    },
  };
};

/** Announces the end of a batch once. @returns null, because notifications retries the delivery */
export const createAnnounceBatch =
  ({ batches, webhooks }: { batches: Pick<Stores["batches"], "find" | "noteWebhook">; webhooks: Pick<HandOver, "batch"> }) =>
  async (batchId: string): Promise<null> => {
    const batch = await batches.find(batchId);
    if (!batch?.finishedAt || !batch.isCarried) return null;
    await webhooks.batch(batch);
    await batches.noteWebhook(batchId, batch.webhook ? { isHandedOver: true } : {}, true);
    return null;
  };

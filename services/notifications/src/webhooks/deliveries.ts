/** Accepts messages and redeliveries, and finds messages that no workflow delivers. */
import { preconditionFailed } from "@nodeloom/kernel";
import type { Logger, RelayedRows } from "@nodeloom/platform";
import type { identity as identityProto } from "@nodeloom/proto";
import type { Identity } from "../clients";
import type { DeliveryStore } from "../store/deliveries";
import { TIMING } from "../timing";
import { FIRST_DELIVERY, nextAttempt, type DeliveryRecord, type NewDelivery, type Standing } from "../delivery";
import { createReadTarget, wants } from "./webhooks";

/** Input of a delivery workflow. */
export interface DeliveryInput {
  id: string;
  delivery: number;
  /** Number of the first attempt within the delivery, starting at 1. */
  attempt: number;
  /** Pause before that attempt. */
  pauseMs: number;
}

export interface DeliveryStarter {
  /** Starts the workflow that delivers a message, unless it is running. */
  startDelivery(input: DeliveryInput): Promise<void>;
}

export interface Deliveries {
  /** Accepts a message. A repeated message isn't sent again. */
  add(message: NewDelivery): Promise<void>;
  /**
   * Starts another delivery at once with its own schedule. It replaces a delivery that waits for a retry. A second request before the first
   * attempt doesn't start another delivery.
   * @throws PRECONDITION_FAILED
   */
  again(message: NewDelivery): Promise<DeliveryRecord>;
  /** Rows for the relay: messages without a workflow, and overdue messages. */
  unstarted: RelayedRows<DeliveryRecord>;
}

export interface DeliveriesOptions {
  store: Pick<DeliveryStore, "insert" | "find" | "begin" | "noteStarted" | "listUnstarted">;
  identity: Pick<Identity, "getWebhookTarget">;
  starter: DeliveryStarter;
  logger: Logger;
  clock?: () => number;
}

type ReceivedMessage = Pick<DeliveryRecord, "event" | "url" | "endpointId">;

const endpointObstacle = ({ event }: ReceivedMessage, target: identityProto.GetWebhookTargetResponse): string | undefined => {
  if (target.disabled) return "the webhook endpoint is disabled; enable it first";
  if (target.url === "") return "the webhook endpoint is deleted";
  return wants(target, event) ? undefined : `the webhook endpoint is not for ${event}`;
};

const obstacle = (record: ReceivedMessage, target: identityProto.GetWebhookTargetResponse): string | undefined => {
  if (record.endpointId !== undefined) return endpointObstacle(record, target);
  if (target.disabled) return "the key's webhook is disabled; set it again to enable it";
  if (target.url === "") return "the key has no webhook any more, or may not receive webhooks";
  if (!wants(target, record.event)) return `the ${record.url === undefined ? "key" : "run"}'s webhook is not for ${record.event}`;
  return undefined;
};

/** Returns the number of the requested delivery. If the latest redelivery has no attempt yet, it is the requested one. */
const nextDelivery = ({ delivery, state, history }: Standing): number => {
  const isAhead = delivery > FIRST_DELIVERY && state === "pending" && !history.some((attempt) => attempt.delivery === delivery);
  return isAhead ? delivery : delivery + 1;
};

export const createDeliveries = ({ store, identity, starter, logger, clock = Date.now }: DeliveriesOptions): Deliveries => {
  const readTarget = createReadTarget(identity);
  const start = async ({ _id: id, delivery, history, nextAttemptAt }: Omit<DeliveryRecord, "about">): Promise<void> => {
    const pauseMs = Math.max(0, (nextAttemptAt?.getTime() ?? 0) - clock());
    await starter.startDelivery({ id, delivery, attempt: nextAttempt({ delivery, history }), pauseMs });
    await store.noteStarted(id, delivery, new Date(clock()));
  };

  const startSoon = async (record: DeliveryRecord): Promise<void> => {
    await start(record).catch((err: unknown) =>
      logger.warn({ err, message: record._id }, "a webhook is stored, and will be started later"),
    );
  };

  /** @returns the message's current state */
  const accept = async (message: NewDelivery): Promise<{ record: DeliveryRecord; isNew: boolean }> => {
    const isNew = await store.insert(message, new Date(clock()));
    const record = await store.find(message._id);
    if (!record) throw new Error("a webhook was erased while it was accepted");
    return { record, isNew };
  };

  return {
    add: async (message) => {
      const { record, isNew } = await accept(message);
      if (isNew && record.state === "pending") await startSoon(record);
    },

    again: async (message) => {
      const { record } = await accept(message);
      const problem = obstacle(record, await readTarget(record));
      if (problem !== undefined) throw preconditionFailed(problem);
      const delivery = nextDelivery(record);
      await store.begin(record._id, delivery, new Date(clock()));
      const current = await store.find(record._id);
      if (current?.startedAt === null) await startSoon(current);
      return current ?? record;
    },

    unstarted: {
      name: "webhooks",
      page: (limit, after) => store.listUnstarted(new Date(clock() - TIMING.lateDelivery), limit, after),
      signatureOf: ({ _id, delivery, startedAt }) => `${_id} ${delivery} ${startedAt?.getTime() ?? 0}`,
      settle: async (rows) => {
        for (const row of rows) await start(row);
        return true;
      },
    },
  };
};

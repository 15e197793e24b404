/** Passes undelivered messages of version 1.0.0 to notifications. Remove this with the release after this one. */
import { isRefusal } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { AlertDelivery } from "../workflow/activity-types";
import type { Notifications } from "../clients";
import { DELIVERY_ATTEMPTS, type AttemptId, type DeliveryEnd, type DeliveryState, type AttemptResult } from "../run/delivery";
import { TIMING } from "../run/timing";
import { checkEach, LOOK_PAGE, type PassReport } from "../record/look";
import type { Stores } from "../record/stores";
import type { HandOver } from "../webhooks/hand-over";

export interface EarlierMessagesOptions {
  stores: Pick<Stores, "deliveries" | "earlierMails" | "rows">;
  notifications: Pick<Notifications, "send">;
  webhooks: Pick<HandOver, "move" | "waiting" | "send">;
  logger: Logger;
}

const ENDS = { delivered: "delivered", failed: "given up", pending: null } as const satisfies Partial<
  Record<DeliveryState, DeliveryEnd | null>
>;

export const createEarlierMessages = ({ stores, notifications, webhooks, logger }: EarlierMessagesOptions) => {
  /** @returns how the mail's workflow ends */
  const moveMail = async (id: string): Promise<{ end: string }> => {
    const mail = await stores.earlierMails.find(id);
    if (!mail || mail.end !== null) return { end: mail?.end ?? "given up" };
    const { kind, content, keyId, createdAt } = mail;
    const message = { $case: "earlierMail" as const, value: { kind, content, keyId, createdAt } };
    const end = await notifications.send({ id, message }).then(
      () => "moved",
      (error: unknown) => {
        // The mail server was removed.
        if (isRefusal(error)) return "given up";
        throw error;
      },
    );
    await stores.earlierMails.end(id, end);
    return { end };
  };

  return {
    /** Activities of workflows that version 1.0.0 started. Each activity passes its message to notifications and ends its workflow. */
    activities: {
      sendMail: (id: string) => moveMail(id),
      sendAlert: async ({ id, userId, keyId, at, dataJson }: AlertDelivery): Promise<null> => {
        const about = { $case: "body" as const, value: { messageId: id, timestamp: new Date(at), dataJson } };
        await webhooks.send(`${id}-${keyId}`, {
          ownerId: userId,
          keyId,
          baseTier: "",
          event: "budget.alert",
          about,
          earlier: undefined,
          url: "",
          events: [],
          toEndpoints: false,
        });
        return null;
      },
      sendWebhook: async ({ executionId, nodeId }: AttemptId): Promise<AttemptResult> => {
        if (nodeId === undefined) await webhooks.move(executionId);
        else {
          const row = await stores.rows.find(executionId);
          if (row?.webhook) await webhooks.waiting(row, nodeId);
        }
        return { nothing: "superseded" };
      },
      /** Stores an attempt made by a worker of version 1.0.0. */
      recordAttempt: async (
        { executionId, delivery, attempt, nodeId }: AttemptId,
        attemptResult: AttemptResult,
      ): Promise<DeliveryEnd | null> => {
        if ("nothing" in attemptResult) return "superseded";
        const { at, status, error, durationMs, url } = attemptResult;
        const state = error === null ? "delivered" : attempt >= DELIVERY_ATTEMPTS ? "failed" : "pending";
        const entry = { key: `${delivery}:${attempt}`, delivery, attempt, at: new Date(at), status, error, durationMs, url };
        if (nodeId === undefined) await stores.deliveries.record(executionId, entry, state);
        return ENDS[state];
      },
    },

    /** Moves messages without a workflow: mails that were never started, and webhooks whose attempt is long overdue. */
    moveLate: async (beat: () => void): Promise<PassReport> => {
      const mails = await stores.earlierMails.listNotCarried(LOOK_PAGE);
      const late = await stores.deliveries.late(new Date(Date.now() - TIMING.lateDelivery), LOOK_PAGE);
      const failed = ({ _id }: { _id: string }, err: unknown): void => logger.error({ err, message: _id }, "a message could not be moved");
      const looked = await checkEach(mails, { beat, failed, check: ({ _id }) => moveMail(_id).then(() => true) });
      return checkEach(late, { beat, failed, check: ({ _id }) => webhooks.move(_id).then(() => true) }, looked);
    },
  };
};

export type EarlierMessages = ReturnType<typeof createEarlierMessages>;

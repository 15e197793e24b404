/** Announces the end of a batch to the webhook of the key that runs it, where that names the event. */
import { batchJson, type EgressClient } from "@nodeloom/platform";
import type { Outgoing } from "../calls/outgoing";
import type { Identity } from "../clients";
import { pauseBefore } from "../run/delivery";
import { BATCH_COMPLETED } from "../batches/orders";
import { batchMessage } from "../batches/view";
import { isBaseTier } from "@nodeloom/kernel";
import type { BatchRecord } from "../run/batch";
import type { Stores } from "../store/stores";
import { createAttempt, createReport } from "./attempt";

export interface BatchWebhookOptions {
  stores: Pick<Stores, "batches">;
  identity: Pick<Identity, "getWebhookTarget" | "disableWebhook" | "reportDelivery">;
  egress: EgressClient;
  outgoing: Pick<Outgoing, "webhook">;
  timeoutMs?: number;
}

export const createAnnounceBatch = ({ stores, identity, egress, outgoing, timeoutMs }: BatchWebhookOptions) => {
  const { batches } = stores;
  const [attemptAt, report] = [createAttempt(egress, timeoutMs), createReport(identity)];

  const attempt = async (batch: BatchRecord, attempts: number): Promise<number | null> => {
    const { _id, runner, finishedAt, createdAt } = batch;
    const { keyId, userId } = runner;
    const target = await identity.getWebhookTarget({ keyId });
    if (target.disabled || target.url === "" || !target.events.includes(BATCH_COMPLETED)) {
      await batches.noteWebhook(_id, { state: target.disabled ? "disabled" : "skipped" }, true);
      return null;
    }
    const baseTier = isBaseTier(runner.baseTier) ? runner.baseTier : undefined;
    const later = await outgoing.webhook({ userId, baseTier }, target.url);
    if (later) return later.afterMs ?? 0;
    const timestamp = finishedAt ?? createdAt;
    const sent = await attemptAt(target, { id: `msg_${_id}`, type: BATCH_COMPLETED, timestamp, data: batchJson(batchMessage(batch)) });
    const { delivered, disabled, final } = await report({ keyId, attempt: attempts }, sent);
    const isOver = delivered || disabled || final;
    const state = delivered ? "delivered" : disabled ? "disabled" : final ? "failed" : "pending";
    const deliveredAt = delivered ? { deliveredAt: new Date(sent.at + sent.durationMs) } : {};
    await batches.noteWebhook(_id, { url: sent.url, state, attempts, lastError: sent.error, ...deliveredAt }, isOver);
    return isOver ? null : pauseBefore(attempts + 1, sent.retryAfterMs);
  };

  /**
   * Makes the next attempt, if there is to be one. One that was sent and could not be noted is made again.
   * @returns the pause before another, in milliseconds; null where there is none
   */
  return async (batchId: string): Promise<number | null> => {
    const batch = await batches.find(batchId);
    if (batch?.finishedAt === null || batch?.webhook?.state !== "pending") return null;
    return attempt(batch, batch.webhook.attempts + 1);
  };
};

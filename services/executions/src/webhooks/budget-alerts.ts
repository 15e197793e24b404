/** Announces that budgets have reached shares of theirs: to the webhooks of their account's keys that name the event. */
import { budgetAlertJson, type EgressClient } from "@nodeloom/platform";
import type { billing } from "@nodeloom/proto";
import type { Outgoing } from "../calls/outgoing";
import type { AlertDelivery, NextAttempt } from "../carry/activity-types";
import type { Identity } from "../clients";
import { pauseBefore } from "../run/delivery";
import { createAttempt, createReport } from "./attempt";

export const BUDGET_ALERT = "budget.alert";

/** An alert as its delivery carries it. */
export const alertDelivery = (userId: string, keyId: string, alert: billing.BudgetAlert): AlertDelivery => ({
  ...{ id: `msg_budget_${alert.id}`, userId, keyId, at: alert.at?.toISOString() ?? new Date(0).toISOString() },
  dataJson: JSON.stringify(budgetAlertJson(alert)),
});

export interface SendAlertOptions {
  identity: Pick<Identity, "getWebhookTarget" | "disableWebhook" | "reportDelivery">;
  egress: EgressClient;
  outgoing: Pick<Outgoing, "webhook">;
  timeoutMs?: number;
}

export const createSendAlert = ({ identity, egress, outgoing, timeoutMs }: SendAlertOptions) => {
  const [attemptAt, report] = [createAttempt(egress, timeoutMs), createReport(identity)];
  /**
   * Makes an attempt, unless the webhook is gone, disabled, or for other events by now.
   * @param attempt from 1
   * @returns which one is next; null where there is none
   */
  return async ({ id, userId, keyId, at, dataJson }: AlertDelivery, attempt: number): Promise<NextAttempt | null> => {
    const target = await identity.getWebhookTarget({ keyId });
    if (target.disabled || target.url === "" || !target.events.includes(BUDGET_ALERT)) return null;
    const later = await outgoing.webhook({ userId, baseTier: undefined }, target.url);
    // Its turn has not come: nothing was sent.
    if (later) return { attempt, pauseMs: later.afterMs ?? 0 };
    const sent = await attemptAt(target, { id, type: BUDGET_ALERT, timestamp: new Date(at), data: JSON.parse(dataJson) as unknown });
    const { delivered, disabled, final } = await report({ keyId, attempt }, sent);
    return delivered || disabled || final ? null : { attempt: attempt + 1, pauseMs: pauseBefore(attempt + 1, sent.retryAfterMs) };
  };
};

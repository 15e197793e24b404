/** Passes alerts of budgets and of low credits from billing to webhooks and emails. Billing decides when an alert is due. */
import { isRefusal, toCredits } from "@nodeloom/kernel";
import { budgetAlertJson, type RelayedRows } from "@nodeloom/platform";
import type { billing as billingProto, identity as identityProto } from "@nodeloom/proto";
import type { Billing, Identity } from "./clients";
import { alertFacts } from "./mail/alert-facts";
import type { OwnersMails } from "./mail/owners";
import type { Deliveries } from "./webhooks/deliveries";
import type { EndpointMessage, Endpoints } from "./webhooks/endpoints";
import type { NewDelivery } from "./delivery";

const BUDGET_ALERT = "budget.alert";

/** Returns the message of an alert for endpoints. */
const alertMessage = (ownerId: string, alert: billingProto.BudgetAlert): EndpointMessage => {
  const messageId = `msg_budget_${alert.id}`;
  const about = { kind: "body" as const, messageId, at: alert.at ?? new Date(0), dataJson: JSON.stringify(budgetAlertJson(alert)) };
  return { _id: messageId, ownerId, event: BUDGET_ALERT, about };
};
/** Returns the message of an alert for one key. */
const toKey = (message: EndpointMessage, keyId: string): NewDelivery => ({ ...message, _id: `${message._id}-${keyId}`, keyId });

export interface RelayedAlertsOptions {
  billing: Pick<Billing, "listBudgetAlerts" | "takeBudgetAlerts">;
  identity: Pick<Identity, "listKeys">;
  deliveries: Pick<Deliveries, "add">;
  endpoints: Pick<Endpoints, "add">;
  /** Undefined without a mail server. */
  mails: OwnersMails | undefined;
}

const isSubscribed = ({ webhook }: identityProto.Key): boolean =>
  webhook?.disabledAt === undefined && webhook?.events.includes(BUDGET_ALERT) === true;

export const createRelayedAlerts = ({
  billing,
  identity,
  deliveries,
  endpoints,
  mails,
}: RelayedAlertsOptions): RelayedRows<billingProto.BudgetAlerts> => {
  /** Returns an account's keys; empty for a deleted account. */
  const keysOf = async (userId: string): Promise<identityProto.Key[]> => {
    try {
      return (await identity.listKeys({ userId })).keys;
    } catch (error) {
      if (isRefusal(error)) return [];
      throw error;
    }
  };

  /** Emails the owners. Keys receive the alert by webhook. */
  const mail = async (userId: string, alert: billingProto.BudgetAlert): Promise<void> => {
    const { lowCredits } = alert;
    const facts = lowCredits && {
      remaining: toCredits(lowCredits.remainingMillicredits),
      monthly: toCredits(lowCredits.monthlyMillicredits),
    };
    const about = facts ? { kind: "lowCredits" as const, ...facts } : { kind: "budgetAlert" as const, alert: alertFacts(alert) };
    await mails?.addForOwners(userId, about, alert.id);
  };

  /**
   * Acknowledges an alert after its deliveries have started. After a failure, deliveries that have already started aren't started again.
   */
  const passOn = async ({ userId, alerts }: billingProto.BudgetAlerts): Promise<void> => {
    const ofBudgets = alerts.filter(({ lowCredits }) => lowCredits === undefined);
    const keys = ofBudgets.length > 0 ? (await keysOf(userId)).filter(isSubscribed) : [];
    for (const message of ofBudgets.map((alert) => alertMessage(userId, alert))) {
      for (const { id } of keys) await deliveries.add(toKey(message, id));
      await endpoints.add(message);
    }
    for (const alert of alerts) await mail(userId, alert);
    await billing.takeBudgetAlerts({ userId, ids: alerts.map(({ id }) => id) });
  };

  const listAll = async (): Promise<billingProto.BudgetAlerts[]> => {
    const alerts: billingProto.BudgetAlerts[] = [];
    let cursor = "";
    do {
      const page = await billing.listBudgetAlerts({ cursor });
      alerts.push(...page.users);
      cursor = page.nextCursor;
    } while (cursor !== "");
    return alerts;
  };

  return {
    name: "budget alerts",
    page: async (_limit, after) => (after ? [] : listAll()),
    signatureOf: ({ userId, alerts }) => JSON.stringify([userId, alerts.map(({ id }) => id)]),
    entriesOf: ({ alerts }) => alerts.length,
    staleMs: 0,
    settle: async ([user]) => {
      await passOn(user!);
      return true;
    },
  };
};

/** Delivers a webhook again, because its owner asks for it. */
import { DomainError, executionNotFound } from "@nodeloom/kernel";
import type { executions, identity as identityProto } from "@nodeloom/proto";
import type { Identity } from "../clients";
import { FIRST_DELIVERY, type WebhookState } from "../run/delivery";
import type { ExecutionView } from "../run/record";
import { isFinal } from "../run/states";
import type { Stores } from "../store/stores";
import type { DeliveryStarter } from "../carry/client";
import { executionMessage } from "../requests/view";
import { eventOf, wants } from "./webhooks";

const refused = (message: string): DomainError => new DomainError("precondition", "PRECONDITION_FAILED", message);

const obstacle = (record: ExecutionView, target: identityProto.GetWebhookTargetResponse): string | undefined => {
  if (target.disabled) return "the key's webhook is disabled; set it again to enable it";
  if (target.url === "") return "the key has no webhook any more, or may not receive webhooks";
  if (!wants(target, eventOf(record))) return `the key's webhook is not for ${eventOf(record)}`;
  return undefined;
};

/** A redelivery that has begun but made no attempt yet is what is asked for. */
const nextDelivery = ({ delivery = FIRST_DELIVERY, state, history = [] }: WebhookState): number => {
  const isAhead = delivery > FIRST_DELIVERY && state === "pending" && !history.some((attempt) => attempt.delivery === delivery);
  return isAhead ? delivery : delivery + 1;
};

/**
 * Starts another delivery of a final execution's webhook, at once and with a schedule of its own; one that is still
 * waiting to try again leaves it to the new one. Asking again before its first attempt starts no other.
 */
export const createRedelivery =
  (stores: Stores, identity: Pick<Identity, "getWebhookTarget">, starter: Pick<DeliveryStarter, "startAgain">) =>
  async (executionId: string, userId: string): Promise<executions.WebhookDelivery> => {
    const record = await stores.rows.findOwned(executionId, userId);
    if (!record) throw executionNotFound();
    const { webhook, keyId } = record;
    if (!webhook || keyId === null) throw refused("the execution has no webhook");
    if (!isFinal(record)) throw refused("the execution is not final yet; its webhook is delivered when it is");
    const problem = obstacle(record, await identity.getWebhookTarget({ keyId }));
    if (problem !== undefined) throw refused(problem);
    const delivery = nextDelivery(webhook);
    await starter.startAgain({ executionId, keyId, delivery });
    // Only now: what waits gives way to a delivery that exists.
    await stores.deliveries.begin(executionId, delivery, new Date());
    return executionMessage((await stores.rows.find(executionId)) ?? record).webhookDelivery!;
  };

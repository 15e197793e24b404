/**
 * Notices of models that providers shut down: emails to the owners of an account, and messages to webhooks that are subscribed to the
 * event.
 */
import { invalidRequest, isRefusal } from "@nodeloom/kernel";
import type { identity as identityProto, notifications } from "@nodeloom/proto";
import type { Identity } from "./clients";
import type { OwnersMails } from "./mail/owners";
import type { Deliveries } from "./webhooks/deliveries";
import type { Endpoints } from "./webhooks/endpoints";
import { isReceiver } from "./webhooks/webhooks";

const MODEL_RETIRING = "model.retiring";
const MAX_WORKFLOWS = 20;
const DAY = /^\d{4}-\d\d-\d\d$/;

export interface RetiringModelsOptions {
  identity: Pick<Identity, "listKeys">;
  deliveries: Pick<Deliveries, "add">;
  endpoints: Pick<Endpoints, "add">;
  /** Undefined if no mail server is configured. */
  mails: OwnersMails | undefined;
  now?: () => Date;
}

const isSubscribed = ({ webhook }: identityProto.Key): boolean => webhook !== undefined && isReceiver(webhook, MODEL_RETIRING);

/**
 * Sends one notice. The ids of its deliveries and emails contain `id`, so a repeated call sends nothing twice.
 * @throws DomainError INVALID_REQUEST
 */
export const createAcceptRetiring = ({ identity, deliveries, endpoints, mails, now = () => new Date() }: RetiringModelsOptions) => {
  const keysOf = async (userId: string): Promise<identityProto.Key[]> => {
    try {
      return (await identity.listKeys({ userId })).keys;
    } catch (error) {
      if (isRefusal(error)) return [];
      throw error;
    }
  };

  return async (id: string, retiring: notifications.ModelRetiring): Promise<void> => {
    const { ownerId, model, retiresOn, successor, workflows, workflowCount } = retiring;
    if (id === "" || ownerId === "" || model === "" || !DAY.test(retiresOn) || workflows.length > MAX_WORKFLOWS)
      throw invalidRequest([{ path: "modelRetiring", message: `needs an id, owner, model, day and at most ${MAX_WORKFLOWS} workflows` }]);
    const messageId = `msg_retiring_${id}`;
    const data = { model, retiresOn, successor: successor || null, workflows, workflowCount };
    const about = { kind: "body" as const, messageId, at: now(), dataJson: JSON.stringify(data) };
    const message = { ownerId, event: MODEL_RETIRING, about };
    for (const key of (await keysOf(ownerId)).filter(isSubscribed))
      await deliveries.add({ ...message, _id: `${messageId}-${key.id}`, keyId: key.id });
    await endpoints.add({ ...message, _id: messageId });
    const names = workflows.map(({ name }) => name);
    await mails?.addForOwners(ownerId, { kind: "modelRetiring", retiring: { ...data, workflows: names } }, id);
  };
};

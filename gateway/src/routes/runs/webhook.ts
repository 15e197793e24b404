/** Webhook that a request sets for its run. */
import { covers, invalidRequest } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { capabilityDenied } from "../../http/errors";

const CAPABILITY = "webhook:receive";
const MAX_URL_CHARS = 2_048;
const RUN_EVENTS = ["execution.completed", "execution.failed", "execution.cancelled", "execution.waiting"] as const;
const BATCH_EVENTS = ["batch.completed", ...RUN_EVENTS] as const;

const url = z.url({ protocol: /^https?$/ }).max(MAX_URL_CHARS);

export const runWebhook = z.strictObject({ url, events: z.array(z.enum(RUN_EVENTS)).min(1).optional() }).meta({
  id: "RunWebhook",
  description:
    "Receives this run's messages in place of the key's webhook, signed with the secret of `GET /api/webhook-secret`. Without `events`, it gets the end of the run. A run that is answered with 200 sends nothing. By key it needs `webhook:receive`",
  example: { url: "https://example.com/hook" },
});

export const batchWebhook = z.strictObject({ url, events: z.array(z.enum(BATCH_EVENTS)).min(1).optional() }).meta({
  id: "BatchWebhook",
  description:
    "Receives the messages of this batch in place of the key's webhook, signed with the secret of `GET /api/webhook-secret`. Without `events`, it gets `batch.completed`. Events of executions need `itemWebhooks`, which is true by default if `events` names one. By key it needs `webhook:receive`",
  example: { url: "https://example.com/hook" },
});

export interface OwnWebhook {
  url: string;
  /** If absent, the webhook gets only the ends of runs. */
  events?: readonly string[] | undefined;
  /** Form of the body: `fal` or `replicate`; absent for Nodeloom's own form. */
  form?: string;
  /** Parameter that names the address, for errors. */
  path?: string;
}

type Receiving = Pick<Caller, "key" | "visitor" | "capabilities">;

/**
 * Checks a webhook before anything is planned or stored.
 * @throws DomainError CAPABILITY_DENIED, INVALID_REQUEST for an address that isn't public
 */
export const checkWebhook = async (
  { services }: Pick<Gateway, "services">,
  { key, visitor, capabilities }: Receiving,
  { url: address, path = "webhook.url" }: OwnWebhook,
): Promise<void> => {
  if (visitor !== undefined || (key && !covers(capabilities, CAPABILITY))) throw capabilityDenied(CAPABILITY);
  const { problem } = await services.identity.checkWebhookAddress({ url: address });
  if (problem !== undefined) throw invalidRequest([{ path, message: problem }]);
};

/** Adds the webhook to the runner, after `checkWebhook`. */
export const runnerWith = async (
  gateway: Pick<Gateway, "services">,
  caller: Receiving,
  webhook: OwnWebhook,
): Promise<Pick<executions.Runner, "webhookUrl" | "webhookEvents" | "webhookForm" | "webhookOwn">> => {
  await checkWebhook(gateway, caller, webhook);
  const { url: webhookUrl, events = [], form: webhookForm = "" } = webhook;
  return { webhookUrl, webhookEvents: [...events], webhookForm, webhookOwn: true };
};

/** The webhook that a request names for its run. */
import { covers, invalidRequest } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { capabilityDenied } from "../../http/errors";

const CAPABILITY = "webhook:receive";
const MAX_URL_CHARS = 2_048;
const RUN_EVENTS = ["execution.completed", "execution.failed", "execution.cancelled", "execution.waiting"] as const;

export const runWebhook = z
  .strictObject({ url: z.url({ protocol: /^https?$/ }).max(MAX_URL_CHARS), events: z.array(z.enum(RUN_EVENTS)).min(1).optional() })
  .meta({
    id: "RunWebhook",
    description:
      "Receives this run's messages in place of the key's webhook, signed with the secret of `GET /api/webhook-secret`. Without `events`, it gets the end of the run. A run that is answered with 200 sends nothing. By key it needs `webhook:receive`",
    example: { url: "https://example.com/hook" },
  });

export interface OwnWebhook {
  url: string;
  /** Absent for the ends of runs. */
  events?: readonly string[] | undefined;
  /** Whose form the body has: `fal` or `replicate`; absent for Nodeloom's. */
  form?: string;
  /** Parameter that names the address, for errors. */
  path?: string;
}

/**
 * The webhook as members of who runs. Its address is checked before the run is planned.
 * @throws DomainError CAPABILITY_DENIED, INVALID_REQUEST for an address that isn't public
 */
export const runnerWith = async (
  { services }: Pick<Gateway, "services">,
  { key, visitor, capabilities }: Pick<Caller, "key" | "visitor" | "capabilities">,
  { url, events = [], form = "", path = "webhook.url" }: OwnWebhook,
): Promise<Pick<executions.Runner, "webhookUrl" | "webhookEvents" | "webhookForm" | "webhookOwn">> => {
  if (visitor !== undefined || (key && !covers(capabilities, CAPABILITY))) throw capabilityDenied(CAPABILITY);
  const { problem } = await services.identity.checkWebhookAddress({ url });
  if (problem !== undefined) throw invalidRequest([{ path, message: problem }]);
  return { webhookUrl: url, webhookEvents: [...events], webhookForm: form, webhookOwn: true };
};

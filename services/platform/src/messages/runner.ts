/** Says for whom a run is started: the account with its plan, and the key or the person that starts it. */
import { covers } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";

const RECEIVE = "webhook:receive";

export interface RunStarter {
  /** Account that pays for the run. */
  user: { id: string; role: string; tier: string; endpointEvents: readonly string[] };
  plan: { base: string; markupPermille: number; concurrency: number };
  /** Person who starts the run, or who created what starts it. */
  personId: string;
  source: "api-slim" | "api-workflow" | "canvas";
  /** Null or absent for a session. */
  key?:
    | {
        id: string;
        metadata: Readonly<Record<string, string>>;
        alias?: string | undefined;
        webhook?: { url: string; events: readonly string[]; disabledAt?: Date | undefined } | null | undefined;
      }
    | null
    | undefined;
  /** Capabilities of the key or the session. A key without `webhook:receive` gets no messages. */
  capabilities: readonly string[];
}

/** Returns the runner, with the key's webhook if the key can receive messages. */
export const runnerOf = ({ user, plan, personId, source, key, capabilities }: RunStarter): executions.Runner => {
  const webhook = key?.webhook && !key.webhook.disabledAt && covers(capabilities, RECEIVE) ? key.webhook : undefined;
  return {
    userId: user.id,
    role: user.role,
    tier: user.tier,
    baseTier: plan.base,
    markupPermille: plan.markupPermille,
    concurrency: plan.concurrency,
    keyId: key?.id ?? "",
    source,
    webhookUrl: webhook?.url ?? "",
    webhookEvents: [...(webhook?.events ?? [])],
    webhookForm: "",
    webhookOwn: false,
    endpointEvents: [...user.endpointEvents],
    capabilities: [...capabilities],
    keyAlias: key?.alias,
    keyMetadata: { ...key?.metadata },
    ...(personId === user.id ? {} : { personId }),
  };
};

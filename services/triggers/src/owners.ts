/** Checks the account for which a schedule or a hook runs a workflow. */
import {
  accountLeaving,
  accountNotApproved,
  accountSuspended,
  covers,
  DomainError,
  invalidRequest,
  isBaseTier,
  lowestTierFor,
  withinCeiling,
} from "@nodeloom/kernel";
import { runnerOf } from "@nodeloom/platform";
import type { executions, identity as identityProto, triggers } from "@nodeloom/proto";
import type { Identity } from "./clients";

export interface RunWebhook {
  url: string;
  /** Events of the webhook; empty for the default events, which report that a run has ended. */
  events: string[];
}

/** Creator of a schedule or a hook. */
export interface Owner {
  userId: string;
  /** Key that created it; null for a session. */
  keyId: string | null;
  /** Person who created it, if known. */
  personId?: string | undefined;
  /** Time of creation; absent during the creation. */
  grantedAt?: Date | undefined;
  createdAt?: Date;
  /** Webhook of the runs; absent to use the key's webhook. */
  webhook?: RunWebhook | null | undefined;
}

export const ownerOf = (owner: triggers.TriggerOwner | undefined): Owner => {
  if (!owner) throw invalidRequest([{ path: "owner", message: "is required" }]);
  return { userId: owner.userId, keyId: owner.keyId || null, personId: owner.personId || owner.userId };
};

const RUN = "workflow:run";
const RECEIVE = "webhook:receive";
const SOURCE = "api-workflow";
const ADMIN = "admin";

const denied = (required: string): DomainError => {
  const requiredTier = lowestTierFor(required);
  return new DomainError(
    "forbidden",
    "CAPABILITY_DENIED",
    `schedules and hooks need the capability ${required}, within the account's tier`,
    {
      required,
      ...(requiredTier === undefined ? {} : { requiredTier }),
    },
  );
};

interface OwnerFacts {
  user: identityProto.User | undefined;
  key?: identityProto.Key | undefined;
  /** Capabilities of the key. A session has the capabilities of its tier. */
  capabilities?: readonly string[];
}

/** A key that can't receive webhooks any more gets no messages, even if its schedule has a webhook. */
const ownWebhook = ({ key, capabilities = [] }: OwnerFacts, webhook: RunWebhook | null | undefined): Partial<executions.Runner> =>
  webhook && (!key || covers(capabilities, RECEIVE)) ? { webhookUrl: webhook.url, webhookEvents: webhook.events, webhookOwn: true } : {};

export type Owners = ReturnType<typeof createOwners>;

export const createOwners = ({ identity }: { identity: Pick<Identity, "getUser" | "resolveKey"> }) => {
  const rightsOf = async ({ userId, keyId, personId = userId, createdAt, grantedAt: at = createdAt }: Owner): Promise<OwnerFacts> => {
    if (keyId === null) return identity.getUser({ userId, grant: at && { personId, at } });
    const { user, key, effectiveCapabilities } = await identity.resolveKey({ userId, keyId });
    return { user, key, capabilities: effectiveCapabilities };
  };

  return {
    /**
     * Looks up the owner of a run and checks it like a request of the owner, with the account's current state.
     * @throws UNAUTHENTICATED (the key is revoked or has expired), API_KEY_ACCESS_DENIED, ACCOUNT_SUSPENDED, ACCOUNT_NOT_APPROVED,
     *   ACCOUNT_LEAVING, CAPABILITY_DENIED
     */
    runner: async (owner: Owner, workflowSlug: string): Promise<executions.Runner> => {
      const rights = await rightsOf(owner);
      const { user, capabilities } = rights;
      const plan = user?.plan;
      if (!user || !plan || !isBaseTier(plan.base)) throw new Error("identity answered without a user and their plan");
      if (user.suspended) throw accountSuspended();
      if (!user.approved) throw accountNotApproved();
      if (user.erasesAt) throw accountLeaving();
      const required = `workflow:${workflowSlug}:run`;
      if (!withinCeiling(RUN, plan.base, user.role === ADMIN)) throw denied(RUN);
      if (capabilities && !covers(capabilities, required)) throw denied(required);
      const personId = rights.key?.madeBy ?? owner.personId ?? owner.userId;
      const runner = runnerOf({ user, plan, personId, source: SOURCE, key: rights.key, capabilities: capabilities ?? [] });
      // Capabilities are needed by runs of models only.
      return { ...runner, capabilities: [], ...ownWebhook(rights, owner.webhook) };
    },
  };
};

import { capsFromNumbers, capsToNumbers, type CustomTier, type Plan } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import type { AuditEntry } from "../audit/audit";
import type { AuthenticatedKey } from "../keys/authentication";
import type { AuditRecord, SecretRecord } from "../records";
import type { ReportedRequest } from "../keys/key-request-store";
import type { DeletedKeyRecord, KeyRecord } from "../keys/records";
import { partsOf } from "../secrets/aliases";
import type { User } from "../users/user";

/** Converts domain values to and from gRPC messages. Absent members are undefined in messages and null in the domain. */

const toPlanMessage = (plan: Plan): identity.Plan =>
  identity.Plan.fromPartial({
    tier: plan.tier,
    base: plan.base,
    rateLimitPerMinute: plan.rateLimitPerMinute ?? undefined,
    markupPermille: plan.markupPermille,
    monthlyMillicredits: plan.monthlyMillicredits,
    concurrency: plan.concurrency,
    caps: capsToNumbers(plan.caps),
  });

export const toUserMessage = ({ plan, business, erasesAt, endpointEvents = [], ...user }: User): identity.User =>
  identity.User.fromPartial({
    ...{ ...user, plan: toPlanMessage(plan), business: business ?? undefined, erasesAt: erasesAt ?? undefined },
    endpointEvents: [...endpointEvents],
  });

export const toAuthenticatedMessage = ({
  key,
  user,
  person,
  role,
  effectiveCapabilities,
}: AuthenticatedKey): identity.AuthenticateKeyResponse => ({
  key: toKeyMessage(key),
  user: toUserMessage(user),
  effectiveCapabilities,
  person: toUserMessage(person),
  role: role ?? "",
});

const keyParts = ({ _id, userId, madeBy = userId, lastUsedAt, expiresAt, ...key }: Omit<DeletedKeyRecord, "deletedAt">) => ({
  ...{ id: _id, userId, madeBy, name: key.name, start: key.start, preset: key.preset, capabilities: key.capabilities },
  ...{ createdAt: key.createdAt, lastUsedAt: lastUsedAt ?? undefined, expiresAt: expiresAt ?? undefined },
});

/** Empty members aren't stored. */
export const fromKeyRequestMessage = ({ at, errorCode, executionId, ip, ...request }: identity.KeyRequest): ReportedRequest => ({
  ...{ ...request, at: at ?? new Date() },
  ...(errorCode === "" ? {} : { errorCode }),
  ...(executionId === "" ? {} : { executionId }),
  ...(ip === "" ? {} : { ip }),
});

export const toDeletedKeyMessage = (key: DeletedKeyRecord): identity.Key =>
  identity.Key.fromPartial({ ...keyParts(key), deletedAt: key.deletedAt });

export const toKeyMessage = (key: KeyRecord): identity.Key =>
  identity.Key.fromPartial({
    ...keyParts(key),
    metadata: Object.fromEntries((key.metadata ?? []).map(({ name, value }) => [name, value])),
    alias: key.alias,
    webhook: key.webhook ? { ...key.webhook, disabledAt: key.webhook.disabledAt ?? undefined } : undefined,
  });

export const toTierMessage = (tier: CustomTier): identity.Tier =>
  identity.Tier.fromPartial({ ...tier, rateLimitPerMinute: tier.rateLimitPerMinute ?? undefined, caps: capsToNumbers(tier.caps) });

/** The base was checked when the tier was stored. */
export const fromTierMessage = (tier: identity.Tier): CustomTier => ({
  id: tier.id,
  base: tier.base as CustomTier["base"],
  rateLimitPerMinute: tier.rateLimitPerMinute ?? null,
  markupPermille: tier.markupPermille,
  monthlyMillicredits: tier.monthlyMillicredits,
  concurrency: tier.concurrency,
  caps: capsFromNumbers(tier.caps),
});

const OUTCOMES = {
  pending: identity.AuditOutcome.AUDIT_OUTCOME_PENDING,
  done: identity.AuditOutcome.AUDIT_OUTCOME_DONE,
  failed: identity.AuditOutcome.AUDIT_OUTCOME_FAILED,
} as const satisfies Record<AuditRecord["outcome"], identity.AuditOutcome>;

export const toAuditMessage = ({ _id, outcome, unannounced: _unannounced, ...row }: AuditRecord): identity.AuditRow =>
  identity.AuditRow.fromPartial({ ...row, id: _id, outcome: OUTCOMES[outcome] });

export const fromAuditMessage = ({ outcome, at: _at, ...row }: identity.AuditRow): AuditEntry => {
  const [name] = Object.entries(OUTCOMES).find(([, value]) => value === outcome) ?? [];
  return { ...row, outcome: name as AuditEntry["outcome"] };
};

export const toSecretMessage = ({ name, hint, hosts, workflows = [], setBy, setAt, createdAt = setAt }: SecretRecord): identity.Secret =>
  identity.Secret.fromPartial({ ...partsOf(name), hint, hosts, workflows, setBy, setAt, createdAt });

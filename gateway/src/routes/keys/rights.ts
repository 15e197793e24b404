import { isBaseTier, presetCapabilities, roleDenied, withinGrants, type Preset } from "@nodeloom/kernel";
import type { Caller } from "../../auth/caller";
import { capabilityDenied, notFound, sessionRequired } from "../../http/errors";
import type { Gateway } from "../../edge/gateway";

/** Capability of service accounts' keys that manage keys of their account. */
export const MANAGES_KEYS = "keys:write";

/**
 * Decides which keys a caller can change: owners of an organization change all, members and service accounts their own.
 * @throws SESSION_REQUIRED for other keys. Keys that fix metadata or an alias are rejected, because the new key would not fix them.
 */
export const mayChange = ({ user, person, organization, key }: Caller): { userId: string; madeBy: string | undefined } => {
  if (key && (!person.service || Object.keys(key.metadata).length > 0 || key.alias)) throw sessionRequired();
  const changesAll = !key && (!organization || organization.role === "owner");
  return { userId: user.id, madeBy: changesAll ? undefined : person.id };
};

/** Rejects capabilities that the requesting key doesn't have. @throws CAPABILITY_DENIED */
const requireWithin = ({ capabilities: own }: Pick<Caller, "capabilities">, capabilities: readonly string[]): void => {
  const beyond = capabilities.find((capability) => !withinGrants([capability], own).includes(capability));
  if (beyond !== undefined) throw capabilityDenied(beyond);
};

export const requireNewGrants = (caller: Caller, { preset, capabilities }: { preset?: Preset; capabilities?: string[] }): void => {
  if (!caller.key) return;
  const { base } = caller.user.plan;
  requireWithin(caller, capabilities ?? (preset && isBaseTier(base) ? presetCapabilities(preset, base) : []));
};

/**
 * Selects a key for a change. A key can't change or replace a stronger key, because it would learn the stronger key's value or choose its
 * receiver.
 * @throws the errors of `mayChange`; NOT_FOUND, CAPABILITY_DENIED
 */
export const changeable = async (
  { gateway, caller }: { gateway: Gateway; caller: Caller },
  keyId: string,
): Promise<{ userId: string; madeBy: string | undefined; keyId: string }> => {
  const owner = mayChange(caller);
  if (caller.key) {
    const { keys } = await gateway.services.identity.listKeys({ userId: owner.userId, selection: { keyIds: [keyId] } });
    const key = keys.find(({ madeBy }) => madeBy === owner.madeBy);
    if (!key) throw notFound("key");
    requireWithin(caller, key.capabilities);
  }
  return { ...owner, keyId };
};

/** Creator of a new key: the caller, or a service account. @throws CAPABILITY_DENIED unless the caller is an owner */
export const makerOf = (caller: Caller, serviceAccountId: string | undefined): string => {
  if (serviceAccountId === undefined) return caller.person.id;
  if (caller.key && serviceAccountId !== caller.person.id) throw notFound("service account");
  if (caller.organization && caller.organization.role !== "owner") throw roleDenied("owner");
  return serviceAccountId;
};

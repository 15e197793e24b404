import {
  accountLeaving,
  accountNotApproved,
  accountSuspended,
  covers,
  DomainError,
  effectiveCapabilities,
  isCapability,
  likelyCapability,
  PRESETS,
  presetCapabilities,
  invalidRequest,
  withinCeiling,
  withinGrants,
  withinRole,
  type Issue,
  type Preset,
} from "@nodeloom/kernel";
import type { KeyHolder } from "../organizations/accounts";
import { isAdmin, type User } from "../users/user";

/** Preset name of keys without a preset. */
export const CUSTOM_PRESET = "custom";
const MAX_CAPABILITIES = 100;
const MANAGES_KEYS = "keys:write";
const WEBHOOK_CAPABILITY = "webhook:receive";

/** Grants for a new key, as a preset's id or as a list, never both. */
export interface GrantRequest {
  preset: string;
  capabilities: string[];
}

const isPreset = (preset: string): preset is Preset => (PRESETS as readonly string[]).includes(preset);

/** Problems of a grant request that don't depend on the caller. */
export const grantIssues = ({ preset, capabilities }: GrantRequest): Issue[] => {
  const isCustom = preset === "" || preset === CUSTOM_PRESET;
  if (isCustom && capabilities.length === 0) return [{ path: "capabilities", message: "send a preset or at least one capability" }];
  if (!isCustom && capabilities.length > 0) return [{ path: "capabilities", message: "send a preset or capabilities, not both" }];
  if (!isCustom && !isPreset(preset)) return [{ path: "preset", message: `must be one of ${PRESETS.join(", ")}` }];
  if (capabilities.length > MAX_CAPABILITIES) return [{ path: "capabilities", message: `must be at most ${MAX_CAPABILITIES}` }];
  return capabilities.flatMap((capability, index) =>
    isCapability(capability) ? [] : [{ path: `capabilities.${index}`, message: `isn't a known capability${likelyCapability(capability)}` }],
  );
};

/** Only approved owners can create keys. If the tier has no API access, that error comes first. */
export const requireKeyRights = (owner: User): void => {
  requireApiAccess(owner);
  requireStanding(owner);
};

/** @throws ACCOUNT_SUSPENDED, ACCOUNT_NOT_APPROVED, and the error of an account scheduled for erasure */
export const requireStanding = ({ suspended, approved, erasesAt }: Pick<User, "suspended" | "approved" | "erasesAt">): void => {
  if (suspended) throw accountSuspended();
  if (!approved) throw accountNotApproved();
  if (erasesAt) throw accountLeaving();
};

/** True if the owner's tier allows API keys. Always true for administrators. */
const hasApiAccess = (owner: User): boolean => isAdmin(owner) || owner.plan.apiAccess;

/** @throws API_KEY_ACCESS_DENIED */
export const requireApiAccess = (owner: User): void => {
  if (hasApiAccess(owner)) return;
  throw new DomainError("forbidden", "API_KEY_ACCESS_DENIED", "API keys need the Pro tier or above", { tier: owner.tier });
};

/** A key's grants, limited by its owner's current ceiling and its creator's role; empty without API access. */
export const effectiveGrants = (
  capabilities: readonly string[],
  { user: owner, role, within }: Pick<KeyHolder, "user" | "role" | "within">,
): string[] => {
  if (!hasApiAccess(owner)) return [];
  const granted = effectiveCapabilities(capabilities, owner.plan.base, isAdmin(owner));
  const ofMaker = within ? withinGrants(granted, within) : granted;
  return role === null ? ofMaker : withinRole(ofMaker, role);
};

/**
 * Rejects grants that the key's creator can't have. Only keys of service accounts can manage keys.
 * @throws INVALID_REQUEST, or CAPABILITY_DENIED with the first capability that the service account doesn't have
 */
export const requireMakersGrants = (capabilities: readonly string[], within: readonly string[] | undefined): void => {
  const index = capabilities.indexOf(MANAGES_KEYS);
  if (!within) {
    if (index < 0) return;
    throw invalidRequest([{ path: `capabilities.${index}`, message: `only keys of service accounts can have ${MANAGES_KEYS}` }]);
  }
  const beyond = capabilities.find((capability) => !withinGrants([capability], within).includes(capability));
  if (beyond === undefined) return;
  throw new DomainError("forbidden", "CAPABILITY_DENIED", `the service account lacks the capability ${beyond}`, { required: beyond });
};

/** The capabilities of a valid request. @throws CAPABILITY_ABOVE_CEILING with the capabilities that the owner's tier doesn't have */
export const grantsFor = ({ preset, capabilities }: GrantRequest, owner: User): { preset: string; capabilities: string[] } => {
  const admin = isAdmin(owner);
  const granted = isPreset(preset) ? presetCapabilities(preset, owner.plan.base, admin) : capabilities;
  const above = granted.filter((capability) => !withinCeiling(capability, owner.plan.base, admin));
  if (above.length > 0) {
    throw new DomainError("forbidden", "CAPABILITY_ABOVE_CEILING", `your tier doesn't have ${above.join(", ")}`, {
      capabilities: above,
    });
  }
  return { preset: isPreset(preset) ? preset : CUSTOM_PRESET, capabilities: [...new Set(granted)] };
};

const STARTS_RUNS = /^(?:workflow|model):(?:[^:]+:)?(?:run|\*)$/;
const POLLS = "execution:read";

/** Warnings about a key's capabilities. */
export const grantWarnings = (capabilities: readonly string[]): string[] =>
  capabilities.some((capability) => STARTS_RUNS.test(capability)) && !covers(capabilities, POLLS)
    ? [`this key may start runs, but not poll them: asynchronous runs need the capability ${POLLS}, too`]
    : [];

/** True if a key can receive webhooks. */
export const mayReceive = (capabilities: readonly string[]): boolean => covers(capabilities, WEBHOOK_CAPABILITY);

/** Rejects a webhook on a key that can't receive it. @throws CAPABILITY_DENIED with the missing capability */
export const requireWebhookGrant = (capabilities: readonly string[]): void => {
  if (mayReceive(capabilities)) return;
  throw new DomainError("forbidden", "CAPABILITY_DENIED", `a webhook needs a key with the capability ${WEBHOOK_CAPABILITY}`, {
    required: WEBHOOK_CAPABILITY,
  });
};

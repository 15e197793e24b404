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
  withinCeiling,
  withinRole,
  type Issue,
  type Preset,
} from "@nodeloom/kernel";
import type { KeyHolder } from "../organizations/accounts";
import { isAdmin, type User } from "../users/user";

/** What a key without a preset has in its place. */
export const CUSTOM_PRESET = "custom";
const MAX_CAPABILITIES = 100;
const WEBHOOK_CAPABILITY = "webhook:receive";

/** What a new key is to be granted: a preset's id or a list, never both. */
export interface GrantRequest {
  preset: string;
  capabilities: string[];
}

const isPreset = (preset: string): preset is Preset => (PRESETS as readonly string[]).includes(preset);

/** What is wrong with the wish, whoever makes it. */
export const grantIssues = ({ preset, capabilities }: GrantRequest): Issue[] => {
  const isCustom = preset === "" || preset === CUSTOM_PRESET;
  if (isCustom && capabilities.length === 0) return [{ path: "capabilities", message: "give a preset or at least one capability" }];
  if (!isCustom && capabilities.length > 0) return [{ path: "capabilities", message: "give either a preset or capabilities, not both" }];
  if (!isCustom && !isPreset(preset)) return [{ path: "preset", message: `must be one of ${PRESETS.join(", ")}` }];
  if (capabilities.length > MAX_CAPABILITIES) return [{ path: "capabilities", message: `must be at most ${MAX_CAPABILITIES}` }];
  return capabilities.flatMap((capability, index) =>
    isCapability(capability) ? [] : [{ path: `capabilities.${index}`, message: `is no known capability${likelyCapability(capability)}` }],
  );
};

/** Only approved owners may have keys made. An owner whose tier has no keys is told that first. */
export const requireKeyRights = (owner: User): void => {
  requireApiAccess(owner);
  requireStanding(owner);
};

/** @throws ACCOUNT_SUSPENDED, ACCOUNT_NOT_APPROVED, also for an account that is to be erased */
export const requireStanding = ({ suspended, approved, erasesAt }: Pick<User, "suspended" | "approved" | "erasesAt">): void => {
  if (suspended) throw accountSuspended();
  if (!approved) throw accountNotApproved();
  if (erasesAt) throw accountLeaving();
};

/** Whether a user's keys work at all: by the tier, and always for administrators. */
const hasApiAccess = (owner: User): boolean => isAdmin(owner) || owner.plan.apiAccess;

/** @throws API_KEY_ACCESS_DENIED */
export const requireApiAccess = (owner: User): void => {
  if (hasApiAccess(owner)) return;
  throw new DomainError("forbidden", "API_KEY_ACCESS_DENIED", "API keys need the Pro tier or above", { tier: owner.tier });
};

/** What a key may do now: its grants within its owner's ceiling and its maker's role, and nothing where the owner has no API access. */
export const effectiveGrants = (capabilities: readonly string[], { user: owner, role }: Pick<KeyHolder, "user" | "role">): string[] => {
  if (!hasApiAccess(owner)) return [];
  const granted = effectiveCapabilities(capabilities, owner.plan.base, isAdmin(owner));
  return role === null ? granted : withinRole(granted, role);
};

/** The capabilities of a valid wish. CAPABILITY_ABOVE_CEILING lists those the owner's tier doesn't reach. */
export const grantsFor = ({ preset, capabilities }: GrantRequest, owner: User): { preset: string; capabilities: string[] } => {
  const admin = isAdmin(owner);
  const granted = isPreset(preset) ? presetCapabilities(preset, owner.plan.base, admin) : capabilities;
  const above = granted.filter((capability) => !withinCeiling(capability, owner.plan.base, admin));
  if (above.length > 0) {
    throw new DomainError("forbidden", "CAPABILITY_ABOVE_CEILING", `above the ceiling of the tier: ${above.join(", ")}`, {
      capabilities: above,
    });
  }
  return { preset: isPreset(preset) ? preset : CUSTOM_PRESET, capabilities: [...new Set(granted)] };
};

const STARTS_RUNS = /^(?:workflow|model):(?:[^:]+:)?(?:run|\*)$/;
const POLLS = "execution:read";

/** What an owner should know of a key with these capabilities; empty when there is nothing. */
export const grantWarnings = (capabilities: readonly string[]): string[] =>
  capabilities.some((capability) => STARTS_RUNS.test(capability)) && !covers(capabilities, POLLS)
    ? [`this key may start runs, but not poll them: asynchronous runs need the capability ${POLLS}, too`]
    : [];

/** Whether a key with these capabilities may receive webhooks. */
export const mayReceive = (capabilities: readonly string[]): boolean => covers(capabilities, WEBHOOK_CAPABILITY);

/** A webhook is useless on a key that may not receive. CAPABILITY_DENIED names what the key lacks. */
export const requireWebhookGrant = (capabilities: readonly string[]): void => {
  if (mayReceive(capabilities)) return;
  throw new DomainError("forbidden", "CAPABILITY_DENIED", `a webhook needs a key with the capability ${WEBHOOK_CAPABILITY}`, {
    required: WEBHOOK_CAPABILITY,
  });
};

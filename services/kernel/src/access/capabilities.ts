import { didYouMean } from "../text/nearest-name";
import { TIERS, tierReaches, type BaseTier } from "./plans";

/** A capability is `*`, `<resource>:<action>` or `<resource>:<id>:<action>`. */
export const ALL = "*";
const PRO = ["workflow:run", "workflow:read", "workflow:write", "webhook:receive", "execution:read", "execution:cancel"] as const;
const BUSINESS = [...PRO, "model:run", "agent:invoke"] as const;

/**
 * Capabilities that are granted by name only: no preset and no wildcard except `*` includes them, so older keys don't have them. A key can
 * get such a capability if its creator has the role and the account has the tier.
 */
export const BY_NAME = {
  "keys:write": { role: "owner", tier: "business" },
  "budgets:write": { role: "owner", tier: "business" },
  "secrets:write": { role: "editor", tier: "business" },
  "members:read": { role: "viewer", tier: "business" },
  "usage:read": { role: "viewer", tier: "business" },
  "webhooks:write": { role: "editor", tier: "business" },
  "schedules:write": { role: "editor", tier: "business" },
  "erasure:write": { role: "owner", tier: "business" },
  "execution:delete": { role: "editor", tier: "business" },
} as const satisfies Readonly<Record<string, { role: "owner" | "editor" | "viewer"; tier: BaseTier }>>;
type CapabilityName = keyof typeof BY_NAME;
const NAMED = Object.keys(BY_NAME) as CapabilityName[];

export const isByName = (capability: string): capability is CapabilityName => Object.hasOwn(BY_NAME, capability);

/** Capabilities that an API key can have, by built-in tier. Keys of the free tier can't have any. */
export const CEILINGS: Readonly<Record<BaseTier, readonly string[]>> = { free: [], pro: PRO, business: BUSINESS, enterprise: BUSINESS };

/**
 * Capabilities of a session in addition to its tier's ceiling, so that every tier can use the editor. Capabilities in `BY_NAME` depend on
 * the role.
 */
const SESSION_EXTRAS = ["workflow:read", "workflow:write", "workflow:run", "execution:read", "execution:cancel"] as const;

export const PRESETS = ["read-only", "workflow-deploy", "webhook-receiver", "full-deploy"] as const;
export type Preset = (typeof PRESETS)[number];

/** Capabilities of a preset. `Full deploy` grants every capability within the owner's ceiling. */
export const presetCapabilities = (preset: Preset, base: BaseTier, isAdmin = false): readonly string[] => {
  switch (preset) {
    case "read-only":
      return ["workflow:read", "execution:read"];
    case "workflow-deploy":
      return ["workflow:run", "workflow:read"];
    case "webhook-receiver":
      return ["webhook:receive", "execution:read"];
    case "full-deploy":
      return isAdmin ? [ALL] : CEILINGS[base];
  }
};

/** Grants for single items: `workflow:<slug>:run`, `model:<id>:run`. */
const SPECIFIC = /^(workflow|model):([a-z0-9]+(?:-[a-z0-9]+)*):run$/;
const WILDCARD = /^([a-z]+):\*$/;

/** True if a key can be granted this capability. */
export const isCapability = (value: string): boolean => {
  if (value === ALL || isByName(value) || (BUSINESS as readonly string[]).includes(value) || SPECIFIC.test(value)) return true;
  const resource = WILDCARD.exec(value)?.[1] ?? /^(workflow|model):\*:run$/.exec(value)?.[1];
  return resource !== undefined && BUSINESS.some((capability) => capability.startsWith(`${resource}:`));
};

/** Returns the capability that was probably meant, in the form of `didYouMean`. */
export const likelyCapability = (value: string): string => {
  const id = value.split(":")[1] ?? "";
  const candidates = [...BUSINESS, ...NAMED, ...["workflow", "model"].map((resource) => `${resource}:${id}:run`)];
  return didYouMean(value, candidates.filter(isCapability));
};

/**
 * True if the grants include a required capability. A grant matches if it is `*`, the capability itself, or `<resource>:*`. Capabilities of
 * `BY_NAME` match only `*` and themselves. For `<resource>:<id>:<action>`, `<resource>:<action>` and `<resource>:*:<action>` also match.
 */
export const covers = (grants: readonly string[], required: string): boolean => {
  if (grants.includes(ALL) || grants.includes(required)) return true;
  if (isByName(required)) return false;
  const parts = required.split(":");
  const resource = parts[0];
  if (grants.includes(`${resource}:*`)) return true;
  return parts.length === 3 && (grants.includes(`${resource}:${parts[2]}`) || grants.includes(`${resource}:*:${parts[2]}`));
};

/** True if a tier's ceiling allows a capability. `<resource>:*` needs every capability of that resource; `*` needs an admin. */
export const withinCeiling = (capability: string, base: BaseTier, isAdmin = false): boolean => {
  if (isAdmin) return true;
  if (capability === ALL) return false;
  if (isByName(capability)) return tierReaches(base, BY_NAME[capability].tier);
  const ceiling = CEILINGS[base];
  const resource = WILDCARD.exec(capability)?.[1];
  if (resource !== undefined) {
    const all = BUSINESS.filter((candidate) => candidate.startsWith(`${resource}:`));
    return all.length > 0 && all.every((candidate) => ceiling.includes(candidate));
  }
  return covers(ceiling, capability);
};

/** @returns undefined if no tier allows the capability, for example `*` */
export const lowestTierFor = (capability: string): BaseTier | undefined => TIERS.find((tier) => withinCeiling(capability, tier));

/** A key's grants that are within its owner's current ceiling. */
export const effectiveCapabilities = (grants: readonly string[], base: BaseTier, isAdmin = false): string[] =>
  grants.filter((grant) => withinCeiling(grant, base, isAdmin));

export const sessionCapabilities = (base: BaseTier, isAdmin = false): string[] =>
  isAdmin ? [ALL] : [...new Set([...CEILINGS[base], ...SESSION_EXTRAS, ...NAMED])];

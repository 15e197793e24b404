import { didYouMean } from "./nearest-name";
import { TIERS, type BaseTier } from "./plans";

/** Capability vocabulary v1. A capability is `*`, `<resource>:<action>` or `<resource>:<id>:<action>`. */
export const ALL = "*";
const PRO = ["workflow:run", "workflow:read", "workflow:write", "webhook:receive", "execution:read", "execution:cancel"] as const;
const BUSINESS = [...PRO, "model:run", "agent:invoke"] as const;

/** General capabilities a key may be granted under each built-in tier. Free has an empty ceiling. */
export const CEILINGS: Readonly<Record<BaseTier, readonly string[]>> = { free: [], pro: PRO, business: BUSINESS, enterprise: BUSINESS };

/** What a session may do on top of its tier's ceiling, so that every tier can use the editor. */
const SESSION_EXTRAS = ["workflow:read", "workflow:write", "workflow:run", "execution:read", "execution:cancel"] as const;

export const PRESETS = ["read-only", "workflow-deploy", "webhook-receiver", "full-deploy"] as const;
export type Preset = (typeof PRESETS)[number];

/** The grants of a preset; Full deploy is everything in the owner's ceiling. */
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

/** Resources whose single members can be granted: `workflow:<slug>:run`, `model:<id>:run`. */
const SPECIFIC = /^(workflow|model):([a-z0-9]+(?:-[a-z0-9]+)*):run$/;
const WILDCARD = /^([a-z]+):\*$/;

/** Whether a string is a grantable capability of the vocabulary. */
export const isCapability = (value: string): boolean => {
  if (value === ALL || (BUSINESS as readonly string[]).includes(value) || SPECIFIC.test(value)) return true;
  const resource = WILDCARD.exec(value)?.[1] ?? /^(workflow|model):\*:run$/.exec(value)?.[1];
  return resource !== undefined && BUSINESS.some((capability) => capability.startsWith(`${resource}:`));
};

/** What was probably meant by a text that is no capability, as `didYouMean` says it. */
export const likelyCapability = (value: string): string => {
  const id = value.split(":")[1] ?? "";
  const known = [...BUSINESS, ...["workflow", "model"].map((resource) => `${resource}:${id}:run`)];
  return didYouMean(value, known.filter(isCapability));
};

/**
 * Whether the grants cover a required capability. The rules, in order: `*`; exactly it; `<resource>:*`;
 * for `<resource>:<id>:<action>` also `<resource>:<action>` or `<resource>:*:<action>`.
 */
export const covers = (grants: readonly string[], required: string): boolean => {
  if (grants.includes(ALL) || grants.includes(required)) return true;
  const parts = required.split(":");
  const resource = parts[0];
  if (grants.includes(`${resource}:*`)) return true;
  return parts.length === 3 && (grants.includes(`${resource}:${parts[2]}`) || grants.includes(`${resource}:*:${parts[2]}`));
};

/**
 * Whether a tier's ceiling allows granting a capability. A wildcard `<resource>:*` is within the ceiling only if
 * every capability of that resource is; `*` only for admins.
 */
export const withinCeiling = (capability: string, base: BaseTier, isAdmin = false): boolean => {
  if (isAdmin) return true;
  if (capability === ALL) return false;
  const ceiling = CEILINGS[base];
  const resource = WILDCARD.exec(capability)?.[1];
  if (resource !== undefined) {
    const all = BUSINESS.filter((known) => known.startsWith(`${resource}:`));
    return all.length > 0 && all.every((known) => ceiling.includes(known));
  }
  return covers(ceiling, capability);
};

/** The lowest tier whose ceiling allows a capability; undefined where none does, as for `*`. */
export const lowestTierFor = (capability: string): BaseTier | undefined => TIERS.find((tier) => withinCeiling(capability, tier));

/** A key's effective capabilities: its grants within the owner's ceiling now. */
export const effectiveCapabilities = (grants: readonly string[], base: BaseTier, isAdmin = false): string[] =>
  grants.filter((grant) => withinCeiling(grant, base, isAdmin));

/** The capabilities of a browser session. */
export const sessionCapabilities = (base: BaseTier, isAdmin = false): string[] =>
  isAdmin ? [ALL] : [...new Set([...CEILINGS[base], ...SESSION_EXTRAS])];

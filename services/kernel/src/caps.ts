/** How many things of a kind an account can have, by its tier. */

interface Cap {
  /** For every tier but enterprise, unless a custom tier sets its own. */
  usual: number;
  /** The platform allows no tier more. */
  ceiling: number;
}

/** The only place where these numbers are written. */
export const CAPS = {
  /** Every hold reads and writes all budgets of its account. */
  budgets: { usual: 500, ceiling: 2_000 },
  /** Includes expired keys, until they are revoked. */
  keys: { usual: 100, ceiling: 1_000 },
  schedules: { usual: 20, ceiling: 200 },
  hooks: { usual: 20, ceiling: 200 },
  /** Batches that aren't over. */
  batches: { usual: 20, ceiling: 200 },
  /** Rows of one batch. */
  batchRows: { usual: 1_000, ceiling: 100_000 },
  /** Organizations that one person has created and still belongs to. */
  organizations: { usual: 5, ceiling: 50 },
  /** Per organization, and per personal account. */
  serviceAccounts: { usual: 10, ceiling: 100 },
  /** Size of an uploaded file in MiB. */
  uploadMb: { usual: 100, ceiling: 100 },
} as const satisfies Record<string, Cap>;

export type CapName = keyof typeof CAPS;
export const CAP_NAMES = Object.keys(CAPS) as CapName[];
export type Caps = Readonly<Record<CapName, number>>;

/** Caps that a tier sets; null for the ceiling. */
export type OwnCaps = Readonly<Partial<Record<CapName, number | null>>>;

const ENTERPRISE_FACTOR = 10;

const ofAll = (valueOf: (cap: Cap, name: CapName) => number): Caps =>
  Object.fromEntries(CAP_NAMES.map((name) => [name, Math.min(valueOf(CAPS[name], name), CAPS[name].ceiling)])) as Record<CapName, number>;

export const USUAL_CAPS = ofAll(({ usual }) => usual);
export const ENTERPRISE_CAPS = ofAll(({ usual }) => usual * ENTERPRISE_FACTOR);

/** @param base caps where the tier sets none */
export const withOwnCaps = (base: Caps, own: OwnCaps): Caps =>
  ofAll(({ ceiling }, name) => {
    const value = own[name];
    return value === undefined ? base[name] : (value ?? ceiling);
  });

/** In messages 0 stands for the ceiling. */
export const capsToNumbers = (caps: OwnCaps): Record<string, number> =>
  Object.fromEntries(CAP_NAMES.flatMap((name) => (caps[name] === undefined ? [] : [[name, caps[name] ?? 0]])));

/** Names from another version are skipped. */
export const capsFromNumbers = (numbers: Readonly<Record<string, number>>): OwnCaps =>
  Object.fromEntries(CAP_NAMES.flatMap((name) => (numbers[name] === undefined ? [] : [[name, numbers[name] || null]])));

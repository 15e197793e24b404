/** Limits on the number of items per account, by tier. */

interface Cap {
  /** Applies to every tier below enterprise, unless a custom tier sets another value. */
  usual: number;
  /** The highest value that any tier can have. */
  ceiling: number;
}

/** All other code reads these numbers from here. */
export const CAPS = {
  /** Every hold reads and writes all budgets of its account. */
  budgets: { usual: 500, ceiling: 2_000 },
  /** Includes expired keys, until they are revoked. */
  keys: { usual: 100, ceiling: 1_000 },
  schedules: { usual: 20, ceiling: 200 },
  hooks: { usual: 20, ceiling: 200 },
  /** Batches that haven't ended. */
  batches: { usual: 20, ceiling: 200 },
  batchRows: { usual: 1_000, ceiling: 100_000 },
  /** Organizations that a person created and still belongs to. */
  organizations: { usual: 5, ceiling: 50 },
  /** Per organization, and per personal account. */
  serviceAccounts: { usual: 10, ceiling: 100 },
  /** Size of an uploaded file in MiB. */
  uploadMb: { usual: 100, ceiling: 100 },
} as const satisfies Record<string, Cap>;

export type CapName = keyof typeof CAPS;
export const CAP_NAMES = Object.keys(CAPS) as CapName[];
export type Caps = Readonly<Record<CapName, number>>;

/** Caps that a custom tier sets; null means the ceiling. */
export type OwnCaps = Readonly<Partial<Record<CapName, number | null>>>;

const ENTERPRISE_FACTOR = 10;

const ofAll = (valueOf: (cap: Cap, name: CapName) => number): Caps =>
  Object.fromEntries(CAP_NAMES.map((name) => [name, Math.min(valueOf(CAPS[name], name), CAPS[name].ceiling)])) as Record<CapName, number>;

export const USUAL_CAPS = ofAll(({ usual }) => usual);
export const ENTERPRISE_CAPS = ofAll(({ usual }) => usual * ENTERPRISE_FACTOR);

/** @param base caps that apply if the tier doesn't set its own */
export const withOwnCaps = (base: Caps, own: OwnCaps): Caps =>
  ofAll(({ ceiling }, name) => {
    const value = own[name];
    return value === undefined ? base[name] : (value ?? ceiling);
  });

/** Converts caps for a gRPC message, in which 0 means the ceiling. */
export const capsToNumbers = (caps: OwnCaps): Record<string, number> =>
  Object.fromEntries(CAP_NAMES.flatMap((name) => (caps[name] === undefined ? [] : [[name, caps[name] ?? 0]])));

/** Converts caps from a gRPC message. Unknown names, which another version may send, are skipped. */
export const capsFromNumbers = (numbers: Readonly<Record<string, number>>): OwnCaps =>
  Object.fromEntries(CAP_NAMES.flatMap((name) => (numbers[name] === undefined ? [] : [[name, numbers[name] || null]])));

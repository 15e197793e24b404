import { randomUUID } from "node:crypto";
import { DomainError, invalidRequest, type Issue } from "@nodeloom/kernel";
import type { SecretRecord } from "../records";
import type { Envelope } from "./envelope";
import type { SecretStore } from "./secret-store";

/** Values that are used and never shown again: keys of providers, by the platform. */

export const MAX_SECRETS_PER_OWNER = 200;
export const MAX_VALUE_CHARS = 8_192;
const NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
/** Headers carry nothing else. */
const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const HINT_CHARS = 4;
/** Of shorter values four characters would tell too much. */
const HINTED_CHARS = 16;
const RESEALED_AT_ONCE = 100;

export interface NewSecret {
  owner: string;
  name: string;
  value: string;
  /** Hosts that it may be sent to; none: what its use says. */
  hosts: string[];
  /** User id. */
  setBy: string;
}

export interface Secrets {
  readonly isConfigured: boolean;
  /** By name, without values. */
  list(owner: string): Promise<SecretRecord[]>;
  /** Sets a value, or replaces it. @throws INVALID_REQUEST, NOT_CONFIGURED, or PRECONDITION_FAILED at the limit */
  put(secret: NewSecret): Promise<SecretRecord>;
  /** @returns what was removed; undefined where there was none */
  remove(owner: string, name: string): Promise<SecretRecord | undefined>;
  /** The values of those that exist. @throws NOT_CONFIGURED for one whose key is not there */
  read(owner: string, names: readonly string[]): Promise<Record<string, string>>;
  /** Seals what is sealed under earlier keys with the current one, so that they can be dropped. @returns ids; those whose key is gone are lost */
  reseal(): Promise<{ resealed: string[]; lost: string[] }>;
}

const issuesOf = ({ owner, name, value }: NewSecret): Issue[] => [
  ...(owner === "" ? [{ path: "owner", message: "is required" }] : []),
  ...(NAME.test(name) ? [] : [{ path: "name", message: "must be up to 64 capital letters, digits and underscores" }]),
  ...(value.length <= MAX_VALUE_CHARS && PRINTABLE.test(value)
    ? []
    : [{ path: "value", message: `must be 1 to ${MAX_VALUE_CHARS} printable ASCII characters without spaces around them` }]),
];

/** A value, unless its key is not there. */
const openable = (envelope: Envelope, secret: SecretRecord): string | undefined => {
  try {
    return envelope.open(secret);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
};

export interface SecretsOptions {
  store: SecretStore;
  envelope: Envelope;
  clock?: () => number;
}

export const createSecrets = ({ store, envelope, clock = Date.now }: SecretsOptions): Secrets => ({
  isConfigured: envelope.isConfigured,
  list: (owner) => store.list(owner),

  put: async (secret) => {
    const issues = issuesOf(secret);
    if (issues.length > 0) throw invalidRequest(issues);
    const { value, ...rest } = secret;
    const sealed = envelope.seal(value, secret);
    const [known] = await store.find(secret.owner, [secret.name]);
    if (!known && (await store.count(secret.owner)) >= MAX_SECRETS_PER_OWNER)
      throw new DomainError("precondition", "PRECONDITION_FAILED", `no more than ${MAX_SECRETS_PER_OWNER} secrets can be kept: remove one`);
    const record: SecretRecord = {
      ...rest,
      ...sealed,
      _id: `${secret.owner} ${secret.name}`,
      hint: value.length >= HINTED_CHARS ? value.slice(-HINT_CHARS) : "",
      revision: randomUUID(),
      setAt: new Date(clock()),
    };
    await store.put(record);
    return record;
  },

  remove: async (owner, name) => (await store.remove(owner, name)) ?? undefined,

  read: async (owner, names) => {
    const found = await store.find(owner, names);
    return Object.fromEntries(found.map((secret) => [secret.name, envelope.open(secret)]));
  },

  reseal: async () => {
    const { currentId } = envelope;
    const [resealed, lost]: [string[], string[]] = [[], []];
    if (currentId === undefined) return { resealed, lost };
    let some: SecretRecord[] = [];
    do {
      some = await store.sealedOtherwise(currentId, some.at(-1)?._id ?? "", RESEALED_AT_ONCE);
      for (const secret of some) {
        const value = openable(envelope, secret);
        (value === undefined ? lost : resealed).push(secret._id);
        if (value !== undefined) await store.reseal(secret._id, secret.revision, envelope.seal(value, secret));
      }
    } while (some.length === RESEALED_AT_ONCE);
    return { resealed, lost };
  },
});

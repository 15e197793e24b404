import { randomUUID } from "node:crypto";
import {
  DomainError,
  HEADER_VALUE,
  HEADER_VALUE_FORM,
  invalidRequest,
  SECRET_BOUNDS,
  SECRET_NAME,
  SECRET_NAME_FORM,
  type Issue,
} from "@nodeloom/kernel";
import type { AddressProblem } from "../keys/webhooks";
import type { SecretRecord } from "../records";
import type { Envelope } from "./envelope";
import { resealAll, type Resealed } from "./reseal";
import type { SecretStore } from "./secret-store";
import { isUser, userSecretIssues, withUrlHosts } from "./user-secrets";

/** Values that are used and never shown again: keys of providers, by the platform; what HTTP nodes send, by users. */

const HINT_CHARS = 4;
/** Of shorter values four characters would tell too much. */
const HINTED_CHARS = 16;

export interface NewSecret {
  owner: string;
  name: string;
  value: string;
  /** Hosts that it may be sent to; none: what its use says. */
  hosts: string[];
  /** User id. */
  setBy: string;
}

export type ReadSecret = Pick<SecretRecord, "name" | "hosts"> & { value: string };

export interface Secrets {
  readonly isConfigured: boolean;
  /** By name, without values. */
  list(owner: string): Promise<SecretRecord[]>;
  /** Sets a value, or replaces it. @throws INVALID_REQUEST, NOT_CONFIGURED, or PRECONDITION_FAILED at the limit */
  put(secret: NewSecret): Promise<SecretRecord>;
  /** @returns what was removed; undefined where there was none */
  remove(owner: string, name: string): Promise<SecretRecord | undefined>;
  /** Those that exist, with their values. @throws NOT_CONFIGURED for one whose key is not there */
  read(owner: string, names: readonly string[]): Promise<ReadSecret[]>;
  /** Seals what is sealed under earlier keys with the current one, so that they can be dropped. @returns ids; those whose key is gone are lost */
  reseal(): Promise<Resealed>;
}

const issuesOf = ({ owner, name, value }: NewSecret): Issue[] => [
  ...(owner === "" ? [{ path: "owner", message: "is required" }] : []),
  ...(SECRET_NAME.test(name) ? [] : [{ path: "name", message: SECRET_NAME_FORM }]),
  ...(value.length <= SECRET_BOUNDS.valueChars && HEADER_VALUE.test(value)
    ? []
    : [
        {
          path: "value",
          message: `must be 1 to ${SECRET_BOUNDS.valueChars} ${HEADER_VALUE_FORM}`,
        },
      ]),
];

export interface SecretsOptions {
  store: SecretStore;
  envelope: Envelope;
  /** Why users may not have a URL called; undefined where they may. */
  addressProblem: AddressProblem;
  clock?: () => number;
}

const tooMany = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", `no more than ${SECRET_BOUNDS.secrets} secrets can be kept: remove one`);

const hintOf = ({ owner, value }: NewSecret): string => (!isUser(owner) && value.length >= HINTED_CHARS ? value.slice(-HINT_CHARS) : "");

export const createSecrets = ({ store, envelope, addressProblem, clock = Date.now }: SecretsOptions): Secrets => ({
  isConfigured: envelope.isConfigured,
  list: (owner) => store.list(owner),

  put: async (given) => {
    const issues = [...issuesOf(given), ...(isUser(given.owner) ? await userSecretIssues(given, addressProblem) : [])];
    if (issues.length > 0) throw invalidRequest(issues);
    const secret = isUser(given.owner) ? withUrlHosts(given) : given;
    const { value, ...rest } = secret;
    const sealed = envelope.seal(value, secret);
    const [known] = await store.find(secret.owner, [secret.name]);
    if (!known && (await store.count(secret.owner)) >= SECRET_BOUNDS.secrets) throw tooMany();
    const record: SecretRecord = {
      ...rest,
      ...sealed,
      _id: `${secret.owner} ${secret.name}`,
      hint: hintOf(secret),
      revision: randomUUID(),
      setAt: new Date(clock()),
    };
    const stored = await store.put(record);
    // Others may have taken the last places meanwhile.
    if (!known && (await store.count(secret.owner)) > SECRET_BOUNDS.secrets) {
      await store.unset(record._id, record.revision);
      throw tooMany();
    }
    return stored;
  },

  remove: async (owner, name) => (await store.remove(owner, name)) ?? undefined,

  read: async (owner, names) => {
    const found = await store.find(owner, names);
    return found.map((secret) => ({ name: secret.name, hosts: secret.hosts, value: envelope.open(secret) }));
  },

  reseal: () =>
    resealAll(envelope, {
      read: store.sealedOtherwise,
      idOf: ({ _id }) => _id,
      sealed: (secret) => secret,
      write: ({ _id, revision }, sealed) => store.reseal(_id, revision, sealed),
    }),
});

import { randomUUID } from "node:crypto";
import {
  ALIAS,
  DomainError,
  HEADER_VALUE,
  HEADER_VALUE_FORM,
  invalidRequest,
  MAX_SLUG_CHARS,
  SECRET_BOUNDS,
  SECRET_NAME,
  SECRET_NAME_FORM,
  SLUG,
  type Issue,
} from "@nodeloom/kernel";
import { aliasedName, chosenSecrets, partsOf } from "./aliases";
import type { AddressProblem } from "../keys/webhooks";
import type { SecretRecord } from "../records";
import type { Envelope } from "./envelope";
import { resealAll, type ResealReport } from "./reseal";
import type { SecretStore } from "./secret-store";
import { isUser, userSecretIssues, withUrlHosts } from "./user-secrets";

/** Values that are used but never shown again: the platform's provider keys and users' values for HTTP nodes. */

const HINT_CHARS = 4;
/** Four characters of a shorter value would reveal too much. */
const HINTED_CHARS = 16;

export interface NewSecret {
  owner: string;
  name: string;
  value: string;
  /** The alias whose runs use this value; undefined or empty if the value is for all aliases. */
  alias?: string | undefined;
  /** Hosts to which the value can be sent; empty if its use decides. */
  hosts: string[];
  /** Slugs of the workflows whose nodes can send the value; undefined or empty for all workflows. */
  workflows?: string[] | undefined;
  /** Id of the user who set the value. */
  setBy: string;
}

export type ReadSecret = Pick<SecretRecord, "name" | "hosts" | "workflows"> & { value: string };

export interface Secrets {
  readonly isConfigured: boolean;
  /** Lists secrets by name, without values. */
  list(owner: string): Promise<SecretRecord[]>;
  /** Sets or replaces a value. @throws INVALID_REQUEST, NOT_CONFIGURED, or PRECONDITION_FAILED if the owner has too many secrets */
  put(secret: NewSecret): Promise<SecretRecord>;
  /** @returns the removed secret, or undefined if it doesn't exist */
  remove(owner: string, name: string, alias?: string): Promise<SecretRecord | undefined>;
  /**
   * Returns existing secrets with their values. If a secret has a value for any alias, only the value for `alias` is read.
   * @throws NOT_CONFIGURED if a key is missing
   */
  read(owner: string, names: readonly string[], alias?: string): Promise<ReadSecret[]>;
  /**
   * Encrypts values of earlier keys again with the current key, so that the earlier keys can be removed. Values whose key is missing are
   * lost.
   */
  reseal(): Promise<ResealReport>;
}

const issuesOf = ({ owner, name, alias = "", value, workflows = [] }: NewSecret): Issue[] => [
  ...(owner === "" ? [{ path: "owner", message: "is required" }] : []),
  ...(SECRET_NAME.test(name) ? [] : [{ path: "name", message: SECRET_NAME_FORM }]),
  ...(alias === "" || ALIAS.test(alias) ? [] : [{ path: "alias", message: "must be the name of an alias" }]),
  ...(value.length <= SECRET_BOUNDS.valueChars && HEADER_VALUE.test(value)
    ? []
    : [
        {
          path: "value",
          message: `must be 1 to ${SECRET_BOUNDS.valueChars} ${HEADER_VALUE_FORM}`,
        },
      ]),
  ...(workflows.length <= SECRET_BOUNDS.workflows && workflows.every((slug) => slug.length <= MAX_SLUG_CHARS && SLUG.test(slug))
    ? []
    : [{ path: "workflows", message: `must be at most ${SECRET_BOUNDS.workflows} slugs of workflows` }]),
];

export interface SecretsOptions {
  store: SecretStore;
  envelope: Envelope;
  /** Returns the reason why users can't call a URL, or undefined if they can. */
  addressProblem: AddressProblem;
  clock?: () => number;
}

const tooMany = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", `no more than ${SECRET_BOUNDS.secrets} secrets can be kept: remove one`);

const hintOf = ({ owner, value }: NewSecret): string => (!isUser(owner) && value.length >= HINTED_CHARS ? value.slice(-HINT_CHARS) : "");

export const createSecrets = ({ store, envelope, addressProblem, clock = Date.now }: SecretsOptions): Secrets => ({
  isConfigured: envelope.isConfigured,
  list: (owner) => store.list(owner),

  put: async (input) => {
    const issues = [...issuesOf(input), ...(isUser(input.owner) ? await userSecretIssues(input, addressProblem) : [])];
    if (issues.length > 0) throw invalidRequest(issues);
    const { alias: _, workflows = [], ...namedSecret } = { ...input, name: aliasedName(input.name, input.alias) };
    const secret = isUser(namedSecret.owner) ? withUrlHosts(namedSecret) : namedSecret;
    const { value, ...rest } = secret;
    const sealed = envelope.seal(value, secret);
    const [existing] = await store.find(secret.owner, [secret.name]);
    if (!existing && (await store.count(secret.owner)) >= SECRET_BOUNDS.secrets) throw tooMany();
    const record: SecretRecord = {
      ...rest,
      ...sealed,
      ...(workflows.length === 0 ? {} : { workflows: [...new Set(workflows)] }),
      _id: `${secret.owner} ${secret.name}`,
      hint: hintOf(secret),
      revision: randomUUID(),
      setAt: new Date(clock()),
    };
    const stored = await store.put(record);
    // Concurrent calls may have exceeded the limit.
    if (!existing && (await store.count(secret.owner)) > SECRET_BOUNDS.secrets) {
      await store.unset(record._id, record.revision);
      throw tooMany();
    }
    return stored;
  },

  remove: async (owner, name, alias) => (await store.remove(owner, aliasedName(name, alias))) ?? undefined,

  read: async (owner, names, alias) => {
    const secrets = alias === undefined ? await store.find(owner, names) : chosenSecrets(await store.list(owner), names, alias);
    return secrets.map((secret) => {
      const { hosts, workflows } = secret;
      return { name: partsOf(secret.name).name, hosts, ...(workflows ? { workflows } : {}), value: envelope.open(secret) };
    });
  },

  reseal: () =>
    resealAll(envelope, {
      read: store.sealedOtherwise,
      idOf: ({ _id }) => _id,
      sealed: (secret) => secret,
      write: ({ _id, revision }, sealed) => store.reseal(_id, revision, sealed),
    }),
});

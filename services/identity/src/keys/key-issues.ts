import { ALIAS, isLonger, KEY_METADATA_ENTRIES, LIMITS, RUN_METADATA, type Issue } from "@nodeloom/kernel";
import { grantIssues, type GrantRequest } from "./grants";
import type { WebhookRequest } from "./webhooks";

/** Checks settings of a key that don't depend on its owner. */

export interface NewKey extends GrantRequest {
  name: string;
  /** The person who creates the key: the owner (default) or a member of the owning organization. */
  madeBy?: string;
  /** True if the creator must be a service account of the owner. */
  service?: boolean;
  /** The only alias that the key's runs can use; empty or absent for any alias. */
  alias?: string;
  expiresAt: Date | undefined;
  webhook: WebhookRequest | undefined;
}

export const nameIssues = (name: string): Issue[] =>
  name !== "" && !isLonger(name, LIMITS.nameChars) ? [] : [{ path: "name", message: `must have 1 to ${LIMITS.nameChars} characters` }];

export const metadataIssues = (metadata: Readonly<Record<string, string>>): Issue[] => {
  const { nameChars, valueChars } = RUN_METADATA;
  const names = Object.keys(metadata);
  const wrong = names.filter(
    (name) => name === "" || isLonger(name, nameChars) || name.includes("\0") || isLonger(metadata[name]!, valueChars),
  );
  return [
    ...wrong.map((name) => ({
      path: `metadata.${name}`,
      message: `must have a name of 1 to ${nameChars} and a value of at most ${valueChars} characters`,
    })),
    ...(names.length > KEY_METADATA_ENTRIES ? [{ path: "metadata", message: `can have at most ${KEY_METADATA_ENTRIES} members` }] : []),
  ];
};

export const aliasIssues = (alias: string): Issue[] =>
  alias === "" || ALIAS.test(alias) ? [] : [{ path: "alias", message: "must be the name of an alias" }];

export const keyIssues = (newKey: NewKey, nowMs: number): Issue[] => {
  const { expiresAt } = newKey;
  const expired = expiresAt !== undefined && !(expiresAt.getTime() > nowMs);
  return [
    ...nameIssues(newKey.name.trim()),
    ...grantIssues(newKey),
    ...aliasIssues(newKey.alias ?? ""),
    ...(expired ? [{ path: "expiresAt", message: "must be in the future" }] : []),
  ];
};

/** Values of secrets for aliases of workflows. Each is a row of its own, so that it has its own encryption, hosts and times. */
import { secretForAlias } from "@nodeloom/kernel";
import type { SecretRecord } from "../records";

/** Names of secrets have no such character. */
const SEPARATOR = "@";

/** The stored name of a value. */
export const aliasedName = (name: string, alias = ""): string => (alias === "" ? name : `${name}${SEPARATOR}${alias}`);

export const partsOf = (stored: string): { name: string; alias?: string } => {
  const [name = "", alias] = stored.split(SEPARATOR);
  return alias === undefined ? { name } : { name, alias };
};

/** The values that a run by an alias sends. @param alias empty for a run of a draft, or of a version by its number */
export const chosenSecrets = (all: readonly SecretRecord[], names: readonly string[], alias: string): SecretRecord[] =>
  names.flatMap((name) => {
    const values = all.map((record) => ({ record, ...partsOf(record.name) }));
    return secretForAlias(values, name, alias)?.record ?? [];
  });

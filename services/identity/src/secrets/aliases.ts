/** Values of secrets for aliases of workflows. Each value is a separate row, with its own encryption, hosts and times. */
import { secretForAlias } from "@nodeloom/kernel";
import type { SecretRecord } from "../records";

/** Names of secrets don't contain this character. */
const SEPARATOR = "@";

/** The name under which a value is stored. */
export const aliasedName = (name: string, alias = ""): string => (alias === "" ? name : `${name}${SEPARATOR}${alias}`);

export const partsOf = (stored: string): { name: string; alias?: string } => {
  const [name = "", alias] = stored.split(SEPARATOR);
  return alias === undefined ? { name } : { name, alias };
};

/** Selects the values that a run sends. @param alias the run's alias; empty for a run of a draft or of a version by number */
export const chosenSecrets = (all: readonly SecretRecord[], names: readonly string[], alias: string): SecretRecord[] =>
  names.flatMap((name) => {
    const values = all.map((record) => ({ record, ...partsOf(record.name) }));
    return secretForAlias(values, name, alias)?.record ?? [];
  });

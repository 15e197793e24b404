import { invalidRequest } from "@nodeloom/kernel";
import type { Caller } from "../../auth/caller";

/** A version and an alias as a request names them. */
export interface Named {
  version?: string | undefined;
  alias?: string | undefined;
}

/** At most one of them is not empty; with neither, `production` is meant. */
export interface SelectedGraph {
  version: string;
  alias: string;
}

/**
 * Which graph of a workflow a request means. A key with an alias means that alias, unless the request names something; executions
 * rejects what the key can't run.
 * @throws DomainError INVALID_REQUEST if both are named
 */
export const selectedGraph = ({ key }: Pick<Caller, "key">, { version = "", alias = "" }: Named): SelectedGraph => {
  if (version !== "" && alias !== "") throw invalidRequest([{ path: "alias", message: "send alias or version, not both" }]);
  return { version, alias: version === "" ? alias || (key?.alias ?? "") : "" };
};

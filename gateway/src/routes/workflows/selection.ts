import { invalidRequest } from "@nodeloom/kernel";
import type { Caller } from "../../auth/caller";

/** A version and an alias as a request names them. */
export interface VersionSelection {
  version?: string | undefined;
  alias?: string | undefined;
}

/** At most one member is not empty. If both are empty, `production` is used. */
export interface SelectedGraph {
  version: string;
  alias: string;
}

/**
 * Selects the graph of a workflow for a request. If the request names none, a key with an alias selects that alias; executions rejects
 * graphs that the key can't run.
 * @throws DomainError INVALID_REQUEST if both a version and an alias are named
 */
export const selectedGraph = ({ key }: Pick<Caller, "key">, { version = "", alias = "" }: VersionSelection): SelectedGraph => {
  if (version !== "" && alias !== "") throw invalidRequest([{ path: "alias", message: "send alias or version, not both" }]);
  return { version, alias: version === "" ? alias || (key?.alias ?? "") : "" };
};

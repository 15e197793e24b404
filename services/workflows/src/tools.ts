import { invalidRequest } from "@nodeloom/kernel";
import type { ToolRow, WorkflowStore } from "./definition/storage";
import { inProduction, type Tool } from "./definition/workflow";
import type { VersionStore } from "./definition/storage";

const PAGE_MAX = 100;

/** Selects one tool by slug, or a page of tools after a slug. */
export interface WhichTools {
  slug: string;
  after: string;
  limit: number;
}

/** Workflows that an owner's agents get as tools, each in its version in production, or the draft if no version is published. */
export type Tools = (ownerId: string, which: WhichTools) => Promise<Tool[]>;

export interface ToolsDeps {
  store: Pick<WorkflowStore, "tools">;
  versions: Pick<VersionStore, "interfaceOf">;
}

export const createTools = ({ store, versions }: ToolsDeps): Tools => {
  const asItRuns = async (row: ToolRow): Promise<Tool> => {
    const version = inProduction(row);
    const published = version === 0 ? undefined : await versions.interfaceOf(row.creationId, version);
    return published ? { ...row, resultsJson: undefined, ...published } : row;
  };

  return async (ownerId, { limit, ...which }) => {
    if (limit < 1 || limit > PAGE_MAX) throw invalidRequest([{ path: "limit", message: `must be between 1 and ${PAGE_MAX}` }]);
    return Promise.all((await store.tools(ownerId, which, limit)).map(asItRuns));
  };
};

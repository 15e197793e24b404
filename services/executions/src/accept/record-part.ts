/** Selects the parts of a request that the run's row stores. */
import type { executions } from "@nodeloom/proto";
import type { KeepGraph } from "../plan/kept-graphs";
import type { PlannedRun } from "../plan/planning";
import type { Stores } from "../record/stores";
import { filesNamedIn } from "../run/file-names";
import { metadataKeys, type RunRecordPart } from "../run/record";
import type { RunInput } from "../run/types";
import { hasMembers } from "./run-input";

export interface RecordPartOptions {
  stores: { payloads: Pick<Stores["payloads"], "putText"> };
  keepGraph: KeepGraph;
  /** Address prefix of the platform's own storage. */
  own: string;
}

/** Texts that belong to one run are erased with it. The graph is shared with other runs of its workflow. */
export const createRecordPart =
  ({ stores: { payloads }, keepGraph, own }: RecordPartOptions) =>
  async (
    request: executions.RunRequest,
    { graph, reused, until, schemaJson, inputsJson }: PlannedRun,
    { executionId, userId, metadata = {} }: RunInput,
  ): Promise<RunRecordPart> => {
    const [inputs, keptGraph, schema] = await Promise.all([
      payloads.putText(inputsJson || "{}", executionId),
      graph ? keepGraph(graph.key, graph.savedGraph, userId) : undefined,
      schemaJson === undefined ? undefined : payloads.putText(schemaJson, executionId),
    ]);
    const uses = filesNamedIn([inputsJson, ...(graph ? [graph.savedGraph.nodesJson] : [])], own);
    return {
      requestToken: request.requestToken,
      inputs,
      ...(keptGraph ? { graph: keptGraph } : {}),
      ...(until === undefined ? {} : { until }),
      ...(schema ? { schema } : {}),
      ...(uses.length > 0 ? { uses } : {}),
      ...(reused && request.rerun ? { rerun: { of: request.rerun.executionId, sources: reused.reuse.sources } } : {}),
      ...(request.fingerprint === "" ? {} : { fingerprint: request.fingerprint }),
      ...(request.runner?.personId === undefined ? {} : { personId: request.runner.personId }),
      ...(hasMembers(metadata) ? { metadata: metadataKeys(metadata) } : {}),
    };
  };

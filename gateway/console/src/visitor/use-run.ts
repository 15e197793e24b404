import { NodeloomError, type Client, type Execution } from "@nodeloom/client";
import { useEffect, useRef, useState } from "react";
import type { Visit } from "./visit";

/** State of the visitor's newest run. */
export type RunState =
  | { is: "idle" }
  | { is: "starting" }
  | { is: "running"; execution: Execution | undefined }
  | { is: "over"; execution: Execution }
  | { is: "refused"; error: NodeloomError };

/** Maximum number of earlier runs in the list. */
const EARLIER = 12;
const FINAL: ReadonlySet<string> = new Set<Execution["status"]>(["completed", "failed", "cancelled"]);

const asError = (error: unknown): NodeloomError =>
  error instanceof NodeloomError ? error : new NodeloomError({ status: 0, code: undefined, message: String(error), details: {} });

/** Events only report that the state has changed, so the state is loaded. */
const follow = async (client: Client, executionId: string, signal: AbortSignal, tell: (execution: Execution) => void): Promise<void> => {
  for await (const _ of client.events(executionId, { signal })) {
    const execution = await client.executions.get(executionId, { signal });
    tell(execution);
    if (FINAL.has(execution.status)) return;
  }
  tell(await client.wait(executionId, { signal }));
};

export interface Running {
  state: RunState;
  /** Completed runs, newest first. */
  earlier: readonly Execution[];
  start(inputs: Record<string, unknown>): void;
}

/** @param onOver called when a run ends or is rejected */
export const useRun = ({ app, client }: Visit, onOver: () => void): Running => {
  const [state, setState] = useState<RunState>({ is: "idle" });
  const [earlier, setEarlier] = useState<readonly Execution[]>([]);
  const stop = useRef(new AbortController());

  const watch = async (executionId: string, knownExecution?: Execution): Promise<void> => {
    const { signal } = stop.current;
    setState({ is: "running", execution: knownExecution });
    let last: Execution | undefined;
    await follow(client, executionId, signal, (execution) => {
      last = execution;
      setState(FINAL.has(execution.status) ? { is: "over", execution } : { is: "running", execution });
    });
    if (last) setEarlier((before) => [last!, ...before.filter((one) => one.executionId !== last!.executionId)]);
  };

  const guarded = (work: () => Promise<void>): void => {
    const { signal } = stop.current;
    work()
      .catch((error: unknown) => {
        if (!signal.aborted) setState({ is: "refused", error: asError(error) });
      })
      .finally(() => {
        if (!signal.aborted) onOver();
      });
  };

  useEffect(() => {
    const leave = new AbortController();
    stop.current = leave;
    // Continues to follow a run from an earlier visit.
    guarded(async () => {
      const { rows } = await client.executions.list({ limit: EARLIER }, { signal: leave.signal });
      setEarlier(rows.filter(({ status }) => FINAL.has(status)));
      const open = rows.find(({ status }) => !FINAL.has(status));
      if (open) await watch(open.executionId, open);
    });
    return () => leave.abort();
  }, [client]);

  const start = (inputs: Record<string, unknown>): void => {
    const { signal } = stop.current;
    setState({ is: "starting" });
    guarded(async () => {
      const headers = { prefer: "respond-async" };
      const { body } = await client.request("runWorkflow", { params: { slug: app.slug }, body: { inputs }, query: {}, headers, signal });
      if ("_async" in body) await watch(body.executionId);
    });
  };

  return { state, earlier, start };
};

import threads, { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Temporal's SDK takes a stack trace of every promise of a workflow, through the bundle's source map, for a query that shows
 * where a workflow waits. It has no switch, and takes more CPU than all else that a run needs of the thread. Runs are told
 * of by their rows; the query answers without traces here.
 */

const WORKFLOW_THREAD = /[\\/]workflow-worker-thread\.js$/;
/** Runs in the thread before the SDK, whose hooks are set when it creates its first workflow. */
const withoutHooks = (file: string): string =>
  `require("node:v8").promiseHooks.createHook = () => () => undefined; require(${JSON.stringify(file)});`;

class TracelessWorker extends Worker {
  constructor(file: string | URL, options: WorkerOptions = {}) {
    if (typeof file === "string" && WORKFLOW_THREAD.test(file)) super(withoutHooks(file), { ...options, eval: true });
    else super(file, options);
  }
}

/** Starts what makes threads for workflows, without traces of their promises. */
export const withoutTraces = async <T>(start: () => Promise<T>): Promise<T> => {
  const own = threads.Worker;
  threads.Worker = TracelessWorker;
  try {
    return await start();
  } finally {
    threads.Worker = own;
  }
};

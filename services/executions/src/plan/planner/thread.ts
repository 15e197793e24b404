import { parentPort } from "node:worker_threads";
import { workerData } from "piscina";
import { createLocalPlanner, type LocalPlannerOptions } from "./local";
import type { NeedsAnswer, PlanAnswer, PlanTask, TaskGraph } from "./protocol";

/** Work of a thread. The thread posts the task's number when it starts the task. */
export interface ThreadWork<T> {
  id: number;
  task: T;
}

const local = createLocalPlanner(workerData as LocalPlannerOptions);
const begin = ({ id }: ThreadWork<unknown>): void => parentPort!.postMessage(id);

export const needs = (work: ThreadWork<TaskGraph>): NeedsAnswer => {
  begin(work);
  return local.needs(work.task);
};

export const plan = (work: ThreadWork<PlanTask>): PlanAnswer => {
  begin(work);
  return local.plan(work.task);
};

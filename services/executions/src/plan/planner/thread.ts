import { parentPort } from "node:worker_threads";
import { workerData } from "piscina";
import { createLocalPlanner, type LocalPlannerOptions } from "./local";
import type { NeedsAnswer, PlanAnswer, PlanTask, TaskGraph } from "./protocol";

/** The entry of a planner thread. */

/** Work of a thread; its number is what the thread says when it begins. */
export interface ThreadWork<T> {
  id: number;
  given: T;
}

const local = createLocalPlanner(workerData as LocalPlannerOptions);
const begin = ({ id }: ThreadWork<unknown>): void => parentPort!.postMessage(id);

export const needs = (work: ThreadWork<TaskGraph>): NeedsAnswer => {
  begin(work);
  return local.needs(work.given);
};

export const plan = (work: ThreadWork<PlanTask>): PlanAnswer => {
  begin(work);
  return local.plan(work.given);
};

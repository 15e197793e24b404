import { parentPort } from "node:worker_threads";
import { workerData } from "piscina";
import { createPlanTask, type PlanTaskOptions } from "./plan-task";
import type { PlanAnswer, ThreadTask } from "./protocol";

/** A planner's thread: one task at a time; it says when it begins one. */
const planTask = createPlanTask(workerData as PlanTaskOptions);
module.exports = ({ id, task }: ThreadTask): PlanAnswer => {
  parentPort!.postMessage(id);
  return planTask(task);
};

import { parentPort, workerData } from "node:worker_threads";
import { createPlanTask, type PlanTaskOptions } from "./plan-task";
import type { PlanTask } from "./protocol";

/** A planner's thread: one task at a time, one answer each. */
const port = parentPort;
if (!port) throw new Error("a planner runs in a worker thread");
const planTask = createPlanTask(workerData as PlanTaskOptions);
port.on("message", (task: PlanTask) => port.postMessage(planTask(task)));

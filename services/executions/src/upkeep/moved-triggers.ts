/** RPCs for schedules and hooks that gateways and workflows of version 1.0.0 still call. */
import { unary } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import type { Triggers } from "../clients";
import type { MovedTriggers } from "../record/earlier/moved-triggers";

const PASSED_ON = [
  ...(["createSchedule", "listSchedules", "getSchedule", "updateSchedule", "deleteSchedule"] as const),
  ...(["createHook", "listHooks", "deleteHook", "findHook", "readDelivery"] as const),
];
type PassedOn = Pick<executions.ExecutionsServiceServer, (typeof PASSED_ON)[number]>;
type Moves = Pick<executions.ExecutionsServiceServer, "findUnmoved" | "moveTrigger">;

export const movedTriggersHandlers = (moved: MovedTriggers, triggers: Triggers): PassedOn & Moves => {
  const call = triggers as unknown as Readonly<Record<string, (request: object) => Promise<object>>>;
  const passedOn = Object.fromEntries(PASSED_ON.map((name) => [name, unary((request: object) => call[name]!(request))]));
  return {
    ...(passedOn as unknown as PassedOn),
    findUnmoved: unary((which) => moved.find(which)),
    moveTrigger: unary(async ({ collection, id, moveId }) => ({ document: await moved.move(collection, id, moveId) })),
  };
};

import { asyncSubmit } from "./async-submit";
import { cancel } from "./cancel";
import { durableCall } from "./durable-call";
import { fairness } from "./fairness";
import { idleMemory } from "./idle-memory";
import { mediaOperations } from "./media-operations";
import { reads } from "./reads";
import type { Scenario } from "./scenario";
import { steadySubmit } from "./steady-submit";
import { syncRun } from "./sync-run";
import { whoami } from "./whoami";

export type { Bench, Extent, Scenario } from "./scenario";

/** Every scenario by its letter, in order of measurement. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  a: whoami,
  b: syncRun,
  c: asyncSubmit,
  d: cancel,
  e: reads,
  f: fairness,
  g: durableCall,
  h: steadySubmit,
  i: idleMemory,
  j: mediaOperations,
};

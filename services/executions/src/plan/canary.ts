/** Canaries of aliases: the hash of a run's id decides whether the run is the canary's. */
import { createHash } from "node:crypto";
import type { workflows as workflowsProto } from "@nodeloom/proto";
import type { CanaryRun } from "../run/types";

/** The canary of the alias that selected a graph. */
export type CanaryShare = workflowsProto.CanaryShare;

/** Selects the arm of a run. */
export type ArmOf = (canary: CanaryShare) => CanaryRun["arm"];

const PERCENT = 100;
const HASH_BYTES = 4;
const HASHES = 2 ** (8 * HASH_BYTES);

/** Returns the arm of a run. Attempts and replays of a run have the same arm, and other canaries select other runs. */
export const armOf =
  (executionId: string): ArmOf =>
  ({ id, percent }) => {
    const hash = createHash("sha256").update(`${id} ${executionId}`).digest().readUInt32BE();
    return (hash / HASHES) * PERCENT < percent ? "canary" : "base";
  };

/** A run's part in the comparison; `isLimited` if the canary's runs have a limit on their costs. */
export interface PlannedCanary extends CanaryRun {
  isLimited: boolean;
}

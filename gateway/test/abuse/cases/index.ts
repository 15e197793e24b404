import type { AbuseCase } from "../case";
import { boundsCases } from "./bounds";
import { doorCases } from "./door";
import { usageCases } from "./usage";

/** Every fault that is tried, by area. */
export const CASES: readonly AbuseCase[] = [...doorCases, ...boundsCases, ...usageCases];

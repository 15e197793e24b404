import type { Case } from "../case";
import { authCases } from "./auth";
import { identityCases } from "./identity";
import { modelCases } from "./models";
import { runCases } from "./runs";
import { usageCases } from "./usage";
import { workflowCases } from "./workflows";

/** Every case of the suite. */
export const CASES: readonly Case[] = [...identityCases, ...workflowCases, ...authCases, ...runCases, ...modelCases, ...usageCases];

import type { AbuseCase } from "../case";
import { accountCases } from "./accounts";
import { addressCases } from "./addresses";
import { approvalCases } from "./approvals";
import { batchCases } from "./batches";
import { budgetCases } from "./budgets";
import { boundsCases } from "./bounds";
import { doorCases } from "./door";
import { fileCases } from "./files";
import { hookCases } from "./hooks";
import { organizationCases } from "./organizations";
import { paymentCases } from "./payments";
import { leavingCases } from "./leaving";
import { runCases } from "./runs";
import { signInCases } from "./sign-in";
import { secretCases } from "./secrets";
import { usageCases } from "./usage";

/** Every attack by area. Attacks that use up an address's limits come last. */
export const CASES: readonly AbuseCase[] = [
  ...boundsCases,
  ...runCases,
  ...approvalCases,
  ...batchCases,
  ...budgetCases,
  ...paymentCases,
  ...usageCases,
  ...addressCases,
  ...secretCases,
  ...organizationCases,
  ...fileCases,
  ...accountCases,
  ...leavingCases,
  ...signInCases,
  ...hookCases,
  ...doorCases,
];

import type { Case } from "../case";
import { accountCases } from "./accounts";
import { adminCases } from "./admin";
import { agentCases } from "./agents";
import { approvalCases } from "./approvals";
import { authCases } from "./auth";
import { batchCases } from "./batches";
import { budgetCases } from "./budgets";
import { bundleCases } from "./bundles";
import { auditCases } from "./audit";
import { endpointCases } from "./endpoints";
import { engineCases } from "./engine";
import { canaryCases } from "./canaries";
import { environmentCases } from "./environments";
import { erasureCases } from "./erasure";
import { erasuresCases } from "./erasures";
import { retentionCases } from "./retention";
import { errorCases } from "./errors";
import { eventCases } from "./events";
import { facadeCases } from "./facades";
import { failingNodeCases } from "./failing-nodes";
import { identityCases } from "./identity";
import { innerWorkflowCases } from "./inner-workflows";
import { leavingCases } from "./leaving";
import { libraryCases } from "./library";
import { limitCases } from "./limits";
import { loopCases } from "./loops";
import { mediaCases } from "./media";
import { mediaReaderCases } from "./media-readers";
import { maskCases } from "./masks";
import { mediaUrlCases } from "./media-urls";
import { modelCases } from "./models";
import { moneyCases } from "./money";
import { model3dCases } from "./models-3d";
import { vectorCases } from "./vectors";
import { nodeKindCases } from "./node-kinds";
import { rerunCases } from "./reruns";
import { routeCases } from "./routes";
import { runCases } from "./runs";
import { paymentCases } from "./payments";
import { signInCases } from "./sign-in";
import { secretCases } from "./secrets";
import { serviceAccountCases } from "./service-accounts";
import { triggerCases } from "./triggers";
import { usageCases } from "./usage";
import { workflowTestCases } from "./workflow-tests";
import { workflowCases } from "./workflows";

/** Every case of the suite. */
export const CASES: readonly Case[] = [
  ...identityCases,
  ...agentCases,
  ...workflowCases,
  ...authCases,
  ...accountCases,
  ...runCases,
  ...batchCases,
  ...budgetCases,
  ...modelCases,
  ...routeCases,
  ...usageCases,
  ...eventCases,
  ...endpointCases,
  ...auditCases,
  ...errorCases,
  ...limitCases,
  ...moneyCases,
  ...engineCases,
  ...nodeKindCases,
  ...failingNodeCases,
  ...innerWorkflowCases,
  ...bundleCases,
  ...approvalCases,
  ...triggerCases,
  ...mediaCases,
  ...mediaUrlCases,
  ...mediaReaderCases,
  ...maskCases,
  ...model3dCases,
  ...vectorCases,
  ...libraryCases,
  ...environmentCases,
  ...canaryCases,
  ...workflowTestCases,
  ...rerunCases,
  ...loopCases,
  ...facadeCases,
  ...paymentCases,
  ...signInCases,
  ...secretCases,
  ...leavingCases,
  ...erasureCases,
  ...erasuresCases,
  ...retentionCases,
  ...serviceAccountCases,
  ...adminCases,
];

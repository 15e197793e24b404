import type { Route } from "../http/route";
import { appRoutes } from "./apps/routes";
import { adminAuditRoutes } from "./admin/audit-routes";
import { adminCreditRoutes } from "./admin/credits";
import { adminExecutionRoutes } from "./admin/executions";
import { adminModerationRoutes } from "./admin/moderation";
import { adminModelEntryRoutes } from "./admin/model-entries";
import { adminModelRoutes } from "./admin/models";
import { adminModelOrderRoutes } from "./admin/model-orders";
import { adminProviderKeyRoutes } from "./admin/provider-keys";
import { adminTemplateRoutes } from "./admin/templates";
import { adminTemporalRoutes } from "./admin/temporal";
import { adminTierRoutes } from "./admin/tiers";
import { adminUserRoutes } from "./admin/users";
import { batchCreationRoutes } from "./batches/creating";
import { batchRoutes } from "./batches/routes";
import { budgetRoutes } from "./budgets/routes";
import { authRoutes } from "./identity/auth";
import { decisionRoutes } from "./executions/decisions";
import { executionRoutes } from "./executions/routes";
import { folderRoutes } from "./workflows/folders";
import { healthRoutes } from "./health/routes";
import { identityRoutes } from "./identity/routes";
import { keyRoutes } from "./keys/routes";
import { mailRoutes } from "./mail/routes";
import { adminLeavingRoutes } from "./leaving/admin";
import { adminOrganizationLeavingRoutes, organizationLeavingRoutes } from "./leaving/organizations";
import { leavingRoutes } from "./leaving/routes";
import { mcpRoutes } from "./mcp/routes";
import { mediaRoutes } from "./media/routes";
import { paymentEventRoutes } from "./payments/events";
import { paymentRoutes } from "./payments/routes";
import { modelServerRoutes } from "./model-servers/routes";
import { serverWorkflowRoutes } from "./model-servers/workflows";
import { modelRoutes } from "./models/routes";
import { taskRoutes } from "./models/tasks";
import { nodeKindRoutes } from "./node-kinds/routes";
import { openAiRoutes } from "./openai/routes";
import { adminOrganizationRoutes } from "./admin/organizations";
import { organizationAuditRoutes } from "./organizations/audit";
import { invitationRoutes } from "./organizations/invitations";
import { memberRoutes } from "./organizations/members";
import { organizationRoutes } from "./organizations/routes";
import { rerunRoutes } from "./reruns/routes";
import { runRoutes } from "./runs/routes";
import { secretRoutes } from "./secrets/routes";
import { hookRoutes } from "./triggers/hooks";
import { scheduleRoutes } from "./triggers/schedules";
import { oidcRoutes } from "./sign-in/oidc";
import { secondFactorRoutes } from "./sign-in/second-factor";
import { secondStepRoutes } from "./sign-in/second-step";
import { usageRoutes } from "./usage/routes";
import { workflowRoutes } from "./workflows/routes";
import { versionRoutes } from "./workflows/versions";

/** Every endpoint of the platform. */
export const routes: readonly Route[] = [
  ...workflowRoutes,
  ...versionRoutes,
  ...runRoutes,
  ...scheduleRoutes,
  ...hookRoutes,
  ...batchCreationRoutes,
  ...batchRoutes,
  ...modelRoutes,
  ...taskRoutes,
  ...nodeKindRoutes,
  ...decisionRoutes,
  ...executionRoutes,
  ...rerunRoutes,
  ...usageRoutes,
  ...identityRoutes,
  ...leavingRoutes,
  ...organizationLeavingRoutes,
  ...authRoutes,
  ...secondStepRoutes,
  ...secondFactorRoutes,
  ...oidcRoutes,
  ...mailRoutes,
  ...organizationRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...organizationAuditRoutes,
  ...keyRoutes,
  ...secretRoutes,
  ...budgetRoutes,
  ...paymentRoutes,
  ...paymentEventRoutes,
  ...folderRoutes,
  ...mediaRoutes,
  ...openAiRoutes,
  ...mcpRoutes,
  ...appRoutes,
  ...adminUserRoutes,
  ...adminLeavingRoutes,
  ...adminOrganizationLeavingRoutes,
  ...adminCreditRoutes,
  ...adminOrganizationRoutes,
  ...adminExecutionRoutes,
  ...adminModerationRoutes,
  ...adminTemplateRoutes,
  // Before addresses that a model's name may be in.
  ...adminModelEntryRoutes,
  ...adminModelRoutes,
  ...adminModelOrderRoutes,
  ...adminProviderKeyRoutes,
  ...modelServerRoutes,
  ...serverWorkflowRoutes,
  ...adminTierRoutes,
  ...adminAuditRoutes,
  ...adminTemporalRoutes,
  ...healthRoutes,
];

import type { Route } from "./edge/route";
import { appRoutes } from "./routes/apps/routes";
import { adminAuditRoutes } from "./routes/admin/audit-routes";
import { adminCreditRoutes } from "./routes/admin/credits";
import { adminExecutionRoutes } from "./routes/admin/executions";
import { adminModerationRoutes } from "./routes/admin/moderation";
import { adminModelEntryRoutes } from "./routes/admin/model-entries";
import { adminModelRoutes } from "./routes/admin/models";
import { adminModelOrderRoutes } from "./routes/admin/model-orders";
import { adminProviderKeyRoutes } from "./routes/admin/provider-keys";
import { adminTemplateRoutes } from "./routes/admin/templates";
import { adminTemporalRoutes } from "./routes/admin/temporal";
import { adminTierRoutes } from "./routes/admin/tiers";
import { adminUserRoutes } from "./routes/admin/users";
import { batchCreationRoutes } from "./routes/batches/creating";
import { batchRoutes } from "./routes/batches/routes";
import { budgetRoutes } from "./routes/budgets/routes";
import { bundleRoutes } from "./routes/bundles/routes";
import { authRoutes } from "./routes/identity/auth";
import { erasureRoutes } from "./routes/erasures/routes";
import { decisionRoutes } from "./routes/executions/decisions";
import { decisionLinkRoutes } from "./routes/executions/decision-links";
import { executionRoutes } from "./routes/executions/routes";
import { falRoutes } from "./routes/fal/routes";
import { folderRoutes } from "./routes/workflows/folders";
import { healthRoutes } from "./routes/health/routes";
import { identityRoutes } from "./routes/identity/routes";
import { runSecretRoutes } from "./routes/keys/run-secret";
import { keyRoutes } from "./routes/keys/routes";
import { mailRoutes } from "./routes/mail/routes";
import { adminLeavingRoutes } from "./routes/leaving/admin";
import { adminOrganizationLeavingRoutes, organizationLeavingRoutes } from "./routes/leaving/organizations";
import { leavingRoutes } from "./routes/leaving/routes";
import { mcpRoutes } from "./mcp/routes";
import { mediaRoutes } from "./routes/media/routes";
import { verifyRoutes } from "./routes/media/verify";
import { paymentEventRoutes } from "./routes/payments/events";
import { paymentRoutes } from "./routes/payments/routes";
import { modelServerRoutes } from "./routes/model-servers/routes";
import { serverWorkflowRoutes } from "./routes/model-servers/workflows";
import { modelRoutes } from "./routes/models/routes";
import { taskRoutes } from "./routes/models/tasks";
import { nodeKindRoutes } from "./routes/node-kinds/routes";
import { openAiRoutes } from "./routes/openai/routes";
import { adminOrganizationRoutes } from "./routes/admin/organizations";
import { organizationAuditRoutes } from "./routes/organizations/audit";
import { invitationRoutes } from "./routes/organizations/invitations";
import { memberRoutes } from "./routes/organizations/members";
import { serviceAccountRoutes } from "./routes/organizations/service-accounts";
import { organizationRoutes } from "./routes/organizations/routes";
import { replicateRoutes } from "./routes/replicate/routes";
import { rerunRoutes } from "./routes/reruns/routes";
import { runRoutes } from "./routes/runs/routes";
import { secretRoutes } from "./routes/secrets/routes";
import { hookRoutes } from "./routes/triggers/hooks";
import { scheduleRoutes } from "./routes/triggers/schedules";
import { webhookEndpointRoutes } from "./routes/webhooks/routes";
import { oidcRoutes } from "./routes/sign-in/oidc";
import { secondFactorRoutes } from "./routes/sign-in/second-factor";
import { secondStepRoutes } from "./routes/sign-in/second-step";
import { usageRoutes } from "./routes/usage/routes";
import { workflowRoutes } from "./routes/workflows/routes";
import { aliasRoutes } from "./routes/workflows/aliases";
import { testRoutes } from "./routes/workflows/tests";
import { versionRoutes } from "./routes/workflows/versions";

export const routes: readonly Route[] = [
  ...workflowRoutes,
  ...versionRoutes,
  ...aliasRoutes,
  ...testRoutes,
  ...bundleRoutes,
  ...runRoutes,
  ...scheduleRoutes,
  ...hookRoutes,
  ...batchCreationRoutes,
  ...batchRoutes,
  ...modelRoutes,
  ...taskRoutes,
  ...nodeKindRoutes,
  ...decisionRoutes,
  ...decisionLinkRoutes,
  ...executionRoutes,
  ...erasureRoutes,
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
  ...serviceAccountRoutes,
  ...invitationRoutes,
  ...organizationAuditRoutes,
  ...keyRoutes,
  ...runSecretRoutes,
  ...webhookEndpointRoutes,
  ...secretRoutes,
  ...budgetRoutes,
  ...paymentRoutes,
  ...paymentEventRoutes,
  ...folderRoutes,
  ...mediaRoutes,
  ...verifyRoutes,
  ...openAiRoutes,
  ...falRoutes,
  ...replicateRoutes,
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
  // This route comes before routes whose path can contain a model's name.
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

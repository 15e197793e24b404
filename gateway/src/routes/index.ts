import type { Route } from "../route";
import { adminAuditRoutes } from "./admin-audit";
import { adminModelRoutes } from "./admin-models";
import { adminTierRoutes } from "./admin-tiers";
import { adminUserRoutes } from "./admin-users";
import { authRoutes } from "./auth";
import { executionRoutes } from "./executions";
import { folderRoutes } from "./folders";
import { healthRoutes } from "./health";
import { identityRoutes } from "./identity";
import { keyRoutes } from "./keys";
import { mediaRoutes } from "./media";
import { modelRoutes } from "./models";
import { runRoutes } from "./runs";
import { usageRoutes } from "./usage";
import { workflowRoutes } from "./workflows";

/** Every endpoint of the platform. */
export const routes: readonly Route[] = [
  ...workflowRoutes,
  ...runRoutes,
  ...modelRoutes,
  ...executionRoutes,
  ...usageRoutes,
  ...identityRoutes,
  ...authRoutes,
  ...keyRoutes,
  ...folderRoutes,
  ...mediaRoutes,
  ...adminUserRoutes,
  ...adminModelRoutes,
  ...adminTierRoutes,
  ...adminAuditRoutes,
  ...healthRoutes,
];

import { ROLES, type Role } from "@nodeloom/kernel/organizations";
import { ROLES_TEXTS } from "../../messages/organizations";

export { ROLES, type Role };

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: ROLES_TEXTS.everythingIncludingMembersBudgetsAnd,
  editor: ROLES_TEXTS.buildsPublishesAndRunsWorkflows,
  runner: ROLES_TEXTS.runsWorkflowsAndViewsEverything,
  viewer: ROLES_TEXTS.viewsEverything,
};

import { ROLES, type Role } from "@nodeloom/kernel/organizations";
import { ROLES_TEXTS } from "../../messages/organizations";

export { ROLES, type Role };

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: ROLES_TEXTS.owner,
  editor: ROLES_TEXTS.editor,
  runner: ROLES_TEXTS.runner,
  viewer: ROLES_TEXTS.viewer,
};

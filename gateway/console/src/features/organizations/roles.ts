import { ROLES, type Role } from "@nodeloom/kernel/organizations";

export { ROLES, type Role };

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: "Everything: members, budgets and paying, too",
  editor: "Builds, publishes, makes keys and secrets, runs",
  runner: "Runs, and looks at what is there",
  viewer: "Looks at what is there",
};

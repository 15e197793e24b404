import { plural } from "./forms";
export const ACCOUNT_NAME = {
  aDeletedAccount: "a deleted account",
  copyId: (name: string | null | undefined) => `Copy the ID of ${name ?? "the account"}`,
};

export const ADMIN_PAGE = {
  users: "Users",
  modelOrder: "Model order",
  moderation: "Moderation",
  ledgerCheck: "Ledger check",
  auditLog: "Audit log",
  administratorsOnly: "Administrators only",
  administration: "Administration",
};

export const AUDIT = {
  accountsAndCredits: "Accounts and credits",
  action: "Action",
  resource: "Resource",
  change: "Change",
  outcome: "Outcome",
  user: "User",
  inTheConsole: "in the console",
  withKey: (keyId: string) => `with key ${keyId}`,
  category: "Category",
  allCategories: "All categories",
  allOutcomes: "All outcomes",
  searchTheAuditLog: "Search the audit log",
  modelSlugOrChange: "Model, slug or change",
  auditLog: "Audit log",
  noMatches: "No matches among the entries searched.",
  empty: "No administrator has changed anything yet.",
};

export const CREDITS_DIALOG = {
  topUp: "Top-up",
  planCredits: "Plan credits",
  adjustment: "Adjustment (can be negative)",
  trialRunsOfAModel: "Trial runs of a model",
  has: (name: string, credits: string) => `${name} has ${credits}.`,
  addCreditsTo: (name: string) => `Add credits to ${name}`,
  addCredits: "Add credits",
  type: "Type",
  note: "Note",
  reasonHint: "Shown in the ledger and the audit log.",
  runs: (count: number) => `${plural(count, "run", "runs")}`,
  change: "Change",
  ledgerOf: (email: string) => `Ledger of ${email}`,
  ledger: "Ledger",
  noTransactionsYet: "No transactions yet.",
};

export const FALLBACK_DIALOG = {
  fallbackModelsFor: (displayName: string) => `Fallback models for ${displayName}`,
  noFallbackModels: "No fallback models.",
  saved: "New runs use these fallback models.",
  scopeHint: "Applies to direct runs of the model, and to nodes without their own fallback models.",
};

export const LEDGER = {
  checkHint: "Checks that every balance equals the sum of its ledger entries.",
  checkNow: "Check now",
  checked: (accounts: number, isWhole: boolean) =>
    `${plural(accounts, "account", "accounts")} checked.${isWhole ? "" : " The check stopped before the last account. Run it again to continue."}`,
  noMismatches: "No mismatches",
  mismatches: (count: number) => `${plural(count, "mismatch", "mismatches")}`,
  mismatchesTitle: "Mismatches",
  field: "Field",
  ledger: "Ledger",
  staleHoldsHint: "Held longer than the longest possible run",
  staleHolds: "Stale holds",
  run: "Run",
  heldSince: "Held since",
};

export const MODELS = {
  notJson: "This isn't valid JSON.",
  usdPerRun: "USD per run",
  usdPerImage: "USD per image",
  usdPerSecond: "USD per second",
  usdPer1000Characters: "USD per 1,000 characters",
  usdPerMillionInputTokens: "USD per million input tokens",
  usdPerMillionOutputTokens: "USD per million output tokens",
  priceOf: (displayName: string) => `Price of ${displayName}`,
  priceSaved: "New runs use this price.",
  priceHint: "The provider's price. Each plan adds its markup.",
  pricesByInputsJson: "Prices by inputs (JSON)",
  type: "Type",
  enabled: "Enabled",
  enable: (displayName: string) => `Enable ${displayName}`,
  enabledNotice: (name: string, isOn: boolean) => `${name} ${isOn ? "enabled" : "disabled"}.`,
  minimumPlan: "Minimum plan",
  minimumPlanOf: (displayName: string) => `Minimum plan of ${displayName}`,
  minimumPlanChanged: "Minimum plan changed.",
  fallbackModels: "Fallback models",
  fallbackModelsOf: (names: string, displayName: string) => `Fallback models of ${displayName}: ${names}`,
  prices: (count: number) => `${plural(count, "price", "prices")}`,
  usd: (prices: string) => `${prices || "no"} USD`,
};

export const MODERATION = {
  nodeOutput: (node: string) => `Output of node ${node}`,
  runInput: (name: string) => `Input of ${name || "a run"}`,
  requestOfNode: (nodeId: string) => `Request of node ${nodeId}`,
  content: "Content",
  copyRunId: "Copy run ID",
  decision: "Decision",
  rejected: "rejected",
  notChecked: "not checked",
  reason: "Reason",
  moderationHookUnavailable: "moderation hook unavailable",
  accountId: "Account ID",
  accountFilterHint: "Enter an account ID, or leave empty for all accounts",
  title: "Content that moderation rejected",
  noRejectedContent: "No rejected content.",
  notConfigured: "This installation has no moderation hook. Set one with MODERATION_URL.",
};

export const MODEL_ORDERS = {
  currentDefault: "current default",
  moveToTheTop: (displayName: string) => `Move ${displayName} to the top`,
  moveUp: (displayName: string) => `Move ${displayName} up`,
  moveDown: (displayName: string) => `Move ${displayName} down`,
  orderForChanged: (name: string) => `Order for ${name} changed.`,
  resetToBuiltInOrder: "Reset to built-in order",
  empty: "No model does this task.",
  modelsFor: (name: string) => `Models for ${name}`,
  intro: "A node that names a task uses the first model in this order that is ready and included in the user's plan.",
};

export const ORGANIZATIONS = {
  planOf: "Plan of",
  addCreditsTo: (name: string) => `Add credits to ${name}`,
  searchOrganizations: "Search organizations",
  searchByName: "Search by name",
  noOrganizationsYet: "No organizations yet.",
  noMatchingOrganizations: "No matching organizations.",
};

export const RUNS = {
  run: "Run",
  copyRunId: "Copy run ID",
  runsOfAllAccounts: "Runs of all accounts",
  noMatchingRuns: "No matching runs.",
};

export const TEMPLATES = {
  removeTemplate: "Remove template",
  keepTemplate: "Keep template",
  removed: (name: string) => `“${name}” is no longer a template.`,
  removeHint: (name: string) =>
    `“${name}” disappears from all lists, and only its owner can run it. The owner keeps the workflow and sees the reason.`,
  reason: "Reason",
  reasonHint: "The owner sees it.",
  unfeatured: (name: string) => `“${name}” is no longer featured.`,
  isFeatured: (name: string) => `“${name}” is featured.`,
  noTemplates: "No templates",
  emptyHint: "Owners publish templates in the settings of a workflow.",
  owner: "Owner",
  changed: "Changed",
  featured: "Featured",
  feature: "Feature",
  remove: "Remove…",
};

export const TIERS_TEXTS = {
  newPlan: "New plan",
  planSaved: "Plan saved.",
  id: "ID",
  slugHint: "Lower-case letters, digits and hyphens.",
  basedOn: "Based on",
  requestsPerMinute: "Requests per minute",
  limitHint: "Leave empty for no limit.",
  markup: "Markup",
  creditsPerMonth: "Credits per month",
  concurrentRuns: "Concurrent runs",
  deletePlan: (id: string) => `Delete plan ${id}`,
  planDeleted: "Plan deleted.",
  caps: "Caps",
  capsHint: "A field that you leave empty is as in the plan that this one is based on.",
  atMost: (count: string) => `At most ${count}.`,
  capLabels: {
    budgets: "Budgets",
    keys: "API keys",
    schedules: "Schedules",
    hooks: "Hooks",
    batches: "Open batches",
    batchRows: "Rows per batch",
    organizations: "Organizations",
    serviceAccounts: "Service accounts",
    uploadMb: "Upload size in MB",
  },
};

export const USER_DIALOGS = {
  keep: (email: string) => `Keep ${email}`,
  delete: (email: string) => `Delete ${email}`,
  keepAccount: "Keep account",
  deleteAccount: "Delete account",
  deletionOfCancelled: (email: string) => `Deletion of ${email} cancelled.`,
  deletionScheduledFor: (email: string) => `${email} will be deleted after the waiting period.`,
  deleteTitle: "This account will be deleted",
  deleteHint:
    "Running work is cancelled now. After the waiting period, everything except ledger amounts is deleted permanently. The owner can cancel until then. The audit log records your action.",
  unlink: (email: string) => `Unlink ${email}`,
  confirmUnlink: "Unlink",
  unlinked: (email: string) => `${email} is no longer linked to the provider.`,
  unlinkHint:
    "The account can no longer sign in through the provider, and its sessions end. An account without a password needs a password link. The audit log records your action.",
  twoFactorAuthenticationOf: (email: string) => `Two-factor authentication of ${email}`,
  turnOff: "Turn off",
  twoFactorTurnedOff: (email: string) => `${email} now signs in with the password alone.`,
  twoFactorHint: "First verify that the owner asked for this: the password alone then signs in. The audit log records your action.",
  newPasswordFor: (email: string) => `New password for ${email}`,
  resetLinkHint:
    "Send the link to its owner through a channel you trust. It works once, within an hour, and ends all sessions of the account.",
  createLink: "Create link",
  shownOnlyOnce: "Shown only once",
  link: "Link",
  exportDataOf: (email: string) => `Export data of ${email}`,
  archive: (size: string) =>
    `${size ? `The archive is ready: ${size}.` : "The archive is being created."} The audit log records that you request and download it.`,
};

export const USERS = {
  planOf: (email: string) => `Plan of ${email}`,
  changePlan: (tier: string) => `Change the plan to ${tier}?`,
  changePlanTo: (tier: string) => `Change to ${tier}`,
  planChanges: (email: string, tier: string) => `${email} has the ${tier} plan. Limits, prices and monthly credits change at once.`,
  planChanged: (email: string, plan: string) => `${email} now has the ${plan} plan.`,
  approved: (email: string) => `${email} approved.`,
  approve: "Approve",
  actionsFor: (email: string) => `Actions for ${email}`,
  addCredits: "Add credits…",
  ledger: "Ledger…",
  copyId: "Copy ID",
  idCopied: "ID copied.",
  passwordLink: "Password link…",
  turnOffTwoFactorAuthentication: "Turn off two-factor authentication…",
  unlinkFromProvider: "Unlink from provider…",
  exportData: "Export data…",
  removeAdministratorRole: "Remove administrator role",
  makeAdministrator: "Make administrator",
  changed: (email: string) => `${email} changed.`,
  revokeApproval: "Revoke approval",
  approvalOfRevoked: (email: string) => `Approval of ${email} revoked.`,
  restoreAccount: "Restore account",
  suspend: "Suspend",
  suspended: (email: string, suspended: boolean) => `${email} ${suspended ? "restored" : "suspended"}.`,
  cancelDeletion: "Cancel deletion…",
  leaving: "leaving",
  suspendedState: "suspended",
  approvedState: "approved",
  awaitingApproval: "awaiting approval",
  admin: "admin",
  tier: "Tier",
  since: "Since",
  searchAccounts: "Search accounts",
  searchByEmail: "Search by email",
  awaitingApprovalFilter: "Awaiting approval",
  accounts: "Accounts",
  noMatchingAccounts: "No matching accounts.",
};

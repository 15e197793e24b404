import type { ErrorEntries } from "./entry";

const CREDITS = { requiredCredits: "the most that the run can cost", availableCredits: "what the account has" } as const;

/** Errors of permission: keys, sessions, capabilities, tiers and credits. */
export const ACCESS_ERRORS = {
  UNAUTHENTICATED: {
    status: 401,
    when: "The API key is missing, malformed, unknown, expired or revoked, or the sign-in is wrong.",
    fix: "Send a valid key in the header `x-api-key`. You create keys in the console under API keys.",
  },
  LEGACY_KEY_RETIRED: {
    status: 401,
    when: "The key was created before May 2026.",
    fix: "Create a new key, and delete the old one.",
  },
  SIGNATURE_INVALID: {
    status: 401,
    when: "A delivery to an inbound hook has no signature, or one that was made with another secret.",
    fix: "Sign the raw body with the hook's secret.",
  },
  INSUFFICIENT_CREDITS: {
    status: 402,
    when: "The account has fewer credits than the run can cost.",
    fix: "Buy credits, or run something cheaper: a quote is free.",
    members: CREDITS,
  },
  grant_exhausted: {
    status: 402,
    when: "The trial runs of a model are used up, and the account has fewer credits than the run can cost.",
    fix: "Buy credits, or choose another model.",
    members: { ...CREDITS, model: "that model" },
  },
  BUDGET_EXCEEDED: {
    status: 402,
    when: "A budget of the key, of the workflow or of a metadata value has less left than the run can cost.",
    fix: "Wait until `resetsAt`, or raise the budget.",
    members: {
      scope: "`key`, `workflow` or `metadata.<name>`",
      limit: "credits of the budget",
      remaining: "credits that are left",
      resetsAt: "when the window ends; null for `total`",
      requiredCredits: CREDITS.requiredCredits,
      executionId: "the run, if it had begun",
      nodeId: "the node that failed, if the run had begun",
    },
  },
  CAPABILITY_DENIED: {
    status: 403,
    when: "The capabilities of the key or session, or the role in the organization, don't cover the request.",
    fix: "Use a key with the capability in `required`, or ask for the role in `requiredRole`.",
    members: {
      required: "the capability that would have passed",
      requiredTier: "the lowest tier with this capability, if the caller's tier lacks it",
      requiredRole: "the lowest role that is allowed, if the caller's role isn't",
    },
  },
  NOT_APPROVER: {
    status: 403,
    when: "The approval names its approvers and you aren't one of them, or you started the run and its starter can't decide. For a mailed link: its address is no longer an approver's.",
    fix: "Ask one of the approvers in `waitingFor` to decide.",
  },
  CAPABILITY_ABOVE_CEILING: {
    status: 403,
    when: "You create a key with more capabilities than the tier allows.",
    fix: "Leave out the capabilities in `capabilities`, or change the tier.",
    members: { capabilities: "those that the tier doesn't allow" },
  },
  API_KEY_ACCESS_DENIED: {
    status: 403,
    when: "The account's tier has no API keys. Keys that exist stop working.",
    fix: "Change to a tier with API keys.",
    members: { tier: "the account's tier" },
  },
  SESSION_REQUIRED: {
    status: 403,
    when: "An API key calls an endpoint that needs a signed-in person, and lacks the capability in `required`, if the endpoint has one for keys.",
    fix: "Do this in the console, or use a key that has the capability in `required`.",
    members: { required: "the capability that admits keys, if there is one" },
  },
  CROSS_ORIGIN_DENIED: {
    status: 403,
    when: "A request with a session cookie comes from another site, or one with a visitor's token from an origin that the app doesn't list.",
    fix: "Call the API with a key, from your server. For an app, add the origin to its list.",
  },
  ACCOUNT_NOT_APPROVED: {
    status: 403,
    when: "The account waits for approval. Until then it can't run, quote, upload, publish templates or create keys.",
    fix: "Wait for an administrator to approve the account.",
  },
  ACCOUNT_SUSPENDED: {
    status: 403,
    when: "An administrator has suspended the account. Its sessions have ended and its keys don't work.",
    fix: "Ask the administrator of the installation.",
  },
  ACCOUNT_LEAVING: {
    status: 403,
    when: "The account or organization is going to be deleted. Until then it can't run, quote, upload or create keys.",
    fix: "Cancel the deletion in the settings if you want to keep the account.",
  },
  WORKFLOW_CAP_REACHED: {
    status: 403,
    when: "The account has as many saved workflows as its tier allows.",
    fix: "Delete a workflow, or change the tier.",
    members: { maxWorkflows: "how many the tier allows" },
  },
  TEMPLATE_CAP_REACHED: {
    status: 403,
    when: "The account has as many templates as it may have.",
    fix: "Delete a template.",
    members: { limit: "how many it may have" },
  },
  MEDIA_QUOTA_EXCEEDED: {
    status: 403,
    when: "The account's files would take more space than its tier stores.",
    fix: "Delete files, or change the tier.",
    members: { limit: "bytes that the tier stores", used: "bytes in use" },
  },
  MEDIA_URL_EXPIRED: {
    status: 403,
    when: "The address of a private file has expired, was changed, or has no signature.",
    fix: "Read the run or the workflow again, or ask `GET /api/media/:id` for a new address: it takes the file's id, and the name in its address.",
  },
  MODEL_TIER_REQUIRED: {
    status: 403,
    when: "A model of the run needs a higher tier.",
    fix: "Choose another model, or change to the tier in `requiredTier`.",
    members: { model: "the model", requiredTier: "the lowest tier that may run it", tier: "the caller's tier" },
  },
} satisfies ErrorEntries;

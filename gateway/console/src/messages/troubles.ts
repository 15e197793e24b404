/** Action of a button beside an error. */
export type Remedy = "open-node" | "raise-limit" | "see-plans" | "see-credits" | "see-models" | "see-problems";

interface Words {
  title: string;
  advice?: string;
  remedies?: readonly Remedy[];
}

/** Texts by API code. Other codes show the service's message. */
export const TROUBLES: Readonly<Record<string, Words>> = {
  INVALID_INPUTS: { title: "An input is invalid", advice: "The input shows what to change." },
  WORKFLOW_INVALID: { title: "The workflow can't run yet", remedies: ["see-problems"] },
  CONTENT_REFUSED: {
    title: "Rejected by the content rules of this installation",
    advice: "Rephrase it. Inputs rejected before the run are free; finished model calls are charged.",
  },
  INSUFFICIENT_CREDITS: { title: "Not enough credits", remedies: ["see-credits", "see-plans"] },
  BUDGET_EXCEEDED: { title: "A budget is used up", advice: "Raise it under Budgets, or wait until it resets." },
  grant_exhausted: {
    title: "The trial runs are used up",
    advice: "More runs of this model cost credits.",
    remedies: ["see-credits", "see-plans"],
  },
  MODEL_TIER_REQUIRED: {
    title: "Your plan does not include this model",
    advice: "Choose another model.",
    remedies: ["see-plans", "see-models"],
  },
  MODEL_NOT_FOUND: {
    title: "The model is not available",
    advice: "It doesn't exist or is disabled. Choose another one.",
    remedies: ["see-models"],
  },
  CONCURRENCY_LIMIT_EXCEEDED: {
    title: "Too many runs at once",
    advice: "Wait until a run ends, or upgrade to a plan with more concurrent runs.",
    remedies: ["see-plans"],
  },
  RATE_LIMIT_EXCEEDED: { title: "Too many requests", advice: "Wait a minute." },
  WORKFLOW_CAP_REACHED: {
    title: "Your plan's workflow limit is reached",
    advice: "Delete a workflow, or upgrade your plan.",
    remedies: ["see-plans"],
  },
  MEDIA_QUOTA_EXCEEDED: {
    title: "Your storage is full",
    advice: "Delete files under Files, or upgrade your plan.",
    remedies: ["see-plans"],
  },
  ACCOUNT_LEAVING: { title: "Your account is scheduled for deletion", advice: "Cancel the deletion under Account, then run again." },
  ACCOUNT_NOT_APPROVED: { title: "Your account awaits approval", advice: "You can run workflows once an administrator approves it." },
  NOT_CONFIGURED: { title: "Not set up on this installation", advice: "Ask an administrator to set it up, or choose another model." },
  SERVICE_UNAVAILABLE: { title: "Temporarily unavailable", advice: "Try again in a moment. Nothing is charged twice." },
  PROVIDER_SUBMIT_FAILED: {
    title: "The provider rejected the request",
    advice: "The rejected call is free. Change the inputs, or try another model.",
  },
  PROVIDER_RESPONSE_INCOMPLETE: { title: "The provider returned no result", advice: "The whole run is free. Run it again." },
  OUTGOING_LIMIT_EXCEEDED: { title: "Too many requests to one address", advice: "Wait a minute, or run fewer items at once." },
};

/** Text of a run that its own limit stopped. */
export const OVER_LIMIT: Words = { title: "The run can cost more than its limit", remedies: ["raise-limit"] };

const SHOWN_PLACES = 3;

const whichItems = (items: number, failed: readonly number[]): string => {
  if (items < 2 || failed.length === 0) return "";
  if (failed.length === items) return ` for all ${items} items`;
  return ` for item ${failed.slice(0, SHOWN_PLACES).join(", ")}${failed.length > SHOWN_PLACES ? " and others" : ""} of ${items}`;
};

export const TROUBLE = {
  /** @param failed numbers of the failed items, counted from one */
  nodeFailed: (title: string, items: number, failed: readonly number[]) => `“${title}” failed${whichItems(items, failed)}`,
  runFailed: "The run failed",
  notStarted: "The run didn't start",
  creditsNeeded: (required: string, available: string) => `It can cost ${required} credits, and you have ${available}.`,
};

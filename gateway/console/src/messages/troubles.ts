import { NodeloomError } from "@nodeloom/client";
import { codeOf, messageOf } from "../api/client";
import { creditNumber } from "../ui/format";

/** Action of a button beside an error. */
export type Remedy = "open-node" | "raise-limit" | "see-plans" | "see-credits" | "see-models" | "see-problems";

/** An error for people: what failed, why, and what to do. */
export interface Trouble {
  title: string;
  cause: string;
  advice: string | undefined;
  remedies: readonly Remedy[];
}

interface Words {
  title: string;
  advice?: string;
  remedies?: readonly Remedy[];
}

/** Texts by API code; other codes show the service's message. */
const WORDS: Readonly<Record<string, Words>> = {
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

/** A node of a run, as errors describe it. */
export interface FailedNode {
  title: string;
  items: number;
  /** Indexes and messages of failed calls. */
  failed: readonly { item: number; message: string }[];
}

const NODE_PREFIX = /^node (?:"[^"]*" \([^)]*\)|\S+?): /;

/** A cause without the name of its node. */
export const plainCause = (message: string): string => message.replace(NODE_PREFIX, "");

const whichItems = ({ items, failed }: FailedNode): string => {
  if (items < 2 || failed.length === 0) return "";
  if (failed.length === items) return ` at all ${items} items`;
  const places = failed.map(({ item }) => item + 1);
  return ` at item ${places.slice(0, 3).join(", ")}${places.length > 3 ? " and others" : ""} of ${items}`;
};

/** Error of a started run. @param node the node in the error */
export const runTrouble = (error: { code: string; message: string }, node?: FailedNode): Trouble => {
  const cause = plainCause(node?.failed[0]?.message ?? error.message);
  const words = WORDS[error.code];
  return {
    title: node ? `“${node.title}” failed${whichItems(node)}` : (words?.title ?? "The run failed"),
    cause,
    advice: words?.advice,
    // The account or the run's own limit can be short: the cause says which.
    remedies: [
      ...(node ? (["open-node"] as const) : []),
      ...(error.code === "INSUFFICIENT_CREDITS" ? (["raise-limit"] as const) : []),
      ...(words?.remedies ?? []),
    ],
  };
};

const detailsOf = (error: unknown): Readonly<Record<string, unknown>> => (error instanceof NodeloomError ? error.details : {});

const creditsNeeded = (error: unknown): string | undefined => {
  const { requiredCredits: required, availableCredits: available } = detailsOf(error);
  if (typeof required !== "number" || typeof available !== "number") return undefined;
  return `It may cost ${creditNumber(required)} credits; you have ${creditNumber(available)}.`;
};

/** Text of a run that its own limit stopped. */
const OVER_LIMIT: Words = { title: "The run may cost more than its limit", remedies: ["raise-limit"] };

/** Error of a run that wasn't started. */
export const refusalTrouble = (error: unknown): Trouble => {
  const code = codeOf(error) ?? "";
  const words = code === "INSUFFICIENT_CREDITS" && typeof detailsOf(error).maxCredits === "number" ? OVER_LIMIT : WORDS[code];
  return {
    title: words?.title ?? "The run didn't start",
    cause: creditsNeeded(error) ?? messageOf(error),
    advice: words?.advice,
    remedies: words?.remedies ?? [],
  };
};

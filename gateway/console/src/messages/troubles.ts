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
  INVALID_INPUTS: { title: "An input does not fit", advice: "What is wrong stands at the input." },
  WORKFLOW_INVALID: { title: "The workflow can't run yet", remedies: ["see-problems"] },
  CONTENT_REFUSED: {
    title: "Refused by the rules of this installation",
    advice: "Say it in other words. What was refused before the run is free; what a model had made already is charged.",
  },
  INSUFFICIENT_CREDITS: { title: "Not enough credits", remedies: ["see-credits", "see-plans"] },
  BUDGET_EXCEEDED: { title: "A budget is used up", advice: "Raise it under Budgets, or wait until it begins anew." },
  grant_exhausted: {
    title: "The trial runs are used up",
    advice: "From now on credits pay for this model.",
    remedies: ["see-credits", "see-plans"],
  },
  MODEL_TIER_REQUIRED: {
    title: "Your plan does not include this model",
    advice: "Choose another model.",
    remedies: ["see-plans", "see-models"],
  },
  MODEL_NOT_FOUND: { title: "The model is not there", advice: "It was switched off. Choose another one.", remedies: ["see-models"] },
  CONCURRENCY_LIMIT_EXCEEDED: {
    title: "Too many runs at once",
    advice: "Wait until one has ended; a larger plan runs more side by side.",
    remedies: ["see-plans"],
  },
  RATE_LIMIT_EXCEEDED: { title: "Too many requests", advice: "Wait a minute." },
  WORKFLOW_CAP_REACHED: {
    title: "Your plan holds no more workflows",
    advice: "Delete one, or take a larger plan.",
    remedies: ["see-plans"],
  },
  MEDIA_QUOTA_EXCEEDED: {
    title: "Your files take all the room of your plan",
    advice: "Delete some in Your files.",
    remedies: ["see-plans"],
  },
  ACCOUNT_LEAVING: { title: "Your account is to be deleted", advice: "Take that back under Account, and run again." },
  ACCOUNT_NOT_APPROVED: { title: "Your account waits for approval", advice: "An administrator approves it; this page will know." },
  SERVICE_UNAVAILABLE: { title: "Not possible at the moment", advice: "Try again in a moment: nothing is charged twice." },
  PROVIDER_SUBMIT_FAILED: {
    title: "The provider did not take it",
    advice: "Nothing is charged for it. Change what it says, or try another model.",
  },
  PROVIDER_RESPONSE_INCOMPLETE: { title: "The provider gave nothing", advice: "The whole run is free. Run it again." },
  OUTGOING_LIMIT_EXCEEDED: { title: "Too many calls to one address", advice: "Run fewer items at once, or wait a minute." },
};

/** Advice by words of a cause, if the code gives none. */
const BY_CAUSE: readonly (readonly [RegExp, Pick<Words, "advice" | "remedies">])[] = [
  [/maxCredits|spend/i, { advice: "It needs more than this run may spend. Raise the limit and run again.", remedies: ["raise-limit"] }],
  [/maxItems|at most \d+ (are|items)/i, { advice: "Raise “At most so many items” of the node, or make the list shorter." }],
  [/needs? (a|its) key|_KEY\b/i, { advice: "An administrator sets the provider's key.", remedies: ["see-models"] }],
  [/content polic|safety|moderat|nsfw/i, { advice: "The provider refuses what is asked for. Say it in other words." }],
  [/time[d ]*.?out|too long/i, { advice: "The provider took too long. Run it again: what is done is kept." }],
];

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
  const [words, byCause] = [WORDS[error.code], BY_CAUSE.find(([pattern]) => pattern.test(`${cause} ${error.message}`))?.[1]];
  const isOfLimit = byCause?.remedies?.includes("raise-limit") === true;
  return {
    title: node
      ? `“${node.title}” failed${whichItems(node)}`
      : isOfLimit
        ? "The run reached what it may spend"
        : (words?.title ?? "The run failed"),
    cause,
    advice: error.code === "CONTENT_REFUSED" ? words?.advice : (byCause?.advice ?? words?.advice),
    remedies: [
      ...(node ? (["open-node"] as const) : []),
      ...(isOfLimit ? (["raise-limit"] as const) : (byCause?.remedies ?? words?.remedies ?? [])),
    ],
  };
};

const creditsNeeded = (error: unknown): string | undefined => {
  if (!(error instanceof NodeloomError)) return undefined;
  const { requiredCredits: required, availableCredits: available } = error.details;
  if (typeof required !== "number" || typeof available !== "number") return undefined;
  return `It may cost ${creditNumber(required)} credits; you have ${creditNumber(available)}.`;
};

/** Error of a run that wasn't started. */
export const refusalTrouble = (error: unknown): Trouble => {
  const words = WORDS[codeOf(error) ?? ""];
  return {
    title: words?.title ?? "Not run",
    cause: creditsNeeded(error) ?? messageOf(error),
    advice: words?.advice,
    remedies: words?.remedies ?? [],
  };
};

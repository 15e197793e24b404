import { NodeloomError } from "@nodeloom/client";
import { codeOf, messageOf } from "../../api/client";
import { OVER_LIMIT, TROUBLE, TROUBLES, type Remedy } from "../../messages/troubles";
import { creditNumber } from "../../ui/format";
import { causeAt } from "./cause";

/** Error for people, with the reason and a remedy. */
export interface Trouble {
  title: string;
  cause: string;
  advice: string | undefined;
  remedies: readonly Remedy[];
}

/** A node of a run in error texts. */
export interface FailedNode {
  id: string;
  label?: string;
  title: string;
  items: number;
  /** Indexes and messages of failed calls. */
  failed: readonly { item: number; message: string }[];
}

/** Numbers of the failed items, counted from one. */
const places = ({ failed }: FailedNode): readonly number[] => failed.map(({ item }) => item + 1);

/** Error of a started run. @param node the node that the error concerns */
export const runTrouble = (error: { code: string; message: string }, node?: FailedNode): Trouble => {
  const failureText = node?.failed[0]?.message ?? error.message;
  const cause = node ? causeAt(failureText, node) : failureText;
  const words = TROUBLES[error.code];
  return {
    title: node ? TROUBLE.nodeFailed(node.title, node.items, places(node)) : (words?.title ?? TROUBLE.runFailed),
    cause,
    advice: words?.advice,
    // Either the account or the run's own limit is too low; the cause names which.
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
  return TROUBLE.creditsNeeded(creditNumber(required), creditNumber(available));
};

/** Error of a run that wasn't started. */
export const refusalTrouble = (error: unknown): Trouble => {
  const code = codeOf(error) ?? "";
  const words = code === "INSUFFICIENT_CREDITS" && typeof detailsOf(error).maxCredits === "number" ? OVER_LIMIT : TROUBLES[code];
  return {
    title: words?.title ?? TROUBLE.notStarted,
    cause: creditsNeeded(error) ?? messageOf(error),
    advice: words?.advice,
    remedies: words?.remedies ?? [],
  };
};

import type { Actor, Context } from "../conformance/context";
import type { StripeEnd } from "../support/stripe";

/** Who takes part: those who mean harm, and those who must not notice. */
export interface Cast {
  context: Context;
  /** An approved Pro user with a key. */
  attacker: Actor;
  /** An Enterprise user with a key, whom no rate limit holds back. */
  unlimited: Actor;
  /** A user that awaits approval, by session. */
  unapproved: Actor;
  /** Whose account, slugs and files are aimed at. */
  victim: Actor;
  /** The local sandbox, and Temporal's UI where there is one. */
  sandboxUrl: string;
  temporalUiUrl: string | undefined;
  /** Every gateway, the first one's address among them. */
  gateways: readonly string[];
  /** Where credits can be bought. */
  stripe: StripeEnd | undefined;
}

/** One fault that a caller could once cause. */
export interface AbuseCase {
  /** Short, of its area: `door-gzip`. */
  id: string;
  title: string;
  /** Hostile requests of one attack; 1 unless said. */
  requests?: number;
  /** What is made once, before anything is measured (a saved workflow, an upload). */
  prepare?(cast: Cast): Promise<void>;
  /** Sends its hostile requests, and throws when an answer is not what it must be. */
  attack(cast: Cast): Promise<void>;
  /** Removes what others would see for ever. */
  cleanUp?(cast: Cast): Promise<void>;
}

import type { Actor, Context } from "../conformance/context";
import type { StripeEnd } from "../../../test-support/stripe";

/** Participants: attackers, and accounts that must not notice them. */
export interface Cast {
  context: Context;
  /** An approved Pro user with a key. */
  attacker: Actor;
  /** An Enterprise user with a key and no rate limit. */
  unlimited: Actor;
  /** A user that awaits approval, with a session. */
  unapproved: Actor;
  /** The target, with its account, slugs and files. */
  victim: Actor;
  /** The local sandbox, and Temporal's UI if it runs. */
  sandboxUrl: string;
  temporalUiUrl: string | undefined;
  /** Every gateway, including the first one's address. */
  gateways: readonly string[];
  /** Fake Stripe for buying credits. */
  stripe: StripeEnd | undefined;
}

/** A fault that a caller could once cause. */
export interface AbuseCase {
  /** Short id with its area: `door-gzip`. */
  id: string;
  title: string;
  /** Hostile requests per attack; 1 by default. */
  requests?: number;
  /** Setup before measurements (a saved workflow, an upload). */
  prepare?(cast: Cast): Promise<void>;
  /** Sends hostile requests. Throws if a response is wrong. */
  attack(cast: Cast): Promise<void>;
  /** Removes data that others would see permanently. */
  cleanUp?(cast: Cast): Promise<void>;
}

import type { Actor, Context } from "../conformance/context";

/** Who takes part: those who mean harm, and somebody else who must not notice. */
export interface Cast {
  context: Context;
  /** An approved Pro user with a key. */
  attacker: Actor;
  /** A user that awaits approval, by session. */
  unapproved: Actor;
}

/** One fault that a caller could once cause. */
export interface AbuseCase {
  /** Short, of its area: `door-gzip`. */
  id: string;
  title: string;
  /** What is made once, before anything is measured (a saved workflow, an upload). */
  prepare?(cast: Cast): Promise<void>;
  /** Sends one hostile request, and throws when its answer is not what it must be. */
  attack(cast: Cast): Promise<void>;
}

"use strict";
/*
 * Loaded before everything else (node --require): the clock of the process is NODELOOM_LATER_MS ahead, so that a restored platform
 * finds its data as old as a copy is when it is needed.
 */
const laterMs = Number(process.env.NODELOOM_LATER_MS ?? 0);
const Real = Date;

class Later extends Real {
  /** @param {any[]} given */
  constructor(...given) {
    if (given.length === 0) super(Real.now() + laterMs);
    else super(.../** @type {[any]} */ (given));
  }
  static now() {
    return Real.now() + laterMs;
  }
}
if (laterMs !== 0) globalThis.Date = /** @type {any} */ (Later);

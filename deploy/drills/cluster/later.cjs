"use strict";
/*
 * Loaded before everything else (node --require): the clock of the process is NODELOOM_LATER_MS ahead, so that a restored platform
 * finds its data as old as a copy is when it is needed.
 */
const laterMs = Number(process.env.NODELOOM_LATER_MS ?? 0);
const Real = Date;
const now = () => Real.now() + laterMs;

if (laterMs !== 0) {
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, maker) => Reflect.construct(target, given.length === 0 ? [now()] : given, maker),
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
}

"use strict";
/*
 * Preloaded with node --require: sets the clock of the process forward by NODELOOM_LATER_MS, so that a restored platform reads data as old
 * as a real backup.
 */
const laterMs = Number(process.env.NODELOOM_LATER_MS ?? 0);
const Real = Date;
const now = () => Real.now() + laterMs;

if (laterMs !== 0) {
  globalThis.Date = new Proxy(Real, {
    construct: (target, args, maker) => Reflect.construct(target, args.length === 0 ? [now()] : args, maker),
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
}

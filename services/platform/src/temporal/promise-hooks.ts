/**
 * The SDK's promise hooks take a stack trace of every promise of a workflow, through the bundle's source map, for the call stack of
 * Temporal's UI. They have no switch, and took more than half of what runs cost this thread. So there are no frames to take in here,
 * and what the hooks have compiled by this realm's `Function`, three times for each promise, is known: the workflow that a promise
 * belongs to, and the error whose trace they take. Evaluated before the realm is frozen.
 */
Error.stackTraceLimit = 0;

/** Has no stack; a promise without one is not noted. */
class NoTrace {}

const known = new Map<string, () => unknown>([
  ["return globalThis.__TEMPORAL_ACTIVATOR__", () => (globalThis as { __TEMPORAL_ACTIVATOR__?: unknown }).__TEMPORAL_ACTIVATOR__],
  ["return globalThis.Error", () => NoTrace],
]);
const compile = Promise.constructor;
Object.defineProperty(Promise, "constructor", { value: (code: string): unknown => known.get(code) ?? compile(code) });

export {};

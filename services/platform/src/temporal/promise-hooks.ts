/**
 * The SDK's promise hooks take a stack trace of every promise in a workflow, through the bundle's source map, for the call stack in
 * Temporal's UI. They can't be turned off and took more than half of a run's cost on this thread. So here stack traces have no frames,
 * and the results of the hooks' three `Function` compilations per promise are known beforehand: the workflow of a promise, and the error
 * whose trace they take. Evaluated before the realm is frozen.
 */
Error.stackTraceLimit = 0;

/** Has no stack. A promise without one isn't recorded. */
class NoTrace {}

const known = new Map<string, () => unknown>([
  ["return globalThis.__TEMPORAL_ACTIVATOR__", () => (globalThis as { __TEMPORAL_ACTIVATOR__?: unknown }).__TEMPORAL_ACTIVATOR__],
  ["return globalThis.Error", () => NoTrace],
]);
const compile = Promise.constructor;
Object.defineProperty(Promise, "constructor", { value: (code: string): unknown => known.get(code) ?? compile(code) });

export {};

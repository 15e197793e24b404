/**
 * The SDK's promise hooks record a stack trace of every promise in a workflow, through the bundle's source map, for the call stack in
 * Temporal's UI. They can't be disabled and took more than half of a run's cost on this thread. Therefore stack traces have no frames here.
 * The hooks' three `Function` compilations per promise get fixed results: the workflow of a promise, and the error whose trace is recorded.
 * This file is evaluated before the realm is frozen.
 */
Error.stackTraceLimit = 0;

/** Has no stack. The hooks don't record a promise without a stack. */
class NoTrace {}

const replacements = new Map<string, () => unknown>([
  ["return globalThis.__TEMPORAL_ACTIVATOR__", () => (globalThis as { __TEMPORAL_ACTIVATOR__?: unknown }).__TEMPORAL_ACTIVATOR__],
  ["return globalThis.Error", () => NoTrace],
]);
const compile = Promise.constructor;
Object.defineProperty(Promise, "constructor", { value: (code: string): unknown => replacements.get(code) ?? compile(code) });

export {};

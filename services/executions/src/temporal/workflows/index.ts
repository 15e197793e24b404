// The SDK takes a stack trace of every promise, through the bundle's source map, for the call stack of Temporal's UI. It has no
// switch, and took half of what runs cost this thread: in here there are no frames to take.
Error.stackTraceLimit = 0;

export { deliverWebhook } from "./deliver-webhook";
export { checkWholeLedger, reconcileRuns, removeExpired, renewPlans } from "./maintenance";
export { cancelSignal, executeGraph } from "./execute-graph";

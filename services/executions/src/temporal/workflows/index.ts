export { deliverWebhook } from "./deliver-webhook";
export { reconcileRuns, removeExpired, renewPlans } from "./maintenance";
export { cancelSignal, executeGraph } from "./execute-graph";

export { deliverWebhook } from "./deliver-webhook";
export { reconcileRuns, renewPlans } from "./maintenance";
export { cancelSignal, executeGraph } from "./execute-graph";

export { deliverWebhook } from "./deliver-webhook";
export { reconcileRuns } from "./maintenance";
export { cancelSignal, executeGraph } from "./execute-graph";

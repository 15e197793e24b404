import "./promise-hooks";

export { deliverWebhook } from "./deliver-webhook";
export { checkWholeLedger, reconcileRuns, removeExpired, renewPlans } from "./maintenance";
export { cancelSignal, executeGraph } from "./execute-graph";

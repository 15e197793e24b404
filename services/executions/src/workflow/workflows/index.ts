export { runBatch } from "./run-batch";
export { deliverAlert } from "./deliver-alert";
export { deliverMail } from "./deliver-mail";
export { deliverWebhook } from "./deliver-webhook";
export { checkWholeLedger, reconcileRuns, removeExpired, renewPlans } from "./maintenance";
export { eraseAccount, exportAccount } from "./leaving";
export { decidedSignal, placedSignal } from "./approvals";
export { startScheduledRun } from "./scheduled-run";
export { cancelSignal, executeGraph } from "./execute-graph";

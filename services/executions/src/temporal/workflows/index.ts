export { deliverWebhook } from "./deliver-webhook";
export { cancelSignal, executeGraph } from "./execute-graph";

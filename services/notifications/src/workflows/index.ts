export { deliverMail } from "./deliver-mail";
export { deliverWebhook } from "./deliver-webhook";

import { Webhook } from "standardwebhooks";

const SECRET_PREFIX = "whsec_";

/**
 * Headers of a message as Standard Webhooks has them.
 * @param secrets `whsec_…`: all that are valid now, each of which signs
 * @param at when it is sent
 * @param body JSON
 */
export const signedHeaders = (secrets: readonly string[], id: string, at: Date, body: string): Record<string, string> => ({
  "content-type": "application/json",
  "webhook-id": id,
  "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
  "webhook-signature": secrets.map((secret) => new Webhook(secret.slice(SECRET_PREFIX.length)).sign(id, at, body)).join(" "),
});

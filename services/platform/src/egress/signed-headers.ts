import { Webhook } from "standardwebhooks";

const SECRET_PREFIX = "whsec_";

/**
 * Headers of a signed message in the format of Standard Webhooks.
 * @param secrets all valid secrets (`whsec_…`); every secret signs
 * @param at time of sending
 * @param body JSON text
 */
export const signedHeaders = (secrets: readonly string[], id: string, at: Date, body: string): Record<string, string> => ({
  "content-type": "application/json",
  "webhook-id": id,
  "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
  "webhook-signature": secrets.map((secret) => new Webhook(secret.slice(SECRET_PREFIX.length)).sign(id, at, body)).join(" "),
});

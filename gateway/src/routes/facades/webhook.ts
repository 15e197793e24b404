import { covers, DomainError, invalidRequest } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import type { Caller } from "../../auth/caller";
import { capabilityDenied } from "../../http/errors";

/** The webhook that a request to fal's or Replicate's API names for its run. */

const CAPABILITY = "webhook:receive";
const MAX_URL_CHARS = 2_048;

export interface FacadeWebhook {
  url: string;
  /** Whose form its body has. */
  form: "fal" | "replicate";
}

/** @param path of the parameter @throws INVALID_REQUEST for what is no address */
export const readWebhook = (url: string, form: FacadeWebhook["form"], path: string): FacadeWebhook => {
  const parsed = url.length <= MAX_URL_CHARS && URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  if (!parsed || !isHttp || parsed.username !== "" || parsed.password !== "")
    throw invalidRequest([{ path, message: "must be an http or https URL without a user name or password, of at most 2,048 characters" }]);
  return { url, form };
};

/**
 * The webhook as a part of who runs.
 * @throws DomainError CAPABILITY_DENIED, and PRECONDITION_FAILED for a key without a webhook, whose secret would sign it
 */
export const runnerWith = (
  { key, capabilities }: Caller,
  { url, form }: FacadeWebhook,
): Pick<executions.Runner, "webhookUrl" | "webhookEvents" | "webhookForm"> => {
  if (!covers(capabilities, CAPABILITY)) throw capabilityDenied(CAPABILITY);
  if (!key?.webhook) {
    const message =
      "the key has no enabled webhook, whose secret signs the messages of its runs: set one for the key (PUT /api/keys/:id/webhook)";
    throw new DomainError("precondition", "PRECONDITION_FAILED", message);
  }
  return { webhookUrl: url, webhookEvents: [], webhookForm: form };
};

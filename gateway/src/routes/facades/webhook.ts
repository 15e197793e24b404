import { invalidRequest } from "@nodeloom/kernel";
import type { OwnWebhook } from "../runs/webhook";

/** Webhook that a request to fal's or Replicate's API sets for its run. */

const MAX_URL_CHARS = 2_048;

export interface FacadeWebhook extends OwnWebhook {
  /** API whose form the webhook's body has. */
  form: "fal" | "replicate";
}

/**
 * @param path of the parameter
 * @throws INVALID_REQUEST if the text isn't an address
 */
export const readWebhook = (url: string, form: FacadeWebhook["form"], path: string): FacadeWebhook => {
  const parsed = url.length <= MAX_URL_CHARS && URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  if (!parsed || !isHttp || parsed.username !== "" || parsed.password !== "")
    throw invalidRequest([{ path, message: "must be an http or https URL without a user name or password, of at most 2,048 characters" }]);
  return { url, form, path };
};

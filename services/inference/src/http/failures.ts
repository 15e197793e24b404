import { NoSlot, type Availability } from "@nodeloom/platform";
import { InputError } from "../engines/engine";
import { ModelFailure } from "../pool/model-process";
import { ProviderError } from "./provider-error";

/** Maps failures of models to error responses. */

const BUSY_SECONDS = 3;
const RETRY_SECONDS = 300;
const RESTART_SECONDS = 1;

/** @throws ProviderError 503 unless the model can run now */
export const requireReady = (name: string, availability: Availability): void => {
  if (availability.status === "ready") return;
  if (availability.status === "downloading") {
    const { retryAfterSeconds } = availability;
    throw new ProviderError(503, "downloading", `${name} is being downloaded`, { retryAfterSeconds });
  }
  throw new ProviderError(503, "away", `${name} can't run: ${availability.reason}`, { retryAfterSeconds: RETRY_SECONDS });
};

export const tooBusy = (name: string): ProviderError =>
  new ProviderError(429, "busy", `${name} has too many requests waiting`, { retryAfterSeconds: BUSY_SECONDS });

/** Returns the response for a failed request; undefined for unexpected errors. */
export const asProviderError = (name: string, error: unknown): ProviderError | undefined => {
  if (error instanceof ProviderError) return error;
  if (error instanceof InputError) return new ProviderError(400, "invalid_input", error.message);
  if (error instanceof NoSlot) return tooBusy(name);
  if (!(error instanceof ModelFailure)) return undefined;
  if (error.kind === "input") return new ProviderError(400, "invalid_input", error.message);
  // Nothing was returned or stored, so the request can be retried.
  if (error.kind === "ended") return new ProviderError(503, "model_ended", error.message, { retryAfterSeconds: RESTART_SECONDS });
  return new ProviderError(error.kind === "bounds" ? 422 : 500, error.kind === "bounds" ? "out_of_bounds" : "model_failed", error.message);
};

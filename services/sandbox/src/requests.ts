import type { Request, Response } from "express";
import { ProviderError } from "./provider-error";

const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;

/** The base URL that the caller used. URLs in responses start with it. */
export const baseUrlOf = (request: Request): string => `${request.protocol}://${request.get("host") ?? "localhost"}`;

export const fileUrl = (request: Request, name: string): string => `${baseUrlOf(request)}/files/${name}`;

/** The `Idempotency-Key` header, if present. @throws ProviderError 400 if it is too long */
export const idempotencyKeyOf = (request: Request): string | undefined => {
  const key = request.get("idempotency-key");
  if (key === undefined || key === "") return undefined;
  if (key.length > MAX_IDEMPOTENCY_KEY_CHARACTERS)
    throw new ProviderError(400, "invalid_request", `the key may have ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters`, "Idempotency-Key");
  return key;
};

/** Waits until the time has passed or the client disconnects. @returns false if the client has disconnected */
export const waitWithClient = (response: Response, milliseconds: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (response.destroyed) return resolve(false);
    const timer = setTimeout(() => finish(true), milliseconds);
    const onClose = (): void => finish(false);
    const finish = (isPresent: boolean): void => {
      clearTimeout(timer);
      response.off("close", onClose);
      resolve(isPresent);
    };
    response.once("close", onClose);
  });

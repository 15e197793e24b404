/** Turns a delivery to a hook into inputs of its run. */
import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { DomainError, invalidInputs, invalidRequest, isLonger, TRIGGER_BOUNDS } from "@nodeloom/kernel";
import { BindError, createBudget, evaluate, hasInfinite, isRecord, parseJsonText } from "@nodeloom/kernel/graph";
import { derivedId } from "@nodeloom/platform";
import { executions, type triggers } from "@nodeloom/proto";
import { approvedTarget } from "../approved";
import type { HookRecord } from "./hook-store";
import { readExpression, type Hooks } from "./hooks";

const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** True if a header is `sha256=` and the body's HMAC in hexadecimal. Runs in constant time. */
export const isSigned = (body: Uint8Array, header: string, secret: string): boolean => {
  const [, digits] = SIGNATURE.exec(header) ?? [];
  return digits !== undefined && timingSafeEqual(createHmac("sha256", secret).update(body).digest(), Buffer.from(digits, "hex"));
};

const decoder = new TextDecoder("utf-8", { fatal: true });

const parsedBody = (body: Uint8Array): unknown => {
  if (body.byteLength === 0) return null;
  try {
    const parsed = parseJsonText(decoder.decode(body));
    if (parsed && !hasInfinite(parsed.value)) return parsed.value;
  } catch {
    // The body isn't UTF-8.
  }
  throw invalidRequest([{ path: "", message: "the body is not valid JSON" }]);
};

/** Removes null inputs. A member that is missing in the body is null in an expression, and its field has a default. */
const givenOf = (inputs: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== null));

/** Returns the result of the expression for a body, as JSON. @throws INVALID_REQUEST, INVALID_INPUTS */
export const inputsOf = (expression: string, body: Uint8Array): string => {
  const budget = createBudget();
  try {
    const inputs = budget.value(evaluate(readExpression(expression), parsedBody(body), budget));
    if (isRecord(inputs)) return JSON.stringify(expression === "" ? inputs : givenOf(inputs));
  } catch (error) {
    throw error instanceof BindError ? invalidInputs([{ path: "", message: error.message }]) : error;
  }
  throw invalidInputs([{ path: "", message: "the hook's expression makes no object of this body" }]);
};

const requireDeliveryId = ({ deliveryIdHeader }: HookRecord, deliveryId: string): void => {
  if (deliveryIdHeader === null || (deliveryId !== "" && !isLonger(deliveryId, TRIGGER_BOUNDS.deliveryIdChars))) return;
  throw invalidRequest([{ path: deliveryIdHeader, message: `must be 1 to ${TRIGGER_BOUNDS.deliveryIdChars} characters` }]);
};

/**
 * Checks a delivery and builds the request of its run. The sender's delivery id becomes the run's idempotency key, so a repeated delivery
 * returns the same run.
 * @throws NOT_FOUND, SIGNATURE_INVALID, INVALID_REQUEST, INVALID_INPUTS, SERVICE_UNAVAILABLE
 */
export const createReadDelivery =
  (hooks: Pick<Hooks, "find" | "signatureSecret">) =>
  async ({ secretHash, body, signature, deliveryId }: triggers.ReadDeliveryRequest): Promise<executions.RunRequest> => {
    const { hook, runner } = await hooks.find(secretHash);
    if (hook.signatureHeader !== null && !isSigned(body, signature, await hooks.signatureSecret(hook)))
      throw new DomainError("unauthenticated", "SIGNATURE_INVALID", `${hook.signatureHeader} is not the signature of this body`);
    requireDeliveryId(hook, deliveryId);
    const isKeyed = hook.deliveryIdHeader !== null;
    return executions.RunRequest.fromPartial({
      executionId: isKeyed ? derivedId("hook", hook._id, deliveryId) : randomUUID(),
      target: approvedTarget(hook),
      runner,
      inputsJson: inputsOf(hook.expression, body),
      mode: executions.RunMode.RUN_MODE_RESPOND_ASYNC,
      maxMillicredits: hook.maxMillicredits,
      fingerprint: isKeyed ? createHash("sha256").update(body).digest("base64url") : "",
      requestToken: randomUUID(),
      isNew: !isKeyed,
      metadata: { hookId: hook._id },
    });
  };

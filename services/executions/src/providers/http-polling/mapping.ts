import { filesAt } from "../answers";
import { ProviderError, type PollState } from "../dialect";
import { pointer } from "../pointer";
import { headerKey, type JsonCall } from "../transport";
import type { HttpPollingSettings } from "./settings";

const ABSENT = Symbol("absent");

/** Fills a body template with inputs. */
const fillBody = (template: unknown, inputs: Record<string, unknown>): unknown => {
  if (Array.isArray(template)) return template.map((item) => fillBody(item, inputs)).filter((item) => item !== ABSENT);
  if (typeof template !== "object" || template === null) return template;
  const name = (template as { $input?: unknown }).$input;
  if (typeof name === "string") return inputs[name] ?? ABSENT;
  return Object.fromEntries(
    Object.entries(template)
      .map(([key, value]): [string, unknown] => [key, fillBody(value, inputs)])
      .filter(([, value]) => value !== ABSENT),
  );
};

const urlOf = ({ baseUrl }: HttpPollingSettings, path: string, requestId = ""): string =>
  baseUrl + path.replaceAll("{requestId}", encodeURIComponent(requestId));

export const submitCall = (settings: HttpPollingSettings, inputs: Record<string, unknown>, idempotencyKey: string): JsonCall => {
  const { submit, headers } = settings;
  return {
    method: submit.method,
    url: urlOf(settings, submit.path),
    body: fillBody(submit.body, inputs),
    headers: submit.idempotencyHeader ? { ...headers, [submit.idempotencyHeader]: headerKey(idempotencyKey) } : headers,
  };
};

export const pollCall = (settings: HttpPollingSettings, requestId: string): JsonCall => ({
  method: settings.poll.method,
  url: urlOf(settings, settings.poll.path, requestId),
  headers: settings.headers,
});

/** Undefined when the service can't be told to stop. */
export const cancelCall = (settings: HttpPollingSettings, requestId: string): JsonCall | undefined =>
  settings.cancel && { method: settings.cancel.method, url: urlOf(settings, settings.cancel.path, requestId), headers: settings.headers };

/** How a job stands. @throws ProviderError when the answer doesn't say. */
export const stateOf = ({ poll, outputs }: HttpPollingSettings, answer: unknown): PollState => {
  const status = pointer(answer, poll.status);
  if (typeof status !== "string") throw new ProviderError("ambiguous", "the provider's answer has no status");
  if (poll.succeeded.includes(status)) return { state: "succeeded", files: filesAt(outputs, answer) };
  if (poll.cancelled.includes(status)) return { state: "cancelled" };
  if (poll.failed.includes(status)) {
    const message = poll.error ? pointer(answer, poll.error) : undefined;
    return { state: "failed", message: typeof message === "string" ? message : "the provider reported a failure" };
  }
  const progress = poll.progress ? pointer(answer, poll.progress) : undefined;
  return { state: "running", ...(typeof progress === "number" ? { progress } : {}) };
};

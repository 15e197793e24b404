import type { ProviderSettings } from "./entries/settings";
import { ProviderError, type JobProvider, type PollState, type Submission } from "./dialect";
import { headerKey, type JsonCall, type Transport } from "./transport";

/** Runs jobs in any dialect: submit, poll, cancel, fetch the result. */

/** Builds requests of a job and reads their responses. */
export interface JobDialect {
  submit(inputs: Record<string, unknown>): JsonCall;
  submitted(answer: unknown): Submission;
  status(submission: Submission): JsonCall;
  /** @param fetch requests details that the status doesn't contain */
  state(answer: unknown, submission: Submission, fetch: (call: JsonCall) => Promise<unknown>): PollState | Promise<PollState>;
  /** Returns undefined if the service can't cancel jobs. */
  cancel(submission: Submission): JsonCall | undefined;
}

type JobPace = Pick<
  Extract<ProviderSettings, { kind: "inference-platform" }>,
  "idempotencyHeader" | "firstMs" | "intervalMs" | "maxIntervalMs"
>;

/** Statuses for which the download of a result can be retried. Every other 4xx is final. */
const OF_THE_FETCH = new Set([408, 425, 429]);
const isResult = ({ kind, status = 0 }: ProviderError): boolean =>
  kind === "failed" || (status >= 400 && status < 500 && !OF_THE_FETCH.has(status));

/** Ends a job whose result needs a second request. If that request is rejected, the rejection is the result. */
export const resultOf = async (fetch: () => Promise<unknown>, readState: (answer: unknown) => PollState): Promise<PollState> => {
  try {
    return readState(await fetch());
  } catch (failure) {
    if (failure instanceof ProviderError && isResult(failure)) return { state: "failed", message: failure.message };
    throw failure;
  }
};

/** Creates a provider that submits a job and polls it. */
export const jobProvider = (transport: Transport, pace: JobPace, dialect: JobDialect): JobProvider => {
  const { idempotencyHeader: header, firstMs, intervalMs = 100, maxIntervalMs = 2_000 } = pace;
  return {
    type: "job",
    idempotentSubmit: header !== undefined,
    intervalMs,
    maxIntervalMs,
    firstMs,
    submit: async ({ inputs, idempotencyKey, signal }) => {
      const call = dialect.submit(inputs);
      const headers = { ...call.headers, ...(header === undefined ? {} : { [header]: headerKey(idempotencyKey) }) };
      const answer = await transport.json({ ...call, headers, signal });
      try {
        return dialect.submitted(answer);
      } catch (error) {
        // A response without a request id may contain an error.
        const isLacking = error instanceof ProviderError && error.status === undefined;
        throw isLacking ? (transport.errorInside(answer, true) ?? error) : error;
      }
    },
    poll: async (submission, signal) => {
      const fetch = (call: JsonCall): Promise<unknown> => transport.json({ ...call, signal });
      const state = await dialect.state(await fetch(dialect.status(submission)), submission, fetch);
      return state.state === "failed" ? { state: "failed", message: transport.reason(state.message) } : state;
    },
    cancel: async (submission) => {
      const call = dialect.cancel(submission);
      if (call) await transport.json(call);
      return call !== undefined;
    },
  };
};

import { RETRY_AFTER, FAILED_RUN, type ErrorEntries } from "./entry";

const PROVIDER = { providerStatus: "the provider's HTTP status", providerBody: "its response, shortened and without secrets" } as const;

/** Failures of runs, providers and the platform. */
export const FAILURES = {
  EXECUTION_FAILED: {
    status: 500,
    when: "A node of the run failed.",
    fix: "`error` and `nodeId` say why and where. You can continue from the failed node with a rerun.",
    members: { ...FAILED_RUN, ...PROVIDER },
  },
  OUTGOING_LIMIT_EXCEEDED: {
    status: 500,
    when: "The run called one host, or all hosts together, more often than a minute allows, and waited too long.",
    fix: "Call less often, or ask the operator to raise the limit.",
    members: FAILED_RUN,
  },
  PROVIDER_SUBMIT_FAILED: {
    status: 500,
    when: "A provider refused an asynchronous run when it was submitted.",
    fix: "`providerBody` has the provider's reason.",
    members: { ...FAILED_RUN, ...PROVIDER },
  },
  PROVIDER_RESPONSE_INCOMPLETE: {
    status: 500,
    when: "A provider ended without the expected output. The run is free.",
    fix: "Run it again.",
    members: FAILED_RUN,
  },
  INTERNAL: {
    status: 500,
    when: "The platform has a fault.",
    fix: "Send the `X-Request-Id` to the operator: the logs have it.",
  },
  NOT_CONFIGURED: {
    status: 501,
    when: "The installation isn't set up for this.",
    fix: "`error` names the setting that the operator must set.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    when: "A part of the platform is not available at the moment.",
    fix: "Send the request again after `retryAfter` seconds; for a run, with the same `Idempotency-Key`.",
    members: {
      ...RETRY_AFTER,
      executionId: "the run, if its state is unknown: poll it",
      model: "the model that isn't ready; `error` says what to do",
      operation: "the media operation that isn't ready",
      moderation: "`away`, if prompts can't be checked at the moment",
      outcome: "`unknown`, next to an `executionId`; without it, no run started",
    },
  },
} satisfies ErrorEntries;

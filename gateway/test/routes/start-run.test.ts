import { status } from "@grpc/grpc-js";
import { DomainError, unavailable } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { fromServiceError } from "../../../services/platform/src/grpc/errors";
import { ESTABLISH_MS, REFUSED_AGAIN_MS, UNKNOWN_AGAIN_MS } from "../../src/http/limits";
import { startRun } from "../../src/routes/runs/run";

/** A clock that only these tests move. */
const mockClock = { nowMs: 0 };
jest.mock("node:timers/promises", () => ({
  setTimeout: (ms: number) => {
    mockClock.nowMs += ms;
    return Promise.resolve();
  },
}));

beforeEach(() => {
  mockClock.nowMs = 1_000_000;
  jest.spyOn(Date, "now").mockImplementation(() => mockClock.nowMs);
});
afterEach(() => jest.restoreAllMocks());

const REACHED_MS = 1_000;
const request = executions.RunRequest.fromPartial({ executionId: "run", waitMs: 400 });
const lostError = (): unknown =>
  fromServiceError(Object.assign(new Error("x"), { code: status.UNAVAILABLE, details: "x", metadata: undefined }) as never, "executions");
const refusal = (): unknown => unavailable("billing is away");

/**
 * Starts a run whose calls fail in the given way after a moment.
 * @returns the duration of the retries, in milliseconds
 */
const askedFor = async (failure: (attempt: number) => unknown): Promise<number> => {
  let attempt = 0;
  const began = mockClock.nowMs;
  const run = (): Promise<never> => {
    mockClock.nowMs += REACHED_MS;
    return Promise.reject(failure((attempt += 1)) as Error);
  };
  await expect(startRun({ run: run as never }, request, new AbortController().signal)).rejects.toMatchObject({ kind: "unavailable" });
  return mockClock.nowMs - began;
};

it("a run rejected as unavailable is retried for a while", async () => {
  const ms = await askedFor(refusal);
  expect(ms).toBeGreaterThan(REFUSED_AGAIN_MS - 5 * REACHED_MS);
  expect(ms).toBeLessThan(REFUSED_AGAIN_MS + 5 * REACHED_MS);
});

it.each([
  ["that nobody answers", lostError],
  ["that one call may have begun, whatever is answered after that", (attempt: number) => (attempt === 1 ? lostError() : refusal())],
])("a run %s is retried for longer", async (_name, failure) => {
  const ms = await askedFor(failure);
  expect(ms).toBeGreaterThan(UNKNOWN_AGAIN_MS - 5 * REACHED_MS);
  expect(ms).toBeLessThan(UNKNOWN_AGAIN_MS + 5 * REACHED_MS);
});

it("reports a run's outcome as unknown only if it is", async () => {
  const failing = (failure: unknown) => ({
    run: (() => {
      mockClock.nowMs += REACHED_MS;
      return Promise.reject(failure as Error);
    }) as never,
  });
  const never = new AbortController().signal;
  await expect(startRun(failing(lostError()), request, never)).rejects.toMatchObject({
    reason: "SERVICE_UNAVAILABLE",
    metadata: { executionId: "run", outcome: "unknown" },
  });
  await expect(startRun(failing(refusal()), request, never)).rejects.toMatchObject({ metadata: { retryAfter: 1 } });
  await expect(startRun(failing(refusal()), request, never)).rejects.not.toHaveProperty("metadata.outcome");
});

it("determines the state of its run if the process stops during the wait", async () => {
  const stopping = new AbortController();
  const waits: number[] = [];
  const run = ({ waitMs }: executions.RunRequest): Promise<unknown> => {
    waits.push(waitMs);
    if (waits.length > 1) return Promise.resolve({ execution: { executionId: "run", status: "processing" } });
    stopping.abort();
    return Promise.reject(lostError() as Error);
  };
  await expect(startRun({ run: run as never }, request, stopping.signal)).resolves.toMatchObject({ execution: { status: "processing" } });
  expect(waits).toEqual([400, 0]);
});

describe("when the process stops while a run is awaited", () => {
  /**
   * The stop ends the first call. Each later call ends in the given way.
   * @returns the client's response, and the duration of the retries
   */
  const stopped = async (answers: (attempt: number) => Promise<unknown>) => {
    const stopping = new AbortController();
    let attempt = -1;
    const began = mockClock.nowMs;
    const run = (): Promise<unknown> => {
      attempt += 1;
      if (attempt > 0) return answers(attempt);
      stopping.abort();
      return Promise.reject(lostError() as Error);
    };
    const result = await startRun({ run: run as never }, request, stopping.signal).catch((error: unknown) => error);
    return { result, askedMs: mockClock.nowMs - began };
  };
  const going = { execution: { executionId: "run", status: "processing" } };
  const unknown = { reason: "SERVICE_UNAVAILABLE", metadata: { executionId: "run", outcome: "unknown" } };

  it.each([
    ["is lost", lostError],
    ["refuses", refusal],
  ])("retries if the executions service %s", async (_name, failure) => {
    const { result } = await stopped((attempt) => (attempt < 3 ? Promise.reject(failure() as Error) : Promise.resolve(going)));
    expect(result).toBe(going);
  });

  it("doesn't claim that nothing runs if the aborted call may have started the run", async () => {
    const { result, askedMs } = await stopped(() => Promise.reject(refusal() as Error));
    expect(result).toMatchObject(unknown);
    expect(askedMs).toBeLessThanOrEqual(ESTABLISH_MS);
  });

  it("stops before the deadline if there is no response", async () => {
    const { result, askedMs } = await stopped(() => Promise.reject(lostError() as Error));
    expect(result).toMatchObject(unknown);
    expect(askedMs).toBeGreaterThan(ESTABLISH_MS / 2);
    expect(askedMs).toBeLessThanOrEqual(ESTABLISH_MS);
  });
});

it("marks an id as new only in the first call", async () => {
  const flags: boolean[] = [];
  const run = ({ isNew }: executions.RunRequest): Promise<executions.RunResponse> => {
    flags.push(isNew);
    mockClock.nowMs += REACHED_MS;
    return flags.length < 3 ? Promise.reject(lostError() as Error) : Promise.resolve(executions.RunResponse.fromPartial({}));
  };
  await startRun({ run: run as never }, { ...request, isNew: true }, new AbortController().signal);
  expect(flags).toEqual([true, false, false]);
});

it.each([
  ["a model", { model: "local-chat" }],
  ["an operation", { operation: "video-trim" }],
  ["moderation", { moderation: "away" }],
])("reports at once that %s isn't ready, and retries only if the run may have started", async (_name, needed) => {
  const notReady = (): unknown => new DomainError("unavailable", "SERVICE_UNAVAILABLE", "it is not ready", { retryAfter: 40, ...needed });
  const result = startRun({ run: () => Promise.reject(notReady() as Error) }, request, new AbortController().signal);
  await expect(result).rejects.toMatchObject({ message: "it is not ready", metadata: { retryAfter: 40 } });
  expect(await askedFor(notReady)).toBe(REACHED_MS);
  expect(await askedFor((attempt) => (attempt === 1 ? lostError() : notReady()))).toBeGreaterThan(REACHED_MS * 2);
});

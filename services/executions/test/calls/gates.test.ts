import { createLogger } from "@nodeloom/platform";
import { createGates, type Gate, type PassOptions } from "../../src/calls/gates";
import { FAILURES_TO_OPEN } from "../../src/calls/breaker";
import { createCallClock } from "../../src/calls/clock";
import { ProviderError } from "@nodeloom/providers";
import { TIMING } from "../../src/run/timing";

const logger = createLogger("test", "silent");
const settings = (part: Record<string, unknown> = {}): string =>
  JSON.stringify({ baseUrl: "https://api.lumen.example/v1", auth: { secretEnv: "LUMEN_API_KEY" }, ...part });
let now: number;
const soon = (): PassOptions => ({ clock: createCallClock({ deadline: now + 60_000 }) });

beforeEach(() => {
  now = Date.parse("2030-01-01T00:00:00Z");
  jest.spyOn(Date, "now").mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

type Kind = ProviderError["kind"];
const failing = (kind: Kind, status?: number) => (): Promise<never> => Promise.reject(new ProviderError(kind, "it failed", status));
const fine = (): Promise<string> => Promise.resolve("fine");
const fail = (gate: Gate, call: () => Promise<never>): Promise<void> => expect(gate.pass(call, soon())).rejects.toThrow();
const failOften = async (gate: Gate, call: () => Promise<never>, times = FAILURES_TO_OPEN): Promise<void> => {
  for (let count = 0; count < times; count += 1) {
    await fail(gate, call);
    // The failures must last at least the outage time.
    if (count < times - 1) now += Math.ceil(TIMING.breakerOutage / (FAILURES_TO_OPEN - 1));
  }
};
/** Result of a call: "fine", or the time until the gate opens. */
const ask = async (gate: Gate): Promise<unknown> =>
  gate.pass(fine, soon()).catch((error: unknown) => {
    expect(error).toMatchObject({ kind: "unavailable", message: "provider api.lumen.example is not available at the moment" });
    return (error as ProviderError).retryAfterMs;
  });
const [FIRST_PAUSE, SECOND_PAUSE] = TIMING.breakerPauses;

it.each<[Kind, number | undefined]>([
  ["unreachable", undefined],
  ["ambiguous", undefined],
  ["refused", 500],
  ["refused", 503],
])("pauses a provider after failures in a row: %s %p", async (kind, status) => {
  const gate = createGates(logger)(settings());
  await failOften(gate, failing(kind, status), FAILURES_TO_OPEN - 1);
  expect(await ask(gate)).toBe("fine");
  await failOften(gate, failing(kind, status));
  expect(await ask(gate)).toBe(FIRST_PAUSE);
});

it.each<[Kind, number | undefined]>([
  ["refused", 400],
  ["refused", 429],
  ["incomplete", undefined],
  ["failed", undefined],
])("doesn't count rejections as a provider's failures: %s %p", async (kind, status) => {
  const gate = createGates(logger)(settings());
  await failOften(gate, failing(kind, status), 3 * FAILURES_TO_OPEN);
  await failOften(gate, failing("unreachable"), FAILURES_TO_OPEN - 1);
  await fail(gate, failing(kind, status));
  await failOften(gate, failing("unreachable"), FAILURES_TO_OPEN - 1);
  expect(await ask(gate)).toBe("fine");
});

it("doesn't treat a burst of failures as an outage", async () => {
  const gate = createGates(logger)(settings());
  await Promise.all(Array.from({ length: 5 * FAILURES_TO_OPEN }, () => fail(gate, failing("refused", 500))));
  expect(await ask(gate)).toBe("fine");
});

it("counts neither calls aborted here nor the platform's own errors", async () => {
  const gate = createGates(logger)(settings());
  await failOften(gate, () => Promise.reject(new Error("cancelled")), 3 * FAILURES_TO_OPEN);
  expect(await ask(gate)).toBe("fine");
});

it("lets one call try after the pause, with longer pauses while it fails, and all calls once it succeeds", async () => {
  const gate = createGates(logger)(settings());
  await failOften(gate, failing("unreachable"));
  now += FIRST_PAUSE;
  await fail(gate, failing("refused", 502));
  expect(await ask(gate)).toBe(SECOND_PAUSE);
  now += SECOND_PAUSE;
  let answer: (text: string) => void = () => undefined;
  const probe = gate.pass(() => new Promise<string>((resolve) => (answer = resolve)), soon());
  expect(await ask(gate)).toBe(TIMING.breakerProbe);
  answer("back");
  expect(await probe).toBe("back");
  expect(await Promise.all([ask(gate), ask(gate)])).toEqual(["fine", "fine"]);
  await failOften(gate, failing("unreachable"));
  expect(await ask(gate)).toBe(FIRST_PAUSE);
});

it("ignores failures of calls that started before it paused the provider", async () => {
  const gate = createGates(logger)(settings());
  const [ends, probes]: ((error: Error) => void)[][] = [[], []];
  const hanging = (list: ((error: Error) => void)[]) => (): Promise<never> => new Promise((_, reject) => list.push(reject));
  const early = fail(gate, hanging(ends!));
  await failOften(gate, failing("unreachable"));
  now += FIRST_PAUSE;
  const probe = fail(gate, hanging(probes!));
  ends![0]!(new ProviderError("unreachable", "late"));
  await early;
  expect(await ask(gate)).toBe(TIMING.breakerProbe);
  probes![0]!(new ProviderError("refused", "no such model", 404));
  await probe;
  expect(await ask(gate)).toBe("fine");
});

it("says when work that can wait may test a failing provider, with longer pauses the longer it fails", async () => {
  const gates = createGates(logger);
  const gate = gates(settings());
  await failOften(gate, failing("refused", 500), 2);
  expect(gates.nextTrial(settings())).toBeUndefined();
  await fail(gate, failing("refused", 500));
  expect(gates.nextTrial(settings())).toBe(now + TIMING.breakerOutage);
  now += 60_000;
  await fail(gate, failing("refused", 500));
  const lastingMs = 60_000 + Math.ceil(TIMING.breakerOutage / (FAILURES_TO_OPEN - 1));
  expect(gates.nextTrial(settings())).toBe(now + lastingMs);
  now += 3_600_000;
  await fail(gate, failing("refused", 500));
  expect(gates.nextTrial(settings())).toBe(now + TIMING.batchTrial);
  expect(gates.nextTrial(settings({ baseUrl: "https://other.example" }))).toBeUndefined();
  await gate.pass(fine, soon());
  expect(gates.nextTrial(settings())).toBeUndefined();
});

it("ignores an aborted probe", async () => {
  const gate = createGates(logger)(settings());
  await failOften(gate, failing("unreachable"));
  now += FIRST_PAUSE;
  await fail(gate, () => Promise.reject(new Error("cancelled")));
  expect(await ask(gate)).toBe(SECOND_PAUSE);
});

it("pauses all models of a provider, and of no other", async () => {
  const gates = createGates(logger);
  await failOften(gates(settings()), failing("unreachable"));
  expect(await ask(gates(settings({ submit: {}, maxConcurrent: 3 })))).toBe(FIRST_PAUSE);
  expect(await ask(gates(settings({ auth: { secretEnv: "OTHER_KEY" } })))).toBe("fine");
  expect(await ask(gates(settings({ baseUrl: "https://other.example" })))).toBe("fine");
});

describe("maxConcurrent", () => {
  const slow = (): { call: () => Promise<string>; end: () => void; began: () => boolean } => {
    let [end, began] = [(): void => undefined, false];
    const over = new Promise<string>((resolve) => (end = () => resolve("done")));
    return { call: () => ((began = true), over), end: () => end(), began: () => began };
  };

  it("limits calls in progress over all models with the same limit", async () => {
    const gates = createGates(logger);
    const [first, second] = [slow(), slow()];
    const passes = [
      gates(settings({ maxConcurrent: 1 })).pass(first.call, soon()),
      gates(settings({ maxConcurrent: 1, path: "/other" })).pass(second.call, soon()),
    ];
    await new Promise((resolve) => setImmediate(resolve));
    expect([first.began(), second.began()]).toEqual([true, false]);
    first.end();
    second.end();
    expect(await Promise.all(passes)).toEqual(["done", "done"]);
  });

  it.each<[string, object, (name: string) => string | undefined]>([
    ["its entries say", { maxConcurrent: 2 }, () => undefined],
    ["the environment says", { maxConcurrent: 9, maxConcurrentEnv: "LUMEN_CALLS" }, (name) => (name === "LUMEN_CALLS" ? "2" : undefined)],
  ])("of an account limits calls in progress with its secret, whatever the model: as %s", async (_what, part, env) => {
    const gates = createGates(logger, env);
    const auth = { secretEnv: "LUMEN_API_KEY", ...part };
    const calls = [slow(), slow(), slow()];
    const bounds = [{ maxConcurrent: 1 }, { path: "/b" }, { path: "/c" }];
    const passes = calls.map((one, index) => gates(settings({ auth, ...bounds[index] })).pass(one.call, soon()));
    const startedCalls = () => calls.filter((one) => one.began());
    await new Promise((resolve) => setImmediate(resolve));
    expect(startedCalls()).toHaveLength(2);
    expect(gates.states()).toEqual([{ name: "api.lumen.example", isOpen: false, load: { inUse: 3, waiting: 1 } }]);
    expect(await gates(settings({ auth: { ...auth, secretEnv: "OTHER_KEY" } })).pass(fine, soon())).toBe("fine");
    const [first] = startedCalls();
    first!.end();
    await passes[calls.indexOf(first!)];
    await new Promise((resolve) => setImmediate(resolve));
    expect(startedCalls()).toHaveLength(3);
    for (const one of calls) one.end();
    expect(await Promise.all(passes)).toEqual(["done", "done", "done"]);
  });

  it("makes calls wait while their run has time, and reports them as not made", async () => {
    const gate = createGates(logger)(settings({ maxConcurrent: 1 }));
    const first = slow();
    const pass = gate.pass(first.call, soon());
    await expect(gate.pass(fine, { clock: createCallClock({ deadline: now + 5 }) })).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
      message: expect.stringContaining("before the deadline of the run") as string,
    });
    first.end();
    await pass;
  });

  it("sends no waiting call to a provider that became unavailable meanwhile", async () => {
    const gate = createGates(logger)(settings({ maxConcurrent: 1 }));
    await failOften(gate, failing("unreachable"), FAILURES_TO_OPEN - 1);
    now += TIMING.breakerOutage;
    const last = gate.pass(failing("unreachable"), soon());
    const waiting = ask(gate);
    await expect(last).rejects.toThrow();
    expect(await waiting).toBe(FIRST_PAUSE);
  });
});

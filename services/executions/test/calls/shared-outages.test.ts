import { randomUUID } from "node:crypto";
import { connectRedis, createClusterSlots, createLogger, redisReady, type Redis } from "@nodeloom/platform";
import { ProviderError } from "@nodeloom/providers";
import { FAILURES_TO_OPEN } from "../../src/calls/breaker";
import { createCallClock } from "../../src/calls/clock";
import { createGates } from "../../src/calls/gates";
import { createSharedOutages } from "../../src/calls/shared-outages";
import { TIMING } from "../../src/run/timing";
import { eventually, soon } from "../../../../test-support/eventually";
import { startRelay, type Relay } from "../../../../test-support/relay";

/** Processes that call one provider. Each has its own gates and its own connection to the real Redis. */

const SEEN_WITHIN_MS = 2_000;
const logger = createLogger("test", "silent");
const settings = JSON.stringify({ baseUrl: "https://api.lumen.example/v1", auth: { secretEnv: "LUMEN_API_KEY" }, maxConcurrent: 4 });
const closers: (() => unknown)[] = [];
/** Added to the real time. */
let skippedMs = 0;
beforeEach(() => {
  const realNow = Date.now.bind(Date);
  skippedMs = 0;
  jest.spyOn(Date, "now").mockImplementation(() => realNow() + skippedMs);
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const close of closers.splice(0).reverse()) await close();
});

interface Member {
  gates: ReturnType<typeof createGates>;
  redis: Redis;
  relay: Relay;
}
const member = async (keyPrefix: string): Promise<Member> => {
  const relay = await startRelay(process.env.REDIS_URL!);
  closers.push(() => relay.stop());
  const redis = connectRedis({ url: relay.url, logger });
  closers.push(() => redis.disconnect());
  await redisReady(redis);
  const cluster = { slots: createClusterSlots({ redis, keyPrefix }), outages: createSharedOutages({ redis, keyPrefix, logger }) };
  closers.push(() => cluster.slots.stop(), cluster.outages.stop);
  return { gates: createGates(logger, () => undefined, cluster), redis, relay };
};
const pair = async (): Promise<[Member, Member]> => {
  const prefix = `test:${randomUUID()}:`;
  return [await member(prefix), await member(prefix)];
};

const fine = (): Promise<string> => Promise.resolve("fine");
const failing = (): Promise<never> => Promise.reject(new ProviderError("refused", "it failed", 500));
/** Result of a call: "fine", or the kind of its error. */
const ask = ({ gates }: Member, call: () => Promise<string> = fine): Promise<unknown> =>
  gates(settings)
    .pass(call, { clock: createCallClock() })
    .catch(({ kind }: ProviderError) => kind);
const failOften = async (one: Member, times: number): Promise<void> => {
  for (let count = 0; count < times; count += 1) {
    expect(await ask(one, failing)).toBe("refused");
    if (count < times - 1) skippedMs += Math.ceil(TIMING.breakerOutage / (FAILURES_TO_OPEN - 1));
  }
};
const isOpen = ({ gates }: Member): Promise<boolean> => Promise.resolve(gates.isUnavailable(settings));

it("opens the circuit of every process within two seconds, and closes it when one of them sees the provider again", async () => {
  const [one, other] = await pair();
  expect(await ask(other)).toBe("fine");
  await failOften(one, FAILURES_TO_OPEN);
  await soon(() => isOpen(other), Boolean, SEEN_WITHIN_MS);
  expect(await ask(other)).toBe("unavailable");
  skippedMs += TIMING.breakerPauses[0];
  expect(await ask(other)).toBe("fine");
  await soon(
    () => isOpen(one),
    (open) => !open,
    SEEN_WITHIN_MS,
  );
  expect(await ask(one)).toBe("fine");
});

it("makes one trial call in all processes together, and each failed one makes the next pause longer for all", async () => {
  const [one, other] = await pair();
  await ask(other);
  await failOften(one, FAILURES_TO_OPEN);
  await eventually(() => isOpen(other));
  skippedMs += TIMING.breakerPauses[0];
  let end: (error: Error) => void = () => undefined;
  const trial = ask(one, () => new Promise((_, reject) => (end = reject)));
  await eventually(async () => (await one.redis.keys("test:*provider-outages:*")).length > 0);
  expect(await ask(other)).toBe("unavailable");
  end(new ProviderError("unreachable", "still away"));
  expect(await trial).toBe("unreachable");
  // The other process knows the second, longer pause.
  await eventually(() => (other.gates.nextTrial(settings) ?? 0) - Date.now() > TIMING.breakerPauses[0]);
  skippedMs += TIMING.breakerPauses[0];
  expect(await ask(other)).toBe("unavailable");
});

it("tells a process that only carries batches that a provider fails, before its circuit opens", async () => {
  const [one, other] = await pair();
  expect(other.gates.nextTrial(settings)).toBeUndefined();
  await failOften(one, 3);
  await soon(() => Promise.resolve(other.gates.nextTrial(settings)), Boolean, SEEN_WITHIN_MS);
  expect(await isOpen(other)).toBe(false);
  expect(await ask(one)).toBe("fine");
  await soon(
    () => Promise.resolve(other.gates.nextTrial(settings)),
    (trial) => trial === undefined,
    SEEN_WITHIN_MS,
  );
});

it("opens and closes circuits alone while Redis is unavailable", async () => {
  const [one, other] = await pair();
  for (const { relay } of [one, other]) await relay.cut();
  await failOften(one, FAILURES_TO_OPEN);
  expect(await isOpen(one)).toBe(true);
  expect(await ask(other)).toBe("fine");
  skippedMs += TIMING.breakerPauses[0];
  expect(await ask(one)).toBe("fine");
  expect(await isOpen(one)).toBe(false);
});

it("makes at most as many calls at once as the provider's limit, in all processes together", async () => {
  const members = await pair();
  let [running, most] = [0, 0];
  const call = async (): Promise<string> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
    return "fine";
  };
  const results = await Promise.all(members.flatMap((one) => Array.from({ length: 30 }, () => ask(one, call))));
  expect(new Set(results)).toEqual(new Set(["fine"]));
  expect(most).toBe(4);
});

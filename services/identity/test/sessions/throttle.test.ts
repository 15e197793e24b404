import { createLoginThrottle, type LoginThrottle } from "../../src/sessions/login-throttle";
import { networkOf } from "../../src/networks";
import { createStore } from "../../src/store";
import { deploy, PEPPER, refusal, type Deployment } from "../support";

const HOME = "198.51.100.7";
const ELSEWHERE = "203.0.113.9";
const MINUTE = 60_000;

let deployment: Deployment;
let throttle: LoginThrottle;
let now = Date.UTC(2026, 5, 1);
beforeAll(async () => {
  deployment = await deploy();
  const { attempts, knownAddresses } = createStore(deployment.database);
  throttle = createLoginThrottle({ attempts, knownAddresses, pepper: PEPPER, clock: () => now });
});
afterAll(() => deployment.stop());

/** Seconds until an attempt is allowed; 0 if it is allowed now. */
const wait = async (email: string, address: string): Promise<number> => {
  try {
    await throttle.attempt(email, address);
    return 0;
  } catch {
    return Number((await refusal(throttle.attempt(email, address))).metadata.retryAfter);
  }
};
const fail = async (email: string, address: string, times: number): Promise<void> => {
  for (let attempt = 0; attempt < times; attempt += 1) await throttle.attempt(email, address);
};

describe("failed sign-ins", () => {
  it("block an address from an account for a quarter of an hour, and no other address", async () => {
    await fail("pair@example.com", ELSEWHERE, 10);
    expect(await wait("pair@example.com", ELSEWHERE)).toBe(15 * 60);
    expect(await wait("pair@example.com", HOME)).toBe(0);
    expect(await wait("another@example.com", ELSEWHERE)).toBe(0);
    now += 15 * MINUTE;
    expect(await wait("pair@example.com", ELSEWHERE)).toBe(0);
  });

  it("from many addresses slow the account down, and never block an address that has signed in before", async () => {
    await throttle.succeeded("victim@example.com", HOME);
    for (let host = 1; host <= 30; host += 1) await fail("victim@example.com", `192.0.2.${host}`, 1);
    let waited = 0;
    for (let host = 1; host <= 12; host += 1) {
      await throttle.attempt("victim@example.com", `192.0.2.${100 + host}`);
      waited = await wait("victim@example.com", `192.0.2.${200 + host}`);
      expect(waited).toBeGreaterThan(0);
      now += waited * 1_000;
    }
    expect(waited).toBe(60);
    expect(await wait("victim@example.com", HOME)).toBe(0);
  });

  it("from an address that has signed in before are slowed down to one per half a minute, and no further", async () => {
    await throttle.succeeded("typist@example.com", HOME);
    await fail("typist@example.com", HOME, 10);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await throttle.attempt("typist@example.com", HOME);
      const seconds = await wait("typist@example.com", HOME);
      waits.push(seconds);
      now += seconds * 1_000;
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    await throttle.succeeded("typist@example.com", HOME);
    await fail("typist@example.com", HOME, 10);
  });

  it("are each counted if they are concurrent", async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 40 }, () => throttle.attempt("parallel@example.com", ELSEWHERE)));
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });

  it("store neither address nor account in the database", async () => {
    await throttle.succeeded("secret@example.com", HOME);
    await throttle.attempt("secret@example.com", ELSEWHERE);
    const stored = await Promise.all(["attempts", "known-addresses"].map((name) => deployment.database.collection(name).find().toArray()));
    expect(JSON.stringify(stored)).not.toMatch(/example|198\.51|203\.0/);
  });
});

it.each([
  ["203.0.113.9", "203.0.113.9"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", networkOf("2001:db8:1:2::1")],
  ["not an address", ""],
  ["", ""],
  ["1".repeat(1_000), ""],
])("counts %s as one address", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

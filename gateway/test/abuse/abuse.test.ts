import { APART, startPlatform, type Platform } from "../../../test-support/platform";
import { startStripeEnd, type StripeEnd } from "../../../test-support/stripe";
import { CASES } from "./cases";
import { runAbuse, type Finding } from "./runner";

/**
 * A short form of `npm run drill abuse`, which repeats each attack. It checks responses and that no process fails. Costs need a quiet
 * machine.
 */

const ATTACKS = 1;

/** Number of gateways in addition to the platform's own. */
const MORE_GATEWAYS = 2;
/** All cases run before the first test. */
const ALL_MS = 900_000;

let platform: Platform;
let stripe: StripeEnd;
let pids: Record<string, number>;
const findings = new Map<string, Finding>();
const pidsNow = (): Record<string, number> =>
  Object.fromEntries(Object.entries(platform.processes).map(([name, one]) => [name, one.pid] as const));

beforeAll(async () => {
  stripe = await startStripeEnd();
  platform = await startPlatform({ groups: APART, env: stripe.env });
  pids = pidsNow();
  const gateways = await Promise.all(Array.from({ length: MORE_GATEWAYS }, () => platform.startAnother("gateway")));
  await runAbuse(CASES, {
    baseUrl: platform.baseUrl,
    sandboxUrl: platform.sandboxUrl,
    moreGateways: gateways.map(({ env }) => `http://${env.GATEWAY_LISTEN!}`),
    stripe,
    temporalUiUrl: process.env.TEMPORAL_UI_URL,
    accounts: { admin: platform.admin },
    attacks: ATTACKS,
    onFinding: (finding) => findings.set(finding.case.id, finding),
  });
}, ALL_MS);
afterAll(async () => {
  await platform?.stop();
  await stripe.stop();
});

it.each(CASES.map(({ id, title }) => [id, title]))("%s: %s gets the right response, and other users are unaffected", (id) => {
  expect(findings.get(id)).toMatchObject({ failure: undefined, refusedOthers: 0 });
});

it("no process failed", async () => {
  expect(pidsNow()).toEqual(pids);
  for (const pid of Object.values(pids)) expect(process.kill(pid, 0)).toBe(true);
  expect((await fetch(`${platform.baseUrl}/healthz`)).status).toBe(200);
});

it("has a unique name for every case", () => {
  expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length);
});

import { prepare, type Call } from "../graphs/judge";
import { chosenRange, judgeMany } from "../graphs/many";
import { startOrigin } from "../graphs/origin";
import { PICTURE } from "../graphs/picture";
import { clientOf, type Account } from "../../../test-support/client";
import { startPlatform, type Platform } from "../../../test-support/platform";

/**
 * Random graphs of all node kinds, compared with a small reference interpreter. `npm run drill -- graphs` generates new ones on each run.
 */

const GRAPHS = Number(process.env.GRAPHS ?? 300);
/** A fixed seed, so that only a change of the code can cause a failure. */
const SEED = 626_084_763;
const LATEST_MS = 600_000;
const PARALLEL = 4;

let origin: Awaited<ReturnType<typeof startOrigin>>;
let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;

beforeAll(async () => {
  origin = await startOrigin();
  platform = await startPlatform({ allow: [origin.address] });
  client = clientOf(platform);
  user = await client.account({ tier: "enterprise" });
});
afterAll(async () => {
  await platform.stop();
  await origin.close();
});

const call: Call = (method, path, body, headers = {}) =>
  client.call(method, path, { key: user.key, headers, ...(body === undefined ? {} : { body }) });

it(
  `ends ${GRAPHS} random graphs like the reference, within 30 s, for at most their quotes`,
  async () => {
    const uploaded = await fetch(`${platform.baseUrl}/api/media`, {
      method: "POST",
      headers: { "x-api-key": user.key!, "content-type": "image/png" },
      body: PICTURE,
    });
    const names = await prepare(call, ((await uploaded.json()) as { id: string }).id);
    const { seed, only } = chosenRange(process.env, SEED);
    const { ends, failures } = await judgeMany({ call, names, origin: origin.address, seed, only, graphs: GRAPHS, parallel: PARALLEL });
    expect(failures).toEqual([]);
    expect(only === undefined ? ends.completed : GRAPHS).toBeGreaterThan(GRAPHS / 2);
    expect((await client.asAdmin("GET", "/api/admin/ledger/check")).body).toMatchObject({ ok: true, mismatches: [], staleHolds: [] });
    expect((await client.call("GET", "/api/me", { cookie: user.cookie })).body).toMatchObject({ credits: { held: 0 } });
  },
  LATEST_MS,
);

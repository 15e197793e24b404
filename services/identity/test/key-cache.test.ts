import { PLANS } from "@nodeloom/kernel";
import { CACHE_TTL_MS, createKeyCache, type ResolvedKey } from "../src/keys/key-cache";

const STANDING = {
  business: null,
  suspended: false,
  sessionEpoch: 0,
  keyEpoch: 0,
  revision: 0,
  secondFactor: false,
  erasesAt: null,
} as const;
const userOf = (userId: string, tier: string): ResolvedKey["user"] => ({
  ...{ id: userId, email: "", role: "user", tier, approved: true, plan: PLANS.pro, ...STANDING },
  createdAt: new Date(),
});
const resolved = (keyId: string, userId = "user", tier = "pro"): ResolvedKey => ({
  key: {
    _id: keyId,
    userId,
    slot: 0,
    epoch: 0,
    name: "",
    start: "",
    preset: "custom",
    capabilities: [],
    hashes: [],
    rotation: null,
    webhook: null,
    webhookSecrets: [],
    createdAt: new Date(),
    lastUsedAt: null,
    expiresAt: null,
  },
  user: userOf(userId, tier),
  person: userOf(userId, tier),
  role: null,
});

const HOUR_MS = 3_600_000;

describe("the key cache", () => {
  it("reloads after half a second, so that an unannounced revocation takes effect within one", async () => {
    let loads = 0;
    const cache = createKeyCache({ load: async () => ((loads += 1), resolved("k")) });
    const startedAt = performance.now();
    while (loads < 2) {
      await cache.get("hash");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(CACHE_TTL_MS);
    expect(CACHE_TTL_MS).toBe(500);
  });

  it.each([
    [{ type: "key", id: "k" }, true],
    [{ type: "user", id: "user" }, true],
    [{ type: "tier", id: "gold" }, true],
    [{ type: "organization", id: "user" }, true],
    [{ type: "organization", id: "k" }, false],
    [{ type: "key", id: "other" }, false],
    [{ type: "user", id: "k" }, false],
    [{ type: "tier", id: "pro" }, false],
  ] as const)("drops exactly the entries that %j made stale", async (change, forgets) => {
    let loads = 0;
    const load = async () => ((loads += 1), resolved("k", "user", "gold"));
    const cache = createKeyCache({ load, ttlMs: HOUR_MS });
    await cache.get("hash");
    await cache.get("hash");
    expect(loads).toBe(1);
    cache.forget(change);
    await cache.get("hash");
    expect(loads).toBe(forgets ? 2 : 1);
  });

  it("looks a key up once for simultaneous callers, and never keeps an unknown one", async () => {
    let loads = 0;
    const cache = createKeyCache({ load: async () => ((loads += 1), null), ttlMs: HOUR_MS });
    const answers = await Promise.all(Array.from({ length: 20 }, () => cache.get("hash")));
    expect(answers.every((answer) => answer === null)).toBe(true);
    expect(loads).toBe(1);
    await cache.get("hash");
    expect(loads).toBe(2);
  });

  it("neither keeps nor shares a look-up that a change overtook", async () => {
    const answers: ((value: ResolvedKey | null) => void)[] = [];
    const cache = createKeyCache({ load: () => new Promise((resolve) => answers.push(resolve)), ttlMs: HOUR_MS });
    const before = cache.get("hash");
    cache.forget({ type: "key", id: "k" });
    const after = cache.get("hash");
    expect(answers).toHaveLength(2);
    answers[1]!(null);
    answers[0]!(resolved("k"));
    await expect(before).resolves.not.toBeNull();
    await expect(after).resolves.toBeNull();
    const later = cache.get("hash");
    expect(answers).toHaveLength(3);
    answers[2]!(null);
    await expect(later).resolves.toBeNull();
  });

  it("looks again after a failed look-up", async () => {
    let loads = 0;
    const load = async () => {
      loads += 1;
      if (loads === 1) throw new Error("away");
      return resolved("k");
    };
    const cache = createKeyCache({ load, ttlMs: HOUR_MS });
    await expect(cache.get("hash")).rejects.toThrow("away");
    await expect(cache.get("hash")).resolves.not.toBeNull();
  });

  it("keeps no reply that was old when it arrived", async () => {
    let loads = 0;
    const load = () =>
      new Promise<ResolvedKey>((resolve) => {
        loads += 1;
        setTimeout(() => resolve(resolved("k")), 30);
      });
    const cache = createKeyCache({ load, ttlMs: 20 });
    await cache.get("hash");
    await cache.get("hash");
    expect(loads).toBe(2);
  });
});

import { fork, type ChildProcess } from "node:child_process";
import { on } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificates, type TestCertificates } from "../../../../test-support/certificates";
import { startCluster, startSentinels, type RedisGroup } from "../../../../test-support/redis-groups";

/** Sentinels and a cluster behind TLS, by a certificate of a private authority. */

const SUPPORT = join(__dirname, "..", "support");
const PATIENCE_MS = 60_000;
const REFUSED_MS = 2_000;

let certificates: TestCertificates;
beforeAll(async () => void (certificates = await makeCertificates("redis")));
afterAll(() => certificates.remove());

describe.each([
  ["Sentinels", startSentinels],
  ["a cluster", startCluster],
] as const)("%s over TLS", (_name, start) => {
  let group: RedisGroup;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    const { TLS_CERT_FILE, TLS_KEY_FILE } = certificates.of("redis");
    group = await start({ cert: readFileSync(TLS_CERT_FILE), key: readFileSync(TLS_KEY_FILE) });
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await group?.stop();
  });

  /** @returns reads the client's next message, also one that came before it was asked for */
  const startClient = (patienceMs: number, env: Record<string, string> = {}): { child: ChildProcess; next: () => Promise<unknown> } => {
    const child = fork(join(SUPPORT, "redis-client.ts"), [group.url, String(patienceMs)], {
      execArgv: ["-r", join(SUPPORT, "../../../../test-support/typescript.cjs")],
      env: { ...process.env, ...env },
    });
    children.push(child);
    const messages = on(child, "message");
    return { child, next: async () => ((await messages.next()).value as [unknown])[0] };
  };

  it("serve clients that trust the authority, also after a primary is lost, and encrypt every connection", async () => {
    const { child, next } = startClient(PATIENCE_MS, { NODE_EXTRA_CA_CERTS: certificates.of("redis").TLS_CA_FILE });
    expect(await next()).toEqual({ isReady: true });
    expect(await next()).toEqual({ read: 20, isEncrypted: true });
    expect(group.tlsPorts()).not.toEqual([]);
    await group.killPrimary("key-1");
    child.send("lost");
    expect(await next()).toEqual({ read: 20, isEncrypted: true });
  });

  it("refuse to be used without the authority", async () => {
    expect(await startClient(REFUSED_MS).next()).toEqual({ isReady: false });
  });
});

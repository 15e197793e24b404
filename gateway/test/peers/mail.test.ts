import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectMongo } from "@nodeloom/platform";
import { MAIL_LIMITS } from "../../../services/notifications/src/mail/mails";
import { makeCertificates, type TestCertificates } from "../../../test-support/certificates";
import { eventually } from "../../../test-support/eventually";
import { START_MS, startPeer } from "../../../test-support/peer";
import { freePort } from "../../../deploy/local/servers/ports.cjs";
import { call } from "../../../test-support/client";
import { APART, startPlatform, type Platform } from "../../../test-support/platform";

/** Emails through Mailpit, a mail server with STARTTLS and passwords whose API returns received mail. */

const MAILPIT = process.env.PEER_MAIL!;
const PATIENCE_MS = 150_000;
const USER = "loom";
const PASSWORD = "p@ss:word/1";

interface ReceivedMail {
  ID: string;
  To: { Address: string }[];
  Subject: string;
}

let folder: string;
let certificates: TestCertificates;
let smtpPort: number;
let apiUrl: string;
let stopMailpit: () => Promise<void>;
let platform: Platform;

const startMailpit = async (): Promise<void> => {
  const { TLS_CERT_FILE, TLS_KEY_FILE } = certificates.of("localhost");
  const args = [
    ...["--smtp", `127.0.0.1:${smtpPort}`, "--listen", apiUrl.slice("http://".length), "--database", join(folder, "mail.db")],
    ...["--smtp-tls-cert", TLS_CERT_FILE, "--smtp-tls-key", TLS_KEY_FILE, "--smtp-require-starttls"],
    ...["--smtp-auth-file", join(folder, "users"), "--enable-chaos", "--disable-version-check"],
  ];
  const isReady = async (): Promise<boolean> => (await fetch(`${apiUrl}/readyz`)).ok;
  stopMailpit = await startPeer({ command: MAILPIT, args, env: {}, cwd: folder, isReady });
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-mail-"));
  certificates = await makeCertificates("localhost");
  await writeFile(join(folder, "users"), `${USER}:${PASSWORD}\n`);
  smtpPort = await freePort();
  apiUrl = `http://127.0.0.1:${await freePort()}`;
  await startMailpit();
  platform = await startPlatform({
    groups: APART,
    env: {
      SMTP_URL: `smtp://${USER}:${encodeURIComponent(PASSWORD)}@localhost:${smtpPort}`,
      SMTP_TLS_CA_FILE: certificates.of("localhost").TLS_CA_FILE,
      MAIL_FROM: "Nodeloom <mail@example.com>",
      TRUST_PROXY: "1",
      REGISTRATION_RATE_LIMIT: "1000",
      TEMPORAL_PAYLOAD_KEYS: "ab".repeat(32),
    },
  });
}, 2 * START_MS);
afterAll(async () => {
  await platform?.stop();
  await stopMailpit?.();
  await certificates?.remove();
  await rm(folder, { recursive: true, force: true });
}, START_MS);

const read = async <T>(path: string): Promise<T> => (await fetch(`${apiUrl}${path}`)).json() as Promise<T>;
const mailsTo = async (address: string): Promise<ReceivedMail[]> =>
  (await read<{ messages: ReceivedMail[] }>(`/api/v1/search?limit=200&query=${encodeURIComponent(`to:${address}`)}`)).messages;
const textOf = async ({ ID }: ReceivedMail): Promise<string> => (await read<{ Text: string }>(`/api/v1/message/${ID}`)).Text;
/** Link to a page in the newest email to an address. */
const linkOf = async (address: string, page: string): Promise<string> => {
  const link = new RegExp(`/${page}#token=(\\S+)`);
  const texts = await eventually(
    async () => Promise.all((await mailsTo(address)).map(textOf)),
    (all) => all.some((text) => link.test(text)),
    PATIENCE_MS,
  );
  return texts.flatMap((text) => link.exec(text)?.[1] ?? [])[0]!;
};

let addresses = 0;
/** Sends a request from a separate network address. */
const send = (path: string, body?: unknown, cookie?: string) => {
  addresses += 1;
  const headers = { "x-forwarded-for": `203.0.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}` };
  return call(platform.baseUrl, "POST", path, { body, headers, ...(cookie ? { cookie } : {}) });
};
const NEXT = "a loom of many colours";
const register = async (email: string): Promise<string> => {
  const answer = await send("/api/auth/register", { email, password: "correct horse battery" });
  expect(answer.status).toBe(201);
  return answer.headers.getSetCookie()[0]!.split(";")[0]!;
};
const forget = (email: string) => send("/api/auth/password/reset", { email });

it(
  "completes a reset from the request to a new password, and a verification to a confirmed address, by STARTTLS and a password",
  async () => {
    const email = "ada@loom.example";
    const cookie = await register(email);
    expect((await send("/api/auth/verify", { token: await linkOf(email, "verify-address") }, cookie)).status).toBe(204);
    expect((await forget(email)).status).toBe(202);
    const token = await linkOf(email, "reset-password");
    expect((await send("/api/auth/password-reset", { token, new: NEXT })).status).toBe(204);
    expect((await send("/api/auth/password-reset", { token, new: NEXT })).status).toBe(401);
    expect((await send("/api/auth/login", { email, password: NEXT })).status).toBe(200);
    const [newest] = await mailsTo(email);
    const checked = await read<{ Total: { Supported: number; Unsupported: number } }>(`/api/v1/message/${newest!.ID}/html-check`);
    expect(checked.Total.Unsupported).toBeLessThan(15);
  },
  PATIENCE_MS,
);

it(
  "responds alike, and in the same time, whether or not an address has an account",
  async () => {
    await register("known@loom.example");
    const times: Record<string, number[]> = { known: [], nobody: [] };
    for (let round = 0; round < 60; round += 1) {
      for (const who of ["known", "nobody"]) {
        const startedAt = performance.now();
        const answer = await forget(`${who}@loom.example`);
        times[who]!.push(performance.now() - startedAt);
        expect([answer.status, answer.text]).toEqual([202, ""]);
      }
    }
    const median = (all: number[]): number => all.sort((one, other) => one - other)[all.length / 2]!;
    const [knownMs, nobody] = [median(times.known!), median(times.nobody!)];
    process.stdout.write(
      `a reset is answered in ${knownMs.toFixed(1)} ms where there is an account, in ${nobody.toFixed(1)} ms where there is none\n`,
    );
    expect(Math.abs(knownMs - nobody)).toBeLessThan(Math.max(2, 0.25 * nobody));
    await linkOf("known@loom.example", "reset-password");
    // A flood of requests sends at most one email every five minutes.
    expect((await mailsTo("known@loom.example")).filter(({ Subject }) => Subject === "Set a new password").length).toBeLessThanOrEqual(2);
    expect(await mailsTo("nobody@loom.example")).toEqual([]);
  },
  PATIENCE_MS,
);

const KILLS_EVERY = 12;
/** Number of attempts without a mail server before it returns. */
const TURNED_AWAY = 3;
/** A missing heartbeat reveals a dead process's attempt, which is repeated within a minute. */
const TAKEN_UP_MS = 90_000;

/**
 * Replaces the mail server by one that closes connections before a greeting.
 * @returns a function that ends the outage after this number of attempts
 */
const stopServer = async (attempts: number): Promise<() => Promise<void>> => {
  let matchCount = 0;
  const nobody = createServer((socket) => {
    matchCount += 1;
    socket.on("error", () => undefined).destroy();
  });
  await new Promise<void>((resolve) => nobody.listen(smtpPort, "127.0.0.1", resolve));
  await eventually(() => matchCount >= attempts, undefined, PATIENCE_MS);
  return () => new Promise((resolve) => nobody.close(() => resolve()));
};

/** Outcomes of emails, as notifications records them; null for pending ones. */
const readEnds = async ({ MONGODB_URI = "", MONGODB_DATABASE_PREFIX = "" }: Platform["env"], since: Date): Promise<(string | null)[]> => {
  const connection = await connectMongo({ uri: MONGODB_URI, database: `${MONGODB_DATABASE_PREFIX}executions` });
  try {
    const mails = await connection
      .collection<{ end: string | null; createdAt: Date }>("mails")
      .find({ createdAt: { $gte: since } })
      .toArray();
    return mails.map(({ end }) => end);
  } finally {
    await connection.close();
  }
};

it(
  "sends each email once despite kills of the sending process, temporary rejections, and an unavailable mail server",
  async () => {
    const executions = platform.processes.executions!;
    const everybody = Array.from({ length: 40 }, (_, index) => `user${index}@loom.example`);
    const beganAt = new Date();
    await fetch(`${apiUrl}/api/v1/chaos`, { method: "PUT", body: JSON.stringify({ Recipient: { ErrorCode: 451, Probability: 30 } }) });
    let kills = 0;
    for (const [index, email] of everybody.entries()) {
      await register(email);
      if (index % KILLS_EVERY !== KILLS_EVERY - 1) continue;
      await executions.kill();
      kills += 1;
      await executions.start();
    }
    await stopMailpit();
    await forget(everybody[0]!);
    const comeBack = await stopServer(TURNED_AWAY);
    const counts = async (): Promise<number[]> => Promise.all(everybody.map(async (email) => (await mailsTo(email)).length));
    await comeBack();
    // No email is rejected from here on. Waiting emails are sent after their pause, which is at most as long as all earlier time.
    await startMailpit();
    const sum = (all: number[]): number => all.reduce((total, one) => total + one, 0);
    const before = sum(await counts());
    const deadlineMs = Date.now() - beganAt.getTime() + MAIL_LIMITS.firstPause + TAKEN_UP_MS;
    const expectedCounts = [2, ...everybody.slice(1).map(() => 1)];
    const haveEnded = (all: (string | null)[]): boolean => all.length === sum(expectedCounts) && !all.includes(null);
    const ends = await eventually(() => readEnds(platform.env, beganAt), haveEnded, deadlineMs);
    const actualCounts = await counts();
    const unknown = ends.filter((end) => end === "unknown").length;
    const missing = sum(expectedCounts) - sum(actualCounts);
    process.stdout.write(
      `${before} of ${sum(expectedCounts)} mails arrived before the outage, ${sum(actualCounts) - before} after it; ${unknown} were handed over by a process that died, of which ${missing} did not arrive\n`,
    );
    expect(actualCounts.filter((count, index) => count > expectedCounts[index]!)).toEqual([]);
    expect(ends.filter((end) => end !== "sent" && end !== "unknown")).toEqual([]);
    expect(missing).toBeLessThanOrEqual(unknown);
    expect(unknown).toBeLessThanOrEqual(kills * MAIL_LIMITS.connections);
    expect(sum(actualCounts) - before).toBeGreaterThan(0);
  },
  5 * PATIENCE_MS,
);

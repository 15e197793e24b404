import { randomUUID } from "node:crypto";
import { connectRedis, createLook, createWindowCounter, redisReady, type Redis } from "@nodeloom/platform";
import { createContents } from "../../src/mail/content";
import { DAY_SECONDS, MAIL_LIMITS, type Mail } from "../../src/mail/mails";
import { createMailQueue, type MailStarter } from "../../src/mail/queue";
import { createStarter } from "../../src/temporal/client";
import { logger, openStores, startWorker, type Stores } from "../support/index";

let stores: Stores;
let stop: () => Promise<void>;
let redis: Redis;
beforeAll(async () => {
  ({ stores, stop } = await openStores());
  redis = connectRedis({ url: process.env.REDIS_URL!, logger });
  await redisReady(redis, 60_000);
});
afterAll(async () => {
  redis.disconnect();
  await stop();
});

const queueWith = (starter: MailStarter, clock: () => number = Date.now) =>
  createMailQueue({
    store: stores.mails,
    contents: createContents([]),
    starter,
    counter: createWindowCounter({ redis, keyPrefix: `test:${randomUUID()}:mails`, windowSeconds: DAY_SECONDS }),
    logger,
    clock,
  });

const resetOf = (): Mail => ({ kind: "passwordReset", email: `${randomUUID()}@example.com` });

it("sends an email once despite repeated requests, by a workflow that outlives its worker and has only the email's id", async () => {
  const taskQueue = `mails-${randomUUID()}`;
  const attempts: unknown[][] = [];
  const worker = () =>
    startWorker(taskQueue, {
      sendMail: (...attempt: unknown[]) => {
        attempts.push(attempt);
        return attempts.length === 1 ? { pauseMs: 300 } : { end: "sent" };
      },
    });
  const first = await worker();
  const ids: string[] = [];
  const starter = createStarter({ client: first.client, taskQueue });
  const queue = queueWith({ startMail: (mail) => (ids.push(mail.id), starter.startMail(mail)) });
  const mail = resetOf();
  await Promise.all(Array.from({ length: 20 }, () => queue.add(mail)));
  expect(new Set(ids).size).toBe(1);
  await Promise.all([starter.startMail({ id: ids[0]!, kind: mail.kind }), starter.startMail({ id: ids[0]!, kind: mail.kind })]);
  const handle = first.client.workflow.getHandle(`mail-${ids[0]}`);
  await first.drain();
  const second = await worker();
  expect(await handle.result()).toBe("sent");
  await starter.startMail({ id: ids[0]!, kind: mail.kind });
  expect(attempts).toEqual([
    [ids[0], 1],
    [ids[0], 2],
  ]);
  expect(JSON.stringify(await handle.fetchHistory())).not.toContain("example.com");
  await second.stop();
  await first.close();
});

it("starts an email later that Temporal rejected, and loses none", async () => {
  let isDown = true;
  const started: string[] = [];
  let now = Date.now();
  const queue = queueWith(
    {
      startMail: ({ id }) => {
        if (isDown) return Promise.reject(new Error("away"));
        started.push(id);
        return Promise.resolve();
      },
    },
    () => now,
  );
  await queue.add({ kind: "approval", userId: randomUUID() }, "1");
  isDown = false;
  const look = createLook({ ...queue.unstarted, staleMs: 1_000 }, { logger, now: () => now });
  await look();
  expect(started).toEqual([]);
  now += 1_001;
  await look();
  await look();
  expect(started).toHaveLength(1);
});

it("limits an account's emails per day, however many requests there are", async () => {
  const started: string[] = [];
  let now = Date.now();
  const queue = queueWith({ startMail: ({ id }) => Promise.resolve(void started.push(id)) }, () => now);
  const mail = resetOf();
  for (let requestCount = 0; requestCount < 3 * MAIL_LIMITS.perDay.passwordReset; requestCount += 1) {
    await queue.add(mail);
    await queue.add({ ...mail, email: (mail as { email: string }).email.toUpperCase() } as Mail);
    now += MAIL_LIMITS.sameWithin;
  }
  expect(started).toHaveLength(MAIL_LIMITS.perDay.passwordReset);
  await queue.add(resetOf());
  expect(started).toHaveLength(MAIL_LIMITS.perDay.passwordReset + 1);
});

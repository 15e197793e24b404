import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client, Connection } from "@temporalio/client";
import { videoWorkflow } from "../../bench/src/graphs";
import { createApiClient, type ApiClient } from "../../bench/src/http";
import { loadEach } from "../../bench/src/load";
import { keyOf, usePlatform, type LocalPlatform } from "../../bench/src/platform";
import { figuresOf, percentile } from "../../bench/src/rounds";
import { withWorkflow } from "../../bench/src/workflow";

export const DRILL = { sentence: "runs 2,000 asynchronous video runs at once and measures what they need", minutes: 5, builds: true };

/**
 * `npm run drill load`: submits many asynchronous video runs, which wait at their provider together and then end. Meanwhile it polls
 * executions at a fixed rate and measures the worker's memory.
 */

const USAGE = `Usage: npm run drill -- load [--runs 2000] [--hold 60]
  --runs  asynchronous video runs that are in flight at once
  --hold  seconds for which all of them wait at their provider`;
const SUBMITS_IN_PARALLEL = 10;
/** Minimum rate of submissions before the first run ends. */
const SUBMITS_PER_SECOND = 18;
const ACCEPTED = 202;
const BUSY = 503;
const SUBMIT_ATTEMPTS = 5;
const SUBMIT_AGAIN_MS = 1_000;
const POLLS_PER_SECOND = 20;
const MEMORY_SAMPLE_MS = 500;
const DRAIN_MS = 300_000;
const LOOK_MS = 1_000;
const BYTES_PER_KB = 1_024;
const MB = 1_048_576;
const CREDITS_PER_RUN = 10;
const TARGETS = { memoryMb: 700, events: 40, pollP99Ms: 50 } as const;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Resident memory in MB. Linux only. */
const residentMb = (pid: number): number => {
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kb ?? 0) * BYTES_PER_KB) / MB;
};

/** An account with unlimited concurrency and enough credits. */
const makeAccount = async (local: LocalPlatform, runs: number, signal: AbortSignal): Promise<string> => {
  const admin = createApiClient(local.baseUrl, keyOf(local, "admin"), signal);
  try {
    const tier = { base: "enterprise", rateLimitPerMinute: null, markup: 1.15, monthlyCredits: 1_000, concurrency: runs };
    await admin.expect(200, "PUT", "/api/admin/tiers/load", tier);
    const login = { email: `load-${Date.now()}@nodeloom.local`, password: "as many runs as it takes" };
    await admin.expect(201, "POST", "/api/auth/register", login);
    const { rows } = await admin.expect<{ rows: { id: string }[] }>(200, "GET", `/api/admin/users?q=${encodeURIComponent(login.email)}`);
    const userId = rows[0]!.id;
    await admin.expect(200, "PATCH", `/api/admin/users/${userId}`, { approved: true, tier: "load" });
    const credits = { kind: "topup", amount: runs * CREDITS_PER_RUN, note: "load" };
    await admin.expect(200, "POST", `/api/admin/users/${userId}/credits`, credits);
    const cookie = await signIn(local.baseUrl, login);
    const created = await fetch(`${local.baseUrl}/api/keys`, {
      method: "POST",
      headers: { cookie, origin: local.baseUrl, "content-type": "application/json" },
      body: JSON.stringify({ name: "load", preset: "full-deploy" }),
      signal,
    });
    return ((await created.json()) as { key: string }).key;
  } finally {
    admin.close();
  }
};

const signIn = async (baseUrl: string, login: object): Promise<string> => {
  const answer = await fetch(`${baseUrl}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(login),
  });
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
};

/** Submits a run, and retries while the platform is busy, like a client. */
const submit = async (api: ApiClient, slug: string): Promise<string> => {
  for (let attempt = 1; ; attempt += 1) {
    const { status, text } = await api.call("POST", `/api/workflows/${slug}/run?async=true`, { inputs: {} });
    if (status === ACCEPTED) return (JSON.parse(text) as { executionId: string }).executionId;
    if (status !== BUSY || attempt === SUBMIT_ATTEMPTS) throw new Error(`a submission was answered ${status}: ${text}`);
    await delay(SUBMIT_AGAIN_MS);
  }
};

type Phase = "submitting" | "in flight" | "ending";

/** Measures memory continuously and polls at a fixed rate until stopped. */
const startWatch = (pid: number, signal: AbortSignal, poll: () => Promise<unknown>) => {
  let phase: Phase = "submitting";
  let peakMb = 0;
  let stopped = false;
  const polls = new Map<Phase, number[]>();
  const memory = setInterval(() => (peakMb = Math.max(peakMb, residentMb(pid))), MEMORY_SAMPLE_MS).unref();
  const polling = (async () => {
    const startedAt = performance.now();
    const under = new Set<Promise<void>>();
    for (let number = 0; !stopped && !signal.aborted; number += 1) {
      await delay(Math.max(0, startedAt + (number * 1_000) / POLLS_PER_SECOND - performance.now()));
      const [at, during] = [performance.now(), phase];
      const one = poll().then(() => void polls.set(during, [...(polls.get(during) ?? []), performance.now() - at]));
      under.add(one);
      void one.finally(() => under.delete(one));
    }
    await Promise.all(under);
  })();
  return {
    enter: (next: Phase): void => void (phase = next),
    stop: async (): Promise<{ peakMb: number; polls: ReadonlyMap<Phase, number[]> }> => {
      stopped = true;
      clearInterval(memory);
      await polling;
      return { peakMb, polls };
    },
  };
};

/** Counts the runs by status, with one request per page. */
const countByStatus = async (api: ApiClient, slug: string): Promise<Map<string, number>> => {
  const counts = new Map<string, number>();
  for (const status of ["processing", "completed", "failed"]) {
    const { total } = await api.expect<{ total: number }>(200, "GET", `/api/usage?workflowSlug=${slug}&status=${status}&limit=1`);
    counts.set(status, total);
  }
  return counts;
};

const longestHistory = async (local: LocalPlatform, slug: string): Promise<{ runs: number; events: number }> => {
  const connection = await Connection.connect({ address: local.temporalAddress });
  const history = { runs: 0, events: 0 };
  try {
    for await (const { historyLength } of new Client({ connection }).workflow.list({ query: `NodeloomWorkflow = "${slug}"` })) {
      history.runs += 1;
      history.events = Math.max(history.events, historyLength);
    }
  } finally {
    await connection.close();
  }
  return history;
};

const judge = (name: string, value: number, unit: string, limit: number): boolean => {
  const isMet = value <= limit;
  print(
    `  ${name.padEnd(44)} ${value.toFixed(value < 100 ? 1 : 0).padStart(8)} ${unit.padEnd(6)} ${`≤ ${limit}`.padEnd(8)} ${isMet ? "met" : "MISSED"}`,
  );
  return isMet;
};

const measure = async (local: LocalPlatform, runs: number, holdSeconds: number, signal: AbortSignal): Promise<boolean> => {
  const pid = local.pids.executions!;
  const api = createApiClient(local.baseUrl, await makeAccount(local, runs, signal), signal);
  const ending = new AbortController();
  const latencyMs = Math.ceil((runs / SUBMITS_PER_SECOND + holdSeconds) * 1_000);
  try {
    return await withWorkflow(api, videoWorkflow("Load video", latencyMs), async (slug) => {
      const ids: string[] = [];
      const watch = startWatch(pid, ending.signal, async () => {
        const id = ids[Math.floor(Math.random() * ids.length)];
        await (id === undefined ? api.call("GET", "/healthz") : api.expect(200, "GET", `/api/executions/${id}`));
      });
      print(`memory of the worker before: ${residentMb(pid).toFixed(0)} MB`);
      const { sample } = await loadEach(Array.from({ length: runs }), SUBMITS_IN_PARALLEL, async () => ids.push(await submit(api, slug)));
      const submitted = figuresOf(sample);
      print(
        `submitted ${runs} in ${sample.seconds.toFixed(1)} s (${submitted.perSecond.toFixed(1)}/s), p50 ${submitted.p50Ms.toFixed(0)} ms, p99 ${submitted.p99Ms.toFixed(0)} ms`,
      );
      watch.enter("in flight");
      const together = (await countByStatus(api, slug)).get("processing")!;
      print(`in flight at once: ${together}`);
      await delay(holdSeconds * 1_000, undefined, { signal });
      watch.enter("ending");
      const endsAt = Date.now() + DRAIN_MS;
      let counts = await countByStatus(api, slug);
      const startedEnding = Date.now();
      while (counts.get("processing")! > 0 && Date.now() < endsAt) {
        await delay(LOOK_MS, undefined, { signal });
        counts = await countByStatus(api, slug);
      }
      print(
        `ended in ${((Date.now() - startedEnding) / 1_000).toFixed(0)} s: ${[...counts].map(([status, count]) => `${count} ${status}`).join(", ")}`,
      );
      const { peakMb, polls } = await watch.stop();
      for (const [phase, times] of polls)
        print(
          `polls while ${phase}: ${times.length}, p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`,
        );
      const history = await longestHistory(local, slug);
      print("");
      return [
        judge("in flight at once, missing", runs - together, "runs", 0),
        judge("not completed", runs - counts.get("completed")!, "runs", 0),
        judge("memory of the worker, highest", peakMb, "MB", TARGETS.memoryMb),
        judge(`longest history of ${history.runs}`, history.events, "events", TARGETS.events),
        judge("poll while all are in flight, p99", percentile(polls.get("in flight") ?? [Infinity], 0.99), "ms", TARGETS.pollP99Ms),
      ].every(Boolean);
    });
  } finally {
    ending.abort();
    api.close();
  }
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options: { runs: { type: "string", default: "2000" }, hold: { type: "string", default: "60" } } });
  const [runs, hold] = [Number(values.runs), Number(values.hold)];
  if (!Number.isInteger(runs) || runs < 1 || !(hold > 0)) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const calledOff = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => calledOff.abort(new Error(`stopped by ${name}`)));
  const platform = await usePlatform(calledOff.signal);
  try {
    return (await measure(platform.local, runs, hold, calledOff.signal)) ? 0 : 1;
  } finally {
    await platform.stop();
  }
};

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);

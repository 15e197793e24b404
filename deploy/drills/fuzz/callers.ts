import { randomUUID } from "node:crypto";
import { call, clientOf, type Account, type Answer } from "../../../test-support/client";
import { clip, greeting } from "../../../test-support/graphs";
import type { Platform } from "../../../test-support/platform";

/** High enough that no request reaches a limit. Limits have their own tests. */
const AMPLE = { rateLimitPerMinute: 1_000_000, markup: 1.5, monthlyCredits: 1_000_000, concurrency: 1_000 };

/** Enables redelivery without a delivery per run, because no run is cancelled. */
const WEBHOOK = { url: "https://receiver.invalid/hook", events: ["execution.cancelled"] };

/** A caller of the fuzzed operations, with existing resources. */
export interface Caller {
  name: "pro" | "business" | "admin";
  key: string;
  cookie: string;
  /** Cookie of a session that the requests can end. */
  endingCookie: string;
  /** Existing ids by path parameter: `{slug}` of any operation, or `<resource>.id`. */
  knownValues: Readonly<Record<string, string[]>>;
}

type Target = Pick<Platform, "baseUrl" | "admin">;

const text = (answer: Answer, member: string): string => {
  const value = answer.body[member];
  if (typeof value !== "string") throw new Error(`no ${member} in ${answer.status}: ${answer.text}`);
  return value;
};

/** Creates one resource of every kind, so that not every path returns 404. */
const seed = async (baseUrl: string, { key, cookie }: Account): Promise<Record<string, string[]>> => {
  const send = (method: string, path: string, body?: unknown): Promise<Answer> => call(baseUrl, method, path, { key, body });
  const slugs: string[] = [];
  for (const graph of [greeting(), clip({ latencyMs: 10 }), { ...greeting(), publicPlayground: true }]) {
    slugs.push(text(await send("POST", "/api/workflows", graph), "slug"));
  }
  const clipRun = await send("POST", `/api/workflows/${slugs[1]!}/run?async=true`, { inputs: {} });
  const executions = await Promise.all(
    slugs.map(async (slug) => (await send("POST", `/api/workflows/${slug}/run`, { inputs: {} })).headers.get("x-execution-id") ?? ""),
  );
  const folder = await send("POST", "/api/folders", { name: "A folder" });
  const other = await call(baseUrl, "POST", "/api/keys", {
    cookie,
    body: { name: "Another", preset: "webhook-receiver", webhook: WEBHOOK },
  });
  return {
    slug: slugs,
    internalName: ["sandbox-image", "sandbox-image-fast", "sandbox-video", "sandbox-music", "sandbox-speech", "sandbox-chat"],
    "executions.id": [text(clipRun, "executionId"), ...executions],
    "folders.id": [text(folder, "id")],
    "keys.id": [text(other, "id")],
  };
};

/**
 * Users for fuzzing: the rights of Pro and Business with high limits, and an administrator. Requests that change rights affect other users,
 * so that no caller loses its own.
 */
export const createCallers = async (target: Target): Promise<Caller[]> => {
  const client = clientOf(target);
  const callers: Caller[] = [];
  for (const name of ["pro", "business", "admin"] as const) {
    const base = name === "pro" ? "pro" : "business";
    const tier = `fuzz-${base}-${randomUUID().slice(0, 8)}`;
    const response = await client.asAdmin("PUT", `/api/admin/tiers/${tier}`, { base, ...AMPLE });
    if (response.status !== 200) throw new Error(`no tier: ${response.text}`);
    const account = await client.account({ tier, webhook: WEBHOOK });
    const bystander = await client.account({ tier, capabilities: null });
    if (name === "admin") {
      await client.asAdmin("PATCH", `/api/admin/users/${account.userId}`, { role: "admin" });
      account.key = text(await client.createKey(account.cookie, {}), "key");
    }
    const seeded = await seed(target.baseUrl, account);
    const others = { "users.id": [bystander.userId], "tiers.id": [tier] };
    const endingCookie = await client.login(account.email, account.password);
    callers.push({ name, key: account.key!, cookie: account.cookie, endingCookie, knownValues: { ...seeded, ...others } });
  }
  return callers;
};

import { DomainError } from "@nodeloom/kernel";
import { z } from "zod";
import type { ServiceName } from "../../clients";
import { defineRoute } from "../../http/route";

const state = z.enum(["ok", "away"]);
const health = z.object({ status: z.literal("ok") });
const readiness = z.object({ status: z.literal("ready"), checks: z.record(z.string(), state) }).meta({ id: "Readiness" });

const RETRY_AFTER_SECONDS = 1;
const shared = { method: "GET", tag: "Health", auth: "none", limit: "none" } as const;

export const healthRoutes = [
  defineRoute({
    ...shared,
    path: "/healthz",
    operationId: "healthz",
    summary: "Whether this process runs",
    responses: { 200: health },
    handler: () => Promise.resolve({ status: 200, body: { status: "ok" } }),
  }),
  defineRoute({
    ...shared,
    path: "/readyz",
    operationId: "readyz",
    summary: "Whether every service behind this process can be reached",
    description: "Redis is reported, and does not decide: without it keys still work, and limits are counted per process.",
    responses: { 200: readiness },
    handler: async ({ gateway }) => {
      const names = Object.keys(gateway.probes) as ServiceName[];
      const serving = await Promise.all(names.map((name) => gateway.probes[name].serving()));
      const checks = Object.fromEntries([
        ...names.map((name, index) => [name, serving[index] ? "ok" : "away"]),
        ["redis", gateway.redisReady() ? "ok" : "away"],
      ]) as Record<string, z.infer<typeof state>>;
      if (serving.every(Boolean)) return { status: 200, body: { status: "ready", checks } };
      throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", "not every service can be reached", {
        retryAfter: RETRY_AFTER_SECONDS,
        checks,
      });
    },
  }),
];

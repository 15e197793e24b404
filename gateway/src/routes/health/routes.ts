import { unavailable } from "@nodeloom/kernel";
import { z } from "zod";
import { defineRoute } from "../../edge/route";

const health = z.object({ status: z.literal("ok") });
const readiness = z.object({ status: z.literal("ready") }).meta({ id: "Readiness" });

const shared = { method: "GET", tag: "Health", auth: "none", role: "self", limit: "none" } as const;

export const healthRoutes = [
  defineRoute({
    ...shared,
    path: "/healthz",
    operationId: "healthz",
    summary: "Check that this process runs",
    responses: { 200: health },
    handler: () => Promise.resolve({ status: 200, body: { status: "ok" } }),
  }),
  defineRoute({
    ...shared,
    limit: "ip",
    path: "/readyz",
    operationId: "readyz",
    summary: "Check that this process accepts requests",
    description: "It doesn't check the services behind it: an unavailable service fails only the requests that need it.",
    responses: { 200: readiness },
    handler: ({ gateway }) => {
      if (!gateway.isDraining()) return Promise.resolve({ status: 200, body: { status: "ready" } });
      throw unavailable("this process is stopping");
    },
  }),
];

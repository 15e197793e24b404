import { splitHostPort, startHttpServer, type RunningHttpServer } from "@nodeloom/platform";
import type { Authentication } from "../auth/authenticate";
import type { Gateway } from "../edge/gateway";
import type { GatewayConfig } from "../variables";
import { createAdminApp, refuseUpgrade } from "./app";

type AdminConfig = Pick<
  GatewayConfig,
  "ADMIN_LISTEN" | "ADMIN_BASE_URL" | "PUBLIC_BASE_URL" | "TEMPORAL_UI_URL" | "TEMPORAL_UI_WRITES" | "TEMPORAL_NAMESPACE" | "TRUST_PROXY"
>;

/** Public origin of Temporal's UI; undefined if it isn't served. */
export const adminOrigin = ({ ADMIN_LISTEN, ADMIN_BASE_URL, PUBLIC_BASE_URL, TEMPORAL_UI_URL }: AdminConfig): string | undefined => {
  if (ADMIN_LISTEN === undefined || TEMPORAL_UI_URL === undefined) return undefined;
  if (ADMIN_BASE_URL !== undefined) return new URL(ADMIN_BASE_URL).origin;
  const own = new URL(PUBLIC_BASE_URL);
  own.port = String(splitHostPort(ADMIN_LISTEN).port);
  return own.origin;
};

export const startAdminListener = async (
  config: AdminConfig,
  { gateway, authentication }: { gateway: Gateway; authentication: Authentication },
): Promise<RunningHttpServer | undefined> => {
  const { ADMIN_LISTEN: listen, TEMPORAL_UI_URL: temporalUiUrl, TEMPORAL_UI_WRITES: writes, TRUST_PROXY: trustProxy } = config;
  const origin = adminOrigin(config);
  if (origin === undefined || listen === undefined || temporalUiUrl === undefined) return undefined;
  const http = await startHttpServer({
    listen,
    app: createAdminApp({ gateway, authentication, origin, temporalUiUrl, writes, trustProxy }),
  });
  http.server.on("upgrade", refuseUpgrade);
  return http;
};

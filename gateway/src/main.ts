import { answeringMs, connectRedis, defineService, redisReady, runProcess, startHttpServer } from "@nodeloom/platform";
import { startAdminListener } from "./admin-listener/listen";
import { createApp } from "./app";
import { answerMalformed } from "./http/malformed";
import { gatewayVariables } from "./variables";
import { connectServices } from "./clients/services";
import { adminAuthentication, createGateway } from "./wiring";

/** Time to wait for Redis at startup, so that limits are shared from the first request. Afterwards the gateway starts without it. */
const REDIS_WAIT_MS = 1_000;

/** The HTTP edge. It starts even while other services are down; /readyz shows the state. */
export const service = defineService({
  name: "gateway",
  variables: gatewayVariables,
  start: async ({ config, logger }) => {
    const [draining, stopping] = [new AbortController(), new AbortController()];
    const redis = connectRedis({ url: config.REDIS_URL, logger });
    const subscriber = connectRedis({ url: config.REDIS_URL, logger, subscriber: true });
    const connections = connectServices(
      {
        identity: config.IDENTITY_ADDRESS,
        workflows: config.WORKFLOWS_ADDRESS,
        models: config.MODELS_ADDRESS,
        billing: config.BILLING_ADDRESS,
        usage: config.USAGE_ADDRESS,
        executions: config.EXECUTIONS_ADDRESS,
        triggers: config.TRIGGERS_ADDRESS,
        media: config.MEDIA_ADDRESS,
        notifications: config.NOTIFICATIONS_ADDRESS,
      },
      config,
    );
    const parts = { config, logger, redis, subscriber, connections, draining: draining.signal, stopping: stopping.signal };
    const gateway = createGateway(parts);
    const app = createApp({
      gateway,
      mediaUrl: config.MEDIA_HTTP_URL,
      publicBaseUrl: config.PUBLIC_BASE_URL,
      trustProxy: config.TRUST_PROXY,
      mediaOrigins: config.CONSOLE_MEDIA_ORIGINS,
    });
    await redisReady(redis, REDIS_WAIT_MS);
    // Stopping waits for requests that still determine whether their run exists.
    const graceMs = answeringMs(config);
    const http = await startHttpServer({ listen: config.GATEWAY_LISTEN, app, requestTimeoutMs: config.REQUEST_TIMEOUT_MS, graceMs });
    answerMalformed(http.server);
    const adminHttp = await startAdminListener(config, { gateway, authentication: adminAuthentication(parts) });
    // The pipeline sends `100 Continue` after the checks that need no body.
    http.server.on("checkContinue", app);
    // Node would reject any other expectation with an empty error. The gateway ignores unknown expectations.
    http.server.on("checkExpectation", app);
    return {
      ports: { GATEWAY_LISTEN: http.port, ...(adminHttp ? { ADMIN_LISTEN: adminHttp.port } : {}) },
      checks: { ...connections.checks, redis: () => redis.status === "ready" },
      drain: () => {
        draining.abort();
        http.drain();
        adminHttp?.drain();
      },
      stop: async () => {
        stopping.abort();
        await Promise.all([http.stop(), adminHttp?.stop()]);
        await gateway.keyRequests.stop();
        await gateway.previews.close();
        connections.close();
        redis.disconnect();
        subscriber.disconnect();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);

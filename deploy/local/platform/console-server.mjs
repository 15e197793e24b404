import { join } from "node:path";
import { ROOT } from "../paths.mjs";

/**
 * Serves the console from its sources with hot reload, and proxies everything else to the gateway.
 * @param {string} gatewayUrl
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export const startConsoleServer = async (gatewayUrl) => {
  process.env.CONSOLE_GATEWAY_URL = gatewayUrl;
  const { createServer } = await import("vite");
  const server = await createServer({
    configFile: join(ROOT, "gateway", "console", "vite.config.mjs"),
    logLevel: "error",
    clearScreen: false,
  });
  await server.listen();
  return { url: server.resolvedUrls?.local[0]?.replace(/\/$/, "") ?? gatewayUrl, stop: () => server.close() };
};

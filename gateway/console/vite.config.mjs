import { resolve } from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import kernelSources from "../../services/kernel/sources.cjs";
import { compressed } from "./compress.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
/** What the gateway answers itself while the console is served by vite. */
const PROXIED = ["/api", "/media", "/docs", "/healthz"];
const gatewayUrl = process.env.CONSOLE_GATEWAY_URL ?? "http://127.0.0.1:8080";

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // Files have the gateway's address, which is another origin while vite serves the console.
  define: { GATEWAY_ORIGIN: JSON.stringify(command === "serve" ? new URL(gatewayUrl).origin : "") },
  plugins: [react(), tailwindcss(), compressed()],
  resolve: {
    alias: {
      re2js: resolve(import.meta.dirname, "src/canvas/re2.ts"),
      "@nodeloom/client/comfyui": resolve(ROOT, "gateway/client/src/comfyui/index.ts"),
      "@nodeloom/client": resolve(ROOT, "gateway/client/src/browser.ts"),
      ...kernelSources,
    },
  },
  build: {
    outDir: resolve(import.meta.dirname, "dist"),
    emptyOutDir: true,
    // A data URL in a style would need a wider content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: { input: ["index.html", "app.html"].map((page) => resolve(import.meta.dirname, page)) },
    modulePreload: { polyfill: false },
    target: "es2022",
    sourcemap: false,
    chunkSizeWarningLimit: 800,
  },
  worker: { format: "es" },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(PROXIED.map((path) => [path, { target: gatewayUrl, headers: { origin: gatewayUrl } }])),
  },
}));

/** Bundles the code of workflows when the platform is built. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleWorkflowCode } from "@temporalio/worker";

/** Where the prebuilt workflow bundle lies, whether this runs from src/ or dist/. */
export const bundlePath = join(__dirname, "..", "..", "dist", "workflow-bundle.js");

const buildBundle = async (): Promise<void> => {
  const workflowsPath = join(__dirname, "workflows", "index.js");
  const interceptorsPath = join(__dirname, "workflows", "trace.js");
  const payloadConverterPath = require.resolve("./payloads/converter");
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    workflowInterceptorModules: [interceptorsPath],
    // Each is evaluated once, and not again for every run. What they keep says nothing of a run: expressions by their texts, and what
    // was read of a node by that node.
    preloadModules: [payloadConverterPath, interceptorsPath, workflowsPath],
    // The worker and its thread each keep the code with its map, as text and as read: it says where a line is, without the line.
    webpackConfigHook: (config) => ({ ...config, devtool: "inline-nosources-source-map" }),
  });
  mkdirSync(dirname(bundlePath), { recursive: true });
  writeFileSync(bundlePath, code);
};

if (require.main === module) void buildBundle();

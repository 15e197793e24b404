import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleWorkflowCode } from "@temporalio/worker";

/** Where the prebuilt workflow bundle lies, whether this runs from src/ or dist/. */
export const bundlePath = join(__dirname, "..", "..", "dist", "workflow-bundle.js");
/** The same with spans, for workers that are traced. */
export const tracedBundlePath = join(__dirname, "..", "..", "dist", "workflow-bundle-traced.js");

const INTERCEPTORS = "@temporalio/interceptors-opentelemetry-v2/lib/workflow-interceptors";

/** Bundles the workflows from their compiled sources. */
export const buildBundle = async (path = bundlePath, interceptors: readonly string[] = []): Promise<string> => {
  const workflowsPath = join(__dirname, "workflows", "index.js");
  const payloadConverterPath = require.resolve("./payloads/converter");
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    // Schemas are checked before a run, and answers by activities.
    ignoreModules: ["re2js"],
    // Each is evaluated once, and not again for every run. What they keep says nothing of a run: expressions by their texts, and what
    // was read of a node by that node.
    preloadModules: [payloadConverterPath, workflowsPath],
    workflowInterceptorModules: interceptors.map((name) => require.resolve(name)),
  });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
  return path;
};

if (require.main === module) void Promise.all([buildBundle(), buildBundle(tracedBundlePath, [INTERCEPTORS])]);

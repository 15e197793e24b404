/** Bundles the code of a service's workflows when the platform is built: `node bundle.js <workflows> <bundle>`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { bundleWorkflowCode } from "@temporalio/worker";

const buildBundle = async (workflowsPath: string, bundlePath: string): Promise<void> => {
  const [interceptorsPath, payloadConverterPath] = [require.resolve("./interceptors"), require.resolve("./converter")];
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    workflowInterceptorModules: [interceptorsPath],
    // Evaluated once instead of for every run. Their caches hold nothing of a run: expressions by their texts,
    // and values by the node they were read from.
    preloadModules: [payloadConverterPath, interceptorsPath, workflowsPath],
    // The worker and its thread each keep the code with its map, as text and parsed. The map has lines but no sources.
    webpackConfigHook: (config) => ({ ...config, devtool: "inline-nosources-source-map" }),
  });
  mkdirSync(dirname(bundlePath), { recursive: true });
  writeFileSync(bundlePath, code);
};

if (require.main === module) {
  const [workflows = "", bundle = ""] = process.argv.slice(2);
  void buildBundle(resolve(workflows), resolve(bundle));
}

/** Bundles a service's workflow code when the platform is built: `node bundle.js <workflows> <bundle>`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { bundleWorkflowCode } from "@temporalio/worker";

const buildBundle = async (workflowsPath: string, bundlePath: string): Promise<void> => {
  const [interceptorsPath, payloadConverterPath] = [require.resolve("./interceptors"), require.resolve("./converter")];
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    workflowInterceptorModules: [interceptorsPath],
    // Evaluated once instead of once per run. This is safe, because the modules cache no data of a run: only expressions by text, and
    // values by the node from which they were read.
    preloadModules: [payloadConverterPath, interceptorsPath, workflowsPath],
    // The worker and its thread each keep the code and its source map, as text and parsed. The map contains lines but no sources, which
    // saves memory.
    webpackConfigHook: (config) => ({ ...config, devtool: "inline-nosources-source-map" }),
  });
  mkdirSync(dirname(bundlePath), { recursive: true });
  writeFileSync(bundlePath, code);
};

if (require.main === module) {
  const [workflows = "", bundle = ""] = process.argv.slice(2);
  void buildBundle(resolve(workflows), resolve(bundle));
}

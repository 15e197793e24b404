import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../paths.mjs";

const CLIENT = join(ROOT, "gateway", "client");
const SOURCES = join(CLIENT, "src");
/** The modules that package.json exports, without their endings. */
export const ENTRIES = ["index", "comfyui/index"];

/**
 * Writes the client as ES modules beside its CommonJS files, one per source, so that bundlers can drop unused modules with their
 * dependencies.
 * @param {string} to the folder to write to
 */
export const writeClientModule = async (to) => {
  /** @type {typeof import("rolldown")} */
  const { rolldown } = createRequire(import.meta.url)("rolldown");
  const bundle = await rolldown({
    input: ENTRIES.map((entry) => join(SOURCES, `${entry}.ts`)),
    external: /^[^./]/,
    platform: "neutral",
    tsconfig: join(CLIENT, "tsconfig.json"),
  });
  try {
    await bundle.write({ dir: to, format: "esm", preserveModules: true, preserveModulesRoot: SOURCES, entryFileNames: "[name].mjs" });
  } finally {
    await bundle.close();
  }
};

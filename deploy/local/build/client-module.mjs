import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../paths.mjs";

const CLIENT = join(ROOT, "gateway", "client");

/**
 * Writes the typed client as one ES module, beside its CommonJS files.
 * @param {string} to the folder to write to
 */
export const writeClientModule = async (to) => {
  /** @type {typeof import("rolldown")} */
  const { rolldown } = createRequire(import.meta.url)("rolldown");
  const bundle = await rolldown({
    input: join(CLIENT, "src", "index.ts"),
    external: /^[^./]/,
    platform: "neutral",
    tsconfig: join(CLIENT, "tsconfig.json"),
  });
  try {
    await bundle.write({ file: join(to, "index.mjs"), format: "esm", minify: false });
  } finally {
    await bundle.close();
  }
};

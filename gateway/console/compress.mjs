import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const COMPRESSIBLE = /\.(?:js|css|html|svg|json)$/;
const SMALLEST_BYTES = 1024;
const BROTLI_QUALITY = 10;
const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/**
 * A plugin of vite that puts a compressed copy beside each file of a build, so that serving compresses nothing.
 * @returns {import("vite").Plugin}
 */
export const compressed = () => {
  let folder = "";
  return {
    name: "nodeloom-compressed",
    apply: "build",
    configResolved: (config) => {
      folder = config.build.outDir;
    },
    closeBundle: async () => {
      const entries = await readdir(folder, { recursive: true });
      const paths = entries.filter((name) => COMPRESSIBLE.test(name)).map((name) => join(folder, name));
      await Promise.all(
        paths.map(async (path) => {
          if ((await stat(path)).size < SMALLEST_BYTES) return;
          const content = await readFile(path);
          const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
          await writeFile(`${path}.br`, await toBrotli(content, { params }));
          await writeFile(`${path}.gz`, await toGzip(content, { level: constants.Z_BEST_COMPRESSION }));
        }),
      );
    },
  };
};

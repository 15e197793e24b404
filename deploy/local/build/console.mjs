import { join } from "node:path";
import { filesBelow, hashFiles } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { exists } from "../servers/programs/cache.mjs";
import { runCommand } from "../run/child.mjs";
import { readStamps, writeStamp } from "./stamps.mjs";

const CONSOLE = join(ROOT, "gateway", "console");
const PAGE = join(CONSOLE, "dist", "index.html");
const VITE = join(ROOT, "node_modules", "vite", "bin", "vite.js");
/** Sources bundled into the console besides its own. */
const SHARED = [join(ROOT, "gateway", "client", "src"), join(ROOT, "services", "kernel", "src")];
const STEP = "console";

/** Builds and compresses the console if its sources changed. @returns {Promise<boolean>} true if they had changed */
export const buildConsole = async () => {
  const own = await Promise.all([
    filesBelow(join(CONSOLE, "src")),
    filesBelow(join(CONSOLE, "public")),
    ...SHARED.map((folder) => filesBelow(folder)),
  ]);
  const settings = ["index.html", "app.html", "vite.config.mjs", "compress.mjs", "package.json"].map((name) => join(CONSOLE, name));
  const hash = await hashFiles([...own.flat(), ...settings, join(ROOT, "package-lock.json")]);
  if ((await readStamps())[STEP] === hash && (await exists(PAGE))) return false;
  // The caller can be in development mode. The served build is for production, which is half the size.
  const env = { ...process.env, NODE_ENV: "production" };
  const { ok, tail } = await runCommand(process.execPath, [VITE, "build", "--logLevel", "warn"], { cwd: CONSOLE, env });
  if (!ok) throw new Error(`the console could not be built:\n${tail}`);
  await writeStamp(STEP, hash);
  return true;
};

import { join } from "node:path";
import { filesBelow, hashFiles, readJson } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { exists } from "../servers/cache.mjs";
import { runCommand } from "../servers/child.mjs";
import { readStamps, writeStamp } from "./stamps.mjs";

const PROTO = join(ROOT, "proto");
const GENERATED = join(PROTO, "src", "gen");
const STEP = "proto";

/**
 * Generates TypeScript from the .proto files when they changed.
 * @returns {Promise<boolean>} whether it did
 */
export const generateProto = async () => {
  const inputs = await filesBelow(PROTO, (path) => /\.proto$|buf(\.gen)?\.yaml$/.test(path) && !path.includes("node_modules"));
  const versions = await Promise.all(
    ["ts-proto", "@bufbuild/buf"].map((name) => readJson(join(ROOT, "node_modules", name, "package.json"))),
  );
  const hash = [await hashFiles(inputs), ...versions.map((manifest) => manifest?.version)].join(" ");
  if ((await readStamps())[STEP] === hash && (await exists(GENERATED))) return false;
  const buf = join(ROOT, "node_modules", "@bufbuild", "buf", "bin", "buf");
  const { ok, tail } = await runCommand(process.execPath, [buf, "generate"], { cwd: PROTO });
  if (!ok) throw new Error(`buf generate failed:\n${tail}`);
  await writeStamp(STEP, hash);
  return true;
};

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { filesBelow, hashFiles, readJson } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { exists } from "../servers/programs/cache.mjs";
import { runCommand } from "../run/child.mjs";
import { readStamps, writeStamp } from "./stamps.mjs";

const PROTO = join(ROOT, "proto");
const GENERATED = join(PROTO, "src", "gen");
/** Reflection also describes the health service. */
const HEALTH_PROTO = join(ROOT, "node_modules", "grpc-health-check", "proto");
/** The compiled protocol with all imports, for server reflection. */
const DESCRIPTORS = join(PROTO, "dist", "descriptors.binpb");
const STEP = "proto";

/** @param {string[]} command */
const buf = async (...command) => {
  const program = join(ROOT, "node_modules", "@bufbuild", "buf", "bin", "buf");
  const { ok, tail } = await runCommand(process.execPath, [program, ...command], { cwd: PROTO });
  if (!ok) throw new Error(`buf ${command[0]} failed:\n${tail}`);
};

/** Descriptor sets are joined by concatenation. */
const writeDescriptors = async () => {
  await mkdir(dirname(DESCRIPTORS), { recursive: true });
  const sets = [];
  for (const input of [PROTO, HEALTH_PROTO]) {
    const output = `${DESCRIPTORS}.part`;
    await buf("build", input, "--exclude-source-info", "--as-file-descriptor-set", "--output", `${output}#format=binpb`);
    sets.push(await readFile(output));
    await rm(output);
  }
  await writeFile(DESCRIPTORS, Buffer.concat(sets));
};

/** ts-proto copies every outgoing message and incoming `bytes` field; a view is enough. */
const VIEW = "const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);\n";
const COPIES = /\bBuffer\.from\((\w+\.encode\(value\)\.finish\(\)|reader\.bytes\(\))\)/g;

const takeOutCopies = async () => {
  for (const path of await filesBelow(GENERATED, (name) => name.endsWith(".ts"))) {
    const text = await readFile(path, "utf8");
    const changed = text.replace(COPIES, "viewOf($1)");
    if (changed !== text) await writeFile(path, `${changed}\n${VIEW}`);
  }
};

/** Generates TypeScript and descriptors from .proto files if they changed. @returns {Promise<boolean>} true if they had changed */
export const generateProto = async () => {
  const inputs = await filesBelow(PROTO, (path) => /\.proto$|buf(\.gen)?\.yaml$/.test(path) && !path.includes("node_modules"));
  const versions = await Promise.all(
    ["ts-proto", "@bufbuild/buf", "grpc-health-check"].map((name) => readJson(join(ROOT, "node_modules", name, "package.json"))),
  );
  const hash = [await hashFiles(inputs), ...versions.map((manifest) => manifest?.version), COPIES.source].join(" ");
  if ((await readStamps())[STEP] === hash && (await exists(GENERATED)) && (await exists(DESCRIPTORS))) return false;
  await buf("generate");
  await takeOutCopies();
  await writeDescriptors();
  await writeStamp(STEP, hash);
  return true;
};

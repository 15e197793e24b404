import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientOf } from "../../../../test-support/client";
import { startRecorder } from "../../../../test-support/recorder";
import { startPlatform, type Platform } from "../../../../test-support/platform";

/** A platform that supports all calls of OpenAI's libraries, an account, and files to send. */

const REGISTRY = join(__dirname, "..", "..", "..", "..", "services", "models", "registry");
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

/** The transcription model: OpenAI's own entry with a server of the test. */
export const TRANSCRIBES = "peer-transcribe";

/** A registry that directs OpenAI's transcription to a server of the test. */
const registryWith = async (folder: string, baseUrl: string): Promise<string> => {
  const registry = join(folder, "registry");
  await cp(REGISTRY, registry, { recursive: true });
  const entry = JSON.parse(await readFile(join(registry, "gpt-transcribe.json"), "utf8")) as { provider: object };
  const auth = { header: "Authorization", scheme: "Bearer", secretEnv: "PEER_TRANSCRIBE_KEY", default: "none" };
  const own = { ...entry, internalName: TRANSCRIBES, provider: { ...entry.provider, baseUrl, auth } };
  await writeFile(join(registry, `${TRANSCRIBES}.json`), JSON.stringify(own));
  return registry;
};

export interface Stage {
  platform: Platform;
  key: string;
  folder: string;
  /** A picture and a sound. */
  files: [string, string];
  stop(): Promise<void>;
}

export const startStage = async (): Promise<Stage> => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-openai-"));
  const provider = await startRecorder((response) =>
    response.setHeader("Content-Type", "application/json").end('{"text":"as it was said"}'),
  );
  const registry = await registryWith(folder, `${provider.url}/v1`);
  const platform = await startPlatform({ env: { MODELS_REGISTRY_DIR: registry }, allow: [provider.address] });
  const user = await clientOf(platform).account({ tier: "business" });
  const files: [string, string] = [join(folder, "hat.png"), join(folder, "voice.wav")];
  await Promise.all([writeFile(files[0], PNG), writeFile(files[1], WAV)]);
  const stop = async (): Promise<void> => {
    await platform.stop();
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { platform, key: user.key!, folder, files, stop };
};

/** Further output of scripts that call the platform directly. */
export const DIRECT = { model: "sandbox-chat", tools: ["weather", ["city"], true], responses: [true, true, true] };

/**
 * Output of every script.
 * @param failure error of the run that fails in the sandbox
 * @param more further output
 */
export const expectEverything = (stdout: string, failure: object, more: object = {}): void => {
  const result = JSON.parse(stdout) as Record<string, unknown> & { pieces: string[]; answer: string };
  const used = { prompt_tokens: expect.any(Number) as number, completion_tokens: expect.any(Number) as number };
  expect(result).toMatchObject({
    models: expect.arrayContaining(["sandbox-image", TRANSCRIBES]) as unknown,
    images: ["89504e47", "89504e47"],
    edited: [expect.stringContaining("/media/") as unknown],
    speech: "RIFF",
    transcript: "as it was said",
    usage: used,
    streamedUsage: used,
    structured: { name: expect.any(String) as unknown },
    failure,
    ...more,
  });
  expect(result.pieces.join("")).toBe(result.answer);
  expect(result.pieces.filter((piece) => piece !== "").length).toBeGreaterThan(1);
};

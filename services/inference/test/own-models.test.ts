import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assetFolder, foldersOf } from "@nodeloom/platform";
import { ASSETS } from "../src/fetch/assets";
import { createFolder, removeFolder, startInference, type Answer, type Running } from "./support/inference";

const folder = createFolder();
const own = join(folder, "own");
let running: Running;

beforeAll(async () => {
  mkdirSync(join(own, "chat"), { recursive: true });
  const put = (name: string, content: string): void => writeFileSync(join(own, "chat", name), content);
  put("Qwen3 4B.Q4_K_M.gguf", "GGUF and weights");
  put("large-00001-of-00002.gguf", "GGUF and a half");
  put("large-00002-of-00002.gguf", "GGUF and the other");
  put("chat.gguf", "GGUF of a name that is taken");
  put("mmproj-eyes.gguf", "GGUF");
  put("page.gguf", "<html>");
  put("notes.txt", "GGUF");
  running = await startInference(folder, { ownFolder: own });
});
afterAll(async () => {
  await running.stop();
  removeFolder(folder);
});

const ask = (model: string): Promise<Answer> =>
  running.call("POST", "/v1/chat/completions", { model, messages: [{ role: "user", content: "hello" }] });
const contentOf = ({ json }: Answer): string => (json.choices as [{ message: { content: string } }])[0].message.content;
const listed = async () => (await running.call("GET", "/v1/status")).json as { own: { name: string; title: string }[]; models: object };

it("offers each file of weights as a model with its name, and only these files", async () => {
  const { own: ownModels, models } = await listed();
  expect(ownModels.map(({ title }) => title)).toEqual(["Qwen3 4B.Q4_K_M", "chat", "large", "page"]);
  const [qwen, chat, large, page] = ownModels.map(({ name }) => name);
  expect([qwen, large, page]).toEqual(["local-qwen3-4b-q4-k-m", "local-large", "local-page"]);
  // The registry already has a model with that name.
  expect(chat).toMatch(/^local-chat-[0-9a-f]{6}$/);
  expect(models).toMatchObject({ [qwen!]: { status: "ready" }, [page!]: { status: "away", reason: "it isn't a GGUF file" } });
});

it("answers with the weights of the named file, as soon as it exists", async () => {
  expect(contentOf(await ask("local-qwen3-4b-q4-k-m"))).toBe("Qwen3 4B.Q4_K_M.gguf says hello");
  expect(contentOf(await ask("local-chat"))).toBe("you said hello");
  expect((await ask("local-late")).status).toBe(404);
  writeFileSync(join(own, "chat", "late.gguf"), "GGUF");
  expect(contentOf(await ask("local-late"))).toBe("late.gguf says hello");
  const response = await ask("local-page");
  expect([response.status, response.text]).toEqual([503, expect.stringContaining("it isn't a GGUF file")]);
});

it("finds downloads in a read-only folder, and its own first", async () => {
  const [cache, shared] = [join(folder, "cache"), join(folder, "shared")];
  const [inShared, inCache] = [shared, cache].map((root) => assetFolder(root, "cutout", ASSETS.cutout));
  const { cutout } = ASSETS;
  expect(await foldersOf([cache, shared], { cutout })).toEqual({});
  mkdirSync(inShared!, { recursive: true });
  expect(await foldersOf([cache, shared], { cutout })).toEqual({ cutout: inShared });
  mkdirSync(inCache!, { recursive: true });
  expect(await foldersOf([cache, shared], { cutout })).toEqual({ cutout: inCache });
});

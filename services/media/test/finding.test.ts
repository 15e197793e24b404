import { randomUUID } from "node:crypto";
import { innerOwner } from "@nodeloom/kernel";
import { connectMongo } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import { PNG, startMedia, type RunningMedia } from "./harness";

let service: RunningMedia & { prefix: string };
beforeAll(async () => {
  service = await startMedia();
});
afterAll(() => service.stop());

interface MadeFile {
  ownerId: string;
  words?: string[];
  title?: string;
  run?: string;
  parents?: string[];
}

const make = async ({ ownerId, words = [], title = "", run = randomUUID(), parents = [] }: MadeFile): Promise<string> => {
  const making = media.Making.fromPartial({
    ...{ maker: media.Maker.MAKER_MODEL, model: "painter", nodeId: "n", executionId: run },
    ...{ words, title, parents, inputsJson: JSON.stringify({ prompt: title }) },
  });
  const sourceUrl = `data:;base64,${PNG.toString("base64")}`;
  const id = `${run}-${Math.floor(Math.random() * 1e6)}-0-0`;
  await service.client.ingest(media.IngestRequest.fromPartial({ id, ownerId, sourceUrl, making }));
  return id;
};
const find = async (ownerId: string, query: string, more: { limit?: number; cursor?: string; from?: Date } = {}) => {
  const page = await service.client.listObjects({ ownerId, limit: 10, cursor: "", query, ...more });
  return { ids: page.objects.map(({ id }) => id), titles: page.objects.map(({ title }) => title), nextCursor: page.nextCursor };
};
const newOwner = (): string => `user-${randomUUID()}`;

it("finds files by the beginnings of all words, newest first, and no file of another owner", async () => {
  const ownerId = newOwner();
  const fox = await make({ ownerId, words: ["red", "fox", "woodcut"], title: "Red fox, woodcut" });
  const hen = await make({ ownerId, words: ["red", "hen"] });
  await make({ ownerId: newOwner(), words: ["red", "fox"] });
  expect(await find(ownerId, "Red")).toMatchObject({ ids: [hen, fox], titles: ["", "Red fox, woodcut"] });
  expect((await find(ownerId, "foxes wood")).ids).toEqual([fox]);
  expect((await find(ownerId, "red cat")).ids).toEqual([]);
  expect((await find(ownerId, "ox")).ids).toEqual([]);
});

it("pages through matches, and leaves out files before a time", async () => {
  const ownerId = newOwner();
  const ids = [];
  for (let index = 0; index < 5; index += 1) ids.unshift(await make({ ownerId, words: ["boat"] }));
  await make({ ownerId, words: ["hen"] });
  const first = await find(ownerId, "boat", { limit: 3 });
  const second = await find(ownerId, "boat", { limit: 3, cursor: first.nextCursor });
  expect([...first.ids, ...second.ids]).toEqual(ids);
  expect(second.nextCursor).toBe("");
  expect((await find(ownerId, "boat", { from: new Date(Date.now() + 1_000) })).ids).toEqual([]);
});

it("treats signs in a query as text, and finds nothing for a query without words", async () => {
  const ownerId = newOwner();
  await make({ ownerId, words: ["boat"] });
  expect((await find(ownerId, "b.at")).ids).toEqual([]);
  expect((await find(ownerId, "^$")).ids).toEqual([]);
  await expect(find(ownerId, "b".repeat(201))).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
});

it("finds a cut picture by the prompt of the picture of the same run", async () => {
  const [ownerId, run] = [newOwner(), randomUUID()];
  const picture = await make({ ownerId, run, words: ["fox"], title: "A fox" });
  const cut = await make({ ownerId, run, words: ["crop"], parents: [picture] });
  const other = await make({ ownerId, words: ["crop"], parents: [picture] });
  expect(await find(ownerId, "fox")).toMatchObject({ ids: [cut, picture], titles: ["A fox", "A fox"] });
  expect((await find(ownerId, "crop")).ids).toEqual([other, cut]);
});

it("finds no file by the prompts of a graph that its user can't read", async () => {
  const ownerId = newOwner();
  const inside = innerOwner(ownerId);
  const id = await make({ ownerId: inside, words: ["secret"], title: "Secret" });
  const { objects } = await service.client.getObjects({ ids: [id], ownerId: inside });
  await service.client.giveObjects({ keys: objects.map(({ key }) => key), fromOwnerId: inside, ownerId });
  expect((await find(ownerId, "")).titles).toEqual([""]);
  expect((await find(ownerId, "secret")).ids).toEqual([]);
});

it("keeps no text of an erased run, not even with a kept file", async () => {
  const [ownerId, run] = [newOwner(), randomUUID()];
  const word = `w${randomUUID().replaceAll("-", "")}`;
  const id = await make({ ownerId, run, words: [word], title: word });
  const later = await make({ ownerId, words: [word] });
  await service.client.keepObject(media.KeepObjectRequest.fromPartial({ id, ownerId }));
  await service.client.forgetInputs({ executionId: run, ownerId });
  expect((await find(ownerId, word)).ids).toEqual([later]);
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${service.prefix}media` });
  try {
    const row = await connection.collection("objects").findOne({ _id: id as never });
    expect(row).toMatchObject({ ownerId, making: { model: "painter" } });
    expect(JSON.stringify(row)).not.toContain(word);
  } finally {
    await connection.close();
  }
});

it("rejects more or longer words than it stores", async () => {
  const ownerId = newOwner();
  await expect(make({ ownerId, words: Array.from({ length: 65 }, (_, index) => `w${index}`) })).rejects.toMatchObject({
    reason: "INVALID_REQUEST",
  });
  await expect(make({ ownerId, title: "t".repeat(61) })).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
});

import { randomBytes } from "node:crypto";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { createClaimCheckCodec } from "../../../src/workflow/claim-check";
import type { Stores } from "../../../src/record/stores";
import { openStore } from "../../support";

let stores: Stores;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ stores, stop } = await openStore());
});
afterAll(() => stop());

const payload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value)!;
const value = (from: Payload): unknown => defaultPayloadConverter.fromPayload(from);

it("keeps small payloads unchanged", async () => {
  const small = payload({ text: "x".repeat(1_000) });
  expect(await createClaimCheckCodec(stores.payloads).encode([small])).toEqual([small]);
});

it("sends a large payload by reference, and another process reads it from the store", async () => {
  const large = { text: randomBytes(300_000).toString("base64"), tags: ["ä", null, 1.5] };
  const [sentPayload] = await createClaimCheckCodec(stores.payloads).encode([payload(large)]);
  expect(sentPayload!.data!.length).toBeLessThan(100);
  const [back] = await createClaimCheckCodec(stores.payloads).decode([sentPayload!]);
  expect(value(back!)).toEqual(large);
});

it("sends the same payload from two processes at once with one reference", async () => {
  const large = payload("y".repeat(200_000));
  const encoded = await Promise.all([1, 2, 3].map(() => createClaimCheckCodec(stores.payloads).encode([large])));
  expect(new Set(encoded.map(([one]) => Buffer.from(one!.data!).toString())).size).toBe(1);
  expect(value((await createClaimCheckCodec(stores.payloads).decode(encoded[0]!))[0]!)).toBe("y".repeat(200_000));
});

it("names a missing payload", async () => {
  const [sentPayload] = await createClaimCheckCodec(stores.payloads).encode([payload("z".repeat(100_000))]);
  const lostPayload = { ...sentPayload!, data: Buffer.from("0".repeat(64)) };
  await expect(createClaimCheckCodec(stores.payloads).decode([lostPayload])).rejects.toThrow(/payload 0{64} is gone/);
});

import { createHmac } from "node:crypto";
import { TRIGGER_BOUNDS } from "@nodeloom/kernel";
import { triggers } from "@nodeloom/proto";
import { createReadDelivery, inputsOf, isSigned } from "../src/hooks/delivery";
import type { HookRecord } from "../src/hooks/hook-store";

const bytes = (text: string): Buffer => Buffer.from(text);
const sign = (body: Buffer, secret: string): string => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

it.each([
  ["its own", (body: Buffer) => sign(body, "secret"), true],
  ["its own in capitals", (body: Buffer) => sign(body, "secret").toUpperCase().replace("SHA256", "sha256"), true],
  ["another secret's", (body: Buffer) => sign(body, "other"), false],
  ["another body's", () => sign(bytes("{}"), "secret"), false],
  ["one cut short", (body: Buffer) => sign(body, "secret").slice(0, -2), false],
  ["one without its name", (body: Buffer) => sign(body, "secret").slice("sha256=".length), false],
  ["none", () => "", false],
])("accepts of signatures of a body %s: %p", (_name, header, expected) => {
  // With a byte order mark, which decoding removes.
  const body = bytes('\ufeff{"a": 1}');
  expect(isSigned(body, header(body), "secret")).toBe(expected);
});

it.each([
  ["{ prompt: issue.title }", '{"issue": {"title": "Door"}}', { prompt: "Door" }],
  ["", '{"prompt": "as it is", "extra": null}', { prompt: "as it is", extra: null }],
  ["{ prompt: issue.title, style: issue.style, list: [none] }", '{"issue": {"title": "Door"}}', { prompt: "Door", list: [null] }],
  ["{ id: issue.id }", '{"issue": {"id": 7615917337495251231}}', { id: "7615917337495251231" }],
  ["{ n: length(@) }", "[1, 2, 3]", { n: 3 }],
])("creates inputs by %p from %s", (expression, body, inputs) => {
  expect(JSON.parse(inputsOf(expression, bytes(body)))).toEqual(inputs);
});

it.each([
  ["no JSON", "", "{", "INVALID_REQUEST"],
  ["no UTF-8", "", Buffer.from([0x22, 0xff, 0x22]), "INVALID_REQUEST"],
  ["too deep", "", `{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "INVALID_REQUEST"],
  ["a number that no double holds", "", '{"a":1e999}', "INVALID_REQUEST"],
  ["a list", "", "[]", "INVALID_INPUTS"],
  ["nothing", "", "", "INVALID_INPUTS"],
  ["no object by its expression", "issue.title", '{"issue": {"title": "Door"}}', "INVALID_INPUTS"],
  [
    "more work than a run may take",
    "{ a: @[*].b[*].[@, @, @, @] }",
    JSON.stringify(Array(60).fill({ b: Array(5_000).fill(0) })),
    "INVALID_INPUTS",
  ],
])("rejects a body that is %s", (_name, expression, body, reason) => {
  expect(() => inputsOf(expression, Buffer.from(body as string))).toThrow(expect.objectContaining({ reason }) as Error);
});

const hookOf = (part: Partial<HookRecord> = {}): HookRecord => ({
  ...{ _id: "h1", userId: "u1", slot: 0, workflowSlug: "flow", keyId: null, secretHash: "x", start: "nlh_", expression: "" },
  ...{ maxMillicredits: 5_000, signatureHeader: null, deliveryIdHeader: null, createdAt: new Date() },
  ...part,
});
const read = (hook: HookRecord, part: Partial<triggers.ReadDeliveryRequest> = {}) =>
  createReadDelivery({
    find: () => Promise.resolve({ hook, runner: { userId: "u1" } as never }),
    signatureSecret: () => Promise.resolve("secret"),
  })(triggers.ReadDeliveryRequest.fromPartial({ secretHash: "x", body: bytes("{}"), ...part }));

it("starts one run per delivery id of the sender, and another one for each request without", async () => {
  const keyed = hookOf({ deliveryIdHeader: "X-Delivery" });
  const [first, again, other] = [
    await read(keyed, { deliveryId: "d1" }),
    await read(keyed, { deliveryId: "d1" }),
    await read(keyed, { deliveryId: "d2" }),
  ];
  expect(again.executionId).toBe(first.executionId);
  expect(other.executionId).not.toBe(first.executionId);
  expect(first).toMatchObject({ isNew: false, maxMillicredits: 5_000, metadata: { hookId: "h1" }, target: { version: "approved" } });
  expect(again.fingerprint).toBe(first.fingerprint);
  // Another body with the same id is another request.
  expect((await read(keyed, { deliveryId: "d1", body: bytes('{"a":1}') })).fingerprint).not.toBe(first.fingerprint);
  expect((await read(hookOf())).executionId).not.toBe((await read(hookOf())).executionId);
  // Each hook has its own ids.
  expect((await read({ ...keyed, _id: "h2" }, { deliveryId: "d1" })).executionId).not.toBe(first.executionId);
});

it("requires the hook's settings: the signature, and the id", async () => {
  const signed = hookOf({ signatureHeader: "X-Signature" });
  await expect(read(signed)).rejects.toMatchObject({ reason: "SIGNATURE_INVALID" });
  await expect(read(signed, { signature: sign(bytes("{}"), "secret") })).resolves.toMatchObject({ metadata: { hookId: "h1" } });
  const keyed = hookOf({ deliveryIdHeader: "X-Delivery" });
  for (const deliveryId of ["", "x".repeat(TRIGGER_BOUNDS.deliveryIdChars + 1)])
    await expect(read(keyed, { deliveryId })).rejects.toMatchObject({ metadata: { issues: [{ path: "X-Delivery" }] } });
});

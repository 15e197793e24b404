import { beyond, fromCursor, toCursor } from "../../src/index";

const AT = new Date("2030-01-02T03:04:05.678Z");
const encoded = (text: string): string => Buffer.from(text).toString("base64url");

it.each(["0190a1b2-0000-7000-8000-000000000000", "my-slug", "a/b:c"])("continues where a page ended: %s", (id) => {
  expect(fromCursor(toCursor({ at: AT, id }))).toEqual({ at: AT, id });
});

it("begins at the start without a cursor", () => {
  expect(fromCursor("")).toBeUndefined();
  expect(beyond("createdAt", undefined)).toEqual({});
});

it.each([
  "nonsense",
  "💩",
  encoded("1893553445678"),
  encoded("yesterday/some-id"),
  encoded("1893553445678:some-id"),
  encoded("1893553445678/"),
  encoded("9".repeat(16) + "/id"),
])("rejects any other cursor: %s", (cursor) => {
  expect(() => fromCursor(cursor)).toThrow(expect.objectContaining({ reason: "INVALID_REQUEST" }) as Error);
});

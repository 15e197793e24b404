import { randomBytes } from "node:crypto";
import { createKeyring, MissingKey, type Keyring } from "../../src";

const key = (): string => randomBytes(32).toString("hex");
const [OLD, NEW] = [key(), key()];
const ringOf = (...keys: string[]): Keyring => createKeyring({ keys, purpose: "tests", variable: "TEST_KEYS" })!;
const VALUE = Buffer.from("a value of some length");

describe("a keyring", () => {
  it("is absent without keys", () => {
    expect(createKeyring({ keys: [], purpose: "tests", variable: "TEST_KEYS" })).toBeUndefined();
  });

  it("encrypts with its first key and decrypts with all of them", () => {
    const before = ringOf(OLD).seal(VALUE, "a");
    const ring = ringOf(NEW, OLD);
    const after = ring.seal(VALUE, "a");
    expect([before.keyId, after.keyId]).toEqual([ringOf(OLD).currentId, ring.currentId]);
    for (const sealed of [before, after]) expect(ring.open(sealed, "a")).toEqual(VALUE);
    expect(() => ringOf(OLD).open(after, "a")).toThrow(
      new MissingKey(`it is encrypted with the key ${after.keyId}, which TEST_KEYS does not have`),
    );
  });

  it("returns a different text each time, without the value in it", () => {
    const [one, other] = [ringOf(NEW).seal(VALUE), ringOf(NEW).seal(VALUE)];
    expect(one.data).not.toEqual(other.data);
    expect(one.data.includes(VALUE)).toBe(false);
  });

  it("decrypts nothing that was altered, or encrypted in another context", () => {
    const ring = ringOf(NEW);
    const sealed = ring.seal(VALUE, "a");
    expect(() => ring.open(sealed, "b")).toThrow();
    expect(() => ring.open(sealed)).toThrow();
    for (const position of [0, 15, sealed.data.length - 1]) {
      const data = Buffer.from(sealed.data);
      data[position]! ^= 1;
      expect(() => ring.open({ ...sealed, data }, "a")).toThrow();
    }
  });

  it("names one key differently for different purposes", () => {
    expect(createKeyring({ keys: [NEW], purpose: "other", variable: "X" })!.currentId).not.toBe(ringOf(NEW).currentId);
  });
});

import { createSecretBox, generateWebhookSecret } from "../src/keys/webhook-secrets";

describe("a webhook secret", () => {
  const box = createSecretBox("the pepper of these tests");

  it("has the Standard Webhooks form, 32 random bytes", () => {
    const secret = generateWebhookSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
    expect(generateWebhookSecret()).not.toBe(secret);
  });

  it("decrypts to the same value", () => {
    const secret = generateWebhookSecret();
    const sealed = box.seal(secret, "key-1");
    expect(sealed).not.toContain(secret.slice(6));
    expect(box.open(sealed, "key-1")).toBe(secret);
    expect(box.seal(secret, "key-1")).not.toBe(sealed);
  });

  it("can't be decrypted for another key, with another pepper or after a change", () => {
    const sealed = box.seal("secret", "key-1");
    const altered = Buffer.from(sealed, "base64");
    altered[altered.length - 1]! ^= 1;
    expect(() => box.open(sealed, "key-2")).toThrow();
    expect(() => createSecretBox("another pepper").open(sealed, "key-1")).toThrow();
    expect(() => box.open(altered.toString("base64"), "key-1")).toThrow();
  });
});

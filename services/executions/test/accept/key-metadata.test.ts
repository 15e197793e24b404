import { RUN_METADATA } from "@nodeloom/kernel";
import { withKeyMetadata } from "../../src/accept/run-input";

const key = (keyMetadata: Record<string, string>) => ({ keyMetadata });

it("adds the key's metadata to the caller's", () => {
  expect(withKeyMetadata({ order: "7" }, key({ customer: "acme" }))).toEqual({ order: "7", customer: "acme" });
  expect(withKeyMetadata({ customer: "acme" }, key({ customer: "acme" }))).toEqual({ customer: "acme" });
  expect(withKeyMetadata({ order: "7" }, undefined)).toEqual({ order: "7" });
});

it("rejects a value other than the key's, and names it", () => {
  expect(() => withKeyMetadata({ customer: "other" }, key({ customer: "acme" }))).toThrow(
    expect.objectContaining({
      reason: "INVALID_REQUEST",
      metadata: { issues: [{ path: "metadata.customer", message: expect.any(String) as string }] },
    }),
  );
});

it("rejects more members than usage stores", () => {
  const fullMetadata = Object.fromEntries(Array.from({ length: RUN_METADATA.entries }, (_, index) => [`m${index}`, ""]));
  expect(withKeyMetadata(fullMetadata, key({ m0: "" }))).toEqual(fullMetadata);
  expect(() => withKeyMetadata(fullMetadata, key({ customer: "acme" }))).toThrow(expect.objectContaining({ reason: "INVALID_REQUEST" }));
});

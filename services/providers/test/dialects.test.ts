import { readdirSync } from "node:fs";
import { join } from "node:path";
import { refusal } from "../src/errors";
import { showable } from "../src/transport";
import { readRecording, recordings, replay } from "./support/recording";

const DIALECTS = readdirSync(join(__dirname, "..", "src", "dialects")).map((name) => name.replace(/\.ts$/, ""));

describe("a recorded exchange", () => {
  it.each(recordings())("%s: sends the same requests and reads the same results", async (name) => {
    const recording = readRecording(name);
    expect(await replay(recording)).toEqual(recording.outcomes);
  });

  it("exists for every dialect", () => {
    expect([...new Set(recordings().map((name) => name.split("/")[0]))].sort()).toEqual(DIALECTS.sort());
  });
});

describe("a provider's rejection", () => {
  it.each([
    [401, { error: { message: "Incorrect API key provided: sk-proj-1234" } }, "it does not accept the platform's key"],
    [402, {}, "the platform's account there has no credit"],
    [403, { detail: { status: "missing_permissions" } }, "the platform's key may not do this"],
    [404, { detail: "no such version" }, "it does not know the model or the address"],
    [422, { detail: [{ msg: "steps must be below 12" }] }, "steps must be below 12"],
    [400, { error: { message: "size is wrong" } }, "size is wrong"],
    [429, { error: "slow down" }, "it has too many requests of ours"],
    [503, { message: "restarting" }, "restarting"],
  ])("of status %i is explained", (status, body, words) => {
    expect(refusal(status, JSON.stringify(body))).toBe(`the provider answered ${status}: ${words}`);
  });

  it.each([
    { error: { code: "moderation_blocked", message: "Your request was rejected." } },
    { error: { code: "content_policy_violation", message: "Rejected." } },
    { error: { message: "litellm.ContentPolicyViolationError: no" } },
    { detail: [{ type: "content_policy_violation", msg: "flagged" }] },
  ])("for content reasons is reported as one: %j", (body) => {
    expect(refusal(400, JSON.stringify(body))).toMatch(/^the provider answered 400: its content policy does not allow this/);
    expect(refusal(500, JSON.stringify(body))).not.toMatch(/content policy/);
  });

  it("without a message, or not in JSON, is still one", () => {
    expect([refusal(500, ""), refusal(418, "<html>")]).toEqual(["the provider answered 500", "the provider answered 418"]);
    expect(refusal(400, JSON.stringify({ error: "x".repeat(5_000) })).length).toBeLessThan(400);
  });

  it("never shows a key that the provider shows partly", () => {
    expect(showable('{"message":"Incorrect API key provided: sk-proj-********************abcd."}', undefined)).not.toContain("abcd");
  });
});

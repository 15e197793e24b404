import type { MadeDecision } from "@nodeloom/client";
import { decisionWords } from "../../src/runs/approvals/decision-words";

const KNOWN = {
  members: [{ userId: "u1", email: "ada@example.com" }],
  keys: [
    { id: "k1", name: "Review bot" },
    { id: "k2", name: "Old bot", deletedAt: "2030-01-01T00:00:00.000Z" },
  ],
};
const decisionOf = (part: Partial<MadeDecision>): MadeDecision => ({
  ...{ nodeId: "review", decision: "approve", decidedBy: null, comment: null, decidedAt: null, by: "owner" },
  ...part,
});

describe("a decision of a run", () => {
  it.each<[string, Partial<MadeDecision>]>([
    ["Approved by ada@example.com", { decidedBy: { userId: "u1" } }],
    ["Rejected by API key “Review bot”", { decision: "reject", decidedBy: { keyId: "k1" } }],
    ["Approved by API key “Old bot (deleted)”", { decidedBy: { keyId: "k2" } }],
    ["Approved by a former member", { decidedBy: { userId: "gone" } }],
    ["Approved by an API key", { decidedBy: { keyId: "revoked" } }],
    ["Approved by an owner of the account", {}],
    ["Rejected automatically when the time ran out", { decision: "reject", by: "timeout" }],
    ["Approved in an earlier run", { by: "rerun", decidedBy: { userId: "u1" } }],
  ])("is described as: %s", (words, part) => {
    expect(decisionWords(decisionOf(part), KNOWN)).toBe(words);
  });
});

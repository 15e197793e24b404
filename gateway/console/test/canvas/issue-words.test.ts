import { finding, findingInWords, type GraphIssue } from "@nodeloom/kernel/graph";
import { issueWords } from "../../src/messages/issues";
import { readDocGraph } from "../../src/document/graph";
import type { Editor } from "../../src/editor/context";

jest.mock("../../src/ui/overlays/toast", () => ({}));
(globalThis as { location?: unknown }).location = { origin: "http://localhost" };

describe("the canvas's text for an issue", () => {
  it("depends on its code, and names the subject of the issue", () => {
    expect(issueWords(finding("REQUIRED", { name: "seconds" }))).toMatch(/^“seconds” is required/);
    expect(issueWords(finding("REQUIRED", { name: "prompt" }))).toMatch(/^Enter a prompt/);
    expect(issueWords({ ...finding("CYCLE"), message: "other words" })).toMatch(/cycle/);
    expect(issueWords(finding("MODEL_UNKNOWN", { model: "pix", meant: "pic" }))).toMatch(/pix doesn't exist.*Did you mean pic\?$/);
    const input = { node: "n", name: "sound", edge: "e", choices: "prompt, image" };
    expect(issueWords(finding("UNKNOWN_INPUT", input))).toMatch(/no input “sound” \(its inputs: prompt, image\)/);
  });

  it("is the message of the service where that suits", () => {
    expect(issueWords(findingInWords("SETTING_INVALID", "extract: must be a JSON pointer"))).toBe("extract: must be a JSON pointer");
  });
});

describe("the canvas's remedies for an issue", () => {
  const fixes = async (issue: GraphIssue): Promise<string[]> => {
    const { fixesFor } = await import("../../src/editor/panels/fixes");
    const graph = readDocGraph(
      JSON.stringify([
        { id: "a", type: "text-box", data: {} },
        { id: "n", type: "generate-image", data: { model: "pic" } },
      ]),
      JSON.stringify([{ id: "e1", source: "a", sourceHandle: "text", target: "n", targetHandle: "image" }]),
    );
    const editor = {
      document: { store: { getState: () => ({ graph }) } },
      terms: new Map([["pic", {}]]),
      models: [],
      me: { user: { role: "admin" } },
    };
    return fixesFor(editor as unknown as Editor, issue).map(({ label }) => label);
  };

  it("depends on its code and params, whatever its message says", async () => {
    const unnamed = { nodeId: "n", message: "other words" };
    expect(await fixes({ ...finding("REQUIRED", { name: "prompt" }), ...unnamed })).toEqual(["Edit", "Add text"]);
    expect(await fixes({ ...finding("CYCLE"), ...unnamed })).toEqual(["Break the cycle"]);
    const input = { node: "n", name: "sound", edge: "e1", choices: "" };
    expect(await fixes({ ...finding("UNKNOWN_INPUT", input), ...unnamed })).toEqual(["Remove link"]);
    expect(await fixes({ ...findingInWords("SETTING_INVALID", "a cycle of prompt: is required (edge e1)"), nodeId: "n" })).toEqual([]);
  });
});

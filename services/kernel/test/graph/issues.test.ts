import { ISSUE_CODES, planRun, type GraphIssue } from "@nodeloom/kernel";
import { graphOf, MODELS, planned, type Edge, type Node } from "../support";

const plan = (nodes: Node[], edges: Edge[] = []) =>
  planRun({
    graph: graphOf(nodes, edges),
    inputs: new Map(),
    models: MODELS,
    media: new Map(),
    modelNames: ["pic"],
    markupPermille: 1_500,
  });
const issuesOf = (data: Record<string, unknown>, type = "generate-image", edges: Edge[] = []): GraphIssue[] =>
  plan(
    [
      { id: "box", type: "text-box", data: { text: "a" } },
      { id: "n", type, data },
    ],
    edges,
  ).issues;

/** Compares only the expected params. */
const nested = ({ params, ...rest }: { params?: object }): object =>
  params ? { ...rest, params: expect.objectContaining(params) as object } : rest;

describe("an issue of a graph", () => {
  it.each<[string, GraphIssue[], object]>([
    ["an input is missing", issuesOf({ model: "pic" }), { code: "REQUIRED", path: "prompt", params: { name: "prompt" } }],
    ["no model is named", issuesOf({ prompt: "a" }), { code: "MODEL_MISSING" }],
    ["the model is unknown", issuesOf({ model: "pix" }), { code: "MODEL_UNKNOWN", params: { model: "pix", meant: "pic" } }],
    ["no file is named", issuesOf({}, "media-upload"), { code: "FILE_MISSING" }],
    ["the file is unknown", issuesOf({ mediaId: "f" }, "media-upload"), { code: "FILE_UNKNOWN", params: { file: "f" } }],
    ["a request has no url", issuesOf({}, "http-request"), { code: "URL_MISSING" }],
    ["a value is missing", issuesOf({}, "json"), { code: "VALUE_MISSING" }],
    ["the kind is unknown", issuesOf({}, "text-bax"), { code: "UNKNOWN_KIND", params: { kind: "text-bax", meant: "text-box" } }],
    [
      "an edge names an unknown input",
      issuesOf({ model: "pic", prompt: "a" }, "generate-image", [["box.text", "n.sound"]]),
      { code: "UNKNOWN_INPUT", params: { node: "n", name: "sound", edge: "e0" } },
    ],
    [
      "an edge names an unknown output",
      issuesOf({}, "json", [["box.words", "n.value"]]),
      { code: "UNKNOWN_OUTPUT", params: { edge: "e0" } },
    ],
    ["nodes feed each other", issuesOf({ text: "{{a}}" }, "text-box", [["n.text", "n.a"]]), { code: "CYCLE" }],
    ["a setting is misspelt", issuesOf({ expresion: "a" }, "json"), { code: "UNKNOWN_SETTING", params: { meant: "expression" } }],
    ["a setting is wrong", issuesOf({ value: 1, expression: "a[" }, "json"), { code: "SETTING_INVALID" }],
  ])("has a code for programs: %s", (_what, issues, expected) => {
    expect(issues).toContainEqual(expect.objectContaining({ nodeId: "n", message: expect.any(String) as string, ...nested(expected) }));
    for (const { code } of issues) expect(ISSUE_CODES).toContain(code);
  });
});

it("warnings have codes, and plans keep their texts", () => {
  const nodes = [{ id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "{{name}}" } }];
  const { warnings } = plan(nodes) as Extract<ReturnType<typeof plan>, { issues: [] }>;
  expect(warnings.get("chat")).toEqual([
    { code: "NO_RESULT", params: {}, message: "the run has no result: add a response-output node" },
    { code: "NOT_CONNECTED", params: { name: "name" }, message: "{{name}} is not connected and becomes empty text" },
  ]);
  expect(planned(nodes, []).warnings.chat).toEqual(warnings.get("chat")!.map(({ message }) => message));
});

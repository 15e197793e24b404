import { GRAPH_BOUNDS, LIMITS } from "@nodeloom/kernel";
import { issues, OUT, type Edge, type Node } from "../../support";

const LONG = "x".repeat(LIMITS.textValueBytes + 1);
const pic = (id: string, data: Record<string, unknown> = {}): Node => ({
  id,
  type: "generate-image",
  data: { model: "pic", inputs: { prompt: "p" }, ...data },
});
const web = (id: string, data: Record<string, unknown> = {}): Node => ({
  id,
  type: "http-request",
  data: { url: "https://x.test", ...data },
});
const list = (id: string, items: unknown): Node => ({ id, type: "list", data: { items } });
const box = (id: string, text: unknown): Node => ({ id, type: "text-box", data: { text } });

/** Nodes with every possible problem, the edges between them, and the expected messages. */
const WRONG: { nodes: Node[]; edges?: Edge[]; says: Record<string, RegExp[]> }[] = [
  {
    // A cycle of three nodes. The node after it isn't in the cycle, but has another problem.
    nodes: [box("ring1", "{{x}}"), box("ring2", "{{x}}"), pic("ring3", { model: "clip", inputs: {} }), box("behind", 7)],
    edges: [
      ["ring1.text", "ring2.x"],
      ["ring2.text", "ring3.prompt"],
      ["ring3.image", "ring1.x"],
      ["ring1.text", "behind.y"],
    ],
    says: {
      ring1: [/^is part of a cycle$/],
      ring2: [/^is part of a cycle$/],
      ring3: [/^is part of a cycle$/, /^clip generates video, but this node needs a model that generates image$/],
      behind: [/^text: must be text$/, /^behind has no input y \(edge e3\); it has none$/],
    },
  },
  { nodes: [{ id: "kind", type: "teleport" }], says: { kind: [/^there is no node kind teleport$/] } },
  {
    // Edges of an unknown model aren't reported.
    nodes: [
      pic("nomodel", { model: "" }),
      pic("unknown", { model: "nope" }),
      pic("after", { inputs: {} }),
      { id: "mute", type: "llm-assistant", data: { model: "none" } },
      pic("fed", { inputs: {} }),
    ],
    edges: [
      ["nomodel.image", "unknown.whatever"],
      ["unknown.image", "after.image"],
      ["mute.text", "fed.prompt"],
    ],
    says: {
      nomodel: [/^needs a model$/],
      unknown: [/^there is no enabled model nope$/],
      after: [/^prompt: is required$/],
      mute: [/^there is no enabled model none$/],
    },
  },
  {
    nodes: [
      { id: "voice", type: "generate-audio", data: { model: "chat" } },
      { id: "writer", type: "llm-assistant", data: { model: "pic" } },
    ],
    says: { voice: [/^chat generates text, .* generates audio$/], writer: [/^pic generates image, .* generates text$/] },
  },
  {
    // Literals are checked even if an edge with an unknown value overrides them.
    nodes: [
      web("source"),
      pic("literals", { inputs: { count: 9, cuont: 1, image: "not an address" } }),
      pic("odd", { inputs: "p", prompt: "p" }),
    ],
    edges: [["source.body", "literals.prompt"]],
    says: {
      literals: [/^count: must be at most 4$/, /^cuont: is not an input of this model$/, /^image: must be a file: an http/],
      odd: [/^inputs: must be an object$/],
    },
  },
  {
    nodes: [box("giver", "x"), pic("taker"), pic("other")],
    edges: [
      ["giver.text", "taker.image"],
      ["giver.text", "taker.count"],
      ["giver.nope", "taker.prompt"],
      ["giver.text", "taker.nope"],
      ["ghost.text", "taker.prompt"],
      ["giver.text", "phantom.prompt"],
      ["ghost.text", "phantom.prompt"],
      ["other.image", "taker.prompt"],
    ],
    says: {
      taker: [
        /^image: you have no media file x/,
        /^count: must be a number, but is the text "x"$/,
        /^giver has no output nope .*; it has text$/,
        /^taker has no input nope .*; it has prompt, image, count$/,
        /comes from ghost, which does not exist$/,
        /^other\.image is an image and can't flow into taker\.prompt, which takes text .*\{\{prompt\}\}/,
      ],
      giver: [/goes to phantom, which does not exist$/],
      "": [/comes from ghost, which does not exist$/, /goes to phantom, which does not exist$/],
    },
  },
  {
    nodes: [
      web("method", { method: "TELEPORT" }),
      web("nourl", { url: " " }),
      web("badurl", { url: "example.com/{{x}}" }),
      web("scheme", { url: "ftp://{{x}}/y" }),
      web("pointer", { extract: "data/0" }),
      web("headers", { headers: { "no name": "x", ok: {} } }),
      web("header", { headers: "x" }),
      web("several", { method: 1, url: "nothing", extract: "/~2" }),
      web("body", { body: { deep: [LONG] } }),
    ],
    says: {
      method: [/^method: must be one of GET, POST/],
      nourl: [/^needs a url$/],
      badurl: [/^url: is not a URL$/],
      scheme: [/^url: must begin with http/],
      pointer: [/^extract: must be a JSON pointer/],
      headers: [/^headers: a name has invalid characters/, /^headers: every value must be text$/],
      header: [/^headers: must be an object/],
      several: [/^method: /, /^url: /, /^extract: /],
      body: [/^body: is longer than 262144 bytes$/],
    },
  },
  {
    nodes: [
      { id: "upload", type: "media-upload", data: { mediaId: "no-such-file" } },
      { id: "noupload", type: "media-upload" },
      pic("file", { inputs: { prompt: "p", image: "no-such-file-either" } }),
      list("files", ["nor-this", "https://x.test/a.png"]),
      pic("each"),
    ],
    edges: [["files.items", "each.image"]],
    says: {
      upload: [/^you have no media file no-such-file$/],
      noupload: [/^needs a file: set mediaId, or mediaIds with multiple$/],
      file: [/^image: you have no media file no-such-file-either$/],
      each: [/^image: you have no media file nor-this$/],
    },
  },
  {
    nodes: [box("text", LONG), pic("prompt", { inputs: { prompt: LONG } }), list("items", ["ok", LONG]), list("nolist", "abc")],
    says: {
      text: [/^text: is longer than 262144 bytes$/],
      prompt: [/^prompt: is longer than 262144 bytes$/],
      items: [/^items\.1: is longer than 262144 bytes$/],
      nolist: [/^items: must be a list$/],
    },
  },
  {
    nodes: [
      list(
        "many",
        Array.from({ length: 51 }, () => "x"),
      ),
      list("two", ["a", "b"]),
      list("three", ["a", "b", "c"]),
      pic("toomany"),
      box("pairs", "{{a}} {{b}}"),
      pic("unpaired"),
      list(
        "huge",
        Array.from({ length: GRAPH_BOUNDS.listItems + 1 }, () => 1),
      ),
    ],
    edges: [
      ["many.items", "toomany.prompt"],
      ["two.items", "pairs.a"],
      ["three.items", "pairs.b"],
      ["pairs.text", "unpaired.prompt"],
    ],
    says: {
      toomany: [/^a list of 51 items flows into prompt: at most 50 are allowed$/],
      pairs: [/^lists of 2 and 3 items flow into a and b: their lengths must agree$/],
      huge: [/^it has 1001 items, at most 1000 are allowed$/],
    },
  },
  {
    nodes: [
      { id: "in", type: "request-input", data: { fields: [{ name: "a" }, { name: "a" }, { name: "b" }] } },
      { id: "in2", type: "request-input", data: { fields: [{ name: "b" }] } },
      { id: "in3", type: "request-input", data: { fields: {} } },
      { id: "twin", type: "note" },
      { id: "twin", type: "note" },
      OUT,
    ],
    says: {
      in: [/^has a second field a$/],
      in2: [/^has a second field b, as in has$/],
      in3: [/^fields: must be a list$/],
      twin: [/^another node has the same id$/],
    },
  },
];

it.each(WRONG.map((part, index): [number, (typeof WRONG)[number]] => [index, part]))(
  "reports the errors of graph %i, and nothing else",
  (_, part) => {
    const graphIssues = issues(part.nodes, part.edges ?? []);
    for (const [nodeId, patterns] of Object.entries(part.says)) {
      const messages = graphIssues.filter((issue) => (issue.nodeId ?? "") === nodeId).map(({ message }) => message);
      for (const pattern of patterns) expect(messages).toContainEqual(expect.stringMatching(pattern));
      expect(messages).toHaveLength(patterns.length);
    }
    expect(new Set(graphIssues.map((issue) => issue.nodeId ?? ""))).toEqual(new Set(Object.keys(part.says)));
  },
);

it("reports all of them at once", () => {
  const nodes = WRONG.flatMap((part) => part.nodes);
  const graphIssues = issues(
    nodes,
    WRONG.flatMap((part) => part.edges ?? []),
  );
  expect(graphIssues).toHaveLength(WRONG.flatMap((part) => Object.values(part.says).flat()).length);
  expect(new Set(graphIssues.map((issue) => JSON.stringify(issue))).size).toBe(graphIssues.length);
  const position = graphIssues.map(({ nodeId }) => (nodeId === null ? -1 : nodes.findIndex(({ id }) => id === nodeId)));
  expect(position).toEqual([...position].sort((a, b) => a - b));
});

import { BindError, createBudget, evaluateStep, GRAPH_BOUNDS, httpCall, planRun, readGraph, type PlanResult } from "@nodeloom/kernel";
import { graphOf, input, MODELS, OUT, type Edge, type Node } from "../../support";

const plan = (nodes: Node[], edges: Edge[] = [], inputs: Record<string, unknown> = {}): PlanResult =>
  planRun({
    graph: graphOf(nodes, edges),
    inputs: new Map(Object.entries(inputs)),
    models: MODELS,
    media: new Map(),
    markupPermille: 1_500,
  });
const pick = (expression: string, value: unknown): unknown =>
  evaluateStep({ type: "json", literals: { expression } }, { value }, createBudget());

const DATA = {
  scenes: [
    { title: "dawn", seconds: 3, tags: ["sun", "sea"] },
    { title: "noon", seconds: 5, tags: ["sun"] },
    { title: "dusk", seconds: 2, tags: [] },
  ],
  "a-b": { c: { d: 1 }, e: { d: 2 } },
  list: [[1, 2], 3, [4, [5]]],
  none: null,
};

it("reads the duration or size of a file", () => {
  const clip = { url: "https://m/a.mp4", contentType: "video/mp4", width: 640, height: 360, duration: 12.5 };
  expect(pick("{ s: duration, wide: width > height }", clip)).toEqual({ s: 12.5, wide: true });
});

describe("a JMESPath expression", () => {
  it.each<[string, unknown]>([
    ["", DATA],
    ["@", DATA],
    ["scenes[0].title", "dawn"],
    ["scenes[-1].title", "dusk"],
    ["scenes[9]", null],
    ["nothing.here", null],
    ["scenes[*].title", ["dawn", "noon", "dusk"]],
    ["scenes[*].tags[]", ["sun", "sea", "sun"]],
    ["scenes[*].tags[0]", ["sun", "sun"]],
    ["scenes[:2].seconds", [3, 5]],
    ["scenes[::-1].seconds", [2, 5, 3]],
    ["list[]", [1, 2, 3, 4, [5]]],
    ["list[1:][]", [3, 4, [5]]],
    ['"a-b".*.d', [1, 2]],
    ['"a-b".c.d', 1],
    ["scenes[?seconds > `2`].title", ["dawn", "noon"]],
    ["scenes[?seconds > `2`].title | [0]", "dawn"],
    ["scenes[?title == 'noon' || seconds == `2`] | [].title", ["noon", "dusk"]],
    ["scenes[?contains(tags, 'sea')].title", ["dawn"]],
    ["scenes[?!tags].title", ["dusk"]],
    ["scenes[].{name: title, n: seconds}[0]", { name: "dawn", n: 3 }],
    ["scenes[].{name: title, n: seconds} | [1]", { name: "noon", n: 5 }],
    ["scenes[*].[title, seconds] | [0]", ["dawn", 3]],
    ["[scenes[0].title, none]", ["dawn", null]],
    ["length(scenes)", 3],
    ["sum(scenes[*].seconds)", 10],
    ["avg(scenes[*].seconds)", 10 / 3],
    ["join(', ', scenes[*].title)", "dawn, noon, dusk"],
    ["sort_by(scenes, &seconds)[*].title", ["dusk", "dawn", "noon"]],
    ["max_by(scenes, &seconds).title", "noon"],
    ["min_by(scenes, &seconds).title", "dusk"],
    ["map(&to_string(seconds), scenes)", ["3", "5", "2"]],
    ["keys(scenes[0])", ["title", "seconds", "tags"]],
    ["not_null(none, nothing, 'x')", "x"],
    ['merge(`{"a": 1}`, `{"b": 2}`)', { a: 1, b: 2 }],
    ["reverse('abc')", "cba"],
    ["type(list)", "array"],
    ["to_number('12')", 12],
    ["to_number('-1.5e2')", -150],
    ["to_number('0x10')", null],
    ["to_number('0b11')", null],
    ["to_number(' 1')", null],
    ["to_number('01')", null],
    ["to_number('1e400')", null],
    ["starts_with(scenes[0].title, 'da') && ends_with(scenes[0].title, 'wn')", true],
    ["split(', ', 'dawn, noon')", ["dawn", "noon"]],
    ["split('', 'a🧵')", ["a", "🧵"]],
    ["split(',', '')", [""]],
    [
      "zip(scenes[*].title, `[1, 2]`)",
      [
        ["dawn", 1],
        ["noon", 2],
      ],
    ],
    ["zip(`[]`, scenes)", []],
    ["none || 'else'", "else"],
    ["`[1, 2]`[1]", 2],
  ])("%s", (expression, expected) => expect(pick(expression, DATA)).toEqual(expected));

  it("reads text as JSON, and fails for text that isn't JSON", () => {
    expect(pick("a[1]", '{"a": [1, 2]}')).toBe(2);
    expect(() => pick("a", "no json")).toThrow("value: is text, but not JSON");
    expect(() => pick("a", "[".repeat(100_000))).toThrow(BindError);
  });

  it.each([
    ["scenes[", /isn't allowed there/],
    ["scenes.0", /0 at character 8 isn't allowed there: an index is written as \[0\]/],
    ["a b", /"b" at character 3/],
    ["#", /character 1/],
    [`${"(".repeat(40)}a${")".repeat(40)}`, /deeper than 32/],
    [Array.from({ length: 100 }, () => "a").join("|"), /chain of more than 32/],
    ["x".repeat(33_000), /longer than 32768 bytes/],
    [`'${"ü".repeat(20_000)}'`, /longer than 32768 bytes/],
  ])("is rejected before the run if it is invalid: %#", (expression, problem) => {
    expect(plan([{ id: "j", type: "json", data: { expression, value: {} } }]).issues).toMatchObject([
      { nodeId: "j", message: expect.stringMatching(problem) as string },
    ]);
  });

  it("can't exceed its run's bounds: doubled values are counted while they are created", () => {
    const doubled = Array.from({ length: 30 }, () => "[@, @][]").join(" | ");
    const budget = createBudget();
    expect(() => evaluateStep({ type: "json", literals: { expression: doubled } }, { value: [1] }, budget)).toThrow(/more than/);
    expect(budget.used.work).toBeLessThan(GRAPH_BOUNDS.work * 2);
  });

  it("never reads inherited members", () => {
    expect(pick("constructor", {})).toBeNull();
    expect(() => pick("constructor(@)", {})).toThrow(/no function constructor/);
  });
});

describe("a json node", () => {
  it("fans out after it", () => {
    const planned = plan(
      [input({ name: "j", type: "json" }), { id: "j", type: "json", data: { expression: "scenes[*].title" } }, { id: "pic", type: "generate-image", data: { model: "pic" } }, OUT],
      [["in.j", "j.value"], ["j.value", "pic.prompt"], ["pic.image", "out.images"]],
      { j: DATA },
    ); // prettier-ignore
    expect(planned.plan?.steps).toMatchObject([{ id: "pic", maxItems: 3, itemLimit: 3 }]);
  });

  it("holds for one item while its list is unknown", () => {
    const planned = plan(
      [{ id: "web", type: "http-request", data: { url: "https://x.test" } }, { id: "j", type: "json" }, { id: "pic", type: "generate-image", data: { model: "pic" } }],
      [["web.body", "j.value"], ["j.value", "pic.prompt"]],
    ); // prettier-ignore
    expect(planned.plan?.steps).toMatchObject([{ id: "web" }, { id: "j" }, { id: "pic", maxItems: 1, itemLimit: 50 }]);
  });

  it("needs a value", () => {
    expect(plan([{ id: "j", type: "json" }]).issues).toMatchObject([{ nodeId: "j", message: "needs a value" }]);
  });
});

describe("the body of a request", () => {
  const body = (text: unknown, item: Record<string, unknown>): unknown => {
    const { body: sentBody, isJson } = httpCall({ literals: { url: "https://x.test", method: "POST", body: text } }, item, createBudget());
    return [sentBody, isJson ?? false];
  };
  it.each<[string, unknown, Record<string, unknown>, unknown]>([
    ["escapes values inside texts", '{"q": "say {{a}}"}', { a: 'a "b"\n' }, ['{"q": "say a \\"b\\"\\n"}', true]],
    ["inserts values other than text as JSON", '{"n": {{n}}, "l": {{l}}}', { n: 3, l: ["x"] }, ['{"n": 3, "l": ["x"]}', true]],
    ["takes what was not given for null outside of texts", '{"n": {{n}}}', {}, ['{"n": null}', true]],
    ["leaves other texts as they are", 'say "{{a}}', { a: '"' }, ['say ""', false]],
    ["knows a connected text that is JSON", undefined, { body: "[1]" }, ["[1]", true]],
    ["sends objects as they are", { q: "{{a}}" }, { a: '"' }, [{ q: '"' }, false]],
  ])("%s", (_, text, item, expected) => expect(body(text, item)).toEqual(expected));

  it("includes failOnStatus, which must be true or false", () => {
    expect(httpCall({ literals: { url: "https://x.test", failOnStatus: true } }, {})).toMatchObject({ failOnStatus: true });
    expect(plan([{ id: "w", type: "http-request", data: { url: "https://x.test", failOnStatus: "yes" } }]).issues[0]?.message).toMatch(
      /failOnStatus: must be/,
    );
  });
});

it.each(["1e400", '{"a":[1,{"b":-1e999}]}'])("a text with a number that a double can't represent fails the node: %s", (text) => {
  expect(() => pick("", text)).toThrow(/^value: has a number that is too large$/);
});

it("keeps every digit of an integer that a double would round: in text, in the graph, and in the expression", () => {
  expect(pick("id", '{"id": 7615917337495251231}')).toBe("7615917337495251231");
  expect(pick("[?id == `7615917337495251231`].name | [0]", '[{"id": 7615917337495251230}, {"id": 7615917337495251231, "name": "a"}]')).toBe(
    "a",
  );
  expect(readGraph('[{"id": "j", "type": "json", "data": {"value": {"id": 7615917337495251231}}}]', "[]").nodes[0]!.data).toEqual({
    value: { id: "7615917337495251231" },
  });
  expect(() => pick("to_number(@)", '"7615917337495251231"')).toThrow("must be at most 9007199254740991");
});

describe("misspelt settings", () => {
  it.each<[Node["type"], Node["data"], string]>([
    ["llm-assistant", { model: "chat", promt: "x" }, "prompt"],
    ["generate-image", { model: "pic", promt: "x" }, "prompt"],
    ["generate-image", { modle: "pic", prompt: "x" }, "model"],
    ["http-request", { urll: "https://x.test" }, "url"],
    ["media", { opration: "image-resize", width: 3 }, "operation"],
    ["media-upload", { mediaID: "x" }, "mediaId"],
    ["json", { vlaue: "1" }, "value"],
  ])("are named in the error that they cause: %s with %j", (type, data, suggestion) => {
    const messages = plan([{ id: "a", type, data }, OUT], []).issues.map(({ message }) => message);
    expect(messages.at(-1)).toMatch(new RegExp(`^there is no setting \\w+: did you mean ${suggestion}\\?$`));
    expect(messages.length).toBeGreaterThan(1);
  });

  it("cause warnings with the nearest name", () => {
    const clip: Node = { id: "clip", type: "generate-video", data: { model: "clip", prompt: "p", secnds: 3, _editor: 1, seconds: 4 } };
    const web: Node = { id: "web", type: "http-request", data: { url: "https://x.test", metohd: "POST", failOnstatus: true } };
    expect(plan([clip, web, OUT], [["clip.video", "out.videos"]]).plan?.warnings).toEqual({
      clip: ["there is no setting secnds: did you mean seconds?"],
      web: ["there is no setting metohd: did you mean method?", "there is no setting failOnstatus: did you mean failOnStatus?"],
    });
  });

  it("are named if a model's inputs are rejected", () => {
    const clip: Node = { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p", secnds: 3 } } };
    expect(plan([clip]).issues).toMatchObject([
      { nodeId: "clip", message: "secnds: is not an input of this model: did you mean seconds?" },
    ]);
  });
});

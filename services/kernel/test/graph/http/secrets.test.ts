import { httpCall, withSecretValues, type PlanStep } from "@nodeloom/kernel";
import { graphOf, input, issues, MODELS, OUT, planned, type Edge, type Node } from "../../support";
import { planRun } from "@nodeloom/kernel";

const VALUE = 'sk/"live" & 100%';
const values = new Map([["KEY", VALUE]]);
const web = (data: Record<string, unknown>): Node => ({ id: "web", type: "http-request", data: { url: "https://x.test", ...data } });
const stepOf = (nodes: Node[], edges: Edge[] = []): PlanStep => planned([...nodes, OUT], [...edges, ["web.body", "out.body"]]).steps[0]!;
/** The request that is sent, and the call as runs store it. */
const callOf = (data: Record<string, unknown>, item: Record<string, unknown> = {}) => {
  const call = httpCall(stepOf([web(data)]), item);
  return { call, request: withSecretValues(call, values) };
};

describe("a secret of an HTTP node", () => {
  it("stays a placeholder in the plan and the call, and becomes its value where it is sent, encoded for its position", () => {
    const { call, request } = callOf({
      url: "https://x.test/{{ secrets.KEY }}/a?key={{secrets.KEY}}",
      headers: { authorization: "Bearer {{secrets.KEY}}" },
      body: { a: ["<{{secrets.KEY}}>"], "{{secrets.KEY}}": 1 },
    });
    expect(call).toEqual({
      method: "GET",
      url: "https://x.test/{{secrets.KEY}}/a?key={{secrets.KEY}}",
      headers: { authorization: "Bearer {{secrets.KEY}}" },
      body: { a: ["<{{secrets.KEY}}>"], "{{secrets.KEY}}": 1 },
      secrets: ["KEY"],
    });
    const encoded = encodeURIComponent(VALUE);
    expect(request).toMatchObject({
      url: `https://x.test/${encoded}/a?key=${encoded}`,
      headers: { authorization: `Bearer ${VALUE}` },
      body: { a: [`<${VALUE}>`], "{{secrets.KEY}}": 1 },
    });
  });

  it("is escaped in a text that is JSON, and nowhere else", () => {
    expect(JSON.parse(callOf({ body: '{"k":"{{secrets.KEY}}"}' }).request.body as string)).toEqual({ k: VALUE });
    expect(callOf({ body: "k={{secrets.KEY}}" }).request.body).toBe(`k=${VALUE}`);
  });

  it("is named by the plan's step, which has no port for it", () => {
    expect(stepOf([web({ headers: { a: "{{secrets.KEY}}", b: "{{secrets.OTHER}}{{secrets.KEY}}" } })]).secrets).toEqual(["KEY", "OTHER"]);
    expect(stepOf([web({ headers: { a: "{{x}}" } })])).not.toHaveProperty("secrets");
    const text: Node = { id: "t", type: "text-box", data: { text: "mine" } };
    expect(issues([web({ headers: { a: "{{secrets.KEY}}" } }), text], [["t.text", "web.secrets.KEY"]])).toMatchObject([
      { message: expect.stringContaining("web has no input secrets") as string },
    ]);
  });

  it("can only be named by the node's author, not by one or several input values", () => {
    const templated = { headers: { a: "{{secrets.KEY}}", b: "{{x}}{{y}}", c: "{{{x}}" } };
    for (const [x, y] of [
      ["{{secrets.KEY}}", ""],
      ["{{secr", "ets.KEY}}"],
      ["{secrets.OTHER}}", ""],
    ] as const)
      // prettier-ignore
      expect(() => callOf(templated, { x, y })).toThrow("only the node's own settings can contain");
    expect(() => callOf({ headers: { a: "{{secrets.KEY}}" } }, { body: { deep: ["{{secrets.KEY}}"] } })).toThrow();
    expect(callOf(templated, { x: "{{secrets.}}", y: "{{other}}" }).request.headers).toMatchObject({ b: "{{secrets.}}{{other}}" });
    // If the node's own settings have no secret, the text stays unchanged.
    const { call, request } = callOf({ headers: { a: "{{x}}" } }, { x: "{{secrets.KEY}}" });
    expect(call).not.toHaveProperty("secrets");
    expect(request.headers).toEqual({ a: "{{secrets.KEY}}" });
  });

  it("is dropped if a linked body replaces the literal one", () => {
    const { call } = callOf({ body: "{{secrets.KEY}}" }, { body: "given" });
    expect(call).toMatchObject({ body: "given" });
    expect(call).not.toHaveProperty("secrets");
  });

  it("stays plain text in plans from before secrets existed", () => {
    const { secrets: _, ...step } = stepOf([web({ headers: { a: "<{{secrets.KEY}}>" } })]);
    expect(httpCall(step, {})).toEqual({ method: "GET", url: "https://x.test", headers: { a: "<>" } });
  });

  it.each([
    ["https://{{secrets.KEY}}.test/", "url: {{secrets.KEY}} can only be in the path or the query"],
    ["{{secrets.KEY}}", "url: {{secrets.KEY}} can only be in the path or the query"],
    ["{{base}}{{secrets.KEY}}/x", "url: {{secrets.KEY}} can only be in the path or the query"],
    ["https://user:{{secrets.KEY}}@x.test/", "url: {{secrets.KEY}} can only be in the path or the query"],
    ["https://x.test/{{secrets.key}}", "{{secrets.key}} isn't a secret: its name must be up to 64 capital letters, digits and underscores"],
  ])("is rejected in %s", (url, message) => {
    const findings = issues([web({ url }), OUT], [["web.body", "out.body"]]);
    expect(findings.map((one) => one.message).join()).toContain(message);
  });

  it("becomes empty text in other nodes, with a warning", () => {
    const { plan } = planRun({
      graph: graphOf(
        [input({ name: "x", type: "text" }), { id: "t", type: "text-box", data: { text: "<{{secrets.KEY}}>" } }, OUT],
        [["t.text", "out.made"]],
      ),
      ...{ inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_500 },
    });
    expect(plan?.output).toEqual({ made: [{ value: "<>" }] });
    expect(plan?.evaluated.find(({ id }) => id === "t")?.warnings).toEqual([
      "{{secrets.KEY}} is a secret and becomes empty text: only the url, headers and body of http-request nodes can contain secrets",
    ]);
  });
});

import { readForeign } from "@nodeloom/client/comfyui";

/** Workflows of n8n as its editor copies them. */
interface ApiNode {
  id: string;
  type: string;
  data: Record<string, unknown>;
}
interface ApiEdge {
  source: string;
  sourceHandle: string;
  target: string;
  targetHandle: string;
}

const node = (name: string, type: string, parameters: object = {}, x = 0) => ({
  ...{ name, parameters, position: [x, 0] },
  type: type.startsWith("@") ? type : `n8n-nodes-base.${type}`,
});
const LANGCHAIN = "@n8n/n8n-nodes-langchain.";

/** Links such as "Webhook > Set", or "IF.1 > Set" for the second output. */
const connections = (...links: string[]): object => {
  const outputs: Record<string, { main: { node: string; type: string; index: number }[][] }> = {};
  for (const link of links) {
    const [from = "", to = ""] = link.split(" > ");
    const [name = "", output = "0"] = from.split(".");
    const { main } = (outputs[name] ??= { main: [] });
    while (main.length <= Number(output)) main.push([]);
    main[Number(output)]!.push({ node: to, type: "main", index: 0 });
  }
  return outputs;
};

const read = (value: object) => {
  const foreign = readForeign(value)!;
  const { nodes, edges } = foreign.graph as { nodes: ApiNode[]; edges: ApiEdge[] };
  const byLabel = (label: string): ApiNode => nodes.find(({ data }) => data.label === label)!;
  const nameOf = (id: string): string => {
    const { type, data } = nodes.find((one) => one.id === id)!;
    return typeof data.label === "string" ? data.label : type;
  };
  return {
    ...{ foreign, nodes, byLabel },
    links: edges.map(
      ({ source, sourceHandle, target, targetHandle }) => `${nameOf(source)}.${sourceHandle} > ${nameOf(target)}.${targetHandle}`,
    ),
    report: String(nodes.at(-1)!.data.text),
  };
};

const POSTER = {
  nodes: [
    node("Webhook", "webhook", { path: "poster" }),
    node(
      "Edit Fields",
      "set",
      {
        assignments: { assignments: [{ name: "scene", type: "string", value: "={{ $json.body.city }} at night, {{ $json.body.style }}" }] },
      },
      200,
    ),
    node(
      "Weather",
      "httpRequest",
      { url: "=https://api.example.com/{{ $('Webhook').item.json.body.city }}", authentication: "genericCredentialType" },
      400,
    ),
    node(
      "Writer",
      `${LANGCHAIN}chainLlm`,
      { promptType: "define", text: "=Describe {{ $('Edit Fields').item.json.scene }} in {{ $json.weather[0].main }}" },
      600,
    ),
    node("Chat Model", `${LANGCHAIN}lmChatOpenAi`, {}, 600),
    node("Picture", `${LANGCHAIN}openAi`, { resource: "image", prompt: "={{ $json.text }}" }, 800),
    node("Note", "stickyNote", { content: "Posters" }),
    node("Code", "code", { jsCode: "return items" }, 900),
  ],
  connections: {
    ...connections("Webhook > Edit Fields", "Edit Fields > Weather", "Weather > Writer", "Writer > Picture", "Picture > Code"),
    "Chat Model": { ai_languageModel: [[{ node: "Writer", type: "ai_languageModel", index: 0 }]] },
  },
};

it("turns triggers into inputs, and requests, texts and models into nodes whose expressions are links", () => {
  const { links, byLabel, nodes, report, foreign } = read(POSTER);
  expect(nodes.find(({ type }) => type === "request-input")!.data.fields).toMatchObject([{ name: "city" }, { name: "style" }]);
  expect(links.toSorted()).toEqual([
    "Picture.image > response-output.images",
    "Weather.body > json.value",
    "Writer.text > Picture.prompt",
    "json.value > Writer.main",
    "request-input.city > Weather.city",
    "request-input.city > scene.city",
    "request-input.style > scene.style",
    "scene.text > Writer.scene",
  ]);
  expect(byLabel("scene").data.text).toBe("{{city}} at night, {{style}}");
  expect(byLabel("Weather").data).toMatchObject({ method: "GET", url: "https://api.example.com/{{city}}" });
  expect(byLabel("Writer")).toMatchObject({
    type: "llm-assistant",
    data: { model: "auto:text", prompt: "Describe {{scene}} in {{main}}" },
  });
  expect(byLabel("Picture")).toMatchObject({ type: "generate-image", data: { model: "auto:image", inputs: {} } });
  expect(nodes.find(({ type }) => type === "json")!.data.expression).toBe("weather[0].main");
  expect(foreign.words).toContain("Imported from n8n: 8 nodes became 7 here.");
  for (const line of ["Code is left out: code", "credentials of “Weather”", "Schedules and hooks", "auto:text instead of lmChatOpenAi"])
    expect(report).toContain(line);
});

it("makes one branch wait for a condition, and joins branches without a node", () => {
  const condition = { leftValue: "={{ $json.seconds }}", rightValue: 5, operator: { type: "number", operation: "gt" } };
  const { links, byLabel, report } = read({
    nodes: [
      node("Form", "formTrigger", { formFields: { values: [{ fieldLabel: "Seconds long", fieldType: "number", requiredField: true }] } }),
      node(
        "IF",
        "if",
        { conditions: { combinator: "and", conditions: [{ ...condition, leftValue: '={{ $json["Seconds long"] }}' }] } },
        200,
      ),
      node("Long", "set", { values: { string: [{ name: "text", value: '=A film of {{ $json["Seconds long"] }} s' }] } }, 400),
      node("Short", "set", { values: { string: [{ name: "text", value: "A clip" }] } }, 400),
      node("Merge", "merge", {}, 600),
      node(
        "Send",
        "httpRequest",
        { method: "POST", url: "https://example.com", bodyParameters: { parameters: [{ name: "caption", value: "={{ $json.text }}" }] } },
        800,
      ),
    ],
    connections: connections("Form > IF", "IF.0 > Long", "IF.1 > Short", "Long > Merge", "Short > Merge", "Merge > Send"),
  });
  expect(byLabel("IF").data.cases).toEqual([{ name: "true", left: "{{Seconds_long}}", op: "greater", right: "5" }]);
  expect(links).toEqual(expect.arrayContaining(["request-input.Seconds_long > IF.value", "IF.true > text.Seconds_long"]));
  expect(byLabel("Send").data).toMatchObject({ method: "POST", body: { caption: "{{in_text}}" } });
  expect(report).toContain("“Short” takes no value through “IF”, so it runs in any case.");
  expect(report).toContain("“Merge” joins several nodes, and takes the first one's value.");
  expect(report).toContain("Not needed here: merge");
});

it("keeps braces of plain texts, reports code in expressions, and survives circles and strange values", () => {
  const { byLabel, report } = read({
    nodes: [
      node("A", "set", {
        assignments: {
          assignments: [
            { name: "plain", value: "{{ kept }}" },
            { name: "shout", value: "={{ $json.name.toUpperCase() }}" },
          ],
        },
      }),
      node("B", "noOp"),
      node("C", "httpRequest", {
        url: "={{ $json.lost }}",
        jsonBody: { a: 1 },
        queryParameters: { parameters: [null, 7, { name: "q", value: "x" }] },
      }),
    ],
    connections: { ...connections("B > B", "B > C", "C > B"), X: null, Y: { main: [null, [7]] } },
  });
  expect(byLabel("plain").data.text).toBe("\\{{ kept }}");
  expect(byLabel("C").data).toMatchObject({ url: "{{lost}}?q=x", body: '{"a":1}' });
  expect(report).toContain("“$json.name.toUpperCase()”");
  expect(report).toContain("“lost”");
});

it("says which nodes a workflow has if none can run here", () => {
  const foreign = readForeign({ nodes: [node("A", "slack"), node("B", "slack"), node("C", "manualTrigger")], connections: {} });
  expect(foreign).toMatchObject({ from: "n8n", graph: undefined });
  expect(foreign?.words).toBe("This n8n workflow has no node that can run here. Its nodes are 2 × slack, manualTrigger.");
  const many = Array.from({ length: 501 }, (_, index) => node(`N${index}`, "httpRequest"));
  expect(readForeign({ nodes: many, connections: {} })?.words).toBe("This n8n workflow has 501 nodes. A workflow here has at most 500.");
});

/** Graphs in the API's format. */

export interface GraphNode {
  id: string;
  type: string;
  data: Record<string, unknown>;
}
export interface GraphEdge {
  id: string;
  source: string;
  sourceHandle: string;
  target: string;
  targetHandle: string;
}
export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export interface Field {
  name: string;
  type: string;
  default?: unknown;
  required?: boolean;
  options?: string[];
}

export const fieldsOf = ({ nodes }: Graph): Field[] =>
  nodes.flatMap(({ type, data }) => (type === "request-input" ? (data.fields as Field[]) : []));

/** @param ends both as `node.port` */
export const graphOf = (
  nodes: readonly [id: string, type: string, data?: Record<string, unknown>][],
  ends: readonly [string, string][],
): Graph => ({
  nodes: nodes.map(([id, type, data = {}]) => ({ id, type, data })),
  edges: ends.map(([from, to], index) => {
    const [[source = "", sourceHandle = ""], [target = "", targetHandle = ""]] = [from.split("."), to.split(".")];
    return { id: `e${index}`, source, sourceHandle, target, targetHandle };
  }),
});

const MODEL = { model: "sandbox-chat", inputs: { sandbox: { latencyMs: 0 } } };

/** Workflows used as nodes of random graphs, by name. An outer workflow comes after its inner ones. */
export const INNER: Readonly<Record<string, Graph>> = {
  letter: graphOf(
    [
      [
        "in",
        "request-input",
        {
          fields: [
            { name: "who", type: "text", default: "Ann" },
            { name: "note", type: "text" },
          ],
        },
      ],
      ["box", "text-box", { text: "Dear {{who}}: {{note}}" }],
      ["out", "response-output"],
    ],
    [
      ["in.who", "box.who"],
      ["in.note", "box.note"],
      ["box.text", "out.text"],
      ["in.note", "out.note"],
    ],
  ),
  writer: graphOf(
    [
      [
        "in",
        "request-input",
        {
          fields: [
            { name: "topic", type: "text" },
            { name: "extra", type: "json" },
          ],
        },
      ],
      ["ask", "llm-assistant", { ...MODEL, prompt: "write about {{topic}}" }],
      ["has", "switch", { cases: [{ name: "yes", left: "{{extra}}", op: "exists" }] }],
      ["out", "response-output"],
    ],
    [
      ["in.topic", "ask.topic"],
      ["in.extra", "has.extra"],
      ["ask.text", "has.value"],
      ["has.yes", "out.text"],
      ["has.else", "out.plain"],
    ],
  ),
  nested: graphOf(
    [
      [
        "in",
        "request-input",
        {
          fields: [
            { name: "who", type: "text" },
            { name: "image", type: "image_upload" },
          ],
        },
      ],
      ["write", "workflow", { slug: "letter" }],
      ["pic", "generate-image", { model: "sandbox-image-fast", prompt: "a letter", inputs: { sandbox: { latencyMs: 0 } } }],
      ["out", "response-output"],
    ],
    [
      ["in.who", "write.who"],
      ["in.image", "pic.image"],
      ["write.text", "out.text"],
      ["pic.image", "out.image"],
    ],
  ),
};

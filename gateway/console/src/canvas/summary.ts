import { fieldsOf, type GraphNode } from "@nodeloom/kernel/graph";

const text = (value: unknown): string => (typeof value === "string" ? value.trim() : "");
const MOST = 160;

const SAID: Readonly<Record<string, (data: Readonly<Record<string, unknown>>) => string>> = {
  "request-input": (data) =>
    fieldsOf(data)
      .map(({ label }) => label)
      .join(", ") || "No inputs yet",
  "text-box": (data) => text(data.text) || "Empty text",
  list: (data) => (Array.isArray(data.items) && data.items.length > 0 ? data.items.map(String).join(" · ") : "Empty list"),
  "llm-assistant": (data) => text(data.model) || "Choose a model",
  "http-request": (data) => `${text(data.method) || "GET"} ${text(data.url)}`,
  json: (data) => text(data.expression) || "The whole value",
  switch: (data) => (Array.isArray(data.cases) ? `${data.cases.length} ${data.cases.length === 1 ? "case" : "cases"}, else` : "No cases"),
  media: (data) => text(data.operation) || "Choose an operation",
};

const modelAndPrompt = (data: Readonly<Record<string, unknown>>): string => {
  const inputs = (typeof data.inputs === "object" && data.inputs !== null ? data.inputs : {}) as Record<string, unknown>;
  const prompt = text(inputs.prompt) || text(data.prompt);
  return `${text(data.model) || "Choose a model"}${prompt === "" ? "" : `\n${prompt}`}`;
};

/** What a node does, in two lines of its own settings. */
export const summaryOf = ({ type, data }: GraphNode): string =>
  (SAID[type] ?? (type.startsWith("generate-") ? modelAndPrompt : () => type))(data).slice(0, MOST);

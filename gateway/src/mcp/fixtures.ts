import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { DomainError } from "@nodeloom/kernel";
import type { Tool, ToolCall } from "./tools/tool";

/** Tools, resources and prompts that the protocol's conformance suite expects of a server. Only for tests: see `MCP_FIXTURES`. */

/** One red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/** A WAV file without samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const STEPS = [0, 50, 100] as const;
const TOTAL = 100;
const TEMPLATE = /^test:\/\/template\/([^/]{1,100})\/data$/;

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
const resource = (uri: string, mimeType: string, value: string): ContentBlock => ({
  type: "resource",
  resource: { uri, mimeType, text: value },
});

const tool = (name: string, description: string, call: (call: ToolCall) => CallToolResult, inputSchema: object = {}): Tool => ({
  name,
  description,
  inputSchema: { type: "object", ...inputSchema },
  annotations: { readOnlyHint: true },
  call: (given) => Promise.resolve().then(() => call(given)),
});

const SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
  properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
  additionalProperties: false,
};

const FIXTURE_TOOLS: readonly Tool[] = [
  tool("test_simple_text", "Returns text", () => ({ content: [text("This is a simple text response for testing.")] })),
  tool("test_image_content", "Returns a picture", () => ({ content: [image] })),
  tool("test_audio_content", "Returns sound", () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] })),
  tool("test_embedded_resource", "Returns a resource", () => ({
    content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  })),
  tool("test_multiple_content_types", "Returns text, a picture and a resource", () => ({
    content: [
      text("Multiple content types test:"),
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  })),
  tool("test_error_handling", "Fails", () => {
    throw new DomainError("invalid", "INVALID_REQUEST", "This tool intentionally returns an error for testing");
  }),
  tool("test_tool_with_progress", "Reports progress", ({ report }) => {
    for (const progress of STEPS) report?.({ progress, total: TOTAL, message: `${progress} of ${TOTAL}` });
    return { content: [text("Done")] };
  }),
  tool("json_schema_2020_12_tool", "Has a schema with references", () => ({ content: [text("Done")] }), SCHEMA_2020_12),
];

const FIXTURE_RESOURCES: readonly Resource[] = [
  { uri: "test://static-text", name: "static-text", description: "A text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "static-binary", description: "A picture", mimeType: "image/png" },
];
const FIXTURE_TEMPLATES: readonly ResourceTemplateType[] = [
  { uriTemplate: "test://template/{id}/data", name: "template", description: "Data of an id", mimeType: "application/json" },
];

const readFixture = (uri: string): ReadResourceResult | undefined => {
  if (uri === "test://static-text")
    return { contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }] };
  if (uri === "test://static-binary") return { contents: [{ uri, mimeType: "image/png", blob: PNG }] };
  const id = TEMPLATE.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const value = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return { contents: [{ uri, mimeType: "application/json", text: value }] };
};

const argument = (name: string, description: string) => ({ name, description, required: true });

const FIXTURE_PROMPTS: readonly Prompt[] = [
  { name: "test_simple_prompt", description: "A prompt without arguments" },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt with arguments",
    arguments: [argument("arg1", "First test argument"), argument("arg2", "Second test argument")],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt with a resource",
    arguments: [argument("resourceUri", "Address of the resource")],
  },
  { name: "test_prompt_with_image", description: "A prompt with a picture" },
];

const promptOf = (...contents: ContentBlock[]): GetPromptResult => ({ messages: contents.map((content) => ({ role: "user", content })) });

const promptFixture = (name: string, given: Readonly<Record<string, string>>): GetPromptResult | undefined => {
  switch (name) {
    case "test_simple_prompt":
      return promptOf(text("This is a simple prompt for testing."));
    case "test_prompt_with_arguments":
      return promptOf(text(`Prompt with arguments: arg1='${given.arg1}', arg2='${given.arg2}'`));
    case "test_prompt_with_embedded_resource":
      return promptOf(
        resource(given.resourceUri ?? "", "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      );
    case "test_prompt_with_image":
      return promptOf(image, text("Please analyze the image above."));
    default:
      return undefined;
  }
};

export interface Fixtures {
  tools: readonly Tool[];
  resources: readonly Resource[];
  templates: readonly ResourceTemplateType[];
  prompts: readonly Prompt[];
  read(uri: string): ReadResourceResult | undefined;
  prompt(name: string, given: Readonly<Record<string, string>>): GetPromptResult | undefined;
}

const NONE: Fixtures = { tools: [], resources: [], templates: [], prompts: [], read: () => undefined, prompt: () => undefined };

/** @param isOn false outside of tests: then there are none */
export const fixturesIf = (isOn: boolean): Fixtures =>
  isOn
    ? {
        ...{ tools: FIXTURE_TOOLS, resources: FIXTURE_RESOURCES, templates: FIXTURE_TEMPLATES, prompts: FIXTURE_PROMPTS },
        ...{ read: readFixture, prompt: promptFixture },
      }
    : NONE;

export interface WorkflowBody {
  name: string;
  nodes: object[];
  edges: object[];
  publicPlayground?: boolean;
}

const COLUMN = 320;

const node = (id: string, type: string, column: number, data: object): object => ({
  id,
  type,
  position: { x: column * COLUMN, y: 0 },
  data,
});
const edge = (source: string, sourceHandle: string, target: string, targetHandle: string): object => ({
  id: `${source}-${target}`,
  source,
  sourceHandle,
  target,
  targetHandle,
});

/** Request-input → text-box → response-output, which measures only the platform's own work. */
export const textWorkflow = (): WorkflowBody => ({
  name: "Bench text",
  nodes: [
    node("input", "request-input", 0, { fields: [{ name: "name", type: "text", label: "Name", default: "world" }], values: {} }),
    node("text", "text-box", 1, { text: "Hello, {{name}}!" }),
    node("output", "response-output", 2, {}),
  ],
  edges: [edge("input", "name", "text", "name"), edge("text", "text", "output", "text")],
});

/** One second of sandbox video; the provider waits `latencyMs` before it renders. */
export const videoWorkflow = (name: string, latencyMs: number): WorkflowBody => ({
  name,
  nodes: [
    node("input", "request-input", 0, { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a loom" }], values: {} }),
    node("video", "generate-video", 1, { model: "sandbox-video", inputs: { seconds: 1, sandbox: { latencyMs } } }),
    node("output", "response-output", 2, {}),
  ],
  edges: [edge("input", "prompt", "video", "prompt"), edge("video", "video", "output", "videos")],
});

/** One image from a provider without latency. */
export const imageWorkflow = (): WorkflowBody => ({
  name: "Bench image",
  nodes: [
    node("input", "request-input", 0, { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a loom" }], values: {} }),
    node("image", "generate-image", 1, { model: "sandbox-image", inputs: {} }),
    node("output", "response-output", 2, {}),
  ],
  edges: [edge("input", "prompt", "image", "prompt"), edge("image", "image", "output", "images")],
});

export const httpWorkflow = (url: string): WorkflowBody => ({
  name: "Bench HTTP",
  nodes: [node("fetch", "http-request", 0, { method: "GET", url, headers: {}, body: "" }), node("output", "response-output", 1, {})],
  edges: [edge("fetch", "body", "output", "body")],
});

/** One file operation on uploaded files, which are linked to its first port. */
export const mediaWorkflow = (operation: string, settings: object, files: readonly string[]): WorkflowBody => ({
  name: `Bench ${operation}`,
  nodes: [
    ...files.map((mediaId, index) => node(`file-${index}`, "media-upload", 0, { mediaId })),
    node("work", "media", 1, { operation, ...settings }),
    node("output", "response-output", 2, {}),
  ],
  edges: [
    ...files.map((_, index) => edge(`file-${index}`, "media", "work", files.length > 1 ? "videos" : operation.split("-")[0]!)),
    edge("work", operation.split("-")[0]!, "output", `${operation.split("-")[0]!}s`),
  ],
});

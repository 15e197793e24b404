/** Graphs that several suites run. */
type Graph = { name: string; nodes: unknown[]; edges: unknown[] };

const node = (id: string, type: string, data: Record<string, unknown> = {}): unknown => ({ id, type, position: { x: 0, y: 0 }, data });
let edges = 0;
export const edge = (from: string, to: string): unknown => {
  const [source, sourceHandle] = from.split(".");
  const [target, targetHandle] = to.split(".");
  return { id: `e${(edges += 1)}`, source, target, sourceHandle, targetHandle };
};
export { node };

const prompt = { name: "prompt", type: "text", label: "Prompt", default: "a loom" };

/** Text only, without calls to a provider. */
export const greeting = (): Graph => ({
  name: "Greeting",
  nodes: [
    node("in", "request-input", { fields: [prompt] }),
    node("box", "text-box", { text: "Hello {{who}}" }),
    node("out", "response-output"),
  ],
  edges: [edge("in.prompt", "box.who"), edge("box.text", "out.text")],
});

/** One polled video. `sandbox` sets its latency and faults. */
export const clip = (sandbox: Record<string, unknown> = { latencyMs: 100 }): Graph => ({
  name: "Clip",
  nodes: [
    node("in", "request-input", { fields: [prompt] }),
    node("clip", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, sandbox } }),
    node("out", "response-output"),
  ],
  edges: [edge("in.prompt", "clip.prompt"), edge("clip.video", "out.videos")],
});

/** Repeats a clip's workflow. */
export const filmLoop = (slug: string, count: number): Graph => ({
  name: "Film",
  nodes: [node("loop", "loop", { slug, count, until: "turns == `9`" }), node("out", "response-output")],
  edges: [edge("loop.videos", "out.videos"), edge("loop.turns", "out.turns")],
});

/** Every node kind of a typical pipeline: list fan-out, text model, image, video and sound. */
export const studio = (): Graph => ({
  name: "Studio",
  nodes: [
    node("in", "request-input", { fields: [prompt] }),
    node("styles", "list", { items: ["woodcut", "watercolour"] }),
    node("idea", "text-box", { text: "{{subject}} as a {{style}}" }),
    node("writer", "llm-assistant", { model: "sandbox-chat", system: "Be brief.", prompt: "Describe {{subject}}", maxTokens: 40 }),
    node("pic", "generate-image", { model: "sandbox-image-fast", inputs: {} }),
    node("clip", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, sandbox: { latencyMs: 50 } } }),
    node("voice", "generate-audio", { model: "sandbox-speech", inputs: {} }),
    node("note", "note", { anything: true }),
    node("out", "response-output"),
  ],
  edges: [
    edge("in.prompt", "idea.subject"),
    edge("styles.items", "idea.style"),
    edge("in.prompt", "writer.subject"),
    edge("idea.text", "pic.prompt"),
    edge("writer.text", "clip.prompt"),
    edge("writer.text", "voice.prompt"),
    edge("pic.image", "out.images"),
    edge("clip.video", "out.videos"),
    edge("voice.audio", "out.audios"),
    edge("writer.text", "out.text"),
  ],
});

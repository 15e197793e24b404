import type { NewWorkflow } from "@nodeloom/client";

/** Starter workflows, which run unchanged. */
const COLUMN = 340;
const ROW = 240;

const node = (id: string, type: string, column: number, row: number, data: object): object => ({
  id,
  type,
  position: { x: column * COLUMN, y: row * ROW },
  data,
});

/** `a.port > b.port` */
const edge = (text: string): object => {
  const [from = "", to = ""] = text.split(" > ");
  const [source, sourceHandle] = from.split(".");
  const [target, targetHandle] = to.split(".");
  return { id: text, source, sourceHandle, target, targetHandle };
};

const prompt = (initial: string): object => ({
  fields: [{ name: "prompt", type: "textarea", label: "Prompt", default: initial }],
  values: {},
});

export const STARTERS: readonly (NewWorkflow & { name: string; description: string })[] = [
  {
    name: "Text to image",
    description: "One prompt in, one picture out: the shortest pipeline.",
    nodes: [
      node("input", "request-input", 0, 0, prompt("a paper boat on a quiet lake, morning light")),
      node("image", "generate-image", 1, 0, { model: "sandbox-image", inputs: {} }),
      node("output", "response-output", 2, 0, {}),
    ],
    edges: ["input.prompt > image.prompt", "image.image > output.images"].map(edge),
  },
  {
    name: "Four variations",
    description: "A list of styles makes one picture each, at the same time.",
    nodes: [
      node("input", "request-input", 0, 0, prompt("a lighthouse in a storm")),
      node("styles", "list", 0, 1, { items: ["as a woodcut", "as a watercolour", "as a blueprint", "as a felt toy"] }),
      node("text", "text-box", 1, 0, { text: "{{subject}}, {{style}}" }),
      node("image", "generate-image", 2, 0, { model: "sandbox-image-fast", inputs: {} }),
      node("output", "response-output", 3, 0, {}),
    ],
    edges: ["input.prompt > text.subject", "styles.items > text.style", "text.text > image.prompt", "image.image > output.images"].map(
      edge,
    ),
  },
  {
    name: "Spoken story",
    description: "An assistant writes three sentences, and a voice reads them.",
    nodes: [
      node("input", "request-input", 0, 0, prompt("a fox who repairs clocks")),
      node("writer", "llm-assistant", 1, 0, { model: "sandbox-chat", system: "Three short sentences.", prompt: "Tell of {{prompt}}." }),
      node("voice", "generate-audio", 2, 0, { model: "sandbox-speech", inputs: {} }),
      node("output", "response-output", 3, 0, {}),
    ],
    edges: ["input.prompt > writer.prompt", "writer.text > voice.prompt", "writer.text > output.text", "voice.audio > output.audios"].map(
      edge,
    ),
  },
];

import type { NewWorkflow } from "@nodeloom/client";
import { STARTERS_TEXTS } from "../../messages/workflows";

/** Starter workflows, which run unchanged. */
const COLUMN = 340;
const ROW = 240;

const node = (id: string, type: string, column: number, row: number, data: object): object => ({
  id,
  type,
  position: { x: column * COLUMN, y: row * ROW },
  data,
});

/** Edge from a text such as `a.port > b.port`. */
const edge = (text: string): object => {
  const [from = "", to = ""] = text.split(" > ");
  const [source, sourceHandle] = from.split(".");
  const [target, targetHandle] = to.split(".");
  return { id: text, source, sourceHandle, target, targetHandle };
};

const prompt = (initial: string): object => ({
  fields: [{ name: "prompt", type: "textarea", label: STARTERS_TEXTS.prompt, default: initial }],
  values: {},
});

export const STARTERS: readonly (NewWorkflow & { name: string; description: string })[] = [
  {
    name: "Text to image",
    description: STARTERS_TEXTS.imageSummary,
    nodes: [
      node("input", "request-input", 0, 0, prompt(STARTERS_TEXTS.imagePrompt)),
      node("image", "generate-image", 1, 0, { model: "auto:image", inputs: {} }),
      node("output", "response-output", 2, 0, {}),
    ],
    edges: ["input.prompt > image.prompt", "image.image > output.images"].map(edge),
  },
  {
    name: "Four variations",
    description: STARTERS_TEXTS.stylesSummary,
    nodes: [
      node("input", "request-input", 0, 0, prompt(STARTERS_TEXTS.stylesPrompt)),
      node("styles", "list", 0, 1, {
        items: [STARTERS_TEXTS.asAWoodcut, STARTERS_TEXTS.asAWatercolour, STARTERS_TEXTS.asABlueprint, STARTERS_TEXTS.stylesFelt],
      }),
      node("text", "text-box", 1, 0, { text: STARTERS_TEXTS.subjectStyle }),
      node("image", "generate-image", 2, 0, { model: "auto:image", inputs: {} }),
      node("output", "response-output", 3, 0, {}),
    ],
    edges: ["input.prompt > text.subject", "styles.items > text.style", "text.text > image.prompt", "image.image > output.images"].map(
      edge,
    ),
  },
  {
    name: "Spoken story",
    description: STARTERS_TEXTS.storySummary,
    nodes: [
      node("input", "request-input", 0, 0, prompt(STARTERS_TEXTS.storyTopic)),
      node("writer", "llm-assistant", 1, 0, {
        model: "auto:text",
        system: STARTERS_TEXTS.threeShortSentences,
        prompt: STARTERS_TEXTS.storyTemplate,
      }),
      node("voice", "generate-audio", 2, 0, { model: "auto:speech", inputs: {} }),
      node("output", "response-output", 3, 0, {}),
    ],
    edges: ["input.prompt > writer.prompt", "writer.text > voice.prompt", "writer.text > output.text", "voice.audio > output.audios"].map(
      edge,
    ),
  },
];

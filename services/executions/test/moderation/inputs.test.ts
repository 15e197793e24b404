import { executions, media as mediaProto } from "@nodeloom/proto";
import { hashOf } from "../../src/moderation/content";
import type { Subject } from "../../src/moderation/decide";
import { HookUnavailable } from "../../src/moderation/hook";
import { createInputChecks } from "../../src/moderation/inputs";
import type { PlannedRun } from "../../src/plan/planning";
import { planWith } from "../support/run-inputs";

const OWN = "http://public.test/media/";
const FILE = `${OWN}0123456789abcdef0123456789abcdef.png`;
const step = {
  listPorts: [],
  textPorts: ["prompt"],
  inputNames: ["prompt", "image"],
  maxItems: 1,
  maxMillicredits: 1,
  literals: {},
  sources: {},
};

const planned: PlannedRun = {
  plan: planWith([
    {
      ...step,
      id: "write",
      type: "llm-assistant",
      model: "chat",
      literals: { system: "Be brief." },
      sources: { prompt: [{ value: "a heron at dusk" }] },
    },
    {
      ...step,
      id: "pic",
      type: "generate-image",
      model: "painter",
      literals: { style: "{{text}}, in oil" },
      sources: { prompt: [{ node: "write", port: "text" }] },
    },
  ]),
  holds: [],
  workflowSlug: "birds",
  modelIds: [],
  inputsJson: JSON.stringify({ subject: "a heron", photo: FILE, count: 2 }),
};
const request = executions.RunRequest.fromPartial({ executionId: "e", runner: { userId: "u" } });
const object = mediaProto.StoredObject.fromPartial({ key: FILE.slice(OWN.length), contentType: "image/png", sha256: "ab" });

const checksOf = (decided: () => Promise<null>, questions: Subject[] = [], passed = new Set<string>()) =>
  createInputChecks({
    decide: {
      refusalOf: (subject) => {
        questions.push(subject);
        return decided();
      },
    },
    store: { passed: () => Promise.resolve(passed) },
    media: { getObjectsByKey: () => Promise.resolve({ objects: [object] }) } as never,
    own: OWN,
  });

it("shows a run's inputs, prompts as they will be sent, and authors' texts while values aren't known yet", async () => {
  const questions: Subject[] = [];
  await checksOf(() => Promise.resolve(null), questions).run(request, planned);
  expect(questions).toMatchObject([{ kind: "input", userId: "u", executionId: "e", workflowSlug: "birds", nodeId: null, key: null }]);
  expect(questions[0]!.content.texts.sort()).toEqual(["Be brief.", "a heron", "a heron at dusk", "{{text}}, in oil"].sort());
  expect(questions[0]!.content.files).toEqual([{ url: FILE, contentType: "image/png", sha256: "ab" }]);
});

it("shows the parts of a call's prompt that weren't checked with the run, including its files", async () => {
  const questions: Subject[] = [];
  const call = {
    executionId: "e",
    userId: "u",
    nodeId: "pic",
    key: "e:pic:0",
    model: "painter",
    inputs: { prompt: "a heron", image: FILE },
  };
  const passed = new Set([hashOf("a heron")]);
  const { prompt } = checksOf(() => Promise.resolve(null), questions, passed);
  await prompt(call as never, new AbortController().signal);
  expect(questions.map(({ content, nodeId }) => [nodeId, content])).toEqual([
    ["pic", { texts: [], files: [{ url: FILE, contentType: "image/png", sha256: "ab" }] }],
  ]);
  passed.add(hashOf(FILE));
  await prompt(call as never, new AbortController().signal);
  expect(questions).toHaveLength(1);
});

it("reports that nothing runs if this can't be known", async () => {
  const away = (): Promise<never> => Promise.reject(new HookUnavailable("answered 500"));
  await expect(checksOf(away).run(request, planned)).rejects.toMatchObject({
    reason: "SERVICE_UNAVAILABLE",
    metadata: { moderation: "away" },
  });
});

import { models as modelsProto, type notifications, type workflows as workflowsProto } from "@nodeloom/proto";
import { createRetiringNotices, dueStage, type RetiringProgress } from "../../src/maintenance/retiring-models";
import { logger } from "../support/money";

const at = (day: string): number => Date.parse(`${day}T09:00:00Z`);
const DAY = "2026-12-31";

/** Uses of models by page. The cursor is the page's number. */
const started = (pages: workflowsProto.ModelUse[][], { now, executionDays = 30 }: { now: number; executionDays?: number }) => {
  const messages: { id: string; retiring: notifications.ModelRetiring }[] = [];
  const modelNames: string[] = [];
  const entries = [
    { internalName: "leaving", retiresOn: DAY, successor: "newer" },
    { internalName: "leaving-too", retiresOn: DAY },
    { internalName: "staying" },
    { internalName: "later", retiresOn: "2027-06-01" },
  ];
  const look = createRetiringNotices({
    models: {
      listModels: () => Promise.resolve(modelsProto.ListModelsResponse.fromPartial({ models: entries })),
    },
    workflows: {
      listModelUses: ({ models, cursor }) => {
        modelNames.push(models.join());
        const page = Number(cursor || "0");
        return Promise.resolve({ uses: pages[page] ?? [], nextCursor: page + 1 < pages.length ? String(page + 1) : "" });
      },
    },
    notifications: {
      send: ({ id, message }) => {
        if (message?.$case === "modelRetiring") messages.push({ id, retiring: message.value });
        return Promise.resolve({});
      },
    },
    ...{ executionDays, logger, now: () => now },
  });
  return { look, messages, modelNames };
};

const use = (ownerId: string, slug: string, ...models: string[]): workflowsProto.ModelUse => ({
  ownerId,
  slug,
  name: `The ${slug}`,
  models,
});
const PAGES = [[use("ada", "films", "leaving"), use("ada", "posters", "leaving", "leaving-too")], [use("bob", "songs", "leaving-too")]];
const ignore = (): void => undefined;

it.each([
  ["2026-11-30", undefined],
  ["2026-12-01", 30],
  ["2026-12-07", 30],
  ["2026-12-08", undefined],
  ["2026-12-23", undefined],
  ["2026-12-24", 7],
  ["2026-12-30", 7],
  ["2026-12-31", undefined],
  ["2027-01-02", undefined],
])("is due 30 and 7 days before, for a week each: on %s the stage is %s", (day, stage) => {
  expect(dueStage(DAY, at(day), 7)).toBe(stage);
});

it("is due no longer than notices are remembered", () => {
  expect([dueStage(DAY, at("2026-12-01"), 1), dueStage(DAY, at("2026-12-02"), 1)]).toEqual([30, undefined]);
});

it("notifies each account once about each model that its workflows use, under an id of account, model, day and stage", async () => {
  const { look, messages, modelNames } = started(PAGES, { now: at("2026-12-01") });
  expect(await look(ignore, undefined)).toEqual({ models: 2, notices: 3 });
  expect(modelNames).toEqual(["leaving,leaving-too", "leaving,leaving-too"]);
  expect(messages.map(({ id }) => id)).toEqual([
    "leaving-2026-12-31-30-ada",
    "leaving-too-2026-12-31-30-ada",
    "leaving-too-2026-12-31-30-bob",
  ]);
  expect(messages[0]!.retiring).toEqual({
    ...{ ownerId: "ada", model: "leaving", retiresOn: DAY, successor: "newer", workflowCount: 2 },
    workflows: [
      { slug: "films", name: "The films" },
      { slug: "posters", name: "The posters" },
    ],
  });

  const nextDay = started(PAGES, { now: at("2026-12-02") });
  await nextDay.look(ignore, undefined);
  expect(nextDay.messages.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
  const lastWeek = started(PAGES, { now: at("2026-12-24") });
  await lastWeek.look(ignore, undefined);
  expect(lastWeek.messages[0]!.id).toBe("leaving-2026-12-31-7-ada");
});

it("continues after the last notified page, and reads no workflows while no model retires soon", async () => {
  const positions: RetiringProgress[] = [];
  const { look, messages } = started(PAGES, { now: at("2026-12-01") });
  await look((progress) => positions.push(progress), undefined);
  expect(positions).toEqual([
    { notices: 2, cursor: "1" },
    { notices: 3, cursor: "" },
  ]);
  const resumed = started(PAGES, { now: at("2026-12-01") });
  expect(await resumed.look(ignore, positions[0])).toEqual({ models: 2, notices: 3 });
  expect(resumed.messages.map(({ retiring }) => retiring.ownerId)).toEqual(["bob"]);
  expect(messages).toHaveLength(3);

  const quiet = started(PAGES, { now: at("2026-10-01") });
  expect(await quiet.look(ignore, undefined)).toEqual({ models: 0, notices: 0 });
  expect(quiet.modelNames).toEqual([]);
});

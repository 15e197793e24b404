import { executionMessage } from "../../src/record/view";
import { newRecord } from "../support/index";

it("says of every completed node when it began and how long it took, of one that planning evaluated too", () => {
  const [pic] = newRecord().nodes;
  const record = newRecord("user", {
    nodes: [
      { ...pic!, id: "planned", type: "text-box", status: "completed" },
      { ...pic!, id: "called", status: "completed", startedAt: 5_000, durationMs: 30 },
      { ...pic!, id: "waiting" },
    ],
  });
  expect(executionMessage(record).nodes.map(({ id, startedAt, durationMs }) => ({ id, startedAt, durationMs }))).toEqual([
    { id: "planned", startedAt: record.createdAt, durationMs: 0 },
    { id: "called", startedAt: new Date(5_000), durationMs: 30 },
    { id: "waiting", startedAt: undefined, durationMs: undefined },
  ]);
});

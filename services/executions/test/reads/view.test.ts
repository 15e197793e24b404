import { executionJson } from "@nodeloom/platform";
import { executionMessage } from "../../src/reads/view";
import type { CallRecord } from "../../src/run/call-record";
import { newRecord } from "../support";

it("shows the start and duration of every completed node, including one evaluated during planning", () => {
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

it("shows the second answer of a repeated item, and the cost of both", () => {
  const [pic] = newRecord().nodes;
  const record = newRecord("user", { nodes: [{ ...pic!, id: "ask", type: "llm-assistant", status: "completed", items: 2 }] });
  const call = (key: string, item: number, text: string): CallRecord => ({
    _id: `${record._id}:${key}`,
    executionId: record._id,
    nodeId: "ask",
    item,
    status: "completed",
    outputsJson: JSON.stringify({ text }),
    costMicroUsd: 1,
    requestId: null,
    millicredits: 5,
  });
  const calls = [call("ask:0", 0, "words"), call("ask:0.repair", 0, "[1]"), call("ask:1", 1, "[2]")];
  const [node] = executionMessage(record, { calls, inputsJson: undefined, position: undefined }).nodes;
  expect(node!.calls.map(({ item, outputsJson, millicredits }) => [item, outputsJson, millicredits])).toEqual([
    [0, '{"text":"[1]"}', 10],
    [1, '{"text":"[2]"}', 5],
  ]);
  const nodes = [...record.nodes, { ...pic!, id: "one", status: "completed" as const, outputsJson: '{"text":"a prompt"}' }];
  const hidden = { ...record, nodes, graphHidden: true as const };
  const shownNodes = executionMessage(hidden, { calls, inputsJson: undefined, position: undefined }).nodes;
  expect(shownNodes[0]!.calls.map(({ outputsJson, millicredits }) => [outputsJson, millicredits])).toEqual([
    ["", 10],
    ["", 5],
  ]);
  expect(JSON.stringify(shownNodes)).not.toContain("a prompt");
});

it("shows a running call until its node is over, and then as cancelled", () => {
  const [pic] = newRecord().nodes;
  const statusOf = (status: "processing" | "cancelled"): string => {
    const record = newRecord("user", { nodes: [{ ...pic!, id: "clip", type: "generate-video", status, items: 2 }] });
    const identity = { executionId: record._id, nodeId: "clip", costMicroUsd: 0, requestId: null };
    const calls: CallRecord[] = [{ ...identity, _id: `${record._id}:clip:1`, item: 1, status: "submitted" }];
    const [node] = executionMessage(record, { calls, inputsJson: undefined, position: undefined }).nodes;
    return node!.calls[0]!.status;
  };
  expect(statusOf("processing")).toBe("submitted");
  expect(statusOf("cancelled")).toBe("cancelled");
});

it("shows the models tried for a call, if there were several, with their errors and costs", () => {
  const [pic] = newRecord().nodes;
  const nodes = [
    { ...pic!, id: "one", status: "completed" as const, items: 1, millicredits: 9 },
    {
      ...pic!,
      id: "many",
      status: "completed" as const,
      items: 2,
      itemErrors: [{ item: 1, error: { code: "EXECUTION_FAILED" as const, message: "too long" } }],
    },
  ];
  const record = newRecord("user", { nodes });
  const error = { code: "PROVIDER_SUBMIT_FAILED" as const, message: "no" };
  const call = (key: string, part: Partial<CallRecord>): CallRecord => ({
    ...{ _id: `${record._id}:${key}`, executionId: record._id, nodeId: key.split(":")[0]!, item: 0, costMicroUsd: 0, requestId: null },
    ...{ status: "completed", ...part },
  });
  const calls = [
    call("one:0.alt1", { model: "b", outputsJson: "{}" }),
    call("one:0", { model: "a", status: "failed", error }),
    call("many:0", { model: "a", status: "failed", error }),
    call("many:0.alt1", { model: "b", millicredits: 4, outputsJson: "{}" }),
  ];
  const [one, many] = executionMessage(record, { calls, inputsJson: undefined, position: undefined }).nodes;
  const tried = (millicredits: number) => [
    expect.objectContaining({ model: "a", error: expect.objectContaining(error) as unknown, millicredits: 0 }),
    expect.objectContaining({ model: "b", error: undefined, millicredits }),
  ];
  expect(one!.attempts).toEqual(tried(9));
  expect(many!.calls).toEqual([
    expect.objectContaining({ item: 0, status: "completed", millicredits: 4, attempts: tried(4) }),
    expect.objectContaining({
      item: 1,
      status: "failed",
      attempts: [],
      error: expect.objectContaining({ message: "too long" }) as unknown,
    }),
  ]);
});

it("shows no error that quotes a hidden graph: of the run, its nodes, calls and attempts", () => {
  const [pic] = newRecord().nodes;
  const error = {
    ...{ code: "EXECUTION_FAILED" as const, message: "refused to call db.internal", publicMessage: "its call failed" },
    providerBody: "db.internal",
  };
  const nodes = [
    { ...pic!, id: "one", status: "failed" as const, items: 1, error },
    { ...pic!, id: "many", status: "failed" as const, items: 3, itemErrors: [{ item: 2, error }] },
  ];
  const call = (nodeId: string, item: number, place: string): CallRecord => ({
    ...{ _id: `x:${nodeId}:${item}${place}`, executionId: "x", nodeId, item, costMicroUsd: 0, requestId: null },
    ...{ status: "failed", error },
  });
  const calls = [call("one", 0, ""), call("one", 0, ".alt1"), call("many", 0, ""), call("many", 1, ""), call("many", 1, ".alt1")];
  const record = { ...newRecord("user", { nodes }), error };
  const textOf = (row: typeof record & { graphHidden?: true }): string =>
    JSON.stringify(executionJson(executionMessage(row, { calls, inputsJson: undefined, position: undefined }), undefined));
  expect(textOf(record)).toContain("refused to call db.internal");
  expect(textOf(record)).not.toContain("its call failed");
  expect(textOf({ ...record, graphHidden: true })).toContain("its call failed");
  expect(textOf({ ...record, graphHidden: true })).not.toContain("db.internal");
});

import { startPlatform, type Platform } from "../support/platform";

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.stop());

const asAdmin = (path: string, method = "GET", json?: unknown) =>
  platform.send(path, { method, ...(json === undefined ? {} : { json }), headers: platform.bySession(platform.admin) });
type Row = Record<string, unknown> & { task: string };
const taskOf = async (task: string, headers: Record<string, string>): Promise<Row> => {
  const { body } = await platform.send("/api/tasks", { headers });
  return (body as unknown as Row[]).find((row) => row.task === task)!;
};

it("tasks show their current model, by the caller's tier", async () => {
  const free = platform.bySession(await platform.createUser({ tier: "free" }));
  const pro = platform.bySession(await platform.createUser({ tier: "pro" }));
  expect(await taskOf("speech", free)).toMatchObject({ name: "auto:speech", modality: "audio", model: "sandbox-speech", reason: null });
  expect((await taskOf("video", pro)).model).toBe("sandbox-video");
  expect(await taskOf("video", free)).toMatchObject({ model: null, reason: expect.stringContaining("needs the pro tier") as string });
  expect(await taskOf("transcribe", pro)).toMatchObject({
    model: null,
    reason: expect.stringMatching(/^no model for auto:transcribe is ready/) as string,
  });
});

it("administrators set the order of models; it applies to all users, is audited, and can be reset", async () => {
  const user = platform.bySession(await platform.createUser({ tier: "pro" }));
  const set = await asAdmin("/api/admin/model-orders/image", "PUT", { order: ["sandbox-image-fast"] });
  expect(set).toMatchObject({ status: 200, body: { task: "image", order: ["sandbox-image-fast"] } });
  expect((set.body.models as unknown as string[])[0]).toBe("sandbox-image-fast");
  expect((await taskOf("image", user)).model).toBe("sandbox-image-fast");
  await asAdmin("/api/admin/model-orders/image", "PUT", { order: [] });
  expect((await taskOf("image", user)).model).toBe("sandbox-image");
  const rows = (await asAdmin("/api/admin/audit?limit=10")).body.rows as unknown as Record<string, unknown>[];
  expect(rows.slice(0, 2)).toMatchObject([
    { action: "model-order.put", target: "image", before: { order: ["sandbox-image-fast"] }, after: { order: [] } },
    { action: "model-order.put", target: "image", before: { order: [] }, after: { order: ["sandbox-image-fast"] } },
  ]);
});

it.each([
  ["of a task that there is not", "painting", { order: [] }, 404],
  ["with a model that does something else", "image", { order: ["sandbox-music"] }, 400],
  ["with a model twice", "image", { order: ["sandbox-image", "sandbox-image"] }, 400],
])("an order %s is rejected", async (_what, task, json, status) => {
  expect((await asAdmin(`/api/admin/model-orders/${task}`, "PUT", json)).status).toBe(status);
});

it("a workflow of tasks has an estimate, and a version pins its tasks' models if requested", async () => {
  const user = await platform.createUser({ tier: "pro" });
  const headers = platform.bySession(user);
  const nodes = [{ id: "pic", type: "generate-image", data: { model: "auto:image", inputs: { prompt: "a kite" } } }];
  const reply = await platform.send("/api/workflows", { json: { name: "Kites", nodes, edges: [] }, headers });
  const slug = String(reply.body.slug);
  const list = (await platform.send("/api/workflows", { headers })).body as unknown as { slug: string; estimatedCreditCost: number }[];
  expect(list.find((one) => one.slug === slug)!.estimatedCreditCost).toBeGreaterThan(0);
  const publish = (json: unknown) => platform.send(`/api/workflows/${slug}/versions`, { json, headers });
  expect((await publish({ pinModels: true })).body).toMatchObject({ version: 1, pinnedModels: { "auto:image": "sandbox-image" } });
  expect((await publish({})).body).not.toHaveProperty("pinnedModels");
});

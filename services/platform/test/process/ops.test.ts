import { startOps, type Checks, type ProcessState } from "../../src/process/ops";

const opened: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(opened.splice(0).map((stop) => stop())));

const open = async (state: () => ProcessState, checks: Checks = {}): Promise<(path: string, method?: string) => Promise<Response>> => {
  const ops = await startOps({
    listen: "127.0.0.1:0",
    name: "test",
    state,
    checks: () => checks,
    metrics: (_request, response) => void response.end("metrics"),
  });
  opened.push(ops.stop);
  return (path, method = "GET") => fetch(`http://127.0.0.1:${ops.port}${path}`, { method });
};

it.each<[ProcessState, number]>([
  ["starting", 503],
  ["ready", 200],
  ["draining", 503],
])("a process that is %s is alive, and /readyz returns %d", async (state, status) => {
  const ask = await open(() => state, { database: () => false });
  expect((await ask("/livez")).status).toBe(200);
  const ready = await ask("/readyz");
  expect([ready.status, await ready.json()]).toEqual([status, { status: state }]);
});

it("reports each dependency, and checks once for parallel requests", async () => {
  let calls = 0;
  const ask = await open(() => "ready", {
    up: () => Promise.resolve(true),
    down: () => false,
    broken: () => Promise.reject(new Error("no connection")),
    silent: () => {
      calls += 1;
      return new Promise(() => undefined);
    },
  });
  const answers = await Promise.all([ask("/status"), ask("/status")]);
  for (const answer of answers) {
    expect(await answer.json()).toMatchObject({ state: "ready", checks: { up: "ok", down: "away", broken: "away", silent: "away" } });
  }
  expect(calls).toBe(1);
});

it("returns metrics, has no other path, and is read-only", async () => {
  const ask = await open(() => "ready");
  expect(await (await ask("/metrics")).text()).toBe("metrics");
  expect((await ask("/")).status).toBe(404);
  expect((await ask("/readyz", "POST")).status).toBe(405);
});

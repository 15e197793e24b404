import { ApplicationFailure } from "@temporalio/activity";
import { ProviderError } from "@nodeloom/providers";
import type { CallContext } from "../../src/run/types";
import { createShortCalls } from "../../src/workflow/short-calls";

const call = (executionId: string, key = `${executionId}:node:0`): CallContext => ({
  executionId,
  userId: "user",
  nodeId: "node",
  nodeIndex: 0,
  item: 0,
  items: 1,
  startedAt: 0,
  key,
});

const never = <T>(): Promise<T> => new Promise(() => undefined);

const start = (places?: number) => {
  const listeners = new Map<string, () => void>();
  const calls = createShortCalls({
    onCancel: (executionId, listener) => {
      listeners.set(executionId, listener);
      return () => listeners.delete(executionId);
    },
    ...(places === undefined ? {} : { places }),
  });
  return { ...calls, cancel: (executionId: string) => listeners.get(executionId)?.(), listeners };
};

describe("a short call", () => {
  it("is made in the workflow task of a run that this process was the first to work on", async () => {
    const { carry, short } = start();
    carry("run");
    expect(await short(() => Promise.resolve("done"))(call("run"))).toEqual({ result: "done" });
  });

  it("is never made for a run for which another process may have made calls", async () => {
    const { short, shortLook, carry, forget } = start();
    let callCount = 0;
    const work = (): Promise<number> => Promise.resolve((callCount += 1));
    expect(await short(work)(call("run"))).toEqual({ declined: true });
    expect(await shortLook(work, () => undefined)(call("run"))).toEqual({ declined: true });
    carry("run");
    forget("run");
    expect(await short(work)(call("run"))).toEqual({ declined: true });
    expect(callCount).toBe(0);
  });

  it("is made once if its workflow task is repeated, during the call and after", async () => {
    const { carry, short } = start();
    carry("run");
    let callCount = 0;
    let finish: (answer: string) => void = () => undefined;
    const request = short(() => {
      callCount += 1;
      return new Promise<string>((resolve) => (finish = resolve));
    });
    const first = request(call("run"));
    const repeated = request(call("run"));
    finish("once");
    expect(await Promise.all([first, repeated, request(call("run"))])).toEqual(Array(3).fill({ result: "once" }));
    expect(callCount).toBe(1);
  });

  it("fails its node after a permanent failure, and is left to an activity if it can be retried", async () => {
    const { carry, short } = start();
    carry("run");
    const final = ApplicationFailure.nonRetryable("refused", "PROVIDER_SUBMIT_FAILED");
    await expect(short(() => Promise.reject(final))(call("run"))).rejects.toBe(final);
    const later = ApplicationFailure.create({ message: "busy", nextRetryDelay: 700 });
    expect(await short(() => Promise.reject(later))(call("run", "later"))).toEqual({ declined: true, afterMs: 700 });
  });

  it("waits at least 250 ms before a retry if a provider rejected it without a waiting time", async () => {
    const { carry, short } = start();
    carry("run");
    const busy = new ProviderError("refused", "the provider answered 429", 429);
    expect(await short(() => Promise.reject(busy))(call("run"))).toEqual({ declined: true, afterMs: 250 });
  });

  it("is left to an activity if too many already keep workflow tasks open", async () => {
    const { carry, short } = start(1);
    carry("one");
    carry("other");
    const neverEnding = short(() => never<string>());
    void neverEnding(call("one"));
    expect(await neverEnding(call("other"))).toEqual({ declined: true });
  });
});

describe("a short poll of a job", () => {
  it("is aborted as soon as its run is cancelled, so that the workflow can receive the cancellation", async () => {
    const { carry, shortLook, cancel, listeners } = start();
    carry("run");
    const givenUp: string[] = [];
    const looked = shortLook(
      () => never<string>(),
      ({ key }) => void givenUp.push(key),
    )(call("run"));
    cancel("run");
    expect(await looked).toEqual({ declined: true });
    expect(givenUp).toEqual(["run:node:0"]);
    expect(listeners.size).toBe(0);
  });

  it("frees its slot, however it ends", async () => {
    const { carry, shortLook, cancel } = start(1);
    carry("run");
    const look = shortLook(
      (_: CallContext, answer: () => Promise<string>) => answer(),
      () => undefined,
    );
    expect(await look(call("run"), () => Promise.resolve("done"))).toEqual({ result: "done" });
    expect(await look(call("run"), () => Promise.reject(new Error("away")))).toMatchObject({ declined: true });
    const waiting = look(call("run"), () => never<string>());
    cancel("run");
    expect(await waiting).toEqual({ declined: true });
    expect(await look(call("run"), () => Promise.resolve("again"))).toEqual({ result: "again" });
  });
});

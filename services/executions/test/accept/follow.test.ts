import { createFollow } from "../../src/record/runs/channel";
import type { ExecutionView } from "../../src/run/record";
import { newRecord } from "../support";
import { localChannel } from "../support/local-channel";

const transition = (type: string) => ({ type, at: 0, data: {} });
const until = (): number => Date.now() + 60_000;

const following = () => {
  const channel = localChannel();
  const storedRow = newRecord("user", { status: "cancel_requested" });
  const find = jest.fn(() => Promise.resolve<ExecutionView>(storedRow));
  const follow = createFollow({ stores: { rows: { find } } as never, channel })(storedRow._id);
  follow.listen();
  return { follow, find, storedRow, publish: (type: string, row?: ExecutionView) => channel.publish(storedRow._id, transition(type), row) };
};

it("takes the row of a change that this process wrote, without reading it again", async () => {
  const { follow, find, storedRow, publish } = following();
  const claimedRow: ExecutionView = { ...storedRow, status: "processing" };
  publish("admitted", claimedRow);
  expect(await follow.next(until())).toBe(claimedRow);
  const settledRow: ExecutionView = { ...storedRow, status: "completed", outbox: ["usage"] };
  publish("settled", settledRow);
  expect(await follow.next(until())).toEqual({ ...settledRow, outbox: [] });
  expect(find).not.toHaveBeenCalled();
  follow.stop();
});

it("reads the row if another process has also written a change", async () => {
  const { follow, find, storedRow, publish } = following();
  publish("cancel_requested");
  publish("admitted", { ...storedRow, status: "processing" });
  expect(await follow.next(until())).toEqual(storedRow);
  expect(find).toHaveBeenCalledTimes(1);
  follow.stop();
});

it("notices a change that arrives while the row is read", async () => {
  const { follow, find, storedRow, publish } = following();
  const settledRow: ExecutionView = { ...storedRow, status: "completed" };
  find.mockImplementationOnce(() => {
    publish("settled", settledRow);
    return Promise.resolve(storedRow);
  });
  publish("cancel_requested");
  await follow.next(until());
  expect(await follow.next(until())).toEqual({ ...settledRow, outbox: [] });
  follow.stop();
});

import type { Connection } from "mongoose";
import type { ExecutionEvent } from "../../src/run/events";
import { createEventLog } from "../../src/record/runs/event-log";
import type { ExecutionRecord } from "../../src/run/record";
import { executionModel, type ExecutionModel } from "../../src/record/schema";
import type { Stores } from "../../src/record/stores";
import { newRecord, openStore } from "../support";

let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ stores, connection, stop } = await openStore());
});
afterAll(() => stop());

/** An event that is longer than a row keeps. */
const long = (key: string): ExecutionEvent => ({ key, type: "node.progress", at: new Date(), data: { text: "x".repeat(13_000) } });
const short = (key: string): ExecutionEvent => ({ key, type: "node.progress", at: new Date(), data: {} });

it("reports once the events that another replica appends and moves while this one is about to move earlier ones", async () => {
  const { _id } = newRecord("user");
  await stores.rows.insert(newRecord("user", { _id }));
  let isMet = false;
  const slow = createEventLog(executionModel(connection), {
    getText: stores.payloads.getText,
    putText: async (text, owner) => {
      // Runs between the append and this process's move.
      if (!isMet) await stores.log.append(_id, [short("second")]);
      isMet = true;
      return stores.payloads.putText(text, owner);
    },
  });
  const knownLog = (await slow.append(_id, [long("first")]))!;
  await slow.append(_id, [short("second"), short("third")], knownLog);
  const pages = await Promise.all([0, 3].map((after) => stores.log.events(_id, "user", after)));
  expect(pages.flatMap((page) => page!.events.map(({ key }) => key))).toEqual(["admitted", "first", "second", "third"]);
});

it("stores no part twice, whatever a process has seen of the others", async () => {
  const { _id } = newRecord("user");
  await stores.rows.insert(newRecord("user", { _id }));
  const { collection } = connection.model<ExecutionRecord>("Execution");
  // The append returns the parts that another process created meanwhile.
  const findOneAndUpdate = async (...args: [object, object, object]) => {
    const row = await collection.findOneAndUpdate(...args);
    await stores.log.append(_id, [long("second")]);
    return { ...row, logParts: (await stores.rows.find(_id))?.logParts };
  };
  const late = createEventLog(
    { collection: Object.assign(Object.create(collection), { findOneAndUpdate }) } as ExecutionModel,
    stores.payloads,
  );
  await late.append(_id, [long("first")]);
  const { events } = (await stores.log.events(_id, "user", 0))!;
  const rest = (await stores.log.events(_id, "user", events.length))!.events;
  expect([...events, ...rest].map(({ key }) => key)).toEqual(["admitted", "first", "second"]);
});

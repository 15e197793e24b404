import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { connectMongo, createInserter } from "../../src";

interface Row {
  _id: string;
  id: number;
}

let connection: Connection;
beforeAll(async () => {
  connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `test_${randomUUID().slice(0, 8)}_inserter` });
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

const collection = async () => {
  const rows = connection.collection<Row>(`rows_${randomUUID().slice(0, 8)}`);
  await rows.createIndex({ id: 1 }, { unique: true });
  return rows;
};

describe("an inserter", () => {
  it("reports to each of many concurrent callers whether its own document was inserted", async () => {
    const rows = await collection();
    const insert = createInserter<Row>(rows as never, { w: "majority", j: true });
    expect(await insert({ _id: "known", id: 1 })).toBe(true);
    const requestedRows: Row[] = [
      { _id: "a", id: 2 },
      { _id: "known", id: 3 },
      { _id: "b", id: 1 },
      { _id: "c", id: 4 },
      { _id: "c", id: 5 },
    ];
    expect(await Promise.all(requestedRows.map(insert))).toEqual([true, false, false, true, false]);
    expect((await rows.find().toArray()).map(({ _id }) => _id).sort()).toEqual(["a", "c", "known"]);
  });

  it("sends concurrent documents together, and those that arrive during a command with the next one", async () => {
    const rows = await collection();
    const commands: number[] = [];
    let isUnderWay: () => void;
    const underWay = new Promise<void>((resolve) => (isUnderWay = resolve));
    const counting = {
      insertMany: (documents: Row[], options: object) => {
        commands.push(documents.length);
        isUnderWay();
        return rows.insertMany(documents, options);
      },
    };
    const insert = createInserter<Row>(counting as never, { w: "majority" });
    const inserted = (from: number, count: number): Promise<boolean>[] =>
      Array.from({ length: count }, (_, index) => insert({ _id: String(from + index), id: from + index }));
    const first = inserted(0, 3);
    await underWay;
    const results = await Promise.all([...first, ...inserted(3, 249)]);
    expect(results.every(Boolean)).toBe(true);
    expect(commands).toEqual([3, 100, 100, 49]);
  });

  it("fails all inserts of a failed command, and continues", async () => {
    const rows = await collection();
    let isDown = true;
    const failing = {
      insertMany: (documents: Row[], options: object) => {
        if (!isDown) return rows.insertMany(documents, options);
        return Promise.reject(new Error("away"));
      },
    };
    const insert = createInserter<Row>(failing as never, { w: "majority" });
    const failed = await Promise.allSettled([insert({ _id: "a", id: 1 }), insert({ _id: "b", id: 2 })]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    isDown = false;
    expect(await insert({ _id: "a", id: 1 })).toBe(true);
  });
});

import { createRemoval, untilNone } from "../../src/work/removal";

const pages: Record<string, number[]> = { rows: [3, 2, 0], files: [1] };

/** Removes pages of `files` by position, and of `rows` until none is left. */
const removal = () => {
  const remaining = structuredClone(pages);
  return createRemoval({
    rows: () => Promise.resolve(untilNone(remaining.rows!.shift()!)),
    files: (cursor) => Promise.resolve({ removed: Number(cursor || "1"), next: cursor === "" ? "5" : "" }),
  });
};

it("removes one page of one kind per call, in order, until all kinds have ended", async () => {
  const remove = removal();
  const calls: [string, object][] = [];
  let cursor = "";
  do {
    const { removed, nextCursor } = await remove(cursor);
    calls.push([cursor, removed]);
    cursor = nextCursor;
  } while (cursor !== "");
  expect(calls).toEqual([
    ["", { rows: 3 }],
    ["rows:again", { rows: 2 }],
    ["rows:again", { rows: 0 }],
    ["files:", { files: 1 }],
    ["files:5", { files: 5 }],
  ]);
});

it("keeps a kind's own cursor, whatever it contains", async () => {
  const cursors: string[] = [];
  const remove = createRemoval({
    years: (cursor) => {
      cursors.push(cursor);
      return Promise.resolve({ removed: 0, next: cursor === "" ? "a:b\nc" : "" });
    },
  });
  const { nextCursor } = await remove("");
  expect(await remove(nextCursor)).toEqual({ removed: { years: 0 }, nextCursor: "" });
  expect(cursors).toEqual(["", "a:b\nc"]);
});

it.each(["rows", "others:", "toString:", ":"])("rejects a cursor that it never returned: %j", async (cursor) => {
  await expect(removal()(cursor)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
});

import { LIMITS } from "@nodeloom/kernel";
import type { executions, media as mediaProto, workflows } from "@nodeloom/proto";
import { cellValue, createReadTable } from "../../../src/requests/batches/table";

const FIELDS = [
  { name: "subject", type: "text" },
  { name: "seconds", type: "number" },
  { name: "loud", type: "boolean" },
  { name: "data", type: "json" },
];

/** Reads a file that is there with these bytes. */
const read = async (text: string | Uint8Array, bytes = Buffer.byteLength(text)): Promise<unknown[]> => {
  const readTable = createReadTable({
    media: {
      getObjects: ({ ids }) => Promise.resolve({ objects: ids[0] === "file" ? [{ key: "key", bytes } as mediaProto.StoredObject] : [] }),
      async *readObject() {
        const whole = Buffer.from(text as string);
        // In pieces that end anywhere.
        for (let from = 0; from < whole.length; from += 7)
          yield { part: { $case: "chunk" as const, value: whole.subarray(from, from + 7) } } as mediaProto.ReadObjectResponse;
      },
    },
    workflows: { getSchema: () => Promise.resolve({ schema: { fields: FIELDS } } as unknown as workflows.GetSchemaResponse) },
    catalog: { get: () => Promise.reject(new Error("no model is asked for")) },
  });
  const target = { target: { $case: "workflowSlug", value: "flow" }, version: "" } as executions.Target;
  return (await readTable("file", target, "owner")).map(({ inputsJson }) => JSON.parse(inputsJson) as unknown);
};

it("types the cells of a CSV file by the fields of the workflow", async () => {
  const csv = '\ufeffsubject,seconds,loud,data\r\n"a ""boat"", blue\nand red",2.5,yes,"[1,{""a"":null}]"\r\n007,,FALSE,\r\n';
  expect(await read(csv)).toEqual([
    { subject: 'a "boat", blue\nand red', seconds: 2.5, loud: true, data: [1, { a: null }] },
    { subject: "007", loud: false },
  ]);
});

it.each([
  ["two", "number", "two"],
  ["1e400", "number", "1e400"],
  ["maybe", "boolean", "maybe"],
  ["{oops", "json", "{oops"],
] as const)("leaves %p of a column of type %s as it is: the inputs' check says what is wrong", (cell, type, value) => {
  expect(cellValue(cell, type)).toBe(value);
});

it("reads an object a line from JSONL", async () => {
  expect(await read('{"subject":"a"}\n\n{"subject":"b","seconds":1}\n')).toEqual([{ subject: "a" }, { subject: "b", seconds: 1 }]);
});

it.each([
  ["has more rows than a batch", `subject\n${"a\n".repeat(LIMITS.batchItems + 1)}`, "more than 1000 rows"],
  ["has more lines than a batch", '{"a":1}\n'.repeat(LIMITS.batchItems + 1), "more than 1000 rows"],
  ["names too many columns", `${Array.from({ length: 201 }, (_, index) => `c${index}`).join(",")}\n`, "more than 200 columns"],
  ["is one endless line", `subject\n"${"a".repeat(2 * 1024 * 1024)}`, "is no CSV"],
  ["names a column twice", "a,a\n1,2\n", "twice"],
  ["has a line that is too short", "a,b\n1\n", "is no CSV"],
  ["has a line that is no object", '{"a":1}\n[1]\n', "line 2"],
  ["is nested too deep", `{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "levels deep"],
])("refuses a file that %s", async (_, text, message) => {
  await expect(read(text)).rejects.toMatchObject({ reason: "INVALID_REQUEST", message: expect.stringContaining(message) as string });
});

it("refuses a file that is too large before it reads any of it", async () => {
  await expect(read("a\n1\n", LIMITS.batchFileBytes + 1)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
});

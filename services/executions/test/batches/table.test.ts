import { createMediaUrls, LIMITS, USUAL_CAPS } from "@nodeloom/kernel";
import { cellValue } from "@nodeloom/kernel/table-file";
import type { executions, media as mediaProto, workflows } from "@nodeloom/proto";
import { createReadTable } from "../../src/batches/table";

const FIELDS = [
  { name: "subject", type: "text" },
  { name: "seconds", type: "number" },
  { name: "loud", type: "boolean" },
  { name: "data", type: "json" },
];

/** Reads a stored file with the given bytes. @param pieceBytes size of the pieces in which the file arrives */
const itemsOf = async (
  text: string | Uint8Array,
  bytes = Buffer.byteLength(text),
  pieceBytes = bytes < 100_000 ? 7 : 65_536,
  maxBatchRows?: number,
) => {
  const readTable = createReadTable({
    media: {
      getObjects: ({ ids }) => Promise.resolve({ objects: ids[0] === "file" ? [{ key: "key", bytes } as mediaProto.StoredObject] : [] }),
      admitUrls: () => Promise.resolve({ refused: [] }),
      async *readObject() {
        const whole = Buffer.from(text as string);
        // Chunks end at arbitrary bytes.
        for (let from = 0; from < whole.length; from += pieceBytes)
          yield { part: { $case: "chunk" as const, value: whole.subarray(from, from + pieceBytes) } } as mediaProto.ReadObjectResponse;
      },
    },
    workflows: { getSchema: () => Promise.resolve({ schema: { fields: FIELDS } } as unknown as workflows.GetSchemaResponse) },
    urls: createMediaUrls("https://platform.test"),
    catalog: { get: () => Promise.reject(new Error("no model is asked for")) },
  });
  const target = { target: { $case: "workflowSlug", value: "flow" }, version: "" } as executions.Target;
  return readTable("file", target, { userId: "owner", maxBatchRows });
};
const read = async (...file: Parameters<typeof itemsOf>): Promise<unknown[]> => {
  const values: unknown[] = [];
  for await (const { inputsJson } of await itemsOf(...file)) values.push(JSON.parse(inputsJson));
  return values;
};

it("converts the cells of a CSV file to the types of the workflow's fields", async () => {
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
  ["7615917337495251231", "number", "7615917337495251231"],
] as const)("leaves %p in a column of type %s unchanged, so that the inputs' validation reports it", (cell, type, value) => {
  expect(cellValue(cell, type)).toBe(value);
});

it.each([
  ["semicolons", "subject;seconds\na, b;1\n"],
  ["tabs", "subject\tseconds\na, b\t1\n"],
  ["UTF-16, as Excel's Unicode text is", Buffer.from("\ufeffsubject\tseconds\na, b\t1\n", "utf16le")],
])("reads a table with %s", async (_, file) => {
  expect(await read(file)).toEqual([{ subject: "a, b", seconds: 1 }]);
});

it("reads Windows-1252, as Excel saves CSV in the West", async () => {
  expect(await read(Buffer.from("subject\nGrößenübersicht\n", "latin1"))).toEqual([{ subject: "Größenübersicht" }]);
});

it("keeps every digit of an integer in a JSON cell", async () => {
  expect(await read('data\n"{""id"": 7615917337495251231}"\n')).toEqual([{ data: { id: "7615917337495251231" } }]);
});

it.each([
  ["has a cell of JSON that is none", "data\n1\nhello\n", "row 2: data must be JSON"],
  [
    "has a column that is no input",
    "subjekt;n\na;1\n",
    "subjekt is not an input: did you mean subject? The separator of this file is the semicolon",
  ],
  ["has one column for all, as of other separators", "subject|seconds\na|1\n", "is the comma"],
])("rejects a file that %s, and names the part", async (_, text, message) => {
  await expect(read(text)).rejects.toMatchObject({ reason: "INVALID_INPUTS", message: expect.stringContaining(message) as string });
});

it("reads one object per line from JSONL", async () => {
  expect(await read('{"subject":"a"}\n\n{"subject":"b","seconds":1}\n')).toEqual([{ subject: "a" }, { subject: "b", seconds: 1 }]);
});

it.each([
  ["has more rows than a batch", `subject\n${"a\n".repeat(USUAL_CAPS.batchRows + 1)}`, "more than 1000 rows"],
  ["has more lines than a batch", '{"a":1}\n'.repeat(USUAL_CAPS.batchRows + 1), "more than 1000 rows"],
  ["names too many columns", `${Array.from({ length: 201 }, (_, index) => `c${index}`).join(",")}\n`, "more than 200 columns"],
  ["has a row without an end", `subject\na\n"${"b".repeat(2 * 1024 * 1024)}`, "the row at line 3 has more than 512 kB"],
  ["has a line without an end", `{"a":1}\n{"b":"${"b".repeat(LIMITS.jsonBodyBytes)}"}`, "line 2 has more than 10 MB"],
  ["has no rows", "subject\n", "at least one item"],
  ["is empty", "", "at least one item"],
  ["names a column twice", "subject,subject\n1,2\n", "twice"],
  [
    "has a row that is too short",
    `subject,data\n${"a,1\n".repeat(500)}1\n`,
    "isn't valid CSV: Invalid Record Length: columns length is 2, got 1 on line 502",
  ],
  [
    "ends within quotes",
    `subject\n${"a\n".repeat(500)}"b\n`,
    "isn't valid CSV: Quote Not Closed: the parsing is finished with an opening quote at line 502",
  ],
  ["is no text from its middle on", Buffer.concat([Buffer.from(`subject\n${"a\n".repeat(50_000)}`), Buffer.alloc(9)]), "isn't text"],
  ["is a list in JSON", ' [{"subject":"a"}]', "one JSON object per line (JSONL)"],
  ["is text of an encoding that can't be told", Uint8Array.of(0x61, 0x0a, 0xef, 0xf0, 0xe8), "UTF-8"],
  ["has a line that isn't an object", '{"a":1}\n[1]\n', "line 2"],
  ["is nested too deep", `{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "levels deep"],
])("rejects a file that %s", async (_, text, message) => {
  await expect(read(text)).rejects.toMatchObject({ reason: "INVALID_REQUEST", message: expect.stringContaining(message) as string });
});

it("rejects a file whose end is missing in the storage, and accepts a retry", async () => {
  await expect(read("subject\na\nb\n", 100)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
});

it("reads Windows-1252 whose letters first occur after megabytes", async () => {
  const rows = 300_000;
  const file = Buffer.from(`subject\n${"plain\n".repeat(rows)}Größenübersicht\n`, "latin1");
  const items = await itemsOf(file, file.length, undefined, rows + 1);
  let last = "";
  for await (const { inputsJson } of items) last = inputsJson;
  expect(JSON.parse(last)).toEqual({ subject: "Größenübersicht" });
});

it("reads a file again in each iteration, and stops when the caller does", async () => {
  const items = await itemsOf(`subject\n${"x".repeat(1_000)}\n${"y\n".repeat(998)}`);
  const counts: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    let count = 0;
    for await (const _ of items) count += 1;
    counts.push(count);
  }
  expect(counts).toEqual([999, 999]);
  for await (const { inputsJson } of items) {
    expect(inputsJson).toContain("xxx");
    break;
  }
});

it("rejects a file that is too large before it reads any of it", async () => {
  await expect(read("a\n1\n", LIMITS.batchFileBytes + 1)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
});

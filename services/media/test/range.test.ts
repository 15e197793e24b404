import { readRange } from "../src/range";

const SIZE = 100;

it.each([
  ["bytes=0-9", { start: 0, end: 9 }],
  ["Bytes=0-9", { start: 0, end: 9 }],
  ["bytes=90-", { start: 90, end: 99 }],
  ["bytes=90-1000", { start: 90, end: 99 }],
  ["bytes=-10", { start: 90, end: 99 }],
  ["bytes=-1000", { start: 0, end: 99 }],
  ["bytes=0-9, 200-", { start: 0, end: 9 }],
  ["bytes=, 0-9,", { start: 0, end: 9 }],
])("returns the range in %s", (header, range) => {
  expect(readRange(header, SIZE)).toEqual(range);
});

it.each(["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=100-,200-"])("finds no part of the file in %s", (header) => {
  expect(readRange(header, SIZE)).toBe("unsatisfiable");
});

it.each(["", "bytes=", "bytes=,", "bytes=-", "bytes=9-0", "bytes=0-9,9-0", "bytes=0-9,20-29", "bytes=a-b", "bytes=0-9-9", "items=0-9"])(
  "treats %p as no range, which requests the whole file",
  (header) => {
    expect(readRange(header, SIZE)).toBeUndefined();
  },
);

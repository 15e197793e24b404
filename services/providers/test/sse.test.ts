import { eventData } from "../src/sse";

async function* inParts(text: string, bytes: number): AsyncIterable<Uint8Array> {
  const whole = Buffer.from(text);
  for (let at = 0; at < whole.length; at += bytes) yield Promise.resolve(whole.subarray(at, at + bytes));
}

const read = async (text: string, bytes: number): Promise<string[]> => {
  const texts: string[] = [];
  for await (const data of eventData(inParts(text, bytes))) texts.push(data);
  return texts;
};

it.each<[string, string, string[]]>([
  ["one line each", "data: a\n\ndata:b\n\n", ["a", "b"]],
  ["any line break", "data: a\r\n\r\ndata: b\n\ndata: c\r\rdata: d\n\n", ["a", "b", "c", "d"]],
  ["several lines", "data: a\ndata: b\n\n", ["a\nb"]],
  ["other fields and comments", ": hi\nevent: x\nid: 1\nretry: soon\nodd\ndata: a\n\n: bye\n\n", ["a"]],
  ["more than ASCII", "data: naïve 🐈\n\n", ["naïve 🐈"]],
  ["nothing that was cut off", "data: a\n\ndata: b\n", ["a"]],
])("reads the data of events with %s, however the body is split", async (_name, text, data) => {
  for (const bytes of [1, 2, 3, 5, 1000]) expect(await read(text, bytes)).toEqual(data);
});

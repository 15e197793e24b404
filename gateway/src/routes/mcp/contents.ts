import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { isRecord, mediaFamily, resultFamily } from "@nodeloom/kernel";
import type { Gateway } from "../../gateway";
import { errorReply } from "../../http/errors";
import { toJson } from "../../http/json";

/** What a tool's call gives, as the blocks that agents read. */

/** Of one file, and of all files of an answer, that come as their bytes; what is larger, or neither image nor sound, is a link. */
const INLINE_BYTES = 1024 * 1024;
const INLINE_BYTES_OVERALL = 4 * 1024 * 1024;
/** Files of an answer that are looked at. */
const MOST_FILES = 50;
const READ_MS = 30_000;

type Json = Record<string, unknown>;

export const textBlock = (text: string): ContentBlock => ({ type: "text", text });

/** An answer as text and as the value that the text says. @param body with members that are JSON texts */
export const structured = (body: unknown): CallToolResult => {
  const text = toJson(body);
  return { content: [textBlock(text)], structuredContent: JSON.parse(text) as Json };
};

/** A refusal, or the failure of a run, as the agent is to read it: it may call again otherwise. */
export const failed = (error: unknown): CallToolResult => ({ isError: true, content: [textBlock(toJson(errorReply(error).body))] });

/** The addresses of the files in a result: in the members for files, which are all in our own storage. */
const filesIn = (result: Json): string[] =>
  Object.entries(result)
    .flatMap(([name, value]) => (resultFamily(name) === undefined ? [] : [value].flat()))
    .flatMap((value) => (isRecord(value) && typeof value.url === "string" ? [value.url] : []));

/** The key in a file's address: what follows its last slash. */
const keyOf = (url: string): string => new URL(url).pathname.split("/").at(-1)!;

interface Head {
  contentType: string;
  bytes: number;
}

/** The head of a file, and its bytes where it has no more than some. */
const readUpTo = async (gateway: Gateway, key: string, most: number): Promise<{ head: Head; data?: Buffer } | undefined> => {
  let head: Head | undefined;
  const pieces: Buffer[] = [];
  for await (const { part } of gateway.services.media.readObject({ key }, { deadlineMs: READ_MS, signal: gateway.stopping })) {
    if (part?.$case === "header") {
      head = part.value;
      const family = mediaFamily(head.contentType);
      if (head.bytes > most || (family !== "image" && family !== "audio")) return { head };
    }
    if (part?.$case === "chunk") pieces.push(part.value);
  }
  return head && { head, data: Buffer.concat(pieces) };
};

const linkTo = (uri: string, head: Head | undefined): ContentBlock => ({
  type: "resource_link",
  uri,
  name: keyOf(uri),
  ...(head ? { mimeType: head.contentType, size: head.bytes } : {}),
});

/** The files of a result: images and sound as their bytes within the bounds, all others as links. */
export const fileBlocks = async (gateway: Gateway, result: Json): Promise<ContentBlock[]> => {
  const blocks: ContentBlock[] = [];
  let left = INLINE_BYTES_OVERALL;
  for (const url of [...new Set(filesIn(result))].slice(0, MOST_FILES)) {
    // A file that can't be read now still has an address.
    const file = await readUpTo(gateway, keyOf(url), Math.min(INLINE_BYTES, left)).catch(() => undefined);
    if (!file?.data) {
      blocks.push(linkTo(url, file?.head));
      continue;
    }
    left -= file.data.length;
    const type = mediaFamily(file.head.contentType) === "image" ? "image" : "audio";
    blocks.push({ type, data: file.data.toString("base64"), mimeType: file.head.contentType });
  }
  return blocks;
};

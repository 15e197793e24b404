import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { isRecord, mediaFamily, resultFamily } from "@nodeloom/kernel";
import type { Gateway } from "../edge/gateway";
import { errorReply } from "../http/errors";
import { toJson } from "../http/json";

/** What a tool's call gives, as the blocks that agents read. */

/** Of a message: clients by the official SDK for Python end at 1 MiB. What is around an answer is some hundred bytes. */
export const MESSAGE_BYTES = 1_000_000;
/** Files of an answer that are looked at. */
const MOST_FILES = 50;
/** What the link to a file may take, which all have where their bytes don't fit. */
const LINK_BYTES = 500;
const READ_MS = 30_000;
/** Widths of scaled pictures, the larger first. */
const PREVIEW_WIDTHS = [768, 384];
/** Three bytes are four characters. */
const BASE64_RATIO = 4 / 3;

type Json = Record<string, unknown>;

export const textBlock = (text: string): ContentBlock => ({ type: "text", text });

/** The bytes of a result in a message. */
export const bytesOf = (result: CallToolResult): number => Buffer.byteLength(JSON.stringify(result));

/** @param withText also as text, for clients that read no other content */
const saying = (text: string, withText: boolean): CallToolResult => ({
  content: [textBlock(withText ? text : "The answer is in `structuredContent`.")],
  structuredContent: JSON.parse(text) as Json,
});

const tooLarge = (bytes: number): CallToolResult => ({
  isError: true,
  content: [textBlock(`The answer has ${bytes} bytes, and a message at most ${MESSAGE_BYTES}: ask for less, or read it over HTTP.`)],
});

/**
 * An answer as text and as the value that the text says; as the value alone where both are too large for a message.
 * @param body with members that are JSON texts
 * @param otherwise what is answered where even that is too large
 */
export const structured = (body: unknown, otherwise = tooLarge): CallToolResult => {
  const text = toJson(body);
  for (const withText of [true, false]) {
    const result = saying(text, withText);
    if (bytesOf(result) <= MESSAGE_BYTES) return result;
  }
  return otherwise(Buffer.byteLength(text));
};

/** An answer without a result that is too large, and where that is. */
export const linkToExecution = ({ publicBaseUrl }: Pick<Gateway, "publicBaseUrl">, answer: CallToolResult, id: string): CallToolResult => ({
  ...answer,
  content: [
    ...answer.content,
    textBlock("The result is too large for a message. It is the member `result` of what this link answers, with the same key."),
    { type: "resource_link", uri: `${publicBaseUrl}/api/executions/${id}`, name: id, mimeType: "application/json" },
  ],
});

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

/** A scaled picture of at most some bytes; undefined where there is none. */
const previewOf = async ({ previews }: Gateway, key: string, most: number): Promise<ContentBlock | undefined> => {
  for (const width of PREVIEW_WIDTHS) {
    const made = await previews.read(key, width, most);
    if (made) return { type: "image", data: made.bytes.toString("base64"), mimeType: made.contentType };
  }
  return undefined;
};

/** A file as its bytes; else as a link to it, and of a picture a scaled one beside it. @param most bytes of what it may be shown by */
const blocksOf = async (gateway: Gateway, url: string, most: number): Promise<ContentBlock[]> => {
  const key = keyOf(url);
  // A file that can't be read now still has an address.
  const { head, data } = (await readUpTo(gateway, key, most).catch(() => undefined)) ?? {};
  const family = head && mediaFamily(head.contentType);
  if (head && data) return [{ type: family === "image" ? "image" : "audio", data: data.toString("base64"), mimeType: head.contentType }];
  const preview = family === "image" ? await previewOf(gateway, key, most).catch(() => undefined) : undefined;
  return [linkTo(url, head), ...(preview ? [preview] : [])];
};

/**
 * The files of a result: images and sound as their bytes where these fit into the message, all others as links, and large pictures
 * scaled.
 * @param used bytes of the message that are taken
 */
export const fileBlocks = async (gateway: Gateway, result: Json, used: number): Promise<ContentBlock[]> => {
  const urls = [...new Set(filesIn(result))].slice(0, MOST_FILES);
  const blocks: ContentBlock[] = [];
  let left = MESSAGE_BYTES - used - urls.length * LINK_BYTES;
  for (const [index, url] of urls.entries()) {
    // What one file leaves is for those after it.
    const share = Math.max(0, Math.floor(left / (urls.length - index) / BASE64_RATIO) - LINK_BYTES);
    const made = await blocksOf(gateway, url, share);
    left -= made.reduce((sum, block) => sum + ("data" in block ? block.data.length + LINK_BYTES : 0), 0);
    blocks.push(...made);
  }
  return blocks;
};

/** An answer with the files of a result beside it. */
export const withFiles = async (gateway: Gateway, answer: CallToolResult, result: Json): Promise<CallToolResult> => ({
  ...answer,
  content: [...answer.content, ...(await fileBlocks(gateway, result, bytesOf(answer)))],
});

import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { isRecord, mediaFamily, resultFamily } from "@nodeloom/kernel";
import type { Gateway } from "../edge/gateway";
import type { CallContext } from "../edge/route";
import { errorReply } from "../http/errors";
import { toJson } from "../http/json";

/** Content blocks of a tool's result. */

/** Maximum bytes of a message: clients with the official Python SDK fail above 1 MiB. The envelope takes a few hundred bytes. */
export const MESSAGE_BYTES = 1_000_000;
/** Maximum number of files in an answer. */
const MOST_FILES = 50;
/** Bytes reserved per file for a link. */
const LINK_BYTES = 500;
const READ_MS = 30_000;
/** Widths of previews, larger first. */
const PREVIEW_WIDTHS = [768, 384];
/** Three bytes become four characters. */
const BASE64_RATIO = 4 / 3;

type Json = Record<string, unknown>;
/** The caller who reads an answer. */
type Reading = Pick<CallContext<"any">, "gateway" | "caller">;

export const textBlock = (text: string): ContentBlock => ({ type: "text", text });

export const bytesOf = (result: CallToolResult): number => Buffer.byteLength(JSON.stringify(result));

/** @param withText also returns the value as text, for clients that read only text */
const saying = (text: string, withText: boolean): CallToolResult => ({
  content: [textBlock(withText ? text : "The answer is in `structuredContent`.")],
  structuredContent: JSON.parse(text) as Json,
});

const tooLarge = (bytes: number): CallToolResult => ({
  isError: true,
  content: [textBlock(`The answer has ${bytes} bytes, and a message at most ${MESSAGE_BYTES}: ask for less, or read it over HTTP.`)],
});

/**
 * Returns an answer as text and as a structured value, or only the value if both exceed a message.
 * @param body can contain JSON texts
 * @param otherwise replaces the answer if the value alone is too large
 */
export const structured = (body: unknown, otherwise = tooLarge): CallToolResult => {
  const text = toJson(body);
  for (const withText of [true, false]) {
    const result = saying(text, withText);
    if (bytesOf(result) <= MESSAGE_BYTES) return result;
  }
  return otherwise(Buffer.byteLength(text));
};

/** Replaces a result that is too large by a link to it. */
export const linkToExecution = ({ publicBaseUrl }: Pick<Gateway, "publicBaseUrl">, answer: CallToolResult, id: string): CallToolResult => ({
  ...answer,
  content: [
    ...answer.content,
    textBlock("The result is too large for a message. It is the member `result` of what this link answers, with the same key."),
    { type: "resource_link", uri: `${publicBaseUrl}/api/executions/${id}`, name: id, mimeType: "application/json" },
  ],
});

/** An error for the agent, which can correct its call. */
export const failed = (error: unknown): CallToolResult => ({ isError: true, content: [textBlock(toJson(errorReply(error).body))] });

/** Addresses of the files in a result's file members, which are all in our storage. */
const filesIn = (result: Json): string[] =>
  Object.entries(result)
    .flatMap(([name, value]) => (resultFamily(name) === undefined ? [] : [value].flat()))
    .flatMap((value) => (isRecord(value) && typeof value.url === "string" ? [value.url] : []));

/** Key in a file's address: the part after its last slash. */
const keyOf = (url: string): string => new URL(url).pathname.split("/").at(-1)!;

interface Head {
  contentType: string;
  bytes: number;
}

/** Models don't take vectors as pictures. They get a preview. */
const VECTOR_TYPE = "image/svg+xml";

/** Metadata of a file, and its bytes up to a limit. */
const readUpTo = async (gateway: Gateway, key: string, most: number): Promise<{ head: Head; data?: Buffer } | undefined> => {
  let head: Head | undefined;
  const pieces: Buffer[] = [];
  for await (const { part } of gateway.services.media.readObject({ key }, { deadlineMs: READ_MS, signal: gateway.stopping })) {
    if (part?.$case === "header") {
      head = part.value;
      const family = mediaFamily(head.contentType);
      const isShown = (family === "image" && head.contentType !== VECTOR_TYPE) || family === "audio";
      if (head.bytes > most || !isShown) return { head };
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

/** A preview within a limit of bytes; undefined if there is none. */
const previewOf = async ({ previews }: Gateway, address: string, most: number): Promise<ContentBlock | undefined> => {
  for (const width of PREVIEW_WIDTHS) {
    const preview = await previews.read(address, width, most);
    if (preview) return { type: "image", data: preview.bytes.toString("base64"), mimeType: preview.contentType };
  }
  return undefined;
};

/**
 * A file as bytes, or as a link with a preview for pictures.
 * @param most maximum bytes for this file
 */
const blocksOf = async ({ gateway, caller }: Reading, url: string, most: number): Promise<ContentBlock[]> => {
  const address = await gateway.mediaUrls.readable(url, caller).catch(() => undefined);
  if (address === undefined) return [linkTo(url, undefined)];
  const key = keyOf(url);
  // A file that can't be read is linked by its address.
  const { head, data } = (await readUpTo(gateway, key, most).catch(() => undefined)) ?? {};
  const family = head && mediaFamily(head.contentType);
  if (head && data) return [{ type: family === "image" ? "image" : "audio", data: data.toString("base64"), mimeType: head.contentType }];
  const preview = family === "image" ? await previewOf(gateway, address, most).catch(() => undefined) : undefined;
  return [linkTo(url, head), ...(preview ? [preview] : [])];
};

/**
 * Files of a result: images and sound as bytes if they fit into the message, others as links, large pictures as previews.
 * @param used bytes already used
 */
export const fileBlocks = async (reading: Reading, result: Json, used: number): Promise<ContentBlock[]> => {
  const urls = [...new Set(filesIn(result))].slice(0, MOST_FILES);
  const blocks: ContentBlock[] = [];
  let remainingBytes = MESSAGE_BYTES - used - urls.length * LINK_BYTES;
  for (const [index, url] of urls.entries()) {
    // Bytes that one file doesn't use are available to the next files.
    const share = Math.max(0, Math.floor(remainingBytes / (urls.length - index) / BASE64_RATIO) - LINK_BYTES);
    const urlBlocks = await blocksOf(reading, url, share);
    remainingBytes -= urlBlocks.reduce((sum, block) => sum + ("data" in block ? block.data.length + LINK_BYTES : 0), 0);
    blocks.push(...urlBlocks);
  }
  return blocks;
};

export const withFiles = async (reading: Reading, answer: CallToolResult, result: Json): Promise<CallToolResult> => ({
  ...answer,
  content: [...answer.content, ...(await fileBlocks(reading, result, bytesOf(answer)))],
});

export interface ServerSentEvent {
  id: string;
  type: string;
  data: string;
}

/** Splits text into lines, independent of line ends and chunks. An unfinished last line is dropped. */
async function* linesOf(chunks: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = chunks.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      text += decoder.decode(next.value, { stream: true });
      // A carriage return at the end can be half of a line end.
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      text = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    // A reader that stops early doesn't wait for the rest of the stream.
    await reader.cancel().catch(() => undefined);
  }
}

/** Parses server-sent events; comments and unknown fields are skipped. */
export async function* readEvents(chunks: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let id = "";
  let type = "";
  let data: string[] = [];
  for await (const line of linesOf(chunks)) {
    if (line === "") {
      if (data.length > 0) yield { id, type: type || "message", data: data.join("\n") };
      type = "";
      data = [];
      continue;
    }
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (field === "id") id = value;
    else if (field === "event") type = value;
    else if (field === "data") data.push(value);
  }
}

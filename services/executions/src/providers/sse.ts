const LINE_BREAK = /\r\n|\n|\r/;

/** The `data` of each server-sent event of a body, in order; an event that was cut off at the end is none. */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A \r at the end may be half of a line break.
    const lines = rest.endsWith("\r") ? rest.slice(0, -1).split(LINE_BREAK) : rest.split(LINE_BREAK);
    rest = lines.pop()! + (rest.endsWith("\r") ? "\r" : "");
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
      if (line !== "" || data.length === 0) continue;
      yield data.join("\n");
      data = [];
    }
  }
}

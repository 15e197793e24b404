const KIB = 1024;
const MIB = KIB * KIB;

export const GRAPH_BOUNDS = {
  /** Node ids become part of activity ids and idempotency keys, whose lengths are limited. */
  nodeIdBytes: 200,
  /** Calls of a run. */
  calls: 1_000,
  /** Calls of a run if one of its nodes allows more items than a list has by default. */
  callsOfLongLists: 5_000,
  listItems: 1_000,
  listBytes: 4 * MIB,
  /** Size of all values of a run, including its inputs. */
  valueBytes: 8 * MIB,
  /** Placeholders filled, elements copied and expressions evaluated; see `RunBudget.work`. */
  work: 250_000,
  warnings: 100,
  /** JSON bytes of pure nodes' outputs that an execution reports. */
  reportedBytes: 64 * KIB,
  issues: 100,
  /** Size of the settings plus every known value, counted once per use. A plan must fit into one MongoDB document (16 MB). */
  planBytes: 12 * MIB,
  /** Result files copied to media storage. */
  resultFiles: 100,
  resultBytes: 4 * MIB,
} as const;

/** Two quotes, a colon and a comma. */
const NAME_MARKS = 4;
const encoder = new TextEncoder();

export const textBytes = (text: string): number => encoder.encode(text).length;

/** The longest prefix of a text within a number of UTF-8 bytes. Characters are never cut. */
export const beginningOf = (text: string, bytes: number): string =>
  text.length * 3 <= bytes ? text : text.slice(0, encoder.encodeInto(text, new Uint8Array(bytes)).read);

const [SPACE, QUOTE, BACKSLASH, ASCII_END, TWO_BYTES_END] = [0x20, 0x22, 0x5c, 0x80, 0x800];
const [SURROGATES, LOW_SURROGATES, SURROGATES_END] = [0xd800, 0xdc00, 0xe000];
/** Length of `\uXXXX`, the JSON form of control characters and lone surrogates. */
const ESCAPE_BYTES = 6;

/** JSON bytes of a text in UTF-8, without the quotes. */
const jsonTextBytes = (text: string): number => {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < SPACE) bytes += ESCAPE_BYTES;
    else if (code === QUOTE || code === BACKSLASH) bytes += 2;
    else if (code < ASCII_END) bytes += 1;
    else if (code < TWO_BYTES_END) bytes += 2;
    else if (code < SURROGATES || code >= SURROGATES_END) bytes += 3;
    else {
      const next = code < LOW_SURROGATES ? text.charCodeAt(at + 1) : 0;
      const isPair = next >= LOW_SURROGATES && next < SURROGATES_END;
      bytes += isPair ? 4 : ESCAPE_BYTES;
      if (isPair) at += 1;
    }
  }
  return bytes;
};

/** JSON bytes of a value. Counting stops above `most`. */
export const valueBytes = (value: unknown, most: number): number => {
  if (typeof value === "string") return value.length > most ? value.length : jsonTextBytes(value) + 2;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && bytes <= most; at += 1) bytes += valueBytes(value[at], most - bytes) + 1;
    return bytes;
  }
  for (const name in value) {
    if (bytes > most) break;
    if (!Object.hasOwn(value, name)) continue;
    bytes += jsonTextBytes(name) + NAME_MARKS + valueBytes((value as Record<string, unknown>)[name], most - bytes);
  }
  return bytes;
};

const KIB = 1024;
const MIB = KIB * KIB;

/** What one run may use up. */
export const GRAPH_BOUNDS = {
  /** Node ids name activities and idempotency keys, which have limits of their own. */
  nodeIdBytes: 200,
  /**
   * Calls of one run. Temporal lets a run have 2,000 activities pending, and cancelling adds one for each that is.
   */
  calls: 1_000,
  listItems: 1_000,
  listBytes: 4 * MIB,
  /** Every value that a run makes, from its inputs on, together. */
  valueBytes: 8 * MIB,
  /** Placeholders filled, elements copied, expressions evaluated: see `RunBudget.work`. */
  work: 250_000,
  warnings: 100,
  /** What an execution tells of the outputs of nodes that call nothing, as JSON. */
  reportedBytes: 64 * KIB,
  issues: 100,
  /** A plan: its settings, and every known value as often as it is used. It must fit into one document (16 MB). */
  planBytes: 12 * MIB,
  /** Files of one result that are fetched into our storage. */
  resultFiles: 100,
  resultBytes: 4 * MIB,
} as const;

/** Quotes around a name, its colon, and the comma behind its value. */
const NAME_MARKS = 4;
const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export const textBytes = (text: string): number => encoder.encode(text).length;

/** The beginning of a text that takes no more UTF-8 bytes than that; no character is parted. */
export const beginningOf = (text: string, bytes: number): string =>
  text.length * 3 <= bytes ? text : text.slice(0, encoder.encodeInto(text, new Uint8Array(bytes)).read);

const [SPACE, QUOTE, BACKSLASH, ASCII_END, TWO_BYTES_END] = [0x20, 0x22, 0x5c, 0x80, 0x800];
const [SURROGATES, LOW_SURROGATES, SURROGATES_END] = [0xd800, 0xdc00, 0xe000];
/** What JSON makes of control characters and halves of surrogate pairs: a backslash, u and four digits. */
const ESCAPE_BYTES = 6;

/** Bytes of a text as JSON in UTF-8, without its quotes. */
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

/** How many bytes a value is as JSON; counting stops beyond `most`. */
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

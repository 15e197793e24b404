const KIB = 1024;
const MIB = KIB * KIB;

/** How much one run may be, whatever its graph makes of its inputs. */
export const GRAPH_BOUNDS = {
  /** Node ids name activities and idempotency keys, which have limits of their own. */
  nodeIdBytes: 200,
  /**
   * Calls of one run. Temporal lets a run have 2,000 activities pending, and cancelling adds one for each that is.
   */
  calls: 1_000,
  /** Elements of one list. */
  listItems: 1_000,
  /** A list and everything in it. */
  listBytes: 4 * MIB,
  /** A plan: its settings, and every known value as often as it is used. Compressed it must fit into one document. */
  planBytes: 16 * MIB,
} as const;

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export const textBytes = (text: string): number => encoder.encode(text).length;

/** About how many bytes a value is as JSON; counting stops beyond `most`. */
export const valueBytes = (value: unknown, most: number): number => {
  if (typeof value === "string") return value.length > most ? value.length : textBytes(value) + 2;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 2;
  for (const [name, inner] of Array.isArray(value) ? value.map((item): [string, unknown] => ["", item]) : Object.entries(value)) {
    if (bytes > most) break;
    bytes += name.length + valueBytes(inner, most - bytes) + 1;
  }
  return bytes;
};

/** Values in a graph as documented: the reference for random graphs. */

/** No value: the port is behind a branch that wasn't taken. */
export const DEAD: unique symbol = Symbol("dead");
/** An item of a list whose call failed under `onItemError: "skip"`. It keeps its position. */
export const GAP: unique symbol = Symbol("gap");

/** A graph that is too large or too costly to compare. */
export class Unsuitable extends Error {}
export class NodeFailure extends Error {
  constructor(readonly code: "EXECUTION_FAILED" | "PROVIDER_RESPONSE_INCOMPLETE" = "EXECUTION_FAILED") {
    super(code);
  }
}

/** A file in the platform's storage. Its address differs between runs. */
export interface File {
  file: "image" | "audio";
}
export const isFile = (value: unknown): value is File => typeof value === "object" && value !== null && "file" in value;

/** Placeholder for the address of a file in a text. */
export const ADDRESS = "«file»";
const MOST_CHARACTERS = 20_000;

/** Lists are flattened by one level, and absent values add nothing. */
export const spread = (values: readonly unknown[]): unknown[] =>
  values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value]));

/** Value of a port: the value of its only edge, or a list of all values. */
export const joined = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : spread(values));

/** Value of an input that takes a whole list: the list without its gaps. */
export const whole = (value: unknown): unknown => (Array.isArray(value) ? (value as unknown[]).filter((one) => one !== GAP) : value);

export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return (whole(value) as unknown[]).map(textOf).join("\n\n");
  if (isFile(value)) return ADDRESS;
  return typeof value === "object" ? JSON.stringify(value) : String(value as number | boolean);
};

export type Ports = Readonly<Record<string, unknown>>;

/** Fills `{{name}}` in a text. */
export const filled = (template: string, ports: Ports, encode: (text: string) => string = (text) => text): string => {
  const text = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => encode(textOf(ports[name])));
  if (text.length > MOST_CHARACTERS) throw new Unsuitable("a text is too long");
  return text;
};

/** The value of one item, or the list of all items' values. A gap takes as many positions as each other item. */
export const gathered = (values: readonly unknown[], isMapped: boolean): unknown => {
  if (!isMapped) return values[0];
  const sizes = new Set(values.filter((one) => one !== GAP).map((one) => (Array.isArray(one) ? one.length : 1)));
  const size = sizes.size === 1 ? [...sizes][0]! : 1;
  return spread(values.map((one) => (one === GAP ? Array.from({ length: size }, () => GAP) : one)));
};

const MOST_ITEMS = 50;

/**
 * Items of a node. Lists at single-value ports are paired, and single values repeat.
 * @param lists ports that take a whole list
 */
export const itemsOf = (ports: Ports, lists: readonly string[] = []): { items: (Ports | typeof GAP)[]; isMapped: boolean } => {
  const mapped = Object.entries(ports).filter(
    (entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && !lists.includes(entry[0]),
  );
  if (mapped.length === 0) return { items: [ports], isMapped: false };
  const sizes = new Set(mapped.map(([, list]) => list.length));
  const [size = 0] = sizes;
  if (sizes.size > 1 || size > MOST_ITEMS) throw new NodeFailure();
  const items = Array.from({ length: size }, (_, index) => {
    const own = mapped.map(([port, list]) => [port, list[index]] as const);
    return own.some(([, value]) => value === GAP) ? GAP : { ...ports, ...Object.fromEntries(own) };
  });
  return { items, isMapped: true };
};

export interface Entry {
  path: string;
  content: AsyncIterable<string | Uint8Array>;
  isCompressed?: boolean;
}

/** Collects sentences about data that the archive omits, for its reader. */
export interface Missing {
  add(what: string): void;
}

async function* once(text: string): AsyncIterable<string> {
  yield await Promise.resolve(text);
}

export const textEntry = (path: string, text: string): Entry => ({ path, content: once(text) });
export const jsonEntry = (path: string, value: unknown): Entry => textEntry(path, `${JSON.stringify(value, null, 2)}\n`);

async function* lines(rows: AsyncIterable<unknown>): AsyncIterable<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}
export const linesEntry = (path: string, rows: AsyncIterable<unknown>): Entry => ({ path, content: lines(rows) });

/** @param says called if there are more rows, to record that they are missing */
export async function* atMost<T>(rows: AsyncIterable<T>, most: number, says: () => void): AsyncIterable<T> {
  let count = 0;
  for await (const row of rows) {
    if (count === most) return says();
    count += 1;
    yield row;
  }
}

export async function* allPages<T>(page: (cursor: string) => Promise<{ rows: readonly T[]; next: string }>): AsyncIterable<T> {
  let cursor = "";
  do {
    const { rows, next } = await page(cursor);
    yield* rows;
    cursor = next;
  } while (cursor !== "");
}

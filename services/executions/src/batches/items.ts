import type { ItemInput } from "../run/batch";

/** Items of a batch, in order. Those of a file or of an earlier batch are read again in each iteration, so that they needn't fit in memory. */
export type Items = Iterable<ItemInput> | AsyncIterable<ItemInput>;

/** Maximum items, and about the maximum characters, that are in memory at once. */
const PAGE_ITEMS = 100;
const PAGE_CHARS = 1024 * 1024;

/** Groups items into pages. A page with a long item has few items. */
export async function* itemPages(items: Items): AsyncGenerator<ItemInput[]> {
  let page: ItemInput[] = [];
  let chars = 0;
  for await (const item of items) {
    page.push(item);
    chars += item.inputsJson.length + item.settingsJson.length;
    if (page.length < PAGE_ITEMS && chars < PAGE_CHARS) continue;
    yield page;
    [page, chars] = [[], 0];
  }
  if (page.length > 0) yield page;
}

import { setImmediate as turn } from "node:timers/promises";
import MiniSearch, { type Query } from "minisearch";
import { sectionsOf } from "./markdown";
import { waysToSay } from "./synonyms";

/** Full-text search over the sections of all pages; the index is built at the first query. */

export interface SearchPage {
  address: string;
  title: string;
  markdown: string;
  /** Reference pages rank lower: explanations come first. */
  isReference: boolean;
}

export interface SearchResult {
  address: string;
  page: string;
  heading: string;
  /** Text around the first match, and the matching words. */
  excerpt: string;
  words: readonly string[];
}

export interface Search {
  find(query: string): Promise<SearchResult[]>;
}

interface IndexedSection extends Omit<SearchResult, "excerpt" | "words"> {
  id: number;
  body: string;
  isReference: boolean;
}

/** Stores texts as UTF-8, because most take half the memory of a string. */
interface CompactSection extends Omit<IndexedSection, "id" | "body"> {
  body: Buffer;
}

export const MAX_FOUND = 30;
/** Words searched per query; each also scans all words with that prefix. */
const MAX_WORDS = 8;
const PREFIX_CHARS = 3;
const FUZZY_CHARS = 5;
const FUZZINESS = 0.15;
/** Weight of reference sections relative to guides. */
const REFERENCE_WEIGHT = 0.4;
const EXCERPT_CHARS = 240;
const BEFORE_CHARS = 80;

const options = {
  fields: ["page", "heading", "body"],
  searchOptions: {
    boost: { heading: 5, page: 3 },
    prefix: (term: string) => term.length >= PREFIX_CHARS,
    fuzzy: (term: string) => (term.length >= FUZZY_CHARS ? FUZZINESS : false),
  },
};

const indexedOf = ({ address, title, markdown, isReference }: SearchPage): Omit<IndexedSection, "id">[] =>
  sectionsOf(markdown).map(({ level, id, text, body }) => ({
    address: level === 1 ? address : `${address}#${id}`,
    page: title,
    heading: level === 1 ? "" : text,
    body,
    isReference,
  }));

/** All words of a text must match. */
const allOf = (text: string): Query => ({ combineWith: "AND", queries: text.split(" ") });

const excerptOf = (body: string, words: readonly string[]): string => {
  const lower = body.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = first <= BEFORE_CHARS ? 0 : body.indexOf(" ", first - BEFORE_CHARS) + 1;
  const to = from + EXCERPT_CHARS;
  return `${from > 0 ? "… " : ""}${body.slice(from, to)}${to < body.length ? " …" : ""}`;
};

const createIndex = async (
  pages: () => Iterable<SearchPage>,
): Promise<{ index: MiniSearch<IndexedSection>; sections: CompactSection[] }> => {
  const index = new MiniSearch<IndexedSection>(options);
  const sections: CompactSection[] = [];
  for (const page of pages()) {
    for (const section of indexedOf(page)) {
      index.add({ id: sections.length, ...section });
      sections.push({ ...section, body: Buffer.from(section.body) });
    }
    // Lets other requests proceed.
    await turn();
  }
  return { index, sections };
};

/** @param pages read once, at the first search */
export const createSearch = (pages: () => Iterable<SearchPage>): Search => {
  let searchIndex: ReturnType<typeof createIndex> | undefined;
  return {
    find: async (query) => {
      const { index, sections } = await (searchIndex ??= createIndex(pages));
      const words = query.split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
      const queries = words.map((word) => ({ combineWith: "OR" as const, queries: waysToSay(word).map(allOf) }));
      const boostDocument = (id: unknown): number => (sections[id as number]!.isReference ? REFERENCE_WEIGHT : 1);
      const all = index.search({ combineWith: "AND", queries }, { boostDocument });
      const results = all.length > 0 ? all : index.search({ combineWith: "OR", queries }, { boostDocument });
      return results.slice(0, MAX_FOUND).map(({ id, terms }) => {
        const { address, page, heading, body } = sections[id as number]!;
        return { address, page, heading, excerpt: excerptOf(body.toString(), terms), words: terms };
      });
    },
  };
};

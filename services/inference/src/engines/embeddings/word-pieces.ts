/** BERT's WordPiece tokenizer. It splits words into the longest pieces in the vocabulary. */

const BEGIN = "[CLS]";
const END = "[SEP]";
const UNKNOWN = "[UNK]";
/** Prefix of pieces that continue a word. */
const GOES_ON = "##";
/** Longer words become unknown tokens. */
const MAX_WORD_CHARACTERS = 100;
/** Each Chinese character and each punctuation mark counts as a word. */
const WORD = /\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}])+|[^\s\p{L}\p{N}]/gu;

export interface WordPieces {
  /** Returns token ids of a text with start and end tokens, and whether the text was truncated. */
  tokens(text: string): { ids: number[]; isCut: boolean };
}

/**
 * @param vocabulary token ids by piece
 * @param maxTokens maximum per text, including start and end tokens
 */
export const createWordPieces = (vocabulary: Readonly<Record<string, number>>, maxTokens: number): WordPieces => {
  const idOf = (piece: string): number | undefined => (Object.hasOwn(vocabulary, piece) ? vocabulary[piece] : undefined);
  const mark = (name: string): number => {
    const id = idOf(name);
    if (id === undefined) throw new Error(`the vocabulary has no ${name}`);
    return id;
  };
  const [begin, end, unknown] = [mark(BEGIN), mark(END), mark(UNKNOWN)];

  const longest = (word: string, from: number): { id: number; to: number } | undefined => {
    for (let to = word.length; to > from; to--) {
      const id = idOf((from > 0 ? GOES_ON : "") + word.slice(from, to));
      if (id !== undefined) return { id, to };
    }
    return undefined;
  };
  const pieces = (word: string): number[] => {
    if (word.length > MAX_WORD_CHARACTERS) return [unknown];
    const ids: number[] = [];
    for (let from = 0; from < word.length;) {
      const piece = longest(word, from);
      if (!piece) return [unknown];
      ids.push(piece.id);
      from = piece.to;
    }
    return ids;
  };

  return {
    tokens: (text) => {
      const plain = text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
      const room = maxTokens - 2;
      const ids: number[] = [];
      for (const [word] of plain.matchAll(WORD)) {
        if (ids.length > room) break;
        ids.push(...pieces(word));
      }
      return { ids: [begin, ...ids.slice(0, room), end], isCut: ids.length > room };
    },
  };
};

/** CLIP's tokenizer. It merges the bytes of words by a table, in the order of the table. */

const BEGIN = "<|startoftext|>";
const END = "<|endoftext|>";
/** Follows the last character of a word. */
const WORD_END = "</w>";
const WORD = /'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+/gu;
/** Longer words are cut. */
const MAX_WORD_BYTES = 200;

/** Bytes that stand for themselves in the table. The others are represented by the characters from 256 on. */
const isPrintable = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;

/** Characters for the 256 bytes. */
export const SYMBOLS: readonly string[] = (() => {
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : 256 + others++));
})();

/**
 * @param vocabulary token ids by piece
 * @param merges the table: a line per pair, most frequent first
 * @param length tokens of every text, including those for its start and end
 */
export const createClipTokens = (
  vocabulary: Readonly<Record<string, number>>,
  merges: string,
  length: number,
): ((text: string) => number[]) => {
  const lines = merges.split("\n").filter((line) => line !== "" && !line.startsWith("#version"));
  const ranks = new Map(lines.map((line, rank) => [line.trim(), rank]));
  const idOf = (piece: string): number => {
    const id = Object.hasOwn(vocabulary, piece) ? vocabulary[piece] : undefined;
    if (id === undefined) throw new Error(`the vocabulary has no ${piece}`);
    return id;
  };
  const [begin, end] = [idOf(BEGIN), idOf(END)];

  const piecesOf = (word: string): string[] => {
    let pieces = [...Buffer.from(word).subarray(0, MAX_WORD_BYTES)].map((byte) => SYMBOLS[byte]!);
    pieces.push(pieces.pop()! + WORD_END);
    for (;;) {
      const rankAt = (index: number): number => ranks.get(`${pieces[index]} ${pieces[index + 1]}`) ?? Infinity;
      const best = Math.min(...pieces.slice(1).map((_, index) => rankAt(index)));
      if (best === Infinity) return pieces;
      const joined: string[] = [];
      for (let index = 0; index < pieces.length; index++) {
        const isPair = index + 1 < pieces.length && rankAt(index) === best;
        joined.push(isPair ? pieces[index]! + pieces[index + 1]! : pieces[index]!);
        if (isPair) index += 1;
      }
      pieces = joined;
    }
  };

  return (text) => {
    const room = length - 2;
    const ids: number[] = [];
    for (const [word] of text.normalize("NFC").toLowerCase().matchAll(WORD)) {
      if (ids.length >= room) break;
      ids.push(...piecesOf(word).map(idOf));
    }
    const tokens = [begin, ...ids.slice(0, room), end];
    return [...tokens, ...Array<number>(length - tokens.length).fill(end)];
  };
};

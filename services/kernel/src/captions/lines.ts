/** Computes line breaks and widths of captions. Lines break at spaces and, in scripts without spaces, between words. */

const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\u3000-\\u303f\\uff00-\\uff65";
const ENDS_UNSPACED = new RegExp(`[${UNSPACED}]$`, "u");
const BEGINS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
/** Characters that are twice as wide as letters. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff00-\uff60]/gu;
/** Combining marks have no width. */
const NARROW = /\p{Mn}/gu;
const WORDS = new Intl.Segmenter("und", { granularity: "word" });

const widthOf = (text: string): number => text.replace(NARROW, "").replace(WIDE, "mm").length;

/** Joins two words. Chinese, Japanese and Thai have no space between words. */
export const joinedWords = (one: string, next: string): string =>
  ENDS_UNSPACED.test(one) && BEGINS_UNSPACED.test(next) ? one + next : `${one} ${next}`;

/** Splits a text without spaces into words. Punctuation stays with the preceding word. */
const piecesOf = (text: string): string[] => {
  const pieces: string[] = [];
  for (const { segment, isWordLike } of WORDS.segment(text)) {
    const last = pieces.at(-1);
    const mayBreak = last !== undefined && isWordLike && (ENDS_UNSPACED.test(last) || BEGINS_UNSPACED.test(segment));
    if (last === undefined || mayBreak) pieces.push(segment);
    else pieces[pieces.length - 1] = last + segment;
  }
  return pieces;
};

/** Breaks a text into lines of limited width. Wide characters count twice. A word that is too long gets a separate line. */
export const brokenInto = (text: string, characters: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean))
    for (const [index, piece] of piecesOf(word).entries()) {
      const last = lines.at(-1);
      const longer = last === undefined ? piece : last + (index === 0 ? " " : "") + piece;
      if (last !== undefined && widthOf(longer) > characters) lines.push(piece);
      else lines[Math.max(0, lines.length - 1)] = longer;
    }
  return lines;
};

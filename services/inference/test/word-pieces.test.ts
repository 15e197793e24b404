import { createWordPieces } from "../src/engines/embeddings/word-pieces";

const PIECES = ["[CLS]", "[SEP]", "[UNK]", "un", "##aff", "##able", "cafe", "!", "水", "火"];
const vocabulary = Object.fromEntries(PIECES.map((piece, id) => [piece, id]));
const namedTokens = (text: string, maxTokens = 16) => {
  const { ids, isCut } = createWordPieces(vocabulary, maxTokens).tokens(text);
  return { pieces: ids.map((id) => PIECES[id]).join(" "), isCut };
};

it.each([
  ["Unaffable café!", "[CLS] un ##aff ##able cafe ! [SEP]"],
  ["水火", "[CLS] 水 火 [SEP]"],
  ["unknown constructor", "[CLS] [UNK] [UNK] [SEP]"],
  ["", "[CLS] [SEP]"],
])("splits %j into the longest known pieces", (text, pieces) => {
  expect(namedTokens(text)).toEqual({ pieces, isCut: false });
});

it("truncates a text with more tokens than the model supports, and reports it", () => {
  expect(namedTokens("cafe cafe cafe", 5)).toEqual({ pieces: "[CLS] cafe cafe cafe [SEP]", isCut: false });
  expect(namedTokens("cafe unaffable", 5)).toEqual({ pieces: "[CLS] cafe un ##aff [SEP]", isCut: true });
});

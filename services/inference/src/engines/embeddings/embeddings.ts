import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoadEngine } from "../engine";
import type { Tensor } from "../libraries";
import { openSession } from "../pictures";
import { createWordPieces } from "./word-pieces";

const MAX_TOKENS = 256;
/** Digits beyond the precision of the weights are dropped. */
const DIGITS = 6;

export interface EmbeddingInputs {
  texts: readonly string[];
  /** Text that is compared with all others. */
  query?: string;
}

interface Embedding {
  vector: number[];
  tokens: number;
  isCut: boolean;
}

const short = (value: number): number => Number(value.toFixed(DIGITS));

/** Mean of the token vectors, normalized to length 1. */
const meanOf = ({ data, dims }: Tensor): number[] => {
  const [, count = 1, width = 0] = dims.length === 3 ? dims : [1, 1, dims[1]!];
  const sums = Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let row = 0; row < count; row++) sum += data[row * width + column] as number;
    return sum;
  });
  const length = Math.hypot(...sums) || 1;
  return sums.map((sum) => sum / length);
};

const similarity = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, index) => sum + value * other[index]!, 0);

/**
 * Computes a vector per text. With a query, it also returns similarities from -1 to 1 and the order of the texts, nearest first. The
 * answer's text is then the nearest text.
 */
export const loadEmbeddings: LoadEngine = async (context) => {
  const folder = context.weights("embeddings");
  const { onnx, session } = await openSession(context, join(folder, "model.onnx"));
  const { model } = JSON.parse(await readFile(join(folder, "tokenizer.json"), "utf8")) as { model: { vocab: Record<string, number> } };
  const pieces = createWordPieces(model.vocab, MAX_TOKENS);

  const embed = async (text: string): Promise<Embedding> => {
    const { ids, isCut } = pieces.tokens(text);
    const tensor = (values: readonly number[]): Tensor => new onnx.Tensor("int64", BigInt64Array.from(values, BigInt), [1, ids.length]);
    const feeds: Record<string, Tensor> = {
      input_ids: tensor(ids),
      attention_mask: tensor(ids.map(() => 1)),
      token_type_ids: tensor(ids.map(() => 0)),
    };
    const knownFeeds = Object.fromEntries(Object.entries(feeds).filter(([name]) => session.inputNames.includes(name)));
    const answer = await session.run(knownFeeds);
    return { vector: meanOf(answer[session.outputNames[0]!]!), tokens: ids.length, isCut };
  };

  return {
    run: async ({ inputs }, { progress }) => {
      const { texts, query } = inputs as unknown as EmbeddingInputs;
      const embedded: Embedding[] = [];
      for (const text of texts) {
        embedded.push(await embed(text));
        progress(embedded.length / texts.length);
      }
      const vectors = embedded.map(({ vector }) => vector.map(short));
      const cut = embedded.flatMap(({ isCut }, index) => (isCut ? [index] : []));
      const tokens = embedded.reduce((sum, one) => sum + one.tokens, 0);
      const json = { vectors, tokens, ...(cut.length > 0 ? { cut } : {}) };
      if (query === undefined) return { text: `${vectors.length} vectors of ${vectors[0]!.length} numbers`, json };
      const { vector: queryVector } = await embed(query);
      const scores = embedded.map(({ vector }) => short(similarity(vector, queryVector)));
      const order = scores.map((_, index) => index).sort((a, b) => scores[b]! - scores[a]!);
      return { text: texts[order[0]!]!, json: { ...json, scores, order } };
    },
  };
};

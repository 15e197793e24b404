import { invalidRequest } from "@nodeloom/kernel";

/**
 * Decodes texts that clients such as LangChain send as tokens of OpenAI's embedding models (encoding cl100k_base). Models here use other
 * tokens, so they get the texts.
 */

/** One more than the encoding's last text token. */
const TOKENS = 100_256;

interface Encoding {
  decode(ids: number[]): string;
}

let encoding: Encoding | undefined;

/** Loads the table on first use, which takes some MB and half a second. */
const loaded = async (): Promise<Encoding> => {
  if (encoding) return encoding;
  const [library, { default: ranks }] = await Promise.all([import("js-tiktoken/lite"), import("js-tiktoken/ranks/cl100k_base")]);
  return (encoding = new library.Tiktoken(ranks));
};

/** @throws DomainError INVALID_REQUEST, naming the text with an invalid token */
export const textsOfTokens = async (lists: readonly (readonly number[])[]): Promise<string[]> => {
  const at = lists.findIndex((ids) => ids.some((id) => id >= TOKENS));
  if (at !== -1) throw invalidRequest([{ path: `input.${at}`, message: `must be tokens of cl100k_base, below ${TOKENS}, or text` }]);
  const tokens = await loaded();
  return lists.map((ids) => tokens.decode([...ids]));
};

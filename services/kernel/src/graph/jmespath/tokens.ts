/** Tokens of JMESPath (https://jmespath.org/specification.html). */
import { parseExact } from "../../text/json-text";

export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

export type TokenType =
  | "name"
  | "number"
  | "literal"
  | "end"
  | "."
  | "*"
  | "["
  | "]"
  | "[]"
  | "[?"
  | "{"
  | "}"
  | "("
  | ")"
  | ","
  | ":"
  | "@"
  | "&"
  | "&&"
  | "|"
  | "||"
  | "!"
  | "=="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">=";

export interface Token {
  type: TokenType;
  /** The text of a name, or the value of a number or literal. */
  value?: unknown;
  /** True for a quoted name, which can't be a function. */
  isQuoted?: boolean;
  at: number;
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /-?\d+/y;
const QUOTED = /"(?:[^"\\]|\\.)*"/sy;
const RAW = /'((?:[^'\\]|\\.)*)'/sy;
const JSON_LITERAL = /`((?:[^`\\]|\\.)*)`/sy;
const SYMBOL = /\[\?|\[\]|&&|\|\||==|!=|<=|>=|[.*[\]{}(),:@&|!<>]/y;
const BLANK = /[ \t\r\n]+/y;

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

const parsed = (json: string, at: number): unknown => {
  try {
    return parseExact(json);
  } catch {
    throw new ExpressionError(`the literal at character ${at + 1} isn't JSON`);
  }
};

/** Backtick literals are JSON. Unquoted text in backticks is deprecated but accepted. */
const literalOf = (content: string, at: number): unknown => {
  const json = content.replaceAll("\\`", "`").trim();
  return /^[[{"\-\d]|^(?:true|false|null)$/.test(json) ? parsed(json, at) : json;
};

const tokenAt = (text: string, at: number): { token: Token; length: number } => {
  const name = matchAt(NAME, text, at)?.[0];
  if (name !== undefined) return { token: { type: "name", value: name, at }, length: name.length };
  const number = matchAt(NUMBER, text, at)?.[0];
  if (number !== undefined) return { token: { type: "number", value: Number(number), at }, length: number.length };
  const quoted = matchAt(QUOTED, text, at)?.[0];
  if (quoted !== undefined) return { token: { type: "name", value: parsed(quoted, at), isQuoted: true, at }, length: quoted.length };
  const raw = matchAt(RAW, text, at);
  if (raw) return { token: { type: "literal", value: raw[1]!.replaceAll("\\'", "'").replaceAll("\\\\", "\\"), at }, length: raw[0].length };
  const literal = matchAt(JSON_LITERAL, text, at);
  if (literal) return { token: { type: "literal", value: literalOf(literal[1]!, at), at }, length: literal[0].length };
  const symbol = matchAt(SYMBOL, text, at)?.[0];
  if (symbol !== undefined) return { token: { type: symbol as TokenType, at }, length: symbol.length };
  throw new ExpressionError(`${JSON.stringify(text.charAt(at))} at character ${at + 1} isn't allowed there`);
};

/** @throws ExpressionError for an invalid token */
export const tokensOf = (text: string): Token[] => {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    const blank = matchAt(BLANK, text, at);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const { token, length } = tokenAt(text, at);
    tokens.push(token);
    at += length;
  }
  return [...tokens, { type: "end", at: text.length }];
};

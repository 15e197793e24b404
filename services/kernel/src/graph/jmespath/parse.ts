import { textBytes } from "../bounds";
import { ExpressionError, tokensOf, type Token, type TokenType } from "./tokens";

export type Comparator = "==" | "!=" | "<" | "<=" | ">" | ">=";

export type Expression =
  | { type: "current" }
  | { type: "field"; name: string }
  | { type: "index"; index: number }
  | { type: "slice"; start: number | null; stop: number | null; step: number | null }
  | { type: "literal"; value: unknown }
  /** Evaluates `right` with the result of `left`. */
  | { type: "then"; left: Expression; right: Expression }
  /** Evaluates `right` for each element of `left`. */
  | { type: "project"; of: "list" | "object" | "flatten" | "slice"; left: Expression; right: Expression }
  | { type: "filter"; left: Expression; condition: Expression; right: Expression }
  | { type: "or" | "and"; left: Expression; right: Expression }
  | { type: "not"; of: Expression }
  | { type: "compare"; by: Comparator; left: Expression; right: Expression }
  | { type: "list"; elements: Expression[] }
  | { type: "object"; members: [string, Expression][] }
  | { type: "call"; name: string; arguments: Expression[] }
  | { type: "reference"; to: Expression };

export const EXPRESSION_BOUNDS = { bytes: 32 * 1024, depth: 32 } as const;

const BINDING: Readonly<Partial<Record<TokenType, number>>> = {
  "|": 1,
  "||": 2,
  "&&": 3,
  "==": 5,
  "!=": 5,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  "[]": 9,
  "*": 20,
  "[?": 21,
  ".": 40,
  "!": 45,
  "{": 50,
  "[": 55,
  "(": 60,
};
/** Tokens with a lower binding power end the right side of a projection. */
const PROJECTION_STOP = 10;
const CURRENT: Expression = { type: "current" };
const isComparator = (type: TokenType): type is Comparator => BINDING[type] === BINDING["=="];

/** @throws ExpressionError with the problem and its position */
export const parseExpression = (text: string): Expression => {
  if (textBytes(text) > EXPRESSION_BOUNDS.bytes) throw new ExpressionError(`is longer than ${EXPRESSION_BOUNDS.bytes} bytes`);
  const tokens = tokensOf(text);
  let [at, depth] = [0, 0];
  const peek = (): Token => tokens[at]!;
  const next = (): Token => tokens[at++]!;
  const fail = ({ type, value, at: where }: Token): never => {
    const what = type === "end" ? "its end" : JSON.stringify(type === "name" || type === "number" ? value : type);
    const hint = type === "number" ? `: an index is written as [${value}]` : "";
    throw new ExpressionError(`${what} at character ${where + 1} isn't allowed there${hint}`);
  };
  const expect = (type: TokenType): Token => (peek().type === type ? next() : fail(peek()));
  const accept = (type: TokenType): boolean => {
    const isNext = peek().type === type;
    if (isNext) at += 1;
    return isNext;
  };

  const expression = (binding: number): Expression => {
    depth += 1;
    if (depth > EXPRESSION_BOUNDS.depth) throw new ExpressionError(`is deeper than ${EXPRESSION_BOUNDS.depth} levels`);
    let left = prefix(next());
    // A chain of n tokens is a tree of depth n.
    for (let chain = 0; binding < (BINDING[peek().type] ?? 0); chain += 1) {
      if (chain > EXPRESSION_BOUNDS.depth) throw new ExpressionError(`has a chain of more than ${EXPRESSION_BOUNDS.depth} parts`);
      left = infix(next(), left);
    }
    depth -= 1;
    return left;
  };

  /** Parses the rest of the expression, which applies to each element of the projection. */
  const projected = (binding: number): Expression => {
    const { type } = peek();
    if ((BINDING[type] ?? 0) < PROJECTION_STOP) return CURRENT;
    if (type === "[" || type === "[?") return expression(binding);
    if (type !== ".") return fail(peek());
    next();
    return afterDot(binding);
  };

  const afterDot = (binding: number): Expression => {
    const token = peek();
    if (token.type === "name" || token.type === "*") return expression(binding);
    if (token.type === "[") {
      next();
      return listOf();
    }
    if (token.type === "{") {
      next();
      return objectOf();
    }
    return fail(token);
  };

  const listOf = (): Expression => {
    const elements = [expression(0)];
    while (accept(",")) elements.push(expression(0));
    expect("]");
    return { type: "list", elements };
  };

  const objectOf = (): Expression => {
    const members: [string, Expression][] = [];
    do {
      const name = expect("name");
      expect(":");
      members.push([String(name.value), expression(0)]);
    } while (accept(","));
    expect("}");
    return { type: "object", members };
  };

  const number = (): number | null => (peek().type === "number" ? Number(next().value) : null);

  /** Parses an index or a slice after its `[`. */
  const indexOf = (left: Expression): Expression => {
    const start = number();
    if (accept("]")) return start === null ? fail(tokens[at - 1]!) : { type: "then", left, right: { type: "index", index: start } };
    expect(":");
    const stop = number();
    const step = accept(":") ? number() : null;
    expect("]");
    if (step === 0) throw new ExpressionError("a slice can't have steps of 0");
    const slice: Expression = { type: "then", left, right: { type: "slice", start, stop, step } };
    return { type: "project", of: "slice", left: slice, right: projected(BINDING["*"]!) };
  };

  const bracket = (left: Expression): Expression => {
    const { type } = peek();
    if (type === "number" || type === ":") return indexOf(left);
    if (type === "*" && tokens[at + 1]!.type === "]") {
      at += 2;
      return { type: "project", of: "list", left, right: projected(BINDING["*"]!) };
    }
    return left === CURRENT ? listOf() : fail(peek());
  };

  const filterOf = (left: Expression): Expression => {
    const condition = expression(0);
    expect("]");
    const right = peek().type === "[]" ? CURRENT : projected(BINDING["[?"]!);
    return { type: "filter", left, condition, right };
  };

  const flattened = (left: Expression): Expression => ({ type: "project", of: "flatten", left, right: projected(BINDING["[]"]!) });

  const prefix = (token: Token): Expression => {
    switch (token.type) {
      case "literal":
        return { type: "literal", value: token.value };
      case "name":
        if (peek().type === "(" && token.isQuoted) return fail(peek());
        return { type: "field", name: String(token.value) };
      case "!":
        return { type: "not", of: expression(BINDING["!"]!) };
      case "*":
        return { type: "project", of: "object", left: CURRENT, right: peek().type === "]" ? CURRENT : projected(BINDING["*"]!) };
      case "[?":
        return filterOf(CURRENT);
      case "[]":
        return flattened(CURRENT);
      case "[":
        return bracket(CURRENT);
      case "{":
        return objectOf();
      case "@":
        return CURRENT;
      case "&":
        return { type: "reference", to: expression(0) };
      case "(": {
        const inner = expression(0);
        expect(")");
        return inner;
      }
      default:
        return fail(token);
    }
  };

  const call = (left: Expression, token: Token): Expression => {
    if (left.type !== "field") return fail(token);
    const argumentNodes: Expression[] = [];
    if (!accept(")")) {
      do argumentNodes.push(expression(0));
      while (accept(","));
      expect(")");
    }
    return { type: "call", name: left.name, arguments: argumentNodes };
  };

  const infix = (token: Token, left: Expression): Expression => {
    const { type } = token;
    if (isComparator(type)) return { type: "compare", by: type, left, right: expression(BINDING[type]!) };
    switch (type) {
      case ".":
        if (peek().type !== "*") return { type: "then", left, right: afterDot(BINDING["."]!) };
        next();
        return { type: "project", of: "object", left, right: projected(BINDING["."]!) };
      case "|":
        return { type: "then", left, right: expression(BINDING["|"]!) };
      case "||":
        return { type: "or", left, right: expression(BINDING["||"]!) };
      case "&&":
        return { type: "and", left, right: expression(BINDING["&&"]!) };
      case "(":
        return call(left, token);
      case "[?":
        return filterOf(left);
      case "[]":
        return flattened(left);
      case "[":
        return bracket(left);
      default:
        return fail(token);
    }
  };

  if (peek().type === "end") throw new ExpressionError("is empty");
  const whole = expression(0);
  return peek().type === "end" ? whole : fail(peek());
};

/** Returns what is wrong with an expression, or undefined. */
export const expressionProblem = (text: string): string | undefined => {
  try {
    parseExpression(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return error.message;
  }
};

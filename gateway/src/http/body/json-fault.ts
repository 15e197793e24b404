import { parse, printParseErrorCode, type ParseError } from "jsonc-parser";

/** Position of a JSON syntax error: ` (line 2, column 7: comma expected)`, or empty if unknown. */
export const jsonFaultPlace = (text: string): string => {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (first === undefined) return "";
  const before = text.slice(0, first.offset).split("\n");
  const fault = printParseErrorCode(first.error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
  return ` (line ${before.length}, column ${before.at(-1)!.length + 1}: ${fault})`;
};

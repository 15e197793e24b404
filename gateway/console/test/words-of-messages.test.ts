import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { parse } from "./support/literals";

const GATEWAY = join(__dirname, "..", "..");
const FOLDERS = ["console/src", "client/src"];

/** Readers of a message's words, with the reason. Programs decide by codes. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "client/src/cli/outcome.ts": "leaves out issues that the message repeats; nothing is decided by it",
  "console/src/runs/trouble/cause.ts": "leaves out the node's name, by the name itself; nothing is decided by it",
};

/** Methods that look at a text: of the text, and of a regular expression. */
const OF_TEXT: ReadonlySet<string> = new Set(
  "match matchAll replace replaceAll search split includes startsWith endsWith indexOf lastIndexOf".split(" "),
);
const OF_PATTERN: ReadonlySet<string> = new Set(["test", "exec"]);
/** A message of an error or an issue, by its name. */
const MESSAGE = /(?:^|[.?])(?:message|errorMessage)$|^(?:messageOf|textOf)\(/;

/** Places that look at the words of a message. */
const readersIn = (path: string, text: string): string[] => {
  const file = parse(path, text);
  const messageTests: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const method = node.expression.name.text;
      const tested = OF_TEXT.has(method) ? node.expression.expression : OF_PATTERN.has(method) ? node.arguments[0] : undefined;
      if (tested && MESSAGE.test(tested.getText())) messageTests.push(`${path}: ${node.getText().slice(0, 80)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return messageTests;
};

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(GATEWAY, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
);
const readers = (path: string): string[] => readersIn(path, readFileSync(join(GATEWAY, path), "utf8"));

describe("the console and the client", () => {
  it("decide by codes: nothing reads the words of a message", () => {
    expect(sources.length).toBeGreaterThan(300);
    expect(sources.filter((path) => !(path in EXCEPTIONS)).flatMap(readers)).toEqual([]);
    expect(Object.keys(EXCEPTIONS).filter((path) => readers(path).length === 0)).toEqual([]);
  });

  it.each([
    "const a = /timed out/.test(error.message);",
    "const a = PATTERN.exec(issue?.message);",
    "const a = error.message.includes('credits');",
    "const a = message.match(WORDS);",
    "const a = messageOf(error).startsWith('node ');",
  ])("are caught at %s", (text) => {
    expect(readersIn("a.ts", text)).toHaveLength(1);
  });

  it.each(["const a = NAME.test(error.code);", "const a = text.split(/,/);", "say(error.message);"])("may say %s", (text) => {
    expect(readersIn("a.ts", text)).toEqual([]);
  });
});

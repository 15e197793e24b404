import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { literalsOf, parse } from "./support/literals";

const SRC = join(__dirname, "..", "src");

/** Files whose literals aren't texts of the console. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "runs/snippets.ts": "programs in three languages",
  "runs/trouble/cause.ts": "the beginning of messages of the API",
  "editor/apps/apps.ts": "code for pages of others",
  "features/agents/clients.ts": "configurations of programs",
  "features/models/examples/examples.ts": "inputs and outputs of models, written by a drill",
  "features/triggers/hook-list.tsx": "a command for a terminal",
  "features/kitchen/kitchen-page.tsx": "a page for developers",
  "features/kitchen/node-alternatives.tsx": "a page for developers",
  "features/kitchen/sample-media.ts": "a page for developers",
  "ui/keys.tsx": "names of keys, as browsers send them",
};

/** The catalog: one file per feature, and one beside the document, which imports nothing else from the console. */
const isCatalog = (path: string): boolean => path.startsWith("messages/") || path === "document/messages.ts";
const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path) && !isCatalog(path));
const literalsIn = (path: string): string[] =>
  literalsOf(parse(path, readFileSync(join(SRC, path), "utf8"))).map(({ line, text }) => `${path}:${line} ${text}`);
const literalsOfText = (text: string): string[] => literalsOf(parse("page.tsx", text)).map((literal) => literal.text);

describe("texts of the console", () => {
  it("are all in the message catalog", () => {
    expect(sources.filter((path) => !(path in EXCEPTIONS)).flatMap(literalsIn)).toEqual([]);
  });

  it("has no exception that isn't needed", () => {
    expect(Object.keys(EXCEPTIONS).filter((path) => literalsIn(path).length === 0)).toEqual([]);
  });

  it.each([
    ["text between tags", "const a = <p>Save it with <code>?async=true</code></p>;", ["Save it with"]],
    ["a text in braces", "const a = <p>{isOn ? 'on' : 'off'}</p>;", ["on", "off"]],
    ["a label", "const a = <Button label='save' />;", ["save"]],
    ["a text with a value", "const a = <p title={`${n} runs`} />;", ["… runs"]],
    ["an entry of a menu", "const a = [{ label: 'Delete…', run }];", ["Delete…"]],
    ["a notice", "say('done'); complain(`Not ${name}`);", ["done", "Not …"]],
    [
      "an error that is shown",
      "throw new Error('The file is empty.'); throw new Error(`${name} is empty.`);",
      ["The file is empty.", "… is empty."],
    ],
    ["a table of texts", "const a = { running: 'Running', failed: 'It failed' };", ["Running", "It failed"]],
  ])("are found as %s", (_where, text, expectedLiterals) => {
    expect(literalsOfText(text)).toEqual(expectedLiterals);
  });

  it.each([
    ["classes", "const a = <p className='flex gap-2' data-kind='Big One' />;"],
    ["identifiers", "const a = kind === 'Ready now' ? request('listRuns') : queries['My Key'];"],
    ["imports", "import { a } from 'Some module';"],
    ["errors for programmers", "throw new Error('there is no such kind');"],
    ["text of the catalog", "const a = <p title={RUNS.title}>{RUNS.count(3)} · {1}</p>;"],
  ])("aren't %s", (_what, text) => {
    expect(literalsOfText(text)).toEqual([]);
  });
});

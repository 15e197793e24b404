import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { awkwardIn, awkwardInComments, missingFilesIn, participlesIn } from "../checks/words.mjs";

describe("the words of the documentation", () => {
  for (const sentence of [
    "Whoever runs it pays.",
    "A node of which all items fail fails.",
    "Webhooks hear of it.",
    "It begins anew.",
    "- Of a key it is the owner's.",
    "What is used up is not given back.",
  ])
    it(`refuse "${sentence}"`, () => assert.equal(awkwardIn(sentence).length > 0, true));

  it("are checked in sentences, not in code or in questions", () => {
    assert.deepEqual(awkwardIn('`anew` is a word.\n\n```json\n{ "a": "anew" }\n```\n\nWhat is charged?'), []);
    assert.deepEqual(awkwardIn("| What is charged | Nothing |"), []);
  });

  it("are reported with their line and a replacement", () => {
    assert.deepEqual(awkwardIn("fine\n\nnobody pays"), [{ line: 3, words: "nobody", instead: "say who can't, or what doesn't happen" }]);
  });

  for (const comment of ["/** Of a key. */", "/**\n * The same for a user.\n */", "// What was paid.", "/** Begins anew. */"])
    it(`refuse ${JSON.stringify(comment)}`, () => assert.equal(awkwardInComments(`const one = 1;\n${comment}\n`).length, 1));

  it("are checked in comments, not in code", () => {
    assert.deepEqual(awkwardInComments('const what = "What is anew";\n// Waits for the end\n// Of `a`, or the deadline.\n'), []);
    assert.deepEqual(
      awkwardInComments("let one;\n\n  /** Of it. */").map(({ line }) => line),
      [3],
    );
  });

  for (const [code, words] of [
    ["let made = 2;", "let made"],
    ["export interface Told {", "export interface Told"],
    ["  heard: Event[];", "heard: Event[];"],
    ["const { told, ended } = await stopped();", "const { told,"],
    ["const isServerAway = true;", "isServerAway"],
  ])
    it(`refuse participles as names: ${code}`, () => {
      assert.deepEqual(participlesIn(`const one = 1;\n${code}`), [{ line: 2, words, instead: "a noun that says what it holds" }]);
    });

  it("allow names of stored members, and names with a noun", () => {
    assert.deepEqual(participlesIn("  held: number;\nconst madeFiles = [];\nconst { made: files } = result;\ninterface KeptGraph {"), []);
  });

  it("name source files that exist, with or without their first folders", () => {
    const find = missingFilesIn(["services/billing/src/main.ts"]);
    assert.deepEqual(find("`services/billing/src/main.ts`, `src/main.ts` and `.nodeloom/local.json`"), []);
    assert.deepEqual(find("fine\n`src/gone.ts`"), [{ line: 2, words: "src/gone.ts", instead: "a file or folder that exists" }]);
    assert.deepEqual(find("`services/gone/test/`"), [{ line: 1, words: "services/gone/test/", instead: "a file or folder that exists" }]);
  });
});

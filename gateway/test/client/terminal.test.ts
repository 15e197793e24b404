import { createTerminal } from "../../client/src/cli/terminal";

/** Clears the screen, rings, sets a title with C1 codes, reverses the reading direction, and hides earlier text. */
const EVIL = "a\u001b[2J\u0007\u009d0;b\u0007\u202ec\u2028d\re";

const outputOf = (isJson: boolean): string => {
  const pieces: string[] = [];
  const stream = { write: (text: string) => pieces.push(text) > 0, isTTY: true } as never;
  const terminal = createTerminal(isJson, { stdout: stream, stderr: stream, exit: () => undefined });
  terminal.table([{ name: `${EVIL}\n\tforged row` }], ["name"]);
  terminal.note(EVIL);
  terminal.value({ name: EVIL }, EVIL);
  terminal.event("node.failed", { nodeId: EVIL, error: { message: EVIL } });
  const run = { executionId: "e", cost: 1, ms: 1 };
  terminal.result({ ...run, result: { text: `${EVIL}\r\n\tlast line` } }, []);
  terminal.result({ ...run, result: { text: EVIL, other: EVIL } }, []);
  terminal.text(EVIL);
  terminal.end(1, EVIL);
  return pieces.join("");
};

it.each([false, true])("prints no control character from other people's names, errors and results (JSON: %s)", (isJson) => {
  const output = outputOf(isJson);
  expect(output).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)/);
  expect(output).toContain("a\\u001b[2J");
});

it("keeps the lines of a text, one line for a row, and the values of JSON", () => {
  const plain = outputOf(false);
  expect(plain).toContain("\r\n\tlast line\n");
  expect(plain).toContain("\\u000a\\u0009forged row\n");
  const [row] = outputOf(true).split("\n");
  expect(JSON.parse(row!)).toEqual({ name: `${EVIL}\n\tforged row` });
});

// Writes docs/reference/command-line.md: every command of `nodeloom` with its arguments, options and example, from the built client's table of commands.
import { createRequire } from "node:module";
import { writeGenerated } from "../../deploy/local/generate/write.mjs";

const require = createRequire(import.meta.url);
const { createProgram } = require("../../gateway/client/dist/cli/program");
const { leavesOf } = require("../../gateway/client/dist/cli/command");
const { EXAMPLES } = require("../../gateway/client/dist/cli/examples");

/** @typedef {{ name: string, command: import("commander").Command }} Leaf */

/** @param {string} text */
const cell = (text) => text.replaceAll("|", "\\|");
/** @param {[string, string]} head @param {readonly (readonly [string, string])[]} rows */
const table = (head, rows) =>
  rows.length === 0
    ? ""
    : [head, ["---", "---"], ...rows].map(([first, second]) => `| ${cell(first)} | ${cell(second)} |\n`).join("") + "\n";

/** @param {Leaf} leaf */
const section = ({ name, command }) => {
  const values = command.registeredArguments.map(
    (one) => /** @type {const} */ ([`\`${one.name()}\``, one.description || "as in the example"]),
  );
  const options = command.options.map(({ flags, description, defaultValue, argChoices }) => {
    const choices = argChoices ? `: ${argChoices.map((one) => `\`${one}\``).join(", ")}` : "";
    const standard = ["string", "number"].includes(typeof defaultValue) ? `. Default: \`${defaultValue}\`` : "";
    return /** @type {const} */ ([`\`${flags}\``, `${description}${choices}${name === "login" ? "" : standard}`]);
  });
  const text = command.description();
  return [
    `## nodeloom ${name}\n`,
    `${text[0]?.toUpperCase()}${text.slice(1)}.\n`,
    `\`\`\`sh by-hand\n${EXAMPLES[name]}\n\`\`\`\n`,
    table(["Argument", "Meaning"], values),
    table(["Option", "Meaning"], options),
  ].join("\n");
};

const INTRODUCTION = `# Commands

Below are all commands of [\`nodeloom\`](../guide/command-line.md), written by \`node docs/reference/command-line.mjs\` from the program's own table. \`nodeloom <command> --help\` shows the same.
`;

await writeGenerated(
  "docs/reference/command-line.md",
  [INTRODUCTION, .../** @type {Leaf[]} */ (leavesOf(createProgram())).map(section)].join("\n"),
);

// Writes docs/reference/typescript.md: the README of the TypeScript client, then every public export with its declaration and its comments.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { writeGenerated } from "../../deploy/local/generate/write.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const CLIENT = join(ROOT, "gateway", "client");
/** Types of bodies, which the pages of the API describe. */
const API_TYPES = "api-types";
/** What a reader begins with, the last first. */
const FIRST = ["ClientOptions", "Client", "createClient"];

/** @typedef {{ name: string, file: string, declaration: string, comment: string }} Export */

/** The declarations of a source file: what TypeScript writes into its .d.ts. @param {string} name */
const declarationsOf = (name) => {
  const fileName = `${name}.ts`;
  const { outputText } = ts.transpileDeclaration(readFileSync(join(CLIENT, "src", fileName), "utf8"), {
    fileName,
    compilerOptions: { removeComments: false, target: ts.ScriptTarget.ES2022 },
  });
  return ts.createSourceFile(fileName, outputText, ts.ScriptTarget.ES2022, true);
};

/** @type {Map<string, import("typescript").SourceFile>} */
const parsed = new Map();
/** @param {string} name */
const sourceOf = (name) => {
  const declarations = parsed.get(name) ?? declarationsOf(name);
  parsed.set(name, declarations);
  return declarations;
};

/** @param {import("typescript").Statement} statement @returns {string | undefined} */
const nameOf = (statement) => {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations[0]?.name.getText();
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return statement.name.text;
  return ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement) ? statement.name?.text : undefined;
};

/** A comment without its stars; tags become lines of their own. @param {string} text */
const commentText = (text) =>
  text
    .replace(/^\/\*\*|\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join("\n")
    .replaceAll(/^@(?:param|typeParam) +(\w+) +/gm, "- `$1`: ")
    .replaceAll(/^@(\w+) +/gm, "- $1: ")
    .replace(/\n- /, "\n\n- ")
    .trim();

/** @param {string} file @returns {Map<string, Export>} */
const exportsIn = (file) => {
  const source = sourceOf(file);
  /** @type {Map<string, Export>} */
  const exportsByName = new Map();
  for (const statement of source.statements) {
    const name = nameOf(statement);
    if (name === undefined) continue;
    const comments = ts.getLeadingCommentRanges(source.text, statement.getFullStart()) ?? [];
    const comment = comments.map(({ pos, end }) => source.text.slice(pos, end)).findLast((text) => text.startsWith("/**"));
    const declaration = statement.getText().replace(/^export (?:declare )?/, "");
    exportsByName.set(name, { name, file, declaration, comment: comment === undefined ? "" : commentText(comment) });
  }
  return exportsByName;
};

/** Names that a file exports, with the file that declares each. @param {string} file @returns {[string, string][]} */
const publicNames = (file) =>
  sourceOf(file).statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier) {
      const name = nameOf(statement);
      const isExported =
        ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
      return name !== undefined && isExported ? [/** @type {[string, string]} */ ([name, file])] : [];
    }
    const from = /** @type {import("typescript").StringLiteral} */ (statement.moduleSpecifier).text.replace("./", "");
    const clause = statement.exportClause;
    if (!clause) return publicNames(from);
    return ts.isNamedExports(clause) ? clause.elements.map(({ name }) => /** @type {[string, string]} */ ([name.text, from])) : [];
  });

/** What a declaration names of other files of the client. @param {Export} declared @returns {Export[]} */
const namedIn = ({ file, declaration }) =>
  sourceOf(file).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement)) return [];
    const from = /** @type {import("typescript").StringLiteral} */ (statement.moduleSpecifier).text;
    const bindings = statement.importClause?.namedBindings;
    if (!from.startsWith("./") || from === `./${API_TYPES}` || !bindings || !ts.isNamedImports(bindings)) return [];
    return bindings.elements
      .filter(({ name }) => new RegExp(`\\b${name.text}\\b`).test(declaration))
      .flatMap(({ name }) => exportsIn(from.slice(2)).get(name.text) ?? []);
  });

/** The same file's types that a declaration needs. @param {Export} declared @returns {Export[]} */
const besideIn = ({ file, declaration, name }) =>
  [...exportsIn(file).values()].filter((other) => other.name !== name && new RegExp(`\\b${other.name}\\b`).test(declaration));

/** @param {Export} declared */
const section = ({ name, declaration, comment }) =>
  `## ${name}\n\n${comment === "" ? "" : `${comment}\n\n`}\`\`\`ts declaration\n${declaration}\n\`\`\`\n`;

const generate = () => {
  const names = publicNames("index");
  const queue = names
    .filter(([, file]) => file !== API_TYPES)
    .flatMap(([name, file]) => exportsIn(file).get(name) ?? [])
    .sort((a, b) => FIRST.indexOf(b.name) - FIRST.indexOf(a.name));
  /** @type {Map<string, Export>} */
  const all = new Map();
  for (let declared = queue.shift(); declared; declared = queue.shift()) {
    if (all.has(declared.name)) continue;
    all.set(declared.name, declared);
    queue.push(...namedIn(declared), ...besideIn(declared));
  }
  const readme = readFileSync(join(CLIENT, "README.md"), "utf8")
    .replace(/^# .*$/m, "# The TypeScript client")
    .replaceAll("](../../docs/", "](../");
  return [
    `${readme.trim()}\n`,
    "Below are all exports, written by `node docs/reference/typescript.mjs` from the client's sources.\n",
    ...[...all.values()].map(section),
    "## Types of bodies\n",
    "The client exports the types of all bodies, by the names that the schemas of the API have (`/docs/api/schemas`); `Error` alone is called `ErrorBody`.\n",
  ].join("\n");
};

await writeGenerated("docs/reference/typescript.md", generate());

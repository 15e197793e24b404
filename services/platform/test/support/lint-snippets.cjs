// Lints the snippets on stdin with the repository's configuration. It is its own process because jest can't load an ESM configuration.
const path = require("node:path");
const { text } = require("node:stream/consumers");
const { ESLint } = require("eslint");

const root = path.resolve(__dirname, "../../../..");

const main = async () => {
  const eslint = new ESLint({ cwd: root });
  const judged = [];
  for (const { file, code } of JSON.parse(await text(process.stdin))) {
    const [result] = await eslint.lintText(code, { filePath: path.join(root, file) });
    judged.push(result.messages.map(({ ruleId, message }) => `${ruleId}: ${message}`));
  }
  process.stdout.write(JSON.stringify(judged));
};
main().catch((error) => {
  console.error(error);
  process.exit(1);
});

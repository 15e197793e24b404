import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CASES } from "../../../gateway/test/conformance/cases";
import { createContext, type Accounts } from "../../../gateway/test/conformance/context";
import { startReceiver } from "../../../test-support/receiver";
import { choose, render, titleOf } from "../../../gateway/test/conformance/report";
import { runCases, type Outcome } from "../../../gateway/test/conformance/runner";

export const DRILL = {
  sentence: "checks the deployment that runs here, or any other, against the contract of its HTTP interface",
  minutes: 3,
};

const LOCAL = ".nodeloom/local.json";
const USAGE = `Checks a deployment against the contract of its HTTP interface. It makes users and leaves them behind.

  --base-url URL      the deployment; default: as in the accounts file
  --accounts FILE     JSON with accounts.admin { email, password }; default: ${LOCAL}
  --receiver PORT     a port of 127.0.0.1 that the deployment may call (EGRESS_ALLOW); without it, webhooks are not tried
  --only TEXT         the cases of this section, or those whose sentence contains this
  --parallel N        cases at once; default 8
  --report FILE       write the result as Markdown
`;

interface LocalFile {
  baseUrl?: string;
  accounts: Accounts;
}

const out = (text: string): void => void process.stdout.write(`${text}\n`);

const options = {
  "base-url": { type: "string" },
  accounts: { type: "string" },
  receiver: { type: "string" },
  only: { type: "string" },
  parallel: { type: "string" },
  report: { type: "string" },
  help: { type: "boolean" },
} as const;

const MARKS: Readonly<Record<Outcome["status"], string>> = { passed: "ok  ", failed: "FAIL", skipped: "skip" };

const show = ({ case: one, status, reason, ms }: Outcome): void => {
  out(`${MARKS[status]} ${titleOf(one.section)}: ${one.sentence} (${ms} ms)`);
  if (status === "failed") out(`     ${(reason?.message ?? "").split("\n").join("\n     ")}`);
};

const readAccounts = (file: string): LocalFile => {
  if (!existsSync(file)) throw new Error(`there is no ${file}; say where the accounts are with --accounts`);
  const local = JSON.parse(readFileSync(file, "utf8")) as Partial<LocalFile>;
  if (!local.accounts?.admin?.email || !local.accounts.admin.password)
    throw new Error(`${file} has no accounts.admin with email and password`);
  return { ...local, accounts: local.accounts };
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options });
  if (values.help) return (out(USAGE), 0);
  const file = readAccounts(values.accounts ?? LOCAL);
  const baseUrl = (values["base-url"] ?? file.baseUrl)?.replace(/\/+$/, "");
  if (!baseUrl) throw new Error("say which deployment with --base-url");
  const receiver = values.receiver === undefined ? undefined : await startReceiver(Number(values.receiver));
  const chosenCases = choose(CASES, values.only);
  const context = await createContext(baseUrl, file.accounts, receiver);
  const outcomes = await runCases(chosenCases, context, {
    onOutcome: show,
    ...(values.parallel === undefined ? {} : { parallel: Number(values.parallel) }),
  });
  await receiver?.close();
  if (values.report !== undefined) writeFileSync(values.report, render(outcomes));
  const count = (status: Outcome["status"]): number => outcomes.filter((outcome) => outcome.status === status).length;
  out(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} not tried`);
  return count("failed") > 0 ? 1 : 0;
};

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);

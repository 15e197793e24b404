import { ProtocolError, ProtocolErrorCode, type GetPromptResult, type Prompt } from "@modelcontextprotocol/server";

/** Prompts for common jobs. Each names the tools in the order in which they help. */

interface Job extends Prompt {
  arguments: { name: string; description: string; required: boolean }[];
  /** @param given values by argument */
  text(given: Readonly<Record<string, string>>): string;
}

const MAX_ARGUMENT_CHARS = 10_000;

const workflow = { name: "workflow", description: "Slug of the workflow", required: true };
const maxCredits = { name: "maxCredits", description: "The most that trial runs can cost, in credits", required: false };

const CHANGE =
  "Change the draft with `patch_workflow`, in small steps, and send the `revision` that you read. Mend each of its `issues`, until `valid` is true.";
const budget = (most: string | undefined): string =>
  most === undefined
    ? "Ask before you run anything that costs credits."
    : `Your trial runs can cost ${most} credits in total: send \`maxCredits\`.`;

const JOBS: readonly Job[] = [
  {
    name: "build_pipeline",
    title: "Build a pipeline",
    description: "Builds a workflow from a description, tries it and publishes it.",
    arguments: [{ name: "goal", description: "What goes in, and what comes out", required: true }, maxCredits],
    text: ({ goal, maxCredits: most }) =>
      [
        `Build a Nodeloom workflow: ${goal}`,
        "1. Look for a similar one with `search_templates`. If one fits, copy it with `clone_workflow`.",
        "2. Read the node kinds with `list_node_kinds`, and choose models with `list_models`. Prefer `auto:<task>` if no model is named.",
        "3. Create the workflow with `save_workflow`. It begins with a request-input node, and ends with a response-output node.",
        `4. ${CHANGE}`,
        `5. Try the nodes that matter with \`run_node\`. ${budget(most)}`,
        "6. Show the workflow and its price. Publish it with `publish` once I agree.",
      ].join("\n"),
  },
  {
    name: "fix_workflow",
    title: "Fix a failing workflow",
    description: "Finds out why a workflow can't run or its run failed, and mends the draft.",
    arguments: [workflow, { name: "executionId", description: "The execution that failed", required: false }, maxCredits],
    text: ({ workflow: slug, executionId, maxCredits: most }) =>
      [
        `Find out why the Nodeloom workflow \`${slug}\` fails, and mend it.`,
        ...(executionId === undefined ? [] : [`1. Read the execution with \`get_execution\`: ${executionId}. Its nodes have the errors.`]),
        "Read the draft with `get_workflow` and its problems with `validate`. The page of an error's code is its `doc`.",
        "Say what is wrong before you change anything.",
        CHANGE,
        `Run the mended node with \`run_node\`: results that haven't changed are reused, free of charge. ${budget(most)}`,
      ].join("\n"),
  },
  {
    name: "reduce_cost",
    title: "Make it cheaper",
    description: "Finds the nodes of a workflow that cost most, and proposes cheaper models or settings.",
    arguments: [workflow, { name: "target", description: "The price to reach, in credits per run", required: false }],
    text: ({ workflow: slug, target }) =>
      [
        `Make the Nodeloom workflow \`${slug}\` cheaper${target === undefined ? "" : `: at most ${target} credits per run`}.`,
        "1. Read the price of each node with `validate`, and the draft with `get_workflow`.",
        "2. For the dearest nodes, look for cheaper models of the same task with `list_models`, and for settings that lower the price: fewer or smaller files, shorter clips, `maxItems`, `maxInputChars`.",
        "3. Price each change with `patch_workflow` and `dryRun`. Show a table: the change, the price before and after, and what gets worse.",
        "4. Apply the changes that I choose, without `dryRun`.",
      ].join("\n"),
  },
  {
    name: "add_review",
    title: "Add a review step",
    description: "Adds an approval to a workflow: a person decides before it continues.",
    arguments: [workflow, { name: "node", description: "Id of the node whose output is reviewed", required: false }],
    text: ({ workflow: slug, node }) =>
      [
        `Add a review step to the Nodeloom workflow \`${slug}\`${node === undefined ? "" : `, after the node \`${node}\``}.`,
        "1. Read the draft with `get_workflow`, the kind `approval` with `list_node_kinds`, and the guide `nodeloom://docs/guide/nodes/approval`.",
        ...(node === undefined ? ["2. Propose where the review helps most: before the dearest node, or before the result."] : []),
        "Put the approval between that node and the nodes that take its output: `disconnect`, `add_node` and `connect` in one `patch_workflow`.",
        "Mend each of its `issues`, until `valid` is true. Then say how people decide.",
      ].join("\n"),
  },
];

const headOf = ({ text: _, ...prompt }: Job): Prompt => prompt;

export const listPrompts = (): Prompt[] => JOBS.map(headOf);

/** @throws ProtocolError for an unknown prompt, and a missing or long argument */
export const getPrompt = (name: string, given: Readonly<Record<string, string>>): GetPromptResult => {
  const job = JOBS.find((one) => one.name === name);
  const invalid = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  if (!job) throw invalid(`there is no prompt ${name}: there are ${JOBS.map((one) => one.name).join(", ")}`);
  for (const { name: argument, required } of job.arguments) {
    const value = given[argument] ?? "";
    if (required && value.trim() === "") throw invalid(`the prompt ${name} needs the argument ${argument}`);
    if (value.length > MAX_ARGUMENT_CHARS) throw invalid(`${argument} must have at most ${MAX_ARGUMENT_CHARS} characters`);
  }
  const values = Object.fromEntries(job.arguments.flatMap(({ name: one }) => (given[one]?.trim() ? [[one, given[one]]] : [])));
  return { description: job.description, messages: [{ role: "user", content: { type: "text", text: job.text(values) } }] };
};

/** True if an argument of the prompt is a workflow's slug. */
export const takesWorkflow = (prompt: string, argument: string): boolean =>
  argument === workflow.name && JOBS.some(({ name, arguments: all }) => name === prompt && all.includes(workflow));

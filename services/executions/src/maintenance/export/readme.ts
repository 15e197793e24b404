const WHAT = [
  ["account.json", "the account: address, tier, credits, keys (names and capabilities, never values), names and hosts of secrets, budgets"],
  ["folders.json", "folders of workflows"],
  ["workflows/<slug>/workflow.json", "a workflow as it stands: its settings, nodes and edges"],
  ["workflows/<slug>/versions/<n>.json", "its published versions"],
  ["schedules.jsonl, hooks.jsonl", "what starts workflows at times, or when an address is called"],
  ["executions.jsonl", "runs, one a line, oldest first: inputs, nodes, results, costs, webhook attempts"],
  ["batches.jsonl", "batches; their items are among the runs"],
  ["usage.jsonl", "what runs cost, one a line, newest first"],
  ["ledger.jsonl", "every movement of credits, newest first"],
  ["key-requests.jsonl", "the log of requests by each key, also by deleted ones: routes, statuses, times and addresses"],
  ["audit.jsonl", "sign-ins, changes and refused attempts, newest first, with addresses"],
  ["files.jsonl", "what is known of each file: its id, address, type, size, and the model that made it"],
  ["files/", "the files themselves, by their ids"],
] as const;

/** Returns the README of an archive: its contents and the omitted data. */
export const readme = (userId: string, at: Date, missing: readonly string[]): string =>
  [
    "This is what the installation of Nodeloom keeps of an account.",
    "",
    `Account: ${userId}`,
    `Made:    ${at.toISOString()}`,
    "",
    ...WHAT.flatMap(([path, says]) => [path, `    ${says}`]),
    "",
    "A .jsonl file has one JSON object in each line. Times are in UTC. A credit is 0.01 USD.",
    "What was kept long enough was removed before: the operator's documentation says how long each thing is kept.",
    "",
    ...(missing.length === 0
      ? ["Everything is here."]
      : ["Not everything is here, for an archive is bounded. What is missing:", ...missing.map((what) => `  - ${what}`)]),
    "",
  ].join("\n");

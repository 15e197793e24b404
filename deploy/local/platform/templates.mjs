import { createClient } from "../seed/client.mjs";
import { seedTemplates } from "../seed/templates/index.mjs";

const NAME = "templates";

/**
 * Creates missing templates in the background after the start, and prints failures.
 * @param {{ note: (name: string, text: string) => void, local: import("./local-file.mjs").Local, env: NodeJS.ProcessEnv }} options
 */
export const offerTemplates = async ({ note, local, env }) => {
  if (env.SEED_TEMPLATES === "off") return;
  try {
    const created = await seedTemplates({ client: createClient(local.baseUrl), key: local.accounts.admin?.apiKey ?? "" });
    if (created > 0) note(NAME, `${created} are in the console, under Templates`);
  } catch (error) {
    note(NAME, error instanceof Error ? error.message : String(error));
  }
};

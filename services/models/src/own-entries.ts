import { createHash } from "node:crypto";
import type { OwnModel } from "./local-models";
import type { RegisteredModel } from "./registry";
import { AT_HOME, chat } from "./servers/entries";

/** Registry entries for the operator's own model files: text models of the inference service, free of charge. */

const KEY = { scheme: "Bearer", secretEnv: "INFERENCE_API_KEY", default: "inference" };
const VERSION_CHARS = 12;

/** @param url base URL of the inference service, without a trailing slash */
export const ownEntries = (models: readonly OwnModel[], url: string): ReadonlyMap<string, RegisteredModel> =>
  new Map(
    models.map(({ name, title }) => [
      name,
      {
        ...chat({ baseUrl: `${url}/v1`, auth: KEY }, { id: name, sees: false }),
        internalName: name,
        displayName: `${title} (local)`,
        description: "Runs on this machine, with weights from its operator.",
        tasks: ["text"],
        ...AT_HOME,
      },
    ]),
  );

/** Changes whenever the entries change. */
export const ownVersion = (entries: ReadonlyMap<string, RegisteredModel>): string =>
  entries.size === 0
    ? ""
    : createHash("sha256")
        .update([...entries.keys()].join(" "))
        .digest("hex")
        .slice(0, VERSION_CHARS);

import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { createCanaryStore } from "./canaries/canary-store";
import { createClaimStore } from "./cap/claim-store";
import { createFolderStore } from "./folders/folder-store";
import { createWorkflowStore } from "./store/workflow-store";
import { createVersionStore } from "./versions/version-store";

/** Workflows, versions, canaries, folders, and their numbers per user. Increase the version whenever a collection's indexes change. */
export const database = defineDatabase({
  service: "workflows",
  version: FIRST_VERSION + 3,
  declare: (connection) =>
    void [createClaimStore, createFolderStore, createWorkflowStore, createVersionStore, createCanaryStore].map((create) =>
      create(connection),
    ),
});

import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { createCredentialStore } from "./credentials/credential-store";
import { createExportStore } from "./exports/export-store";
import { createCountStore } from "./objects/count-store";
import { createGrantStore } from "./urls/grant-store";
import { createObjectStore } from "./store/store";

/** Stored files, and the stored bytes per user. Increase the version whenever a collection's indexes change. */
export const database = defineDatabase({
  service: "media",
  version: FIRST_VERSION + 4,
  declare: (connection) =>
    void [
      ...[createCountStore(connection), createExportStore(connection), createObjectStore(connection)],
      ...[createGrantStore(connection), createCredentialStore(connection)],
    ],
});

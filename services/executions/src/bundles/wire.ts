import type { MediaUrls } from "@nodeloom/kernel";
import type { Services } from "../clients";
import type { Stores } from "../record/stores";
import { createBundleActivities } from "./activities";
import { createBundleExports } from "./exporting";
import { createBundleImports, type ImportingOptions } from "./importing";
import { createStaging } from "./staging";

export interface BundlesOptions extends Pick<ImportingOptions, "starter"> {
  services: Pick<Services, "workflows" | "media">;
  stores: Pick<Stores, "payloads">;
  urls: MediaUrls;
}

export const wireBundles = ({ services: { workflows, media }, stores: { payloads }, urls, starter }: BundlesOptions) => {
  const staging = createStaging({ media, payloads, urls });
  return {
    activities: createBundleActivities({ workflows, staging }),
    handlers: {
      importBundle: createBundleImports({ workflows, payloads, staging, starter }),
      exportBundle: createBundleExports({ workflows, media, urls }),
    },
  };
};

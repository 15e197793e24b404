import type { Binary, BundleImport } from "./api-types";
import type { RequestOf, RequestOptions, Transport } from "./transport";

export interface BundleOptions extends RequestOptions {
  /** Creates a plan, and changes nothing. */
  dryRun?: boolean;
  /** Publishes each workflow and points this alias to its version. Without it, only drafts change. */
  alias?: string | undefined;
  /** The id of a plan: imports only if the plan still holds, or continues its import. */
  planId?: string;
  /** Replaces workflows in conflict. */
  overwrite?: boolean | undefined;
}

/** Workflows with their files in one ZIP archive. */
export interface Bundles {
  /** The drafts of workflows, the workflows inside them, and their files. */
  export(slugs: readonly string[], options?: RequestOptions): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Creates and updates the workflows of an archive, or plans these changes. While `state` is `applying`, send it again with the `planId`.
   * @throws NodeloomError PLAN_STALE or BUNDLE_CONFLICT
   */
  import(bundle: Binary, options?: BundleOptions): Promise<BundleImport>;
}

const formOf = (bundle: Binary, { dryRun, alias, planId, overwrite }: BundleOptions): FormData => {
  const form = new FormData();
  const fields = { dryRun: dryRun && "true", alias, planId, overwrite: overwrite && "true" };
  for (const [name, value] of Object.entries(fields)) if (value) form.append(name, value);
  form.append("bundle", bundle instanceof Blob ? bundle : new Blob([bundle]), "bundle.zip");
  return form;
};

const bytesOf = async (stream: ReadableStream<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await new Response(stream).arrayBuffer());

export const createBundles = (transport: Transport): Bundles => ({
  export: async (slugs, options = {}) => {
    const headers = { accept: "application/zip", ...options.headers };
    return bytesOf((await transport.open("exportBundle", { ...options, headers, query: { slugs: slugs.join(",") } })).body);
  },
  import: async (bundle, { dryRun, alias, planId, overwrite, ...options } = {}) => {
    const body = formOf(bundle, { dryRun, alias, planId, overwrite } as BundleOptions) as unknown as RequestOf<"importBundle">["body"];
    return (await transport.send("importBundle", { ...options, body })).body;
  },
});

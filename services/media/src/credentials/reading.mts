/** Reads and checks manifests of untrusted files in a thread. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ActionAssertion, IngredientAssertion, ManifestStore, type Manifest } from "@trustnxt/c2pa-ts/manifest";
import type { Asset } from "@trustnxt/c2pa-ts/asset";
import type { Action, Credentials, Reading, ReadingTask, Signer, Source, Statements } from "./claim.js";
import { assetOf, boxOf } from "./files.mjs";

const MAX_ACTIONS = 50;
const MAX_SOURCES = 50;
const MAX_PROBLEMS = 20;
const MAX_CHARS = 500;
/** Not a code of the specification: the bytes of the manifest can't be read. */
const UNREADABLE = "manifest.unreadable";
const GENERAL = "general.error";

/** Parsed values can have any type, whatever the library declares. */
const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, MAX_CHARS) : "");

const actionOf = ({ action, softwareAgent, digitalSourceType }: ActionAssertion["actions"][number]): Action => {
  // Version 1 of the assertion has a plain text.
  const agent = softwareAgent as { name?: unknown } | string | undefined;
  const software = typeof agent === "string" ? agent : agent?.name;
  return { action: text(action), software: text(software), digitalSourceType: text(digitalSourceType) };
};

const assertionsOf = (manifest: Manifest | undefined) => manifest?.assertions?.assertions ?? [];

const statementsOf = (manifest: Manifest | undefined): Statements => {
  const actions = assertionsOf(manifest).flatMap((one) => (one instanceof ActionAssertion ? one.actions : []));
  const { claimGeneratorName, claimGenerator } = (manifest?.claim ?? {}) as { claimGeneratorName?: string; claimGenerator?: string };
  return { generator: text(claimGeneratorName) || text(claimGenerator), actions: actions.slice(0, MAX_ACTIONS).map(actionOf) };
};

const LABEL = /\/c2pa\/([^/]+)$/;

/** Sources of a manifest and their sources, nearest first. */
const sourcesOf = (store: ManifestStore, active: Manifest): Source[] => {
  const sources: Source[] = [];
  const seen = new Set([active]);
  for (let level = [active]; level.length > 0;) {
    const next: Manifest[] = [];
    for (const one of level.flatMap(assertionsOf)) {
      if (!(one instanceof IngredientAssertion)) continue;
      if (sources.length === MAX_SOURCES) return sources;
      const label = LABEL.exec(text((one.activeManifest ?? one.c2pa_manifest)?.uri))?.[1];
      const manifest = label === undefined ? undefined : store.getManifestByLabel(label);
      sources.push({ relationship: text(one.relationship), format: text(one.format), ...statementsOf(manifest) });
      if (manifest && !seen.has(manifest)) next.push(manifest);
      if (manifest) seen.add(manifest);
    }
    level = next;
  }
  return sources;
};

const signerOf = (manifest: Manifest): Signer | undefined => {
  const certificate = manifest.signature?.signatureData.certificate;
  if (!certificate) return undefined;
  const fingerprint = createHash("sha256").update(Buffer.from(certificate.rawData)).digest("hex");
  return { fingerprint, name: text(certificate.subject), issuer: text(certificate.issuer), expiresAt: certificate.notAfter };
};

const credentialsOf = async (store: ManifestStore, asset: Asset): Promise<Credentials> => {
  const active = store.getActiveManifest();
  if (!active) throw new Error("the store has no manifest");
  const { isValid, statusEntries } = await store.validate(asset);
  const failed = new Set(statusEntries.flatMap(({ success, code }) => (success ? [] : [text(code)])));
  if (!isValid && failed.size === 0) failed.add(GENERAL);
  const problems = [...failed].slice(0, MAX_PROBLEMS);
  return { problems, signer: signerOf(active), ...statementsOf(active), sources: sourcesOf(store, active) };
};

/** Checks a file's active manifest against its bytes. Trust lists aren't consulted. */
export const read = async ({ path, contentType }: ReadingTask): Promise<Reading> => {
  let asset: Asset | undefined;
  try {
    asset = assetOf(contentType, await readFile(path));
  } catch {
    return { damaged: true };
  }
  if (!asset) return { damaged: true };
  try {
    const box = boxOf(asset);
    return box ? { credentials: await credentialsOf(ManifestStore.read(box), asset) } : {};
  } catch {
    return { credentials: { problems: [UNREADABLE], generator: "", actions: [], sources: [] } };
  }
};

/** Signs files in a thread. */

import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { BMFF, type Asset } from "@trustnxt/c2pa-ts/asset";
import {
  ActionAssertion,
  ActionType,
  BMFFHashAssertion,
  ClaimVersion,
  DataHashAssertion,
  IngredientAssertion,
  ManifestStore,
  RelationshipType,
  ValidationResult,
  ValidationStatusCode,
  type Action,
  type DigitalSourceType,
  type Manifest,
} from "@trustnxt/c2pa-ts/manifest";
import type { HashAlgorithm } from "@trustnxt/c2pa-ts/crypto";
import type { FileSummary } from "../blobs/blobs.js";
import { readEdited } from "../marks/edit-staged.js";
import { SIGNED_TYPES, type Claim, type Ingredient, type SigningTask } from "./claim.js";
import { HEAD_BYTES } from "../sniff.js";
import { assetOf, boxOf } from "./files.mjs";
import "./hashing.mjs";
import { signerOf } from "./signer.mjs";

export { selfMade } from "./self-made.mjs";
export { read } from "./reading.mjs";

const HASH = "SHA-256";
/** Space for the signature, which is written last. It isn't filled, and without a time stamp nothing else needs it. */
const SIGNATURE_SPACE_BYTES = 512;
/** Space for the position of the manifest, which is known last. */
const EXCLUSION_SPACE_BYTES = 100;
const GENERATOR = "Nodeloom";
/** Bytes of all ingredients' manifests, which grow with each step of a chain. */
const MAX_MANIFESTS_BYTES = 512 * 1024;

/** An ingredient's manifests; undefined if it has none or they can't be read. */
const manifestsOf = ({ contentType, bytes }: Ingredient): ManifestStore | undefined => {
  if (!bytes || contentType === undefined || !SIGNED_TYPES.has(contentType)) return undefined;
  try {
    const box = boxOf(assetOf(contentType, bytes));
    return box && ManifestStore.read(box);
  } catch {
    return undefined;
  }
};

interface Upstream {
  format: string | undefined;
  /** Label of the ingredient's active manifest. */
  label?: string | undefined;
}

/** Merges the manifests of all ingredients into one store, up to a size. Later ones are stated without their manifests. */
const merged = (ingredients: readonly Ingredient[]): { store: ManifestStore; upstream: Upstream[] } => {
  const manifests = new Map<string, Manifest>();
  let room = MAX_MANIFESTS_BYTES;
  const upstream = ingredients.map((ingredient): Upstream => {
    const found = manifestsOf(ingredient);
    const bytes = found?.measureSize() ?? 0;
    if (!found || bytes > room) return { format: ingredient.contentType };
    room -= bytes;
    for (const manifest of found.manifests) if (manifest.label) manifests.set(manifest.label, manifest);
    return { format: ingredient.contentType, label: found.getActiveManifest()?.label };
  });
  const store = new ManifestStore();
  store.manifests.push(...manifests.values());
  return { store, upstream };
};

const EMPTY = { success: [], informational: [], failure: [] };

/** Adds ingredients to a manifest. @returns parameters of an action that names them */
const ingredientsOf = (manifest: Manifest) => {
  let added = 0;
  const add = ({ format, label }: Upstream, relationship: RelationshipType): IngredientAssertion => {
    const assertion = IngredientAssertion.createV3(relationship);
    // Labels in a manifest are unique: `c2pa.ingredient.v3`, `c2pa.ingredient.v3__1`.
    if (added > 0) assertion.labelSuffix = added;
    added += 1;
    if (format !== undefined) assertion.format = format;
    if (label !== undefined) {
      assertion.activeManifest = manifest.createHashedReference(`/c2pa/${label}`);
      assertion.claimSignature = manifest.createHashedReference(`/c2pa/${label}/c2pa.signature`);
      // Required beside a manifest. The sources aren't validated again, so nothing is stated about them.
      assertion.validationResults = { activeManifest: EMPTY };
    }
    manifest.addAssertion(assertion);
    return assertion;
  };
  return (upstream: readonly Upstream[], relationship: RelationshipType): Pick<Action, "parameters"> => {
    const ingredients = upstream.map((one) => manifest.createAssertionReference(add(one, relationship)));
    return ingredients.length > 0 ? { parameters: { ingredients } } : {};
  };
};

interface Sources {
  /** An earlier manifest of the file itself. */
  own?: Upstream | undefined;
  inputs: Upstream[];
}

/** A file with an earlier manifest, and an edit of one file, open it; everything else creates a file. */
const actionsOf = (manifest: Manifest, { maker, model, sourceType }: Claim, { own, inputs }: Sources): Action[] => {
  const name = ingredientsOf(manifest);
  const by = { softwareAgent: { name: model || GENERATOR } };
  const type = sourceType === undefined ? {} : { digitalSourceType: sourceType as DigitalSourceType };
  const uses = maker === "operation" ? RelationshipType.ComponentOf : RelationshipType.InputTo;
  const opened = (parent: Upstream): Action => ({ action: ActionType.C2paOpened, ...name([parent], RelationshipType.ParentOf) });
  if (own) {
    const noted = { action: ActionType.C2paEditedMetadata, softwareAgent: { name: GENERATOR }, ...type };
    return [opened(own), { ...noted, ...name(inputs, uses) }];
  }
  const [first, ...rest] = inputs;
  if (maker === "operation" && first && rest.length === 0) return [opened(first), { action: ActionType.C2paEdited, ...by, ...type }];
  const created: Action = { action: ActionType.C2paCreated, ...by, ...type };
  const named = name(inputs, uses);
  if (maker !== "operation" || inputs.length === 0) return [{ ...created, ...named }];
  return [created, { action: ActionType.C2paPlaced, ...named }];
};

/**
 * The hash of a file's content, which isn't computed again for the check: since then only the manifest was written, whose place isn't
 * hashed.
 */
class ContentHash extends DataHashAssertion {
  override algorithm: HashAlgorithm = HASH;
  override paddingLength = EXCLUSION_SPACE_BYTES;

  override validateAgainstAsset(asset: Asset): Promise<ValidationResult> {
    const { start, length } = asset.getHashExclusionRange();
    const [excluded] = this.exclusions;
    const isSame = excluded?.start === start && excluded.length === length;
    return Promise.resolve(
      isSame ? new ValidationResult() : ValidationResult.error(ValidationStatusCode.AssertionDataHashMismatch, undefined),
    );
  }
}

/** Checks a signed file against the manifest that was written into it. @throws if a reader would find another one, or the file invalid */
const check = async (contentType: string, bytes: Uint8Array, manifest: Manifest, written: Uint8Array): Promise<void> => {
  const asset = assetOf(contentType, bytes);
  const found = asset?.getManifestJUMBF();
  if (!asset || !found || Buffer.compare(found, written) !== 0) throw new Error("the signed file doesn't hold its manifest");
  const { isValid, statusEntries } = await manifest.validate(asset);
  if (isValid) return;
  const codes = statusEntries.flatMap(({ success, code }) => (success ? [] : [code]));
  throw new Error(`the signed file isn't valid: ${codes.join(", ")}`);
};

const UUID = /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/;

/** A version 8 UUID of texts (RFC 9562). */
const uuidOf = (...parts: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\n");
  return hash.digest("hex").replace(UUID, "$1-$2-8$3-8$4-$5");
};

/**
 * Creates a file with a signed manifest from another. Manifests of its ingredients, and an earlier one of the file, become part of it.
 * @throws if the file or the credential can't be read, or the result isn't valid
 */
export const sign = async ({ path, target, sha256, edits, claim, credential }: SigningTask): Promise<FileSummary> => {
  const bytes = await readEdited(path, edits);
  const asset = assetOf(claim.contentType, bytes);
  if (!asset) throw new Error("the file can't be read");
  const hasOwn = claim.keepsOwn && asset.getManifestJUMBF() !== undefined;
  const { store, upstream } = merged([...(hasOwn ? [{ contentType: claim.contentType, bytes }] : []), ...claim.ingredients]);
  const [own, inputs] = hasOwn ? [upstream[0], upstream.slice(1)] : [undefined, upstream];
  const signer = signerOf(credential);
  const { ingredients: _, ...statements } = claim;
  // The same file with the same statements by the same credential gives the same bytes.
  const uuid = uuidOf(sha256, JSON.stringify([statements, upstream, credential.chain]));
  const manifest = store.createManifest({
    ...{ claimVersion: ClaimVersion.V2, assetFormat: claim.contentType, instanceID: `xmp:iid:${uuid}` },
    ...{ defaultHashAlgorithm: HASH, signer },
  });
  manifest.label = `urn:c2pa:${uuid}`;
  manifest.signature!.signatureData.paddingLength = SIGNATURE_SPACE_BYTES;
  manifest.claim!.claimGeneratorName = GENERATOR;
  const actions = new ActionAssertion();
  actions.label = "c2pa.actions.v2";
  actions.actions = actionsOf(manifest, claim, { own, inputs });
  manifest.addAssertion(actions);
  const hash = asset instanceof BMFF ? BMFFHashAssertion.createV3("jumbf manifest", HASH) : new ContentHash();
  manifest.addAssertion(hash);
  await asset.ensureManifestSpace(store.measureSize());
  await hash.updateWithAsset(asset);
  await manifest.sign(signer);
  const written = store.getBytes();
  await asset.writeManifestJUMBF(written);
  const signed = await asset.getDataRange();
  await check(claim.contentType, signed, manifest, written);
  await writeFile(target, signed, { flag: "wx" });
  const head = signed.slice(0, HEAD_BYTES);
  return { bytes: signed.length, sha256: createHash("sha256").update(signed).digest("hex"), head };
};

/** Signs files in a thread: C2PA 2.1 manifests, https://c2pa.org/specifications/ */

import { createPrivateKey, randomUUID, sign as signBytes, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as x509 from "@peculiar/x509";
import { BMFF, JPEG, PNG, type Asset, type AssetType } from "@trustnxt/c2pa-ts/asset";
import type { Signer } from "@trustnxt/c2pa-ts/cose";
import { SuperBox } from "@trustnxt/c2pa-ts/jumbf";
import {
  ActionAssertion,
  ActionType,
  BMFFHashAssertion,
  ClaimVersion,
  DataHashAssertion,
  IngredientAssertion,
  ManifestStore,
  RelationshipType,
  type Action,
  type DigitalSourceType,
  type Manifest,
} from "@trustnxt/c2pa-ts/manifest";
import type { Claim, Credential, Ingredient, SigningTask } from "./claim.js";

const HASH = "SHA-256";
const GENERATOR = "Nodeloom";
const ASSETS: Readonly<Record<string, AssetType>> = { "image/png": PNG, "image/jpeg": JPEG, "image/avif": BMFF, "image/heif": BMFF };
/** COSE algorithms by curve (RFC 9053), with the hash that they sign. */
const ALGORITHMS: Readonly<Record<string, { algorithm: Signer["algorithm"]; hash: string }>> = {
  prime256v1: { algorithm: -7, hash: "sha256" },
  secp384r1: { algorithm: -35, hash: "sha384" },
};

const algorithmOf = (key: KeyObject): (typeof ALGORITHMS)[string] => {
  const known = ALGORITHMS[key.asymmetricKeyDetails?.namedCurve ?? ""];
  if (!known) throw new Error("the key must be an elliptic curve key on P-256 or P-384");
  return known;
};

const signerOf = ({ chain, key }: Credential): Signer => {
  const privateKey = createPrivateKey(key);
  const { algorithm, hash } = algorithmOf(privateKey);
  const [certificate, ...chainCertificates] = x509.PemConverter.decode(chain).map((one) => new x509.X509Certificate(one));
  if (!certificate) throw new Error("the chain has no certificate");
  return {
    algorithm,
    certificate,
    chainCertificates,
    // The library's own signer writes DER, which COSE doesn't allow (RFC 9053, section 2.1).
    sign: (payload) => Promise.resolve(new Uint8Array(signBytes(hash, payload, { key: privateKey, dsaEncoding: "ieee-p1363" }))),
  };
};

/** Reads a file by the name of its format. @returns undefined if it isn't in that format */
const assetOf = (contentType: string, bytes: Uint8Array): Asset | undefined => {
  const type = ASSETS[contentType];
  return type?.canRead(bytes) ? new type(bytes) : undefined;
};

const storeOf = (asset: Asset | undefined): SuperBox | undefined => {
  const bytes = asset?.getManifestJUMBF();
  return bytes && SuperBox.fromBuffer(new Uint8Array(bytes));
};

/** An ingredient's manifests; undefined if it has none or they can't be read. */
const manifestsOf = ({ contentType, bytes }: Ingredient): ManifestStore | undefined => {
  if (!bytes) return undefined;
  try {
    const box = storeOf(assetOf(contentType, bytes));
    return box && ManifestStore.read(box);
  } catch {
    return undefined;
  }
};

interface Upstream {
  format: string;
  /** Label of the ingredient's active manifest. */
  label?: string | undefined;
}

/** Merges the manifests of all ingredients into one store. */
const merged = (ingredients: readonly Ingredient[]): { store: ManifestStore; upstream: Upstream[] } => {
  const boxes = new Map<string, SuperBox>();
  let whole: SuperBox | undefined;
  const upstream = ingredients.map((ingredient): Upstream => {
    const found = manifestsOf(ingredient);
    for (const { label, sourceBox } of found?.manifests ?? []) if (label && sourceBox) boxes.set(label, sourceBox as SuperBox);
    whole ??= found?.sourceBox;
    return { format: ingredient.contentType, label: found?.getActiveManifest()?.label };
  });
  if (!whole) return { store: new ManifestStore(), upstream };
  whole.contentBoxes = [...boxes.values()];
  return { store: ManifestStore.read(whole), upstream };
};

const EMPTY = { success: [], informational: [], failure: [] };

const addIngredient = (
  manifest: Manifest,
  { format, label }: Upstream,
  relationship: RelationshipType,
  index: number,
): IngredientAssertion => {
  const assertion = IngredientAssertion.createV3(relationship);
  // Labels in a manifest are unique: `c2pa.ingredient.v3`, `c2pa.ingredient.v3__1`.
  if (index > 0) assertion.labelSuffix = index;
  assertion.format = format;
  if (label !== undefined) {
    assertion.activeManifest = manifest.createHashedReference(`/c2pa/${label}`);
    assertion.claimSignature = manifest.createHashedReference(`/c2pa/${label}/c2pa.signature`);
    // Required beside a manifest. The sources aren't validated again, so nothing is stated about them.
    assertion.validationResults = { activeManifest: EMPTY };
  }
  manifest.addAssertion(assertion);
  return assertion;
};

/** An edit of one file opens it; everything else creates a file. */
const actionsOf = (manifest: Manifest, { maker, model, sourceType }: Claim, upstream: readonly Upstream[]): Action[] => {
  const softwareAgent = { name: model || GENERATOR };
  const digitalSourceType = sourceType as DigitalSourceType;
  const isEdit = maker === "operation" && upstream.length === 1;
  const placed = maker === "operation" ? RelationshipType.ComponentOf : RelationshipType.InputTo;
  const relationship = isEdit ? RelationshipType.ParentOf : placed;
  const ingredients = upstream.map((one, index) => manifest.createAssertionReference(addIngredient(manifest, one, relationship, index)));
  const parameters = ingredients.length > 0 ? { parameters: { ingredients } } : {};
  if (isEdit) {
    return [
      { action: ActionType.C2paOpened, ...parameters },
      { action: ActionType.C2paEdited, softwareAgent, digitalSourceType },
    ];
  }
  const created: Action = { action: ActionType.C2paCreated, softwareAgent, digitalSourceType };
  if (maker !== "operation" || ingredients.length === 0) return [{ ...created, ...parameters }];
  return [created, { action: ActionType.C2paPlaced, ...parameters }];
};

/** @throws if the library finds the signed file invalid */
const check = async (contentType: string, bytes: Uint8Array): Promise<void> => {
  const asset = assetOf(contentType, bytes);
  const box = storeOf(asset);
  const result = asset && box && (await ManifestStore.read(box).validate(asset));
  if (result?.isValid) return;
  const codes = result?.statusEntries.flatMap(({ success, code }) => (success ? [] : [code])) ?? [];
  throw new Error(`the signed file isn't valid: ${codes.join(", ")}`);
};

/**
 * Adds a signed manifest to a file. Manifests of its ingredients, and an earlier one of the file, become part of it.
 * @throws if the file or the credential can't be read, or the result isn't valid
 */
export const sign = async ({ path, claim, credential }: SigningTask): Promise<Uint8Array> => {
  const bytes = await readFile(path);
  const asset = assetOf(claim.contentType, bytes);
  if (!asset) throw new Error("the file can't be read");
  const own = asset.getManifestJUMBF() ? [{ contentType: claim.contentType, bytes }] : [];
  const { store, upstream } = merged([...own, ...claim.ingredients]);
  const signer = signerOf(credential);
  const manifest = store.createManifest({
    ...{ claimVersion: ClaimVersion.V2, assetFormat: claim.contentType, instanceID: `xmp:iid:${randomUUID()}` },
    ...{ defaultHashAlgorithm: HASH, signer },
  });
  manifest.claim!.claimGeneratorName = GENERATOR;
  const actions = new ActionAssertion();
  actions.label = "c2pa.actions.v2";
  actions.actions = actionsOf(manifest, claim, upstream);
  manifest.addAssertion(actions);
  const hash = asset instanceof BMFF ? BMFFHashAssertion.createV3("jumbf manifest", HASH) : DataHashAssertion.create(HASH);
  manifest.addAssertion(hash);
  await asset.ensureManifestSpace(store.measureSize());
  await hash.updateWithAsset(asset);
  await manifest.sign(signer);
  await asset.writeManifestJUMBF(store.getBytes());
  const signed = await asset.getDataRange();
  await check(claim.contentType, signed);
  return signed;
};

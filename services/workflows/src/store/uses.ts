import type { Model } from "mongoose";
import type { WorkflowStore } from "../definition/storage";
import type { PublishedVersion } from "../definition/workflow";
import type { Row } from "./row";

/** Finds the workflows that use files, secrets and models. */
export const createUses = (model: Model<Row>): Pick<WorkflowStore, "naming" | "secretUses" | "modelUses"> => ({
  naming: async (names) => {
    const documents = await model
      .find({ $or: [{ mediaNames: { $in: [...names] } }, { thumbnailRef: { $in: [...names] } }] }, { mediaNames: 1, thumbnailRef: 1 })
      .lean<Pick<Row, "mediaNames" | "thumbnailRef">[]>()
      .exec();
    return documents.flatMap(({ mediaNames, thumbnailRef }) => (thumbnailRef ? [...mediaNames, thumbnailRef] : mediaNames));
  },
  secretUses: async (createdBy, limit) => {
    const documents = await model
      .find({ createdBy, "secretNames.0": { $exists: true } }, { name: 1, secretNames: 1 })
      .sort({ updatedAt: -1 })
      .limit(limit)
      .lean<(Pick<Row, "_id" | "name"> & { secretNames: string[] })[]>()
      .exec();
    return documents.map(({ _id: slug, name, secretNames }) => ({ slug, name, secretNames }));
  },
  modelUses: async (models, afterOwner, limit) => {
    const modelFilter = { $in: [...models] };
    const documents = await model
      .find(
        { createdBy: { $gt: afterOwner }, $or: [{ "generators.model": modelFilter }, { "published.generators.model": modelFilter }] },
        { name: 1, createdBy: 1, "generators.model": 1, "published.generators.model": 1 },
      )
      .sort({ createdBy: 1, _id: 1 })
      .allowDiskUse(true)
      .limit(limit)
      .lean<(Pick<Row, "_id" | "name" | "createdBy" | "generators"> & { published?: Pick<PublishedVersion, "generators"> | null })[]>()
      .exec();
    return documents.map(({ _id: slug, name, createdBy: ownerId, generators, published: version }) => {
      const all = new Set([...generators, ...(version?.generators ?? [])].map((use) => use.model));
      return { ownerId, slug, name, models: models.filter((one) => all.has(one)) };
    });
  },
});

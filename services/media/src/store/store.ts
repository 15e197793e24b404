import { beyond, createInserter, escapeRegExp } from "@nodeloom/platform";
import type { Connection, QueryFilter } from "mongoose";
import type { MediaObject } from "./media-object";
import type { ObjectStore, RemovableObject } from "./object-store";
import { rows, type Row } from "./schema";

const toObject = ({ _id, ...rest }: Row): MediaObject => ({ id: _id, ...rest });

const toRemovable = (row: Row): RemovableObject => ({ ...toObject(row), isHidden: row.removedAt !== undefined });

const MAJORITY = { w: "majority" } as const;

/** Excludes objects that are being removed. */
const PRESENT = { removedAt: null } as unknown as QueryFilter<Row>;

/** Objects that retention removes; see `isCounted`. */
const UNKEPT = { origin: "generated", countedBy: null } as const;

/** Lists don't return prompts. */
const WITHOUT_INPUTS = { "making.inputsJson": 0, words: 0 } as const;

/** Removal token of expired objects, which can be restored. */
const EXPIRED = "expired";
const CONDEMNED = "expired for good";
/** Removal token of held objects, which can be released. */
const HELD = "held";
const REFUSED = "refused";
const ERASED = "erased";
const PRESENT_OR_EXPIRED = { removal: { $in: [null, EXPIRED] } } as unknown as QueryFilter<Row>;

export const createObjectStore = (connection: Connection): ObjectStore => {
  const model = connection.model<Row>("Object", rows);
  const insertRow = createInserter<Row>(model.collection as never, MAJORITY);
  // Both use the driver directly, because every file is read here and the driver takes half the time of Mongoose.
  const one = async (filter: QueryFilter<Row>): Promise<MediaObject | undefined> => {
    const row = await model.collection.findOne<Row>({ ...filter, ...PRESENT } as object);
    return row ? toObject(row) : undefined;
  };
  const many = async (filter: QueryFilter<Row>): Promise<MediaObject[]> =>
    (await model.collection.find<Row>({ ...filter, ...PRESENT } as object).toArray()).map(toObject);
  /** `look` is set only while the object is held. */
  const oneOrHeld = async (filter: QueryFilter<Row>): Promise<MediaObject | undefined> => {
    const row = await model.collection.findOne<Row>({ ...filter, removal: { $in: [null, HELD] } } as object);
    return row ? toObject(row) : undefined;
  };
  return {
    insert: async (object) => {
      const { id, ...rest } = object;
      const fields = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as typeof rest;
      const removal = object.look === undefined ? {} : { removal: HELD, removedAt: object.createdAt };
      if (await insertRow({ _id: id, ...fields, ...removal })) return object;
      return object.look === undefined ? one({ _id: id }) : oneOrHeld({ _id: id });
    },
    byId: (id) => one({ _id: id }),
    byIdOrHeld: (id) => oneOrHeld({ _id: id }),
    ofOwner: (id, ownerId) => one({ _id: id, ownerId }),
    allOfOwner: (ids, ownerId) => many({ _id: { $in: [...ids] }, ownerId }),
    heldOfOwner: async (ids, ownerId) => {
      const heldRows = await model
        .find({ _id: { $in: [...ids] }, ownerId, removal: HELD })
        .lean<Row[]>()
        .exec();
      return heldRows.map(toObject);
    },
    heldByKey: async (key, look) => {
      const row = await model.findOne({ key, look, removal: HELD }).lean<Row>().exec();
      return row ? toObject(row) : undefined;
    },
    letGo: async (ids, ownerId) => {
      const filter = { _id: { $in: [...ids] }, ownerId, removal: HELD };
      await model.updateMany(filter, { $unset: { removal: "", removedAt: "", look: "" } }).exec();
    },
    refuse: async (id, ownerId) =>
      (await model.updateOne({ _id: id, ownerId, removal: HELD }, { $set: { removal: REFUSED } }).exec()).modifiedCount === 1,
    byKey: (key) => one({ key }),
    byKeys: (keys) => many({ key: { $in: [...keys] } }),
    renew: async (keys, ownerId, at) => {
      const filter = { key: { $in: [...keys] }, ownerId };
      await model.updateMany({ ...filter, ...PRESENT }, { $max: { renewedAt: at } }).exec();
      // Excludes objects that were hidden after the update.
      return many(filter);
    },
    setPublic: async (id, ownerId, isPublic) => {
      const change = isPublic ? { $set: { public: true } } : { $unset: { public: "" }, $set: { private: true } };
      const row = await model
        .findOneAndUpdate({ _id: id, ownerId, ...PRESENT } as object, change, { returnDocument: "after" })
        .lean<Row>()
        .exec();
      return row ? toObject(row) : undefined;
    },
    give: async (keys, fromOwnerId, ownerId) => {
      await model.updateMany({ key: { $in: [...keys] }, ownerId: fromOwnerId }, { $set: { ownerId } }).exec();
    },
    list: async (ownerId, limit, after, { words, from }) => {
      const conditions = [
        beyond("createdAt", after, "$lt"),
        ...(from ? [{ createdAt: { $gte: from } }] : []),
        ...words.map((word) => ({ words: { $regex: `^${escapeRegExp(word)}` } })),
      ].filter((condition) => Object.keys(condition).length > 0);
      const filter = { ownerId, ...PRESENT, ...(conditions.length > 0 ? { $and: conditions } : {}) } as QueryFilter<Row>;
      const page = await model.find(filter, WITHOUT_INPUTS).sort({ createdAt: -1, _id: -1 }).limit(limit).lean<Row[]>().exec();
      return page.map(toObject);
    },
    expiring: async (before, limit, after) => {
      const expired = await model
        .find({
          ...{ ...UNKEPT, createdAt: { $lt: before }, renewedAt: { $not: { $gte: before } } },
          ...{ ...PRESENT_OR_EXPIRED, ...beyond("createdAt", after) },
        } as QueryFilter<Row>)
        .sort({ createdAt: 1, _id: 1 })
        .limit(limit)
        .lean<Row[]>()
        .exec();
      return expired.map(toObject);
    },
    count: async (id, ownerId, token) => {
      const filter = { _id: id, ownerId, countedBy: null, ...PRESENT } as unknown as QueryFilter<Row>;
      return (await model.updateOne(filter, { $set: { countedBy: token } }).exec()).modifiedCount === 1;
    },
    addThumbnail: async (id, width, added) => {
      const name = `thumbnails.${width}`;
      const filter = { _id: id, [name]: null, ...PRESENT } as unknown as QueryFilter<Row>;
      return (await model.updateOne(filter, { $set: { [name]: added } }).exec()).modifiedCount === 1;
    },
    thumbnails: async (ids) => {
      const rowsWithThumbnails = await model
        .find({ _id: { $in: [...ids] } }, { thumbnails: 1 })
        .lean<Row[]>()
        .exec();
      return rowsWithThumbnails.flatMap(({ thumbnails }) => Object.values(thumbnails ?? {}));
    },
    hide: async ({ id, ownerId, countedBy }, removal, at) => {
      // The quota token must be unchanged, because it decides how many bytes the owner gets back.
      const filter = { _id: id, ownerId, countedBy: countedBy ?? null, ...PRESENT } as unknown as QueryFilter<Row>;
      return (await model.updateOne(filter, { $set: { removal, removedAt: at } }).exec()).modifiedCount === 1;
    },
    expire: async (ids, before, at) => {
      const filter = { _id: { $in: [...ids] }, ...UNKEPT, renewedAt: { $not: { $gte: before } }, ...PRESENT } as QueryFilter<Row>;
      await model.updateMany(filter, { $set: { removal: EXPIRED, removedAt: at } }).exec();
    },
    expired: async (ids) => {
      const expiredRows = await model
        .find({ _id: { $in: [...ids] }, removal: EXPIRED })
        .lean<Row[]>()
        .exec();
      return expiredRows.map(toObject);
    },
    restore: async (ids) => {
      const filter = { _id: { $in: [...ids] }, removal: EXPIRED };
      return (await model.updateMany(filter, { $unset: { removal: "", removedAt: "" } }).exec()).modifiedCount;
    },
    condemn: async (ids) => {
      const among = { _id: { $in: [...ids] } };
      await model.updateMany({ ...among, removal: EXPIRED }, { $set: { removal: CONDEMNED } }).exec();
      // Includes objects whose expiry another call has just made final, because a removal can be repeated.
      const condemnedRows = await model
        .find({ ...among, removal: CONDEMNED })
        .lean<Row[]>()
        .exec();
      return condemnedRows.map(toObject);
    },
    hidden: async (before, heldBefore, limit) => {
      const since = [
        { removedAt: { $lt: before }, removal: { $nin: [EXPIRED, HELD] } },
        { removedAt: { $lt: heldBefore }, removal: HELD },
      ];
      const matches = await model.find({ $or: since }).limit(limit).lean<Row[]>().exec();
      return matches.map(toObject);
    },
    hideAllOf: async (ownerId, at, limit) => {
      const ownedRows = await model.find({ ownerId }).limit(limit).lean<Row[]>().exec();
      const ids = ownedRows.map(({ _id }) => _id);
      await model.updateMany({ _id: { $in: ids } }, { $set: { removal: ERASED, removedAt: at } }).exec();
      return ownedRows.map(toObject);
    },
    generatedBy: async (prefix, ownerIds, limit, after) => {
      const ids = { $gt: after === "" ? prefix : after, $lt: `${prefix}\uffff` };
      const generatedRows = await model
        .find({ _id: ids, ownerId: { $in: [...ownerIds] }, origin: "generated" })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<Row[]>()
        .exec();
      return generatedRows.map(toRemovable);
    },
    generatedAmong: async (names, ownerIds) => {
      const namedBy = [{ _id: { $in: [...names] } }, { key: { $in: [...names] } }];
      const generatedRows = await model
        .find({ $or: namedBy, ownerId: { $in: [...ownerIds] }, origin: "generated" })
        .lean<Row[]>()
        .exec();
      return generatedRows.map(toRemovable);
    },
    forgetInputs: async (prefix, ownerIds) => {
      const filter = { _id: { $gt: prefix, $lt: `${prefix}\uffff` }, ownerId: { $in: [...ownerIds] }, origin: "generated" };
      await model.updateMany(filter as QueryFilter<Row>, { $unset: { words: "", title: "", "making.inputsJson": "" } }).exec();
    },
    marks: async (id) => {
      const row = await model.findOne({ _id: id }, { countedBy: 1, removal: 1 }).lean<Row>().exec();
      return row ? { countedBy: row.countedBy, removal: row.removal } : undefined;
    },
    purge: async (ids) => {
      await model.deleteMany({ _id: { $in: [...ids] }, removedAt: { $ne: null } } as unknown as QueryFilter<Row>).exec();
    },
    check: async () => {
      await connection.db!.command({ ping: 1 });
    },
  };
};

import type { Model } from "mongoose";
import type { ListFilter } from "../definition/storage";
import type { Summary } from "../definition/workflow";
import { toWorkflow, type Row } from "./row";

/** An explicit list, so that new members don't appear in lists by accident. */
const SUMMARY = {
  ...{ name: 1, description: 1, tags: 1, isTemplate: 1, hidden: 1, archived: 1, folderId: 1, coverJson: 1 },
  ...{ createdBy: 1, authorId: 1, generators: 1, updatedAt: 1, revision: 1, published: 1, thumbnailRef: 1, featured: 1 },
  aliases: 1,
} as const satisfies Record<Exclude<keyof Summary, "slug">, 1>;
/** Escapes a text for a pattern. A zero character would end the pattern in the database's protocol. */
const escapeRegExp = (value: string): string => value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll("\0", "\\x00");

/** The conditions of a list other than its owner. */
const narrowed = ({ query, tag, after }: Pick<ListFilter, "query" | "tag" | "after">): object[] => {
  const pattern = query === "" ? undefined : new RegExp(escapeRegExp(query), "i");
  return [
    // One condition per tag, because the embedded server would match all tags as one text with brackets and commas.
    ...(pattern
      ? [
          {
            $or: [
              { name: pattern },
              { description: pattern },
              { tags: { $elemMatch: { $regex: pattern.source, $options: "i" } } },
              { _id: pattern },
            ],
          },
        ]
      : []),
    ...(tag === "" ? [] : [{ tags: tag }]),
    ...(after ? [{ $or: [{ updatedAt: { $lt: after.at } }, { updatedAt: after.at, _id: { $gt: after.id } }] }] : []),
  ];
};

/** Reads lists of summaries. @param listBatch rows per round trip */
export const createLists = (model: Model<Row>, listBatch: number) => {
  const find = (filter: object, options: object = {}) =>
    model.collection.find<Summary & { _id: string }>(filter, { projection: SUMMARY, batchSize: listBatch, ...options });

  /** Returns all matches, newest first, if they fit into one batch. Sorting so few rows here is cheaper than in the database. */
  const shortList = async (filter: object): Promise<Summary[] | undefined> => {
    const cursor = find(filter);
    await cursor.hasNext();
    const rows = cursor.readBufferedDocuments().map(toWorkflow);
    const isWhole = cursor.id === undefined || cursor.id.isZero();
    await cursor.close();
    return isWhole ? rows.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()) : undefined;
  };

  /** Yields batches from the driver's own cursor, because one step per row costs more than the rows. */
  async function* summaries(whose: object, filter: ListFilter, limit: number): AsyncIterable<Summary[]> {
    const narrowing = narrowed(filter);
    const all = narrowing.length === 0 ? whose : { $and: [whose, ...narrowing] };
    const short = limit === 0 ? await shortList(all) : undefined;
    if (short) return yield short;
    const cursor = find(all, { sort: { updatedAt: -1, _id: 1 }, limit });
    try {
      while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(toWorkflow);
    } finally {
      await cursor.close();
    }
  }

  return summaries;
};

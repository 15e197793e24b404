/** Acknowledged only once it survives the loss of the server's process: what is promised to a caller, and how a run ended. */
export const DURABLE = { w: "majority", j: true } as const;

interface Documents {
  find(filter: object, options: object): { toArray(): Promise<{ _id: unknown }[]> };
  deleteMany(filter: object): Promise<{ deletedCount: number }>;
}

/** Removes some documents that a filter names, and that it still names when they are removed. @returns how many */
export const removeSome = async ({ collection }: { collection: Documents }, filter: object, limit: number): Promise<number> => {
  const found = await collection.find(filter, { projection: { _id: 1 }, limit }).toArray();
  if (found.length === 0) return 0;
  return (await collection.deleteMany({ ...filter, _id: { $in: found.map(({ _id }) => _id) } })).deletedCount;
};

/** Documents that come after one in the order of a time and their ids; before it where the order is turned round. */
export const after = (field: string, at: Date | null, id: string, than: "$gt" | "$lt" = "$gt"): Record<string, unknown> => ({
  $or: [{ [field]: { [than]: at } }, { [field]: at, _id: { [than]: id } }],
});

/** Finds earlier calls with the same request and their outputs, if the outputs still exist. */
import {
  groupBy,
  innerOwner,
  isMedia,
  isRepairKey,
  isStoredFile,
  type JsonSchema,
  type MediaUrls,
  readAnswer,
  repairKey,
} from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { media as mediaProto } from "@nodeloom/proto";
import type { Media } from "../clients";
import type { CallRecord, ReusedResult } from "../run/call-record";
import type { CallFingerprint } from "../run/types";
import type { CallOutputs } from "../run/values";
import type { CallStore } from "../record/calls/calls";

export interface CallPosition extends Position {
  asked: CallFingerprint;
  /** JSON Schema that the answer must match. */
  schema?: JsonSchema | undefined;
}

export interface Where {
  userId: string;
  /** Final, charged executions of the user, in order of preference. */
  sources: readonly string[];
  /** True to extend the retention of reused files to that of new files. */
  pins: boolean;
}

export interface EarlierCallsOptions {
  calls: Pick<CallStore, "completedLike" | "completed">;
  media: Pick<Media, "getObjectsByKey" | "renewObjects">;
  /** Address prefix of the platform's own storage. */
  own: string;
  urls: Pick<MediaUrls, "current">;
}

type Files = ReadonlyMap<string, mediaProto.StoredObject>;

interface Earlier extends Position {
  record: CallRecord;
  outputs: CallOutputs;
}

const filesIn = (outputs: CallOutputs): string[] =>
  Object.values(outputs).flatMap((value) => (Array.isArray(value) ? value.filter(isMedia).map(({ url }) => url) : []));

/** True if a text matches its schema. Otherwise the answer was requested a second time. */
const fits = ({ text, json }: CallOutputs, schema: JsonSchema): boolean =>
  json !== undefined || (typeof text === "string" && "value" in readAnswer(text, schema));

export type EarlierCalls = ReturnType<typeof createEarlierCalls>;

export const createEarlierCalls = ({ calls, media, own, urls }: EarlierCallsOptions) => {
  const keyOf = (address: string): string => address.slice(own.length);
  const keysOf = (addresses: readonly string[]): string[] => [
    ...new Set(addresses.filter((address) => isStoredFile(address, own)).map(keyOf)),
  ];

  const outputsOf = ({ wholeJson, outputsJson, truncated }: CallRecord): CallOutputs | undefined => {
    const json = wholeJson ?? (truncated ? undefined : outputsJson);
    return json === undefined ? undefined : (JSON.parse(urls.current(json)) as CallOutputs);
  };

  /** Returns the existing files by address. */
  const filesAt = async (addresses: readonly string[]): Promise<Files> => {
    const objects = await inMediaBatches(keysOf(addresses), async (keys) => (await media.getObjectsByKey({ keys })).objects);
    return new Map(objects.map((object) => [own + object.key, object]));
  };

  /** If the answer was requested twice, the second call has the output. */
  const withRepairs = async (records: readonly CallRecord[], schemas: ReadonlyMap<string, JsonSchema>): Promise<Earlier[]> => {
    const schemaOf = ({ asked }: CallRecord): JsonSchema | undefined => schemas.get(asked!.digest);
    const isRepaired = (record: CallRecord): boolean => {
      const [schema, outputs] = [schemaOf(record), outputsOf(record)];
      return schema !== undefined && outputs !== undefined && !fits(outputs, schema);
    };
    const repairs = records.filter(isRepaired).map(({ _id }) => repairKey(_id));
    const second = new Map((repairs.length === 0 ? [] : await calls.completed(repairs)).map((call) => [call._id, call]));
    return records.flatMap((record): Earlier[] => {
      const usable = isRepaired(record) ? second.get(repairKey(record._id)) : record;
      const outputs = usable && outputsOf(usable);
      const schema = schemaOf(record);
      if (!usable || !outputs || (schema && !fits(outputs, schema))) return [];
      const costMicroUsd = usable === record ? record.costMicroUsd : record.costMicroUsd + usable.costMicroUsd;
      const current = { asked: record.asked && { ...record.asked, files: record.asked.files.map(urls.current) }, costMicroUsd };
      return [{ nodeId: record.nodeId, item: record.item, record: { ...record, ...current }, outputs }];
    });
  };

  /** Combines a request with the contents of its files. A deleted file doesn't equal any other file. */
  const contentOf = ({ digest, files }: CallFingerprint, knownFiles: Files): string =>
    [digest, ...files.map((address) => knownFiles.get(address)?.contentHash ?? address)].join("\n");

  const takenOver = ({ record, outputs }: Earlier): ReusedResult => ({
    outputs,
    from: record.reusedFrom ?? record.executionId,
    savedMicroUsd: record.savedMicroUsd ?? record.costMicroUsd,
  });

  /** Extends the retention of reused files. Files deleted in the meantime aren't reused. */
  const pinned = async (results: readonly (ReusedResult | null)[], ownerId: string): Promise<(ReusedResult | null)[]> => {
    const filesOf = (one: ReusedResult | null): string[] => (one ? keysOf(filesIn(one.outputs)) : []);
    const keys = [...new Set(results.flatMap(filesOf))];
    const renewed = (owner: string) =>
      inMediaBatches(keys, async (batch) => (await media.renewObjects({ keys: batch, ownerId: owner })).objects);
    const renewedKeys = await Promise.all([ownerId, innerOwner(ownerId)].map(renewed));
    const there = new Set(renewedKeys.flat().map(({ key }) => key));
    return results.map((one) => (filesOf(one).every((key) => there.has(key)) ? one : null));
  };

  /** Finds reusable results for the calls of one step. @returns one entry for each call; null if the call must be made */
  return async (positions: readonly CallPosition[], { userId, sources, pins }: Where): Promise<(ReusedResult | null)[]> => {
    const digests = [...new Set(positions.map(({ asked }) => asked.digest))];
    const like = sources.length === 0 ? [] : await calls.completedLike(sources, digests);
    if (like.length === 0) return positions.map(() => null);
    const schemas = new Map(positions.flatMap(({ asked, schema }) => (schema ? [[asked.digest, schema] as const] : [])));
    const earlier = await withRepairs(
      like.filter(({ _id }) => !isRepairKey(_id)),
      schemas,
    );
    const files = await filesAt([
      ...positions.flatMap(({ asked }) => asked.files),
      ...earlier.flatMap(({ record, outputs }) => [...record.asked!.files, ...filesIn(outputs)]),
    ]);
    const place = new Map(sources.map((id, index) => [id, index]));
    const owners = new Set([userId, innerOwner(userId)]);
    const isThere = ({ outputs }: Earlier): boolean => filesIn(outputs).every((address) => owners.has(files.get(address)?.ownerId ?? ""));
    const usable = earlier
      .filter(isThere)
      .sort((a, b) => place.get(a.record.executionId)! - place.get(b.record.executionId)! || a.item - b.item);
    const byContent = groupBy(usable, ({ record }) => contentOf(record.asked!, files));
    const same = positions.map(({ asked }) => byContent.get(contentOf(asked, files)) ?? []);
    const results = assign(positions, same).map((one) => (one ? takenOver(one) : null));
    return pins ? pinned(results, userId) : results;
  };
};

/** Assigns equal earlier calls to the calls of a step. */

export interface Position {
  nodeId: string;
  item: number;
}

/**
 * Equal requests can have different results. Each call takes the result at its own position, then a result of its node that no other call
 * of the step takes, then any result.
 * @param positions the calls of one step
 * @param same earlier calls with equal requests, by the index of a wanted call, in order of preference
 */
export const assign = <Earlier extends Position>(
  positions: readonly Position[],
  same: readonly (readonly Earlier[])[],
): (Earlier | undefined)[] => {
  const takenCalls = new Set<Earlier>();
  const take = (earlier: Earlier | undefined): Earlier | undefined => {
    if (earlier) takenCalls.add(earlier);
    return earlier;
  };
  const own = positions.map(({ nodeId, item }, index) => take(same[index]!.find((one) => one.nodeId === nodeId && one.item === item)));
  return own.map((assigned, index) => {
    if (assigned) return assigned;
    const free = same[index]!.filter((one) => !takenCalls.has(one));
    return take(free.find(({ nodeId }) => nodeId === positions[index]!.nodeId) ?? free[0] ?? same[index]![0]);
  });
};

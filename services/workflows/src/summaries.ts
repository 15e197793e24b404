import type { Summary } from "./definition/workflow";

/** A list is one message and anyone can add templates to it, so its size is bounded. */
const COVERS_BYTES = 6 * 1024 * 1024;
const LIST_BYTES = 12 * 1024 * 1024;
/** Estimated size of a row without its texts. */
const ROW_BYTES = 400;
const GENERATOR_BYTES = 40;

const rowBytes = (row: Summary): number =>
  ROW_BYTES +
  Buffer.byteLength(row.name + row.description + row.tags.join("")) +
  row.generators.reduce((sum, use) => sum + GENERATOR_BYTES + Buffer.byteLength(use.nodeId + use.model + use.inputsJson), 0);

/**
 * Collects rows of a list, the most important first. Sources are read concurrently. Above a first bound, rows have no covers; above a
 * second bound, the list ends. Ordinary accounts reach neither bound.
 */
export const collectSummaries = async (sources: readonly AsyncIterable<readonly Summary[]>[]): Promise<Summary[]> => {
  const rows: Summary[] = [];
  let bytes = 0;
  let covers = 0;
  /** @returns false if not all rows fit */
  const take = (batch: readonly Summary[]): boolean =>
    batch.every((row) => {
      const cover = Buffer.byteLength(row.coverJson);
      const isIllustrated = covers + cover <= COVERS_BYTES;
      if (isIllustrated) covers += cover;
      bytes += rowBytes(row);
      if (bytes + covers > LIST_BYTES) return false;
      rows.push(isIllustrated ? row : { ...row, coverJson: "" });
      return true;
    });
  const open = sources.map((source) => source[Symbol.asyncIterator]());
  const firsts = open.map((batches) => batches.next());
  try {
    await Promise.all(firsts);
    for (const [index, batches] of open.entries()) {
      for (let next = await firsts[index]!; !next.done && take(next.value);) next = await batches.next();
    }
  } finally {
    await Promise.all(open.map(async (batches) => batches.return?.()));
  }
  return rows.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime() || (a.slug < b.slug ? -1 : 1));
};

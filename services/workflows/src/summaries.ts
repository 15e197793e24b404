import type { Summary } from "./workflow";

/** A list travels as one message, and anyone may add templates to everyone's: it needs a bound. */
const PICTURES_BYTES = 6 * 1024 * 1024;
const LIST_BYTES = 12 * 1024 * 1024;
/** What a row takes besides its texts. */
const ROW_BYTES = 400;
const GENERATOR_BYTES = 40;

const rowBytes = (row: Summary): number =>
  ROW_BYTES +
  Buffer.byteLength(row.name + row.description + row.tags.join("")) +
  row.generators.reduce((sum, use) => sum + GENERATOR_BYTES + Buffer.byteLength(use.nodeId + use.model + use.inputsJson), 0);

const pictureBytes = (row: Summary): number => Buffer.byteLength(row.coverJson) + Buffer.byteLength(row.thumbnail ?? "");

/**
 * Collects a list's rows, the most important first. Past a first bound rows come without inline pictures, past a
 * second one they end; neither is reached by ordinary accounts.
 */
export const collectSummaries = async (sources: readonly AsyncIterable<Summary>[]): Promise<Summary[]> => {
  const rows: Summary[] = [];
  let bytes = 0;
  let pictures = 0;
  for (const source of sources) {
    for await (const row of source) {
      const isIllustrated = pictures + pictureBytes(row) <= PICTURES_BYTES;
      if (isIllustrated) pictures += pictureBytes(row);
      bytes += rowBytes(row);
      if (bytes + pictures > LIST_BYTES) break;
      rows.push(isIllustrated ? row : { ...row, thumbnail: null, coverJson: "" });
    }
  }
  return rows.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime() || (a.slug < b.slug ? -1 : 1));
};

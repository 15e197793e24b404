import { closeSync, mkdirSync, openSync, fstatSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const LARGEST_BYTES = 10 * 1024 * 1024;

/**
 * A log of one to two times `largestBytes`. When it is full, it becomes `<path>.1` and a new one starts.
 * @param {string} path
 * @param {number} [largestBytes]
 * @returns {(chunk: Buffer) => void}
 */
export const openLogFile = (path, largestBytes = LARGEST_BYTES) => {
  mkdirSync(dirname(path), { recursive: true });
  let file = openSync(path, "a", 0o600);
  let size = fstatSync(file).size;
  return (chunk) => {
    if (size + chunk.length > largestBytes && size > 0) {
      closeSync(file);
      renameSync(path, `${path}.1`);
      file = openSync(path, "a", 0o600);
      size = 0;
    }
    writeSync(file, chunk);
    size += chunk.length;
  };
};

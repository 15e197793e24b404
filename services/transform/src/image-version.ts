import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  dependencies: { sharp: string };
}

/**
 * Version of the image library, which affects results. It is read from package.json (dependencies are pinned), because only child processes
 * load the library.
 */
export const imageVersion: string = (JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8")) as Manifest).dependencies
  .sharp;

import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  dependencies: { sharp: string };
}

/**
 * Version of the image library, which results depend on. Read from package.json (dependencies are pinned), because only children load the
 * library.
 */
export const imageVersion: string = (JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8")) as Manifest).dependencies
  .sharp;

import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  dependencies: { sharp: string };
}

/** Version of the image library, on which results depend. It is loaded in the children alone; dependencies are pinned. */
export const imageVersion: string = (JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8")) as Manifest).dependencies
  .sharp;

import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../src/blobs/folders";

it("creates folders by a relative name, including their parents", async () => {
  const root = await mkdtemp(join(tmpdir(), "nodeloom-folders-"));
  const before = process.cwd();
  process.chdir(root);
  try {
    await makeFolder("m/n");
    await makeFolder("m/n");
    expect((await stat(join(root, "m", "n"))).isDirectory()).toBe(true);
  } finally {
    process.chdir(before);
    await rm(root, { recursive: true });
  }
});

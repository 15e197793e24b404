import type { media } from "@nodeloom/proto";
import { createLogger } from "@nodeloom/platform";
import { createAddressDoor } from "../src/edge/media-urls";

const BASE = "https://loom.test";
const FORMER = "https://former.test";
const [MINE, FOREIGN] = [`${"0a".repeat(16)}.png`, `${"0b".repeat(16)}.png`];
const caller = { user: { id: "me" } };

/** The media service of an account that has one file. */
const service = {
  signUrls: ({ keys }: Partial<media.SignUrlsRequest>) =>
    Promise.resolve({
      queries: Object.fromEntries((keys ?? []).filter((key) => key === MINE).map((key) => [key, "e=9&s=x"])),
      refused: (keys ?? []).filter((key) => key !== MINE),
    }),
  admitUrls: () => Promise.resolve({ refused: [] }),
};

describe("after an installation moved to another host", () => {
  const door = createAddressDoor({
    media: service as never,
    ...{ publicBaseUrl: BASE, formerBaseUrls: [FORMER], logger: createLogger("test", "silent") },
  });

  it("gives earlier results addresses at the current host, signed for a caller who can read the file", async () => {
    const stored = JSON.stringify({ images: [{ url: `${FORMER}/media/${MINE}` }, { url: `${FORMER}/media/${FOREIGN}` }] });
    const left = JSON.stringify({ images: [{ url: `${BASE}/media/${MINE}?e=9&s=x` }, { url: `${BASE}/media/${FOREIGN}` }] });
    expect(await door.leave(stored, caller)).toBe(left);
    expect(await door.readable(`${FORMER}/media/${MINE}`, caller)).toBe(`${BASE}/media/${MINE}?e=9&s=x`);
    expect(await door.readable(`${FORMER}/media/${FOREIGN}`, caller)).toBeUndefined();
  });

  it.each([
    `${FORMER}.evil.test`,
    "https://evil.test",
    `${FORMER}@evil.test`,
    `https://evil.test/?to=${FORMER}`,
    "https://evil-former.test",
  ])("never signs a file's name at a look-alike address: %s", async (host) => {
    const text = JSON.stringify({ url: `${host}/media/${MINE}` });
    expect(await door.leave(text, caller)).toBe(text);
  });

  it("accepts addresses that were saved before the move, without their signatures", () => {
    const { text, urls } = door.enter(`{"image":"${FORMER}/media/${MINE}?e=1&s=old"}`);
    expect(text).toBe(`{"image":"${BASE}/media/${MINE}"}`);
    expect(urls).toEqual([{ key: MINE, expires: "1", signature: "old" }]);
  });
});

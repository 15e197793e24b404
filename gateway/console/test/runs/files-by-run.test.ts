import type { MediaFile } from "@nodeloom/client";

// The part of the browser's page that addresses are made from.
Object.assign(globalThis, { location: { origin: "http://127.0.0.1:8080" }, GATEWAY_ORIGIN: "" });
import { filesByRun } from "../../src/runs/files-by-run";

const RUN = "56401458-2edd-822b-9e46-4ec23630f636";
const file = (id: string, contentType = "image/png") => ({ id, url: `http://127.0.0.1:8080/media/${id}`, contentType }) as MediaFile;

it("finds what a run made by its files' ids, in the order of its nodes and items, without what it was given", () => {
  const filesByRunId = filesByRun([
    file("1ca28aebe212e29c4ea6c8b9dbf69013"),
    file(`${RUN}-10-0-0`, "video/mp4"),
    file(`${RUN}-2-1-0`),
    file(`${RUN}-2-0.1-0`),
    file(`${RUN}-2-0-in-0`),
  ]);
  expect([...filesByRunId.keys()]).toEqual([RUN]);
  expect(filesByRunId.get(RUN)!.map(({ url, family }) => `${url.slice(url.indexOf(RUN) + RUN.length)} ${family}`)).toEqual([
    "-2-0.1-0 image",
    "-2-1-0 image",
    "-10-0-0 video",
  ]);
});

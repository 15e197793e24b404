import type { MediaFile } from "@nodeloom/client";
import { newestFile, newestOf } from "../../src/features/models/examples/newest";

const file = (id: string, model: string | null, contentType = "image/png"): MediaFile =>
  ({ ...{ id, url: `/media/${id}`, contentType, bytes: 1 }, ...{ origin: "generated", kept: false, createdAt: null, model } }) as MediaFile;

it("shows of each model the newest file that it made, and none of another kind", () => {
  const newest = newestOf([
    file("photo", null),
    file("b", "painter"),
    file("a", "painter"),
    file("c", "singer", "audio/wav"),
    file("d", "potter", "model/gltf-binary"),
  ]);
  const of = (internalName: string, modality: string) => newestFile(newest, { internalName, modality })?.id;
  expect([of("painter", "image"), of("singer", "audio"), of("potter", "model3d"), of("singer", "video"), of("other", "image")]).toEqual([
    "b",
    "c",
    "d",
    undefined,
    undefined,
  ]);
  expect(newestFile(undefined, { internalName: "painter", modality: "image" })).toBeUndefined();
});

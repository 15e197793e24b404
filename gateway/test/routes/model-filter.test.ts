import { models } from "@nodeloom/proto";
import { isListed } from "../../src/routes/models/filter";

const schnell = models.Model.fromPartial({
  internalName: "flux-schnell",
  displayName: "FLUX.1 [schnell]",
  description: "Fast pictures by Black Forest Labs",
  modality: "image",
  company: "fal",
});

it.each<[Parameters<typeof isListed>[1], boolean]>([
  [{}, true],
  [{ q: "" }, true],
  [{ q: "FLUX forest" }, true],
  [{ q: "fal" }, true],
  [{ q: "flux replicate" }, false],
  [{ modality: "image" }, true],
  [{ modality: "video" }, false],
  [{ provider: "fal" }, true],
  [{ provider: "fa" }, false],
  [{ q: "fast", modality: "image", provider: "fal" }, true],
  [{ q: "slow", modality: "image", provider: "fal" }, false],
])("a list of models filtered by %j has a single model that matches all of it: %j", (filter, listed) => {
  expect(isListed(schnell, filter)).toBe(listed);
});

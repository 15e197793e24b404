import { sentInputs } from "../../src/runs/sent-inputs";
import { changed } from "../../src/ui/inputs/declared-values";

const field = (name: string, type: string, more: object = {}) => ({ name, type, default: "a demo", ...more });

describe("inputs of a run", () => {
  it("stay empty where a text with a default was emptied", () => {
    expect(sentInputs([field("line", "text"), field("story", "textarea")], { line: "", story: "" })).toEqual({ line: "", story: "" });
  });

  it("leave out what has no value", () => {
    const fields = [
      field("line", "text", { default: undefined }),
      field("photo", "image_upload", { default: undefined }),
      field("photos", "image_upload", { default: undefined, multiple: true }),
      field("must", "text", { required: true }),
    ];
    expect(sentInputs(fields, { line: "", photo: undefined, photos: undefined, must: "" })).toEqual({});
  });

  it("stay without a file where a file with a default was removed, so that no example is used in its place", () => {
    const fields = [field("photo", "image_upload"), field("photos", "image_upload", { default: ["demo"], multiple: true })];
    expect(sentInputs(fields, { photo: undefined, photos: undefined })).toEqual({ photo: null, photos: [] });
    expect(sentInputs(fields, { photo: "mine", photos: [] })).toEqual({ photo: "mine", photos: [] });
    expect(sentInputs(fields, { photo: "mine", photos: ["b", "a"] })).toEqual({ photo: "mine", photos: ["b", "a"] });
  });
});

describe("example texts of a form", () => {
  const photos = { name: "photos", type: "image_upload", multiple: true, default: ["harbour", "pier"] };
  const lines = { name: "lines", type: "textarea", default: "The harbour wakes up.\nTwo friends walk." };
  const topic = { name: "topic", type: "text", default: "a day at the sea" };
  const mood = { name: "mood", type: "select", default: "calm" };
  const fields = [topic, photos, lines, mood];
  const examples = Object.fromEntries(fields.map(({ name, default: value }) => [name, value]));

  it("are emptied once the user's own files have replaced all example files that they describe", () => {
    expect(changed(fields, examples, photos, ["mine"])).toEqual({ photos: ["mine"], lines: "", topic: "", mood: "calm" });
  });

  it("stay while an example file is left, and where the user changed them", () => {
    expect(changed(fields, examples, photos, ["harbour", "mine"])).toMatchObject({ lines: lines.default, topic: topic.default });
    expect(changed(fields, { ...examples, lines: "Our cat" }, photos, ["mine"])).toMatchObject({ lines: "Our cat", topic: "" });
  });

  it("stay in a form in which no text has a line for each file", () => {
    const prompt = { ...lines, default: "one line" };
    expect(changed([photos, prompt], { ...examples, lines: prompt.default }, photos, ["mine"])).toMatchObject({ lines: "one line" });
  });
});

import { sentInputs } from "../../src/runs/sent-inputs";

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

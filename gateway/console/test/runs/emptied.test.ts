import { sentInputs } from "../../src/runs/sent-inputs";

const field = (name: string, type: string, more: object = {}) => ({ name, type, default: "a demo", ...more });

describe("inputs of a run", () => {
  it("stay empty where a text with a default was emptied", () => {
    expect(sentInputs([field("line", "text"), field("story", "textarea")], { line: "", story: "" })).toEqual({ line: "", story: "" });
  });

  it("leave out what has no value", () => {
    const fields = [
      field("line", "text", { default: undefined }),
      field("photo", "image_upload"),
      field("must", "text", { required: true }),
    ];
    expect(sentInputs(fields, { line: "", photo: undefined, must: "" })).toEqual({});
  });
});

import { isSlug } from "@nodeloom/kernel";
import fc from "fast-check";
import { firstFree, MAX_CHARS, slugOf, variantsOf } from "../../src/definition/slug";

describe("a slug", () => {
  it.each([
    ["Poster maker", "poster-maker"],
    ["  Ünïcödé   Straße! ", "unicode-strasse"],
    ["Привет мир", "privet-mir"],
    ["你好 世界", "ni-hao-shi-jie"],
    ["a_b~c.d/e", "a-b-c-d-e"],
    ["--C++--", "c"],
    ["🎉🎉", "workflow"],
    ["   ", "workflow"],
    ["x".repeat(300), "x".repeat(72)],
    [`${"ab ".repeat(100)}`, "ab-".repeat(24).slice(0, -1)],
  ])("of %j is %j", (name, slug) => expect(slugOf(name)).toBe(slug));

  it.each(["Café Ångström", "がぎ ガ", "й ё ї", "한국어"])("of %j is the same however its letters are composed", (name) => {
    expect(slugOf(name.normalize("NFD"))).toBe(slugOf(name.normalize("NFC")));
  });

  it("is valid for any name, also with a long number", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        const slug = slugOf(name);
        return isSlug(slug) && isSlug(`${slug}-9999999`) && `${slug}-9999999`.length <= MAX_CHARS;
      }),
    );
  });

  it("takes the smallest free number", () => {
    expect(firstFree("a", new Set())).toBe("a");
    expect(firstFree("a", new Set(["a", "a-2", "a-4"]))).toBe("a-3");
    expect(firstFree("a", new Set(["a-2"]))).toBe("a");
  });

  it("matches its variants and nothing else", () => {
    const matching = ["a-b", "a-b-2", "a-b-10", "a-b-c", "a-bc", "xa-b", "a-b-2-3", "a"].filter((slug) => variantsOf("a-b").test(slug));
    expect(matching).toEqual(["a-b", "a-b-2", "a-b-10"]);
  });
});

import { Braces } from "lucide-react";
import { textOf, type Look } from "./look";

export const json: Look = {
  type: "json",
  title: "JSON",
  group: "Data",
  icon: Braces,
  id: "json",
  words:
    "json, jmespath, query, pick, extract, code, transform, map, filter items, parse, function, javascript, python, expression, math, aggregate, sort, item lists, set fields, calculate, limit, remove duplicates",
  description: "Picks values out of JSON",
  data: { expression: "" },
  summary: (data) => textOf(data.expression) || "The whole value",
  writes: { setting: "expression", label: "Expression", placeholder: "The whole value", lines: 1 },
  form: "expression",
};

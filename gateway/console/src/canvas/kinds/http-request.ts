import { Globe } from "lucide-react";
import { textOf, type Look } from "./look";
import { COMMON } from "../../messages/common";
import { HTTP_REQUEST } from "../../messages/canvas";

export const httpRequest: Look = {
  type: "http-request",
  order: 11,
  title: HTTP_REQUEST.httpRequest,
  group: "data",
  icon: Globe,
  id: "request",
  description: HTTP_REQUEST.summary,
  data: { method: "GET", url: "" },
  summary: (data) => `${textOf(data.method) || "GET"} ${textOf(data.url)}`,
  writes: { setting: "url", label: COMMON.address, placeholder: HTTP_REQUEST.https, lines: 1 },
  line: (data) => textOf(data.method) || "GET",
  form: "http",
};

import { Globe } from "lucide-react";
import { textOf, type Look } from "./look";

export const httpRequest: Look = {
  type: "http-request",
  title: "HTTP request",
  group: "Data",
  icon: Globe,
  id: "request",
  words:
    "http, request, api call, fetch, rest, call url, url, curl, webhook call, slack, discord, telegram, notion, airtable, google sheets, send email, email, post, get, download url, graphql, hook",
  description: "Asks another service, for text, JSON or a file",
  data: { method: "GET", url: "" },
  summary: (data) => `${textOf(data.method) || "GET"} ${textOf(data.url)}`,
  writes: { setting: "url", label: "Address", placeholder: "https://…", lines: 1 },
  line: (data) => textOf(data.method) || "GET",
  form: "http",
};

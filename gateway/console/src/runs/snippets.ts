/** A run as code; a test executes the examples. */
export interface Call {
  baseUrl: string;
  /** `workflows/<slug>` or `models/<internalName>` */
  path: string;
  /** Alias of a workflow to run; empty or absent for `production`. */
  alias?: string;
  inputs: Readonly<Record<string, unknown>>;
  /** Credit limit of the run. */
  maxCredits?: number | undefined;
}

const bodyOf = ({ inputs, maxCredits }: Call): Record<string, unknown> => ({ inputs, ...(maxCredits === undefined ? {} : { maxCredits }) });

const addressOf = ({ baseUrl, path, alias = "" }: Call): string => `${baseUrl}/api/${path}/run${alias === "" ? "" : `?alias=${alias}`}`;

const KEY = "YOUR_API_KEY";
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const indented = (json: string, by: string): string => json.split("\n").join(`\n${by}`);

export const curl = (call: Call, key = KEY): string => {
  return [
    `curl -X POST ${shellQuoted(addressOf(call))}`,
    `  -H ${shellQuoted(`x-api-key: ${key}`)}`,
    `  -H 'content-type: application/json'`,
    `  -d ${shellQuoted(JSON.stringify(bodyOf(call)))}`,
  ].join(" \\\n");
};

export const typescript = (call: Call, key = KEY): string =>
  `const response = await fetch(${JSON.stringify(addressOf(call))}, {
  method: "POST",
  headers: { "x-api-key": ${JSON.stringify(key)}, "content-type": "application/json" },
  body: JSON.stringify(${indented(JSON.stringify(bodyOf(call), undefined, 2), "  ")}),
});
const answer = await response.json();
if (!response.ok) throw new Error(answer.error);
console.log(answer.result);
`;

/** JSON as a Python literal, in which true, false and null have other names. */
const python3 = (value: unknown, by = ""): string => {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map((item) => python3(item, by)).join(", ")}]`;
  if (typeof value === "object") {
    const inner = `${by}    `;
    const members = Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${python3(item, inner)},`);
    return members.length === 0 ? "{}" : `{\n${members.join("\n")}\n${by}}`;
  }
  return JSON.stringify(value);
};

export const python = (call: Call, key = KEY): string =>
  `import json
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(addressOf(call))},
    method="POST",
    headers={"x-api-key": ${JSON.stringify(key)}, "content-type": "application/json"},
    data=json.dumps(${python3(bodyOf(call), "    ")}).encode(),
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["result"])
`;

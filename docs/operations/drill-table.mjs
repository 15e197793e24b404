// Writes the table of drills into local.md, from what each drill says of itself.
import { DRILLS } from "../../deploy/drills/table.mjs";
import { writeMarked } from "../../deploy/local/generate/write.mjs";

const rows = DRILLS.map(({ name, minutes, sentence }) => `| \`${name}\` | ${minutes} | ${sentence} |`);
await writeMarked("docs/operations/local.md", { drills: ["| Name | Minutes | Test |", "| --- | ---: | --- |", ...rows].join("\n") });

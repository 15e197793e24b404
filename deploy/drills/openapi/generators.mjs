/**
 * Generators of clients, and the faults that are theirs. A fault is a line of output with its reason; other lines that report an error fail
 * the drill, and so does a fault that no line shows any more.
 * @typedef {object} Tools paths of the installed tools
 * @property {string} modules folder of npm packages
 * @property {string} python with the packages of requirements.txt
 * @property {string} jar of openapi-generator
 * @property {string} oapiCodegen
 *
 * @typedef {object} Step
 * @property {string} command
 * @property {string[]} args
 *
 * @typedef {object} Fault
 * @property {RegExp} line
 * @property {string} reason
 *
 * @typedef {object} Generator
 * @property {string} name
 * @property {(tools: Tools, document: string) => Step[]} steps generate and compile, in a folder of its own
 * @property {Fault[]} faults
 */

const TSC = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--lib", "es2022,dom", "--module", "esnext"];

/** @param {Tools} tools @param {string[]} files @returns {Step} */
const compileTypeScript = ({ modules }, files) => ({
  command: process.execPath,
  args: [`${modules}/typescript/bin/tsc`, ...TSC, "--moduleResolution", "bundler", ...files],
});
/** @param {Tools} tools @param {string} folder @returns {Step} */
const compilePython = ({ python }, folder) => ({ command: python, args: ["-m", "compileall", "-q", folder] });
/** @param {Tools} tools @param {string} document @param {string} language @returns {Step} */
const openApiGenerator = ({ jar }, document, language) => ({
  command: "java",
  args: ["-jar", jar, "generate", "-g", language, "-i", document, "-o", "."],
});
/** @type {Step[]} */
const COMPILE_GO = [
  { command: "go", args: ["mod", "tidy"] },
  { command: "go", args: ["build", "-gcflags=-e", "./..."] },
];

/** @type {readonly Generator[]} */
export const GENERATORS = [
  {
    name: "openapi-typescript",
    steps: (tools, document) => [
      { command: process.execPath, args: [`${tools.modules}/openapi-typescript/bin/cli.js`, document, "-o", "api.ts"] },
      compileTypeScript(tools, ["api.ts"]),
    ],
    faults: [],
  },
  {
    name: "openapi-python-client",
    steps: (tools, document) => [
      {
        command: tools.python,
        args: ["-m", "openapi_python_client", "generate", "--path", document, "--meta", "none", "--output-path", "client"],
      },
      compilePython(tools, "client"),
    ],
    faults: [{ line: /^WARNING parsing/, reason: "it has no archives, streams and other kinds of files as answers" }],
  },
  {
    name: "oapi-codegen",
    steps: (tools, document) => [
      { command: tools.oapiCodegen, args: ["-generate", "types,client,skip-prune", "-package", "api", "-o", "api.go", document] },
      { command: "go", args: ["mod", "init", "example.com/api"] },
      ...COMPILE_GO,
    ],
    faults: [],
  },
  {
    name: "openapi-generator typescript-fetch",
    steps: (tools, document) => [openApiGenerator(tools, document, "typescript-fetch"), compileTypeScript(tools, ["index.ts"])],
    faults: [
      { line: /Cannot find module '\.{1,2}\/(?:models\/)?Null'/, reason: "it takes the alternative null for a model" },
      { line: /Cannot find name '\w+(?:OnError|Preset)Enum'/, reason: "it drops enums of bodies with alternatives" },
      { line: /Cannot find module '\.\.\/models\/UploadMediaRequest'/, reason: "it drops a body that is bytes or a form" },
    ],
  },
  {
    name: "openapi-generator go",
    steps: (tools, document) => [openApiGenerator(tools, document, "go"), ...COMPILE_GO],
    faults: [
      {
        line: /New\w+ \(function\) is not a type|New\w+ redeclared|other declaration of New\w+|call to New\w+|model_new_api_key\.go.*undefined: time/,
        reason: "its constructor of Hook is called NewHook, which is a schema too; a prefix for models is put twice before some",
      },
      { line: /nil \(untyped nil\) is not a type/, reason: "it has no type for null" },
      { line: /as string value in argument to strlen/, reason: "it takes the length of a file for that of a text" },
      { line: /cannot indirect r\.image/, reason: "it has no list of files in a form" },
    ],
  },
  {
    name: "openapi-generator java",
    steps: (tools, document) => [
      openApiGenerator(tools, document, "java"),
      { command: "mvn", args: ["--batch-mode", "--quiet", "-Dmaven.javadoc.skip", "compile"] },
    ],
    faults: [
      { line: /String cannot be converted to Boolean/, reason: "it takes a boolean with one value for a text" },
      { line: /model\/TestExpectation\.java.*equals\(Object\)/, reason: "a member called equals clashes with the method of every object" },
      { line: /api\/(?:Media|Fal)Api\.java.*cannot find symbol/, reason: "it drops a body that is bytes or a form" },
      { line: /model\/OnExecution\w+CreatedAt\.java.*cannot find symbol/, reason: "it has no alternatives that are times" },
    ],
  },
  {
    name: "openapi-generator python",
    steps: (tools, document) => [openApiGenerator(tools, document, "python"), compilePython(tools, "openapi_client")],
    faults: [{ line: /not yet supported in getPydanticType/, reason: "it has no alternative null among others" }],
  },
];

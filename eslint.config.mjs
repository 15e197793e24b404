import boundaries from "eslint-plugin-boundaries";
import regexp from "eslint-plugin-regexp";
import tseslint from "typescript-eslint";
import { partNamed } from "./deploy/local/checks/floors.mjs";
import { NODE_TYPES } from "./deploy/local/checks/node-types.mjs";
import { LIBRARIES, SERVICES } from "./deploy/services.cjs";

/** Only the guarded client may call out: everything else could be pointed at our own network. */
const GUARDED = "Call out through platform's egress client.";
const CLIENTS = ["undici", "axios", "https", "node:https", "http2", "node:http2", "@aws-sdk/client-s3"];
const OUTBOUND = [
  ...CLIENTS.map((name) => ({ name, message: GUARDED })),
  ...["http", "node:http"].map((name) => ({ name, importNames: ["request", "get", "ClientRequest"], message: GUARDED })),
  ...["net", "node:net", "tls", "node:tls"].map((name) => ({
    name,
    importNames: ["connect", "createConnection", "Socket"],
    message: GUARDED,
  })),
];
const OUTBOUND_GLOBALS = ["fetch", "WebSocket", "EventSource"].map((name) => ({ name, message: GUARDED }));
const OUTBOUND_SYNTAX = [
  "MemberExpression[object.name=/^(globalThis|global)$/][property.name=/^(fetch|WebSocket|EventSource)$/]",
  "CallExpression[callee.object.name=/^https?$/][callee.property.name=/^(request|get)$/]",
  "ImportExpression[source.value=/^(undici|axios|(node:)?(https|http2)|@aws-sdk\\u002Fclient-s3)$/]",
  "CallExpression[callee.name='require'][arguments.0.value=/^(undici|axios|(node:)?(https|http2)|@aws-sdk\\u002Fclient-s3)$/]",
].map((selector) => ({ selector, message: GUARDED }));

const ASK_THE_KIND = "Ask the node kind (kernel/graph/kinds), not its type.";
const WORDS = NODE_TYPES.filter((type) => !type.includes("-")).join("|");
/** Types of nodes, wherever they stand; those that are words of other things, too, where they are compared with a node's. */
const NODE_TYPE_SYNTAX = [
  `Literal[value=/^(${NODE_TYPES.filter((type) => type.includes("-")).join("|")})$/]`,
  `BinaryExpression[operator=/^[!=]==$/][right.value=/^(${WORDS})$/][left.object.name=/node/i][left.property.name='type']`,
  `SwitchStatement[discriminant.object.name=/node/i][discriminant.property.name='type'] > SwitchCase > Literal[value=/^(${WORDS})$/]`,
].map((selector) => ({ selector, message: ASK_THE_KIND }));
/** In the console a type that is called so is a node's, unless it is a port's: these have the type media. */
const CONSOLE_TYPE_SYNTAX = {
  selector: `BinaryExpression[operator=/^[!=]==$/][right.value=/^(${WORDS.replace("media|", "")})$/][left.name='type']`,
  message: ASK_THE_KIND,
};

/** Oxlint's no-misused-promises does not look into parentheses: the type of a function that is returned has a name. */
const RETURNED_FUNCTION_SYNTAX = {
  selector:
    "ArrowFunctionExpression[body.type='BlockStatement'] > TSTypeAnnotation.returnType > TSFunctionType[returnType.typeAnnotation.type=/^TS(Void|Union)/]",
  message: "Give the type of the function that is returned a name.",
};

/** What services and the gateway may import besides their own files. */
const SHARED = [...LIBRARIES, "proto"];
/** Also by package name: no part imports another part's source. */
const OTHER_PARTS = {
  group: SERVICES.map(({ name }) => `@nodeloom/${name}`),
  message: "Parts meet over gRPC, never by import.",
};
const WITH_DATABASE = SERVICES.filter(({ database }) => database).map(({ name }) => name);

/**
 * The rooms of a part (deploy/local/checks/floors.mjs), and what each may import: itself, the floors below, and what all may.
 * @param {string} name @param {readonly string[]} shared
 */
const floorsOf = (name, shared) => {
  const { folder, floors, together = false, apart = [] } = partNamed(name);
  const typeOf = (/** @type {string} */ room) => `${name} ${room}`;
  const own = (/** @type {string} */ room) => (apart.includes(room) ? [typeOf(room), { folder: "${from.folder}" }] : typeOf(room));
  const elementOf = (/** @type {string} */ room) => {
    if (apart.includes(room)) return { type: typeOf(room), pattern: `${folder}/${room}/*`, mode: "folder", capture: ["folder"] };
    return { type: typeOf(room), pattern: `${folder}/${room}`, mode: room.endsWith(".ts") ? "file" : "folder" };
  };
  const rules = floors.flatMap((rooms, level) => {
    const below = floors.slice(0, level).flat().map(typeOf);
    return rooms.map((room) => ({ from: typeOf(room), allow: [...shared, ...below, ...(together ? rooms.map(typeOf) : [own(room)])] }));
  });
  return { elements: floors.flat().map(elementOf), rules };
};
const EXECUTIONS = floorsOf("executions", SHARED);
const NOTIFICATIONS = floorsOf("notifications", SHARED);
const CONSOLE = floorsOf("console", []);
const GATEWAY_SHARED = ["kernel", "platform", "proto"];
const GATEWAY = floorsOf("gateway", GATEWAY_SHARED);

const workflowCode = "services/executions/src/workflow/workflows/*.ts";
const workflowFolders = "services/executions/src/workflow/workflows/*/**";
/** What workflows share with activities: constants and pure functions. */
const workflowShared = ["services/executions/src/run/**", "services/executions/src/workflow/names.ts"];
const workflowImports = (/** @type {string[]} */ ...own) => ({
  "no-restricted-imports": "off",
  "@typescript-eslint/no-restricted-imports": [
    "error",
    {
      patterns: [
        {
          regex: `^(?!${["@temporalio/(workflow|common)$", "@nodeloom/kernel/graph$", "\\./([a-z-]+/)?[a-z-]+$", ...own].join("|")})`,
          allowTypeImports: true,
          message: "Workflows import only @temporalio/workflow, the kernel's graph, one another and what is as pure as they are.",
        },
      ],
    },
  ],
});

// What oxlint (.oxlintrc.json) does not judge, or lets more pass of: where parts end, and what nothing uses. No rule here needs types.
export default tseslint.config(
  { ignores: ["**/dist/**", ".nodeloom/**", "proto/src/gen/**", "**/*.{js,mjs,cjs}"] },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.base],
    // No rule reads a comment's tags.
    languageOptions: { parserOptions: { jsDocParsingMode: "none" } },
    rules: {
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-restricted-syntax": ["error", RETURNED_FUNCTION_SYNTAX],
    },
  },
  {
    // Expressions meet bytes of others: none may take more than linear time. Use a search, a split, or RE2 (kernel) instead.
    files: ["{services/*,gateway,gateway/client,gateway/console,proto}/src/**/*.{ts,tsx}"],
    plugins: { regexp },
    rules: {
      "regexp/no-super-linear-backtracking": ["error", { report: "potential" }],
      "regexp/no-super-linear-move": ["error", { report: "potential" }],
    },
  },
  { files: ["**/test/**/*.ts", "test-support/**/*.ts", "deploy/drills/**/*.ts"], rules: { "no-restricted-syntax": "off" } },
  {
    // Nothing in the platform calls out but through the one guarded client.
    files: ["services/*/src/**/*.ts", "gateway/src/**/*.ts"],
    ignores: ["services/platform/src/egress/**"],
    rules: {
      "no-restricted-imports": ["error", { paths: OUTBOUND }],
      "no-restricted-globals": ["error", ...OUTBOUND_GLOBALS],
      "no-restricted-syntax": ["error", RETURNED_FUNCTION_SYNTAX, ...OUTBOUND_SYNTAX, ...NODE_TYPE_SYNTAX],
    },
  },
  {
    // The table itself, the union of its types, and nodes of other trees.
    files: ["services/kernel/src/graph/{kinds,jmespath}/*.ts", "services/kernel/src/graph/node-types.ts"],
    rules: { "no-restricted-syntax": ["error", RETURNED_FUNCTION_SYNTAX, ...OUTBOUND_SYNTAX] },
  },
  {
    // The dependency rule of the folders.
    files: ["{gateway,services/*,deploy/bench,proto}/src/**/*.ts"],
    plugins: { boundaries },
    settings: {
      // Without it no import resolves to a source, and the rule is silent.
      "import/resolver": { node: { extensions: [".ts"] } },
      "boundaries/elements": [
        ...LIBRARIES.map((name) => ({ type: name, pattern: `services/${name}/src`, mode: "folder" })),
        { type: "proto", pattern: "proto/src", mode: "folder" },
        ...EXECUTIONS.elements,
        ...NOTIFICATIONS.elements,
        { type: "service", pattern: "services/*/src", mode: "folder", capture: ["name"] },
        ...GATEWAY.elements,
        { type: "gateway", pattern: "gateway/src", mode: "folder" },
        { type: "bench", pattern: "deploy/bench/src", mode: "folder" },
      ],
    },
    rules: {
      "boundaries/element-types": [
        "error",
        {
          default: "disallow",
          message: "${file.type} may not import ${dependency.type}",
          rules: [
            { from: "kernel", allow: ["kernel"] },
            { from: "proto", allow: ["proto"] },
            { from: "platform", allow: ["kernel", "proto", "platform"] },
            { from: "providers", allow: SHARED },
            ...EXECUTIONS.rules,
            ...NOTIFICATIONS.rules,
            { from: "service", allow: [...SHARED, ["service", { name: "${from.name}" }]] },
            ...GATEWAY.rules,
            { from: "gateway", allow: [...GATEWAY_SHARED, "gateway", ...GATEWAY.elements.map(({ type }) => type)] },
            { from: "bench", allow: ["kernel", "platform", "proto", "bench"] },
          ],
        },
      ],
    },
  },
  {
    files: ["{gateway,services/*}/src/**/*.ts"],
    ignores: ["services/platform/src/egress/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          paths: OUTBOUND,
          patterns: [OTHER_PARTS],
        },
      ],
    },
  },
  {
    files: ["services/kernel/src/**/*.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ regex: "^(?!\\.|re2js$)", message: "The kernel has no dependency but re2js, and no I/O." }] },
      ],
    },
  },
  {
    // Workflows are deterministic: only Temporal's workflow API, the kernel, one another, and files that are as pure. Types may
    // come from anywhere.
    files: [workflowCode],
    rules: workflowImports("\\.\\./\\.\\./run/[a-z-]+$", "\\.\\./names$"),
  },
  {
    files: ["services/triggers/src/workflows/*.ts"],
    rules: workflowImports("\\.\\./timing$"),
  },
  {
    files: [workflowFolders],
    rules: workflowImports("\\.\\./[a-z-]+$", "\\.\\./\\.\\./\\.\\./run/[a-z-]+$"),
  },
  {
    files: ["services/notifications/src/workflows/*.ts"],
    rules: workflowImports("\\.\\./timing$"),
  },
  {
    // What a run is, is pure.
    files: workflowShared,
    rules: workflowImports("@nodeloom/kernel$"),
  },
  {
    // Concept files know no gRPC, no Express and no mongoose, at any depth.
    files: [`services/{${WITH_DATABASE.join(",")}}/src/**/*.ts`],
    ignores: [
      "services/*/src/{main,wire,wiring,server,database,http,http-*}.ts",
      "services/*/src/**/{store,*-store,schema}.ts",
      "services/{notifications,workflows}/src/store/*.ts",
      "services/executions/src/record/**/*.ts",
      "services/executions/src/workflow/{client,worker,activities}.ts",
    ],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          paths: [
            ...OUTBOUND,
            ...["mongoose", "express", "@grpc/grpc-js"].map((name) => ({
              name,
              message: "Concept files know no transport and no database driver.",
            })),
          ],
          patterns: [OTHER_PARTS],
        },
      ],
    },
  },
  {
    // The floors of the console. Features do not know one another.
    files: ["gateway/console/src/**/*.{ts,tsx}"],
    plugins: { boundaries },
    settings: {
      "import/resolver": { node: { extensions: [".ts", ".tsx"] } },
      "boundaries/elements": CONSOLE.elements,
      "boundaries/dependency-nodes": ["import", "export", "dynamic-import"],
    },
    rules: {
      "boundaries/element-types": [
        "error",
        { default: "disallow", message: "A ${file.type} may not import this ${dependency.type}: it stands above.", rules: CONSOLE.rules },
      ],
    },
  },
  {
    // How a kind looks and which form it has stands in its file; a starter is a graph.
    files: ["gateway/console/src/**/*.{ts,tsx}"],
    ignores: [
      "gateway/console/src/canvas/kinds/*.ts",
      "gateway/console/src/features/workflows/starters.ts",
      // The pages of visitors load no kernel.
      "gateway/console/src/visitor/progress.tsx",
    ],
    rules: { "no-restricted-syntax": ["error", RETURNED_FUNCTION_SYNTAX, ...NODE_TYPE_SYNTAX, CONSOLE_TYPE_SYNTAX] },
  },
  {
    files: ["gateway/console/src/document/**/*.{ts,tsx}"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: "^(react|@xyflow|@nodeloom/client)|\\.\\./",
              message: "A document knows neither React nor the network.",
            },
          ],
        },
      ],
    },
  },
);

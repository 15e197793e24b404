import { plural } from "./forms";
export const EXAMPLE = {
  yourLatestResult: "Your latest result",
  exampleFrom: (displayName: string, words: string) => `Example from ${displayName}: ${words}`,
};

export const IMPORT_MODEL = {
  fal: "fal",
  falHint: "The path of the application, such as fal-ai/flux-2-pro.",
  replicate: "Replicate",
  replicateHint: "Owner and name, such as black-forest-labs/flux-schnell.",
  openRouter: "OpenRouter",
  openAiHint: "The ID of the model, such as openai/gpt-6-luna.",
  perRun: "per run",
  perImage: "per image",
  perSecond: "per second",
  imported: (displayName: string) => `${displayName} imported`,
  itsNameIs: "Its name is",
  priceMissing: ". It stays disabled until you set its price.",
  notes: "Notes",
  setPrice: "Set price",
  later: "Later",
  priceOfSaved: (displayName: string) => `Price of ${displayName} saved.`,
  usd: "USD",
  priceHint: "The provider's price. Each plan adds its markup.",
  charged: "Charged",
  importModel: "Import model",
  import: "Import",
  intro: "Nodeloom reads its inputs from the provider.",
  provider: "Provider",
  output: "Output",
  outputHint: "Used if Replicate doesn't state it.",
  asStatedByReplicate: "As stated by Replicate",
};

export const KEY_DIALOG = {
  theKeyWorks: "The key works",
  ofCanRun: (count: string, account: string) => `${count} of ${account} can run.`,
  rejectedTheKey: (account: string) => `${account} rejected the key`,
  cantReach: (account: string) => `Can't reach ${account}`,
  noApiKey: "No API key",
  addOneFirst: "Add one first.",
  apiKeySaved: "API key saved",
  cantTest: (account: string) => `${account} has no free request to test a key. The first run shows whether it works.`,
  setInEnvironment: "This key is set in the platform's environment, which takes precedence. Change it there.",
  notSet: "No key is set.",
  endsIn: (hint: string | null) => `Ends in ${hint ?? "a few hidden characters"}`,
  setBy: (email: string) => `set by ${email}`,
  on: (setAt: string) => `on ${setAt}`,
  test: "Test",
  apiKeyFor: (account: string) => `API key for ${account}`,
  addKey: "Add key",
  replaceKey: "Replace key",
  ofUseIt: (count: string, account: string, state: string) => `${count} of ${account} use it. ${state}`,
  storageHint: "Stored encrypted, used only by this platform, and never shown again.",
  getAKey: "Get a key",
};

export const KEYS_DIALOG = {
  notSet: "not set",
  environment: "environment",
  providerApiKeys: "Provider API keys",
  cantStore: "This installation can't store keys",
  cantStoreHint: "Set SECRETS_KEYS for the identity service, or set the keys in the environment.",
  model: "model",
  models: "models",
  openKey: (isMissing: boolean, account: string) => `${isMissing ? "Add" : "Open"} the key for ${account}`,
  add: "Add",
  open: "Open",
};

export const LOCAL_PROGRESS = {
  unavailable: "Local models are unavailable",
  progress: (fetched: number, total: number) => `Local models: ${fetched} of ${total} MB`,
  localModels: "Local models",
  hint: "They run on this machine for free, without an API key.",
};

export const MODEL_CARD = {
  addApiKey: "Add API key",
  trialRuns: (left: number, total: number) => `Free: ${left} of ${plural(total, "trial run", "trial runs")}`,
  shutDownOn: "shut down on",
  shutsDownOn: "shuts down on",
  plan: (minTier: string) => `${minTier} plan`,
};

export const MODEL_PAGE = {
  file: "file",
  anyValue: "any value",
  from: (minimum: number) => ` from ${minimum}`,
  to: (maximum: number) => ` to ${maximum}`,
  otherwise: (usual: string | number | boolean) => `; otherwise ${usual}`,
  wholeNumber: "whole number",
  number: "number",
  yesOrNo: "yes or no",
  object: "object",
  list: "list",
  tryIt: "Try it",
  awaitsApproval: "Your account awaits approval. You can run models once it is approved.",
  planRequired: "Direct model calls require the Business plan",
  planHint: "With your plan, use this model in a workflow.",
  about: "About",
  output: "Output",
  provider: "Provider",
  requires: "Requires",
  anyPlan: "Any plan",
  planOrHigher: (minTier: string) => `${minTier} plan or higher`,
  nameInTheApi: "Name in the API",
  priceChecked: "Price checked",
  asynchronous: "Asynchronous",
  chosenAutomatically: "Chosen automatically",
  sandboxNoAi: "sandbox (no AI)",
  example: "Example",
  callOverHttp: "Call over HTTP",
  capabilityHint: "Requires a key with model:run, included in the Business plan.",
  curlExample: "curl example",
  modelNotFound: "Model not found",
  goToModels: "Go to models",
};

export const MODELS_PAGE = {
  searchModels: "Search models",
  type: "Type",
  allTypes: "All types",
  runsAt: "Runs at",
  allProviders: "All providers",
  readyOnly: "Ready only",
  subtitle: "Models for your workflows, with the price on your plan.",
  providerApiKeys: "Provider API keys",
  empty: "No models are enabled",
  noMatchingModels: "No matching models",
  showAll: "Show all",
};

export const ADD_SERVER = {
  respondsWithoutWorkflow: "The server responds. Add it, then upload a workflow.",
  respondsWithoutModels: "The server responds but has no models yet.",
  connected: "Connected",
  unusable: "Can't use this server",
  addServer: "Add server",
  testConnection: "Test connection",
  type: "Type",
  addressHint: "The address as seen from the machine that runs Nodeloom. In a container, localhost is the container.",
  nameHint: "Model names start with it.",
  gpuBox: "GPU box",
  apiKeyOptional: "API key (optional)",
  keyHint: "Sent only to this server, stored encrypted, and never shown again.",
};

export const QUERY = {
  openAICompatible: "OpenAI-compatible",
  openAICompatibleHint: "Ollama, LM Studio, vLLM, llama.cpp, LocalAI",
  comfyUI: "ComfyUI",
  comfyUIHint: "Its workflows become models",
  notOffered: "not offered",
};

export const SERVER_DIALOG = {
  outputTypeOf: (id: string) => `Output type of ${id}`,
  noModelsYet: "No models yet.",
  removeWorkflow: (name: string) => `Remove workflow ${name}`,
  removeServer: "Remove server",
  refreshModels: "Refresh models",
  environment: "environment",
  withApiKey: "with API key",
};

export const SERVERS_BUTTON = {
  openServer: (name: string) => `Open server ${name}`,
  open: "Open",
  yourServers: "Your servers",
  addServer: "Add server",
  emptyHint: "Connect Ollama, LM Studio, vLLM, llama.cpp, LocalAI or ComfyUI in your network. Their models appear here and cost nothing.",
  servers: "Servers",
};

export const UPLOAD_WORKFLOW = {
  notJson: "This file isn't JSON. In ComfyUI, export the workflow with Workflow → Export (API).",
  nameOf: (node: string, input: string) => `Name of ${node}: ${input}`,
  uploadWorkflow: "Upload workflow",
  intro: "Export it in ComfyUI with Workflow → Export (API). Nodes with a custom title are offered as inputs first.",
  modelName: "Model name",
  output: "Output",
  choose: "Choose",
  keepMetadata: "Keep the workflow in generated files",
  keepMetadataHint: "ComfyUI writes all nodes and prompts into each file. Otherwise Nodeloom removes them.",
  createModel: "Create model",
};

export const ANSWER_FIELDS = {
  number: "Number",
  wholeNumber: "Whole number",
  yesOrNo: "Yes or no",
  listOfTexts: "List of texts",
  oneOf: "One of…",
  field: (number: number) => `field${number}`,
  enterAName: "Enter a name.",
  nameTaken: "Another field has this name.",
  nameOfField: (index: number) => `Name of field ${index}`,
  typeOfField: (index: number) => `Type of field ${index}`,
  removeField: (index: number) => `Remove field ${index}`,
  choicesOfField: (index: number) => `Choices of field ${index}, separated by commas`,
  calmPlayfulDark: "calm, playful, dark",
  descriptionOfField: (index: number) => `Description of field ${index}`,
  description: "Description for the model (optional)",
  fieldsOfTheResponse: "Fields of the response",
  addAField: "Add a field",
};

export const ANSWER_FORM = {
  list: "List",
  fields: "Fields",
  minimumItems: "Minimum items",
  maximumItems: "Maximum items",
  listBoundsHint: "The nodes after it run once for each item. These bounds set the price range.",
  responseFormat: "Response format",
  schemaTooRich: "This JSON Schema has more than the form can show.",
  respondWithText: "Respond with text",
  useText: "Respond with text instead",
  editResponse: "Edit response",
  response: "Response",
  portHint: "The response is at the port json.",
  itemType: "Item type",
};

export const EXPRESSION_FORM = {
  pick: (path: string) => `Select ${path || "the whole value"}`,
  items: (count: number) => `${count} items`,
  fields: "fields",
  expression: "Expression",
  expressionHint: "A JMESPath expression, such as items[*].title. Leave empty for the whole value, or click a value below.",
  input: "Input",
  valuesToSelect: "Values to select",
  selectAValue: "Select a value",
  output: "Output",
  noMatch: "Empty: no value matches.",
  sampleHint: "After a run, click a value of its input here.",
};

export const WHEN_IT_FAILS = {
  chooseFallbackModels: "Choose fallback models",
  skipFailedItems: "Skip failed items",
  continueHint: "A list continues with its other items. Failed items are free.",
  useTheSuccessor: "Use the successor",
  useSuccessor: "If the model is retired, use its replacement.",
};

export const FIELDS_FORM = {
  severalFiles: "Several files",
  severalFilesHint: "The value is a list. The next node runs once for each file.",
  mostFiles: "Maximum files",
  longText: "Long text",
  number: "Number",
  yesOrNo: "Yes or no",
  choice: "Choice",
  image: "Image",
  mask: "Mask",
  video: "Video",
  audio: "Audio",
  model3d: "3D model",
  default: "Default",
  onByDefault: "On by default",
  enterAName: "Enter a name.",
  nameTaken: "Another input has this name.",
  nameHint: "The key in the API",
  input: (index: number) => `Input ${index}`,
  moveUp: "Move up",
  moveDown: "Move down",
  removeInput: "Remove input",
  type: "Type",
  choices: "Choices",
  onePerLine: "One per line",
  required: "Required",
  editInputs: "Edit inputs",
  numberedInput: (number: number) => `input${number}`,
  addInput: "Add input",
};

export const WORKFLOW_FORM = {
  workflowHint: "One of your workflows, or a template. Its nodes run as a step of this workflow.",
  yourWorkflows: "Your workflows",
  open: (name: string) => `Open “${name}”`,
  workflowMissing: "This workflow doesn't exist, or you can't use it.",
  versionHint: "A fixed version isn't affected by later changes.",
  newestVersion: "Newest version",
  draft: "Draft",
  version: (version: number) => `Version ${version}`,
};

export const LOOP_FORM = {
  count: "Turns",
  countHint: (most: number) => `The most turns, 1 to ${most}. The price covers all of them; turns that don't run are free.`,
  until: "Until",
  untilHint: "JMESPath over the result of a turn, such as score >= `4`. If empty, every turn runs.",
  feedback: "Feedback",
  feedbackHint: "Outputs of a turn that become inputs of the next turn.",
  becomes: (output: string) => `Output ${output} becomes`,
  notUsed: "Not used",
  editFeedback: "Edit feedback",
};

export const LAST_RUN = {
  inputsAndOutputs: "Inputs and outputs",
  showTheLastRun: "Show the last run",
  inThisRun: "In this run",
  credits: (creditsCost: string) => `${creditsCost} credits`,
  of: (itemsDone: number) => `${itemsDone} of`,
};

export const NOTE_FORM = {
  title: "Title",
  frameHint: "Nodes on a frame move with it. Frames don't run.",
  renameFrame: "Rename frame",
  width: "Width",
  height: "Height",
  resizeFrame: "Resize frame",
  note: "Note",
  noteHint: "For people who read this workflow. Notes don't run.",
};

export const PAINT_PICKER = {
  colour: "Colour",
  default: "default",
};

export const RESULTS_FORM = {
  intro: "A run returns each linked value under the name of its port. Drop a link on the node to add a result.",
  empty: "Nothing is linked yet: runs return an empty result.",
};

export const SETTINGS_FORM = {
  noSettings: "This node has no settings.",
};

export const SIMPLE_FORMS = {
  templateHint: "Write {{name}} where a value of another node belongs. It becomes a port.",
  aJsonList: "A JSON list.",
  editList: "Edit list",
  listHint: "The nodes after it run once for each item, up to 50. Set their maximum to allow more.",
  item: (index: number) => `Item ${index}`,
  removeItem: (index: number) => `Remove item ${index}`,
  addItem: "Add item",
  method: "Method",
  urlPlaceholder: "https://api.example.com/{{id}}",
  headers: "Headers",
  headersHint: 'A JSON object: {"authorization": "Bearer {{secrets.NAME}}"}. Store keys under Secrets.',
  bodySource: "The body comes from",
  body: "Body",
  responseValue: "Response value",
  pointerHint: "A JSON pointer, such as /items/0/title. Leave empty for the whole response.",
  failOnErrorStatus: "Fail on error status",
  failOnErrorStatusHint: "If the status isn't 2xx, the node fails.",
  chooseAFile: "Choose a file",
  chooseFiles: "Choose files",
  files: "Files",
  fileHint: "Upload or choose a file, or drop one on the canvas.",
  maximumItems: "Maximum items",
  maximumItemsHint: "1 to 1,000; without it 50. If a list has more items, the node fails.",
  maximumCharacters: "Maximum characters",
  inputLimitHint: "Limits prompt, system text and history together, and so the price. If they are longer, the node fails.",
  settings: "Settings",
  asStored: "As stored.",
};

export const SWITCH_FORM = {
  isNot: "is not",
  matchesPattern: "matches pattern",
  isGreaterThan: "is greater than",
  isLessThan: "is less than",
  exists: "exists",
  isEmpty: "is empty",
  case: (number: number) => `case ${number}`,
  editCase: "Edit case",
  intro:
    "The value continues at the first case that matches, else at “else”. Nodes after the other cases are skipped for free. Write {{name}} to add an input port; {{value}} is the value itself.",
  numberedCase: (index: number) => `Case ${index}`,
  port: "Port",
  removeCase: (index: number) => `Remove case ${index}`,
  removeThisCase: "Remove case",
  when: "When",
  comparison: "Comparison",
  addCase: "Add case",
};

export const WIRED_FIELD = {
  from: "from",
};

export const INSPECTOR = {
  runToThisNode: "Run to this node",
  restore: "Restore",
  bypass: "Bypass",
  deleteNode: "Delete node",
  bypassedHint: "Bypassed: runs skip this node and pass its input on where the type matches. It costs nothing.",
  more: "More",
  nameHint: "The name of this node on the canvas and in runs.",
  renameNode: "Rename node",
  comment: "Comment",
  noteHint: "For people who read this workflow. A mark on the node shows it.",
  json: "JSON",
  selectANodeToRead: "This is another user's template. Run it as it is, or press Use it to make a copy that you can change.",
  emptyHint: "Select a node to change its settings. Double-click the canvas or press / to add one.",
  portTypes: "Port types",
  portNames: { media: "any file", any: "any value", model3d: "3D model", json: "JSON" } as Partial<Record<string, string>>,
  arrange: "Arrange",
  nodes: (count: number) => `${count} nodes`,
};

export const ROUTE_FORM = {
  prefer: "Prefer",
  preferHint: "The model is chosen when a run starts. The price of the run names it and the reason.",
  firstInOrder: "First in the order",
  cheapest: "Cheapest",
  fastest: "Fastest",
  best: "Best that works",
  limits: "Limits",
  allowedModels: "Allowed models",
  allAllowed: "All models of the task are allowed.",
  onlyThese: "Only these models are allowed.",
  notForTask: (model: string) => `${model} (not for this task)`,
  maxCredits: "Most credits per call",
  maxCreditsHint: "Models that can cost more are left out.",
};

export const MODEL_FORM = {
  noneReady: "none ready",
  compareModels: "Compare models",
  automaticBestReady: "Automatic (best ready)",
  notAvailable: (chosenModel: string) => `${chosenModel} (not available)`,
  newRandomSeed: "New random seed",
  modelUnavailable: "This model is not available. Its settings are kept.",
  advanced: "Advanced",
};

export const ANSWER_FIELDS = {
  number: "Number",
  wholeNumber: "Whole number",
  yesOrNo: "Yes or no",
  listOfTexts: "List of texts",
  oneOf: "One of…",
  field: (number: number) => `field${number}`,
  enterAName: "Enter a name.",
  anotherFieldHasThisName: "Another field has this name.",
  nameOfField: (index: number) => `Name of field ${index}`,
  typeOfField: (index: number) => `Type of field ${index}`,
  removeField: (index: number) => `Remove field ${index}`,
  choicesOfFieldSeparatedBy: (index: number) => `Choices of field ${index}, separated by commas`,
  calmPlayfulDark: "calm, playful, dark",
  descriptionOfField: (index: number) => `Description of field ${index}`,
  descriptionForTheModelOptional: "Description for the model (optional)",
  fieldsOfTheResponse: "Fields of the response",
  addAField: "Add a field",
};

export const ANSWER_FORM = {
  list: "List",
  fields: "Fields",
  minimumItems: "Minimum items",
  maximumItems: "Maximum items",
  theNodesAfterItRun: "The nodes after it run once for each item. These bounds set the price range.",
  responseFormat: "Response format",
  thisJsonSchemaHasMore: "This JSON Schema has more than the form can show.",
  respondWithText: "Respond with text",
  respondWithTextInstead: "Respond with text instead",
  editResponse: "Edit response",
  response: "Response",
  theResponseIsAtThe: "The response is at the port json.",
  itemType: "Item type",
};

export const EXPRESSION_FORM = {
  pick: (path: string) => `Select ${path || "the whole value"}`,
  items: (count: number) => `${count} items`,
  fields: "fields",
  expression: "Expression",
  aJMESPathExpressionSuchAs: "A JMESPath expression, such as items[*].title. Leave empty for the whole value, or click a value below.",
  input: "Input",
  valuesToSelect: "Values to select",
  selectAValue: "Select a value",
  output: "Output",
  emptyNoValueMatches: "Empty: no value matches.",
  afterARunClickA: "After a run, click a value of its input here.",
};

export const WHEN_IT_FAILS = {
  chooseFallbackModels: "Choose fallback models",
  skipFailedItems: "Skip failed items",
  aListContinuesWithIts: "A list continues with its other items. Failed items are free.",
  useTheSuccessor: "Use the successor",
  ifTheModelIsRetired: "If the model is retired, use its replacement.",
};

export const FIELDS_FORM = {
  longText: "Long text",
  number: "Number",
  yesOrNo: "Yes or no",
  choice: "Choice",
  image: "Image",
  video: "Video",
  audio: "Audio",
  default: "Default",
  onByDefault: "On by default",
  enterAName: "Enter a name.",
  anotherInputHasThisName: "Another input has this name.",
  theKeyInTheApi: "The key in the API",
  input: (index: number) => `Input ${index}`,
  moveUp: "Move up",
  moveDown: "Move down",
  removeInput: "Remove input",
  type: "Type",
  choices: "Choices",
  onePerLine: "One per line",
  required: "Required",
  editInputs: "Edit inputs",
  input2: (number: number) => `input${number}`,
  addInput: "Add input",
};

export const WORKFLOW_FORM = {
  oneOfYourWorkflowsOr: "One of your workflows, or a template. Its nodes run as a step of this workflow.",
  yourWorkflows: "Your workflows",
  open: (name: string) => `Open “${name}”`,
  thisWorkflowDoesntExistOr: "This workflow doesn't exist, or you can't use it.",
  aFixedVersionIsntAffected: "A fixed version isn't affected by later changes.",
  newestVersion: "Newest version",
  draft: "Draft",
  version: (version: number) => `Version ${version}`,
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
  nodesOnAFrameMove: "Nodes on a frame move with it. Frames don't run.",
  renameFrame: "Rename frame",
  width: "Width",
  height: "Height",
  resizeFrame: "Resize frame",
  note: "Note",
  forPeopleWhoReadThis: "For people who read this workflow. Notes don't run.",
};

export const PAINT_PICKER = {
  colour: "Colour",
  default: "default",
};

export const RESULTS_FORM = {
  aRunReturnsEachLinked: "A run returns each linked value under the name of its port. Drop a link on the node to add a result.",
  nothingIsLinkedYetRuns: "Nothing is linked yet: runs return an empty result.",
};

export const SETTINGS_FORM = {
  thisNodeHasNoSettings: "This node has no settings.",
};

export const SIMPLE_FORMS = {
  writeNameWhereAValue: "Write {{name}} where a value of another node belongs. It becomes a port.",
  aJsonList: "A JSON list.",
  editList: "Edit list",
  theNodesAfterItRun: "The nodes after it run once for each item, up to 50 at a time.",
  item: (index: number) => `Item ${index}`,
  removeItem: (index: number) => `Remove item ${index}`,
  addItem: "Add item",
  method: "Method",
  httpsApiExampleComId: "https://api.example.com/{{id}}",
  headers: "Headers",
  aJsonObjectAuthorizationBearer: 'A JSON object: {"authorization": "Bearer {{secrets.NAME}}"}. Store keys under Secrets.',
  theBodyComesFrom: "The body comes from",
  body: "Body",
  responseValue: "Response value",
  aJsonPointerSuchAs: "A JSON pointer, such as /items/0/title. Leave empty for the whole response.",
  failOnErrorStatus: "Fail on error status",
  ifTheStatusIsnt2xx: "If the status isn't 2xx, the node fails.",
  chooseAFile: "Choose a file",
  uploadOrChooseAFile: "Upload or choose a file, or drop one on the canvas.",
  maximumItems: "Maximum items",
  forListsWhoseLengthIs: "For lists whose length is known only during the run: 1 to 50. If there are more, the node fails.",
  maximumCharacters: "Maximum characters",
  limitsPromptSystemTextAnd: "Limits prompt, system text and history together, and so the price. If they are longer, the node fails.",
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
  theValueContinuesAtThe:
    "The value continues at the first case that matches, else at “else”. Nodes after the other cases are skipped for free. Write {{name}} to add an input port; {{value}} is the value itself.",
  case2: (index: number) => `Case ${index}`,
  port: "Port",
  removeCase: (index: number) => `Remove case ${index}`,
  removeCase2: "Remove case",
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
  bypassedRunsSkipThisNode: "Bypassed: runs skip this node and pass its input on where the type matches. It costs nothing.",
  more: "More",
  theNameOfThisNode: "The name of this node on the canvas and in runs.",
  renameNode: "Rename node",
  comment: "Comment",
  forPeopleWhoReadThis: "For people who read this workflow. A mark on the node shows it.",
  json: "JSON",
  selectANodeToChange: "Select a node to change its settings. Double-click the canvas or press / to add one.",
  portTypes: "Port types",
  anyFile: "any file",
  anyValue: "any value",
  arrange: "Arrange",
  nodes: (count: number) => `${count} nodes`,
};

export const MODEL_FORM = {
  noneReady: "none ready",
  compareModels: "Compare models",
  automaticBestReady: "Automatic (best ready)",
  notAvailable: (chosen: string) => `${chosen} (not available)`,
  newRandomSeed: "New random seed",
  thisModelIsNotAvailable: "This model is not available. Its settings are kept.",
  advanced: "Advanced",
};

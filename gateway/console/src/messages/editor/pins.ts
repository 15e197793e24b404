export const PIN = {
  selectNodes: "Select nodes that call a model, an address or a person: you can pin their results.",
  unpinResult: "Unpin result",
  pinResult: "Pin result",
};

export const BATCH_ORDER = {
  notSaved: "The workflow isn't saved yet. The reason is next to its name.",
  gettingThePrice: "Getting the price…",
  free: "free",
  price: (amount: string, exact: boolean) => `${exact ? "" : "at most "}${amount} ${amount === "1" ? "credit" : "credits"}`,
};

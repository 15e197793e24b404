/** Thrown if the downloaded content is wrong, so that a retry is unlikely to help. */
export class WrongContent extends Error {
  override readonly name = "WrongContent";
}

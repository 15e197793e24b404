export declare namespace TextToVideoCreateParams {
  interface Gen45 {
    model: "gen4.5";
  }
}

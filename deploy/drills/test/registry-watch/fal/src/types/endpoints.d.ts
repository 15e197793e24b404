export type EndpointTypeMap = {
  "fal-ai/veo3.1": {
    input: Veo31Input;
  };
  "blackforestlabs/flux-2-pro": {
    input: Flux2ProInput;
  };
};

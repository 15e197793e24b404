export const MODEL_VIEW = {
  label: (label: string) => `${label}, 3D model. Drag it or press the arrow keys to turn it.`,
  loading: "Loading the 3D model…",
  unreadable: "This 3D model can't be shown here. Download it and open it in another program.",
  unsupported: "This browser can't show 3D models, because WebGL is off.",
  reset: "Reset the view",
};

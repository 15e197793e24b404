import { openAiAudioRoutes } from "./audio";
import { openAiChatRoutes } from "./chat";
import { openAiEmbeddingRoutes } from "./embeddings";
import { openAiImageRoutes } from "./images";
import { openAiModelRoutes } from "./models";
import { openAiResponseRoutes } from "./responses/routes";

export const openAiRoutes = [
  ...openAiImageRoutes,
  ...openAiAudioRoutes,
  ...openAiChatRoutes,
  ...openAiResponseRoutes,
  ...openAiEmbeddingRoutes,
  ...openAiModelRoutes,
];

import { content, defineRoute, STREAMED, type Reply } from "../../../edge/route";
import { answerOf } from "../answer";
import { wantedOf } from "../conversation";
import { beginRun, RUN_ERRORS, running, runToEnd, type RunContext } from "../runs";
import { streamAnswer } from "../stream";
import { event, eventsOf } from "./events";
import { conversationOf, request, type Request } from "./request";
import { begunResponse, endedResponse, response } from "./response";
import { jsonBody } from "../../../http/body/kinds";

const respond = async (context: RunContext, responseRequest: Request): Promise<Reply | typeof STREAMED> => {
  const { executionId, receivedAtMs } = context;
  const runRequest = await wantedOf(context, conversationOf(responseRequest));
  const startedResponse = begunResponse(executionId, responseRequest, receivedAtMs);
  if (!responseRequest.stream)
    return { status: 200, body: endedResponse(startedResponse, executionId, answerOf(await runToEnd(context, runRequest), runRequest)) };
  await beginRun(context, runRequest);
  await streamAnswer(context, runRequest, eventsOf(startedResponse, executionId));
  return STREAMED;
};

export const openAiResponseRoutes = [
  defineRoute({
    ...running,
    path: "/v1/responses",
    operationId: "openaiRespond",
    summary: "Create a response",
    description:
      "The stateless form of OpenAI's Responses API: nothing is stored, and `previous_response_id` is rejected. With `stream: true`, you get server-sent events that end with `response.completed` or `response.failed`.",
    body: jsonBody(request),
    responses: { 200: content({ "application/json": response, "text/event-stream": event }) },
    errors: RUN_ERRORS,
    example: { model: "sandbox-chat", input: "Three words for the sea?" },
    handler: (context) => respond(context as RunContext, context.body),
  }),
];

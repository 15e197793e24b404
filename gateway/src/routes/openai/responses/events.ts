import { z } from "zod";
import type { AnswerEvents } from "../stream";
import { callsOf, endedResponse, failedResponse, messageOf, outputTextOf, type OutputItem, type Response } from "./response";

/** Streams a response as numbered events in OpenAI's order. */

/** OpenAPI 3.1 describes a stream of events by one event. */
export const event = z
  .looseObject({
    type: z.string().meta({ description: "Name of the event", example: "response.output_text.delta" }),
    sequence_number: z.number().int(),
  })
  .meta({ id: "OpenAiResponseEvent" });

const MESSAGE_INDEX = 0;

/** @param executionId id of the run */
export const eventsOf = (startedResponse: Response, executionId: string): AnswerEvents => {
  let number = 0;
  let text: string | undefined;
  const eventOf = (type: string, members: object): object => ({ type, sequence_number: number++, ...members });
  const at = { item_id: `msg_${executionId}`, output_index: MESSAGE_INDEX, content_index: 0 };

  const openMessage = (): object[] => {
    if (text !== undefined) return [];
    text = "";
    const item = { ...messageOf(executionId, "", "completed"), status: "in_progress", content: [] };
    return [
      eventOf("response.output_item.added", { output_index: MESSAGE_INDEX, item }),
      eventOf("response.content_part.added", { ...at, part: outputTextOf("") }),
    ];
  };
  const closeMessage = (item: OutputItem): object[] => [
    ...openMessage(),
    eventOf("response.output_text.done", { ...at, text, logprobs: [] }),
    eventOf("response.content_part.done", { ...at, part: outputTextOf(text ?? "") }),
    eventOf("response.output_item.done", { output_index: MESSAGE_INDEX, item }),
  ];
  const callEvents = (item: OutputItem, output_index: number): object[] => {
    if (item.type !== "function_call") return [];
    const place = { item_id: item.id, output_index };
    const { name, arguments: json } = item;
    return [
      eventOf("response.output_item.added", { output_index, item: { ...item, arguments: "", status: "in_progress" } }),
      eventOf("response.function_call_arguments.delta", { ...place, delta: json }),
      eventOf("response.function_call_arguments.done", { ...place, name, arguments: json }),
      eventOf("response.output_item.done", { output_index, item }),
    ];
  };

  return {
    begin: () => ["response.created", "response.in_progress"].map((type) => eventOf(type, { response: startedResponse })),
    piece: (piece) => {
      const opening = openMessage();
      text += piece;
      return [...opening, eventOf("response.output_text.delta", { ...at, delta: piece, logprobs: [] })];
    },
    end: (answer) => {
      const endedAnswer = endedResponse(startedResponse, executionId, answer);
      const messages = endedAnswer.output.filter(({ type }) => type === "message");
      return [
        ...messages.flatMap(closeMessage),
        ...callsOf(executionId, answer).flatMap((item, index) => callEvents(item, messages.length + index)),
        eventOf(`response.${endedAnswer.status}`, { response: endedAnswer }),
      ];
    },
    failed: (error) => [eventOf("response.failed", { response: failedResponse(startedResponse, error) })],
  };
};

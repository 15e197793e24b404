import { FILE_READING } from "../messages/common";
import { headersOf } from "./organization";

/** Reads the file at an address. Only own paths receive the organization's header. @throws Error for people, if it can't be read */
export const readFile = async (url: string): Promise<Response> => {
  const isOwn = new URL(url, location.origin).origin === location.origin;
  const response = await fetch(url, isOwn ? { headers: headersOf() } : {});
  if (!response.ok) throw new Error(FILE_READING.failed(response.status));
  return response;
};

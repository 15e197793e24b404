import { queryOptions, useQuery } from "@tanstack/react-query";
import { isNotFound, request } from "../../api/client";
import { CopyButton } from "../../ui/copy";
import { ACCOUNT_NAME } from "../../messages/admin";

const userQuery = (id: string) =>
  queryOptions({
    queryKey: ["admin-user", id],
    queryFn: async ({ signal }) => {
      try {
        return (await request("adminGetUser", { params: { id }, signal })).body.email;
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/** An account by its address, with a copyable id. */
export const AccountName = ({ id, title }: { id: string; title?: string }) => {
  const { data } = useQuery(userQuery(id));
  return (
    <span className="flex min-w-0 items-center gap-1" title={title ?? data ?? undefined}>
      <span className="min-w-0 truncate">{data ?? (data === null ? ACCOUNT_NAME.aDeletedAccount : "…")}</span>
      <CopyButton compact text={id} label={ACCOUNT_NAME.copyId(data)} />
    </span>
  );
};

import { type FindOptionsWhere, LessThan, MoreThan, type Repository } from 'typeorm';
import type { AccountId } from '../db/account-id.js';
import type { VerbInput } from '../doors/input.js';
import { pageRequest, type Pagination, paginationOf } from '../doors/page.js';
import { isUuid } from '../kernel/names.js';

interface AccountRow {
  id: string;
  accountId: AccountId;
}

interface ListOrder<Row> {
  /** Narrows the list further; the account is always part of it. */
  readonly where?: FindOptionsWhere<Row>;
  /** From the newest to the oldest; ids are UUIDv7, so they sort by creation. */
  readonly newestFirst?: boolean;
}

/** The page of an account's rows that the caller asked for. Throws `parameter_invalid` for `limit` and `after`. */
export async function accountPage<Row extends AccountRow>(
  repository: Repository<Row>,
  accountId: AccountId,
  input: VerbInput,
  { where, newestFirst = false }: ListOrder<Row> = {},
): Promise<{ rows: Row[]; pagination: Pagination }> {
  const { limit, after } = pageRequest(input, isUuid);
  const beyond = after === undefined ? {} : { id: newestFirst ? LessThan(after) : MoreThan(after) };
  const found = await repository.find({
    where: { ...where, accountId, ...beyond } as FindOptionsWhere<Row>,
    order: { id: newestFirst ? 'DESC' : 'ASC' } as object,
    take: limit + 1,
  });
  const rows = found.slice(0, limit);
  return { rows, pagination: paginationOf(rows.at(-1)?.id, found.length > limit) };
}

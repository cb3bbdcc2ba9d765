import { digestOf } from '../api/asked.ts'
import type { RequestRow } from '../source/source.ts'

/**
 * The id by which a customer quotes a request. An id that a log's mapping joins has the values of its columns, such as a model, a person or the
 * operator's file, so it is shown as a digest. The source is a part of that: who guesses the columns cannot check the guess without its name.
 */
export const requestId = ({ source, id }: Pick<RequestRow, 'source' | 'id'>) =>
  id.includes('/') ? digestOf(`${source}/${id}`).slice(0, digits) : id

const digits = 20

/** The same in SQL, over `source` and `id`. */
export const requestIdSql = `CASE WHEN contains(id, '/') THEN left(sha256(source || '/' || id), ${digits}) ELSE id END`

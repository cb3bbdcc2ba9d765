import { join } from 'node:path'
import { endSql } from '../../measure/usage/ends.ts'
import { fileTokensSql } from '../../measure/usage/sums.ts'
import { tagDimension } from '../../measure/usage/tags.ts'
import { fileSql, identifier } from '../../store/literal.ts'
import { tagSql } from '../../store/quarters/tags.ts'
import { type Asked, type Input, needs, periodAsked, scopeOf, tagsShown } from '../api/asked.ts'
import { cursorInTime, placeInTime } from '../api/cursor.ts'
import { fileName } from '../api/file-name.ts'
import type { Source } from '../source/source.ts'
import {
  amountsSql,
  type ExportedFile,
  inFolder,
  keyNameSql,
  timeSql,
  types,
  written,
} from './export.ts'
import { requestIdSql } from './request-id.ts'
import { filtersAsked, noRequests } from './requests.ts'
import { unitsOfFile } from './sums.ts'

/**
 * Single requests and refunds of a period as a file, the oldest first. A file has a limited number of lines, and says where the next one begins:
 * at a moment, so that what is imported meanwhile moves nothing but lines of that moment.
 */
export async function exportRequests(
  asked: Asked,
  query: Input<'exportRequests'>,
  source: Pick<Source, 'writeRequests'>,
): Promise<ExportedFile> {
  needs(asked, 'export')
  needs(asked, 'requests')
  const { session, view, bearer } = asked
  const { format, limit, cursor } = query
  const whole = periodAsked(query, view)
  const begin = cursor === undefined ? { us: whole.fromUs, skip: 0, part: 1 } : placeInTime(cursor)
  const period = { ...whole, fromUs: Math.max(whole.fromUs, begin.us) }
  const filters = await filtersAsked(asked, query)
  return inFolder(async (folder) => {
    const file = join(folder, 'rows.parquet')
    const isKnown = await source.writeRequests(
      scopeOf(bearer),
      {
        ...filters,
        ...{ fromUs: period.fromUs, toUs: period.toUs, withRefunds: true, order: 'oldest' },
        ...{ priced: { unit: '', perCredit: null }, limit: limit + 1, skip: begin.skip },
      },
      file,
      asked,
    )
    if (!isKnown) throw noRequests()
    const rows = fileSql('read_parquet', file, 'file_row_number = true')
    const shown = (isShown: boolean, sql: string) => (isShown ? sql : 'NULL::VARCHAR')
    const tags = tagsShown(asked).map(
      (name) => `${tagSql(name)} AS ${identifier(tagDimension(name))}, `,
    )
    const sql = `
      SELECT ${timeSql('at_us', period)} AS at, type, ${requestIdSql} AS id, ${shown(bearer.shows.has('models'), 'model')} AS model,
        ${shown(bearer.shows.has('keys'), await keyNameSql(asked, 'key_fp'))} AS key, endpoint, ${tags.join('')}
        CASE WHEN type = 'usage' THEN ${endSql} END AS outcome, status, requests, ${fileTokensSql}, latency_us / 1000 AS duration_ms, ${amountsSql(asked)}
      FROM (SELECT *, credits::DECIMAL(38, 18) AS amount FROM ${rows} WHERE file_row_number < ${limit})
      ORDER BY file_row_number`
    const [next] = await session.rows<{ us: number; before: number }>(
      `SELECT us, (SELECT count(*)::INTEGER FROM ${rows} WHERE at_us = us AND file_row_number < ${limit}) AS before
       FROM (SELECT at_us AS us FROM ${rows} WHERE file_row_number = ${limit})`,
    )
    const skipped = next?.us === begin.us ? begin.skip : 0
    return {
      name: fileName('requests', view, whole, query, [
        ...(await unitsOfFile(asked, whole)),
        ...(begin.part === 1 ? [] : [`part-${begin.part}`]),
      ]),
      type: types[format],
      bytes: await written(session, sql, format, folder),
      next:
        next === undefined
          ? null
          : cursorInTime({ us: next.us, skip: next.before + skipped, part: begin.part + 1 }),
    }
  })
}

import { loadContract } from '../../contract/load.ts'
import { quarterUs } from '../../measure/usage/quantities.ts'
import { isTagDimension } from '../../measure/usage/tags.ts'
import { checkTimeZone, parseMoment } from '../../measure/usage/zone.ts'
import { storeEngine } from '../../report/usage/engine/engine.ts'
import { fillQuarters } from '../../report/usage/engine/fill-quarters.ts'
import { enterPrices } from '../../report/usage/prepare.ts'
import { exportQuery, tableOfQuartersSql } from '../../store/files/export.ts'
import { exportedSumsSql, type SumDimension, sumDimensions } from '../../store/quarters/sums.ts'
import { resolveRuns } from '../../store/runs/runs.ts'
import { limitTo } from '../../store/session/account.ts'
import { inSession } from '../../store/session/session.ts'
import { counted } from '../../user/grouped.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/export.ts'
import { formatOf } from '../runs/export.ts'
import { nextLine, storeWords } from '../terminal/next.ts'
import { accountScopeOf, keyNamesOf, openUsage } from './usage-scope.ts'

/** `assay export sums --by day,model`. @throws UserError for a dimension, time or format that is none */
export async function exportSumsAction(options: Options): Promise<void> {
  const { out, timezone } = options
  const by = dimensionsOf(options.by)
  const format = formatOf(options)
  checkTimeZone(timezone)
  const moment = (text?: string) => (text === undefined ? null : quarterStart(text, timezone))
  const period = { timezone, fromUs: moment(options.from), toUs: moment(options.to) }
  const contract = loadContract(options.contract)
  const scope = accountScopeOf(options.account, options.key, keyNamesOf(options.keyNames))
  const place = await openUsage(options.db, options, options.run)
  try {
    const rows = await inSession(place.store, {}, async (session) => {
      await enterPrices(session, contract)
      const { engine } = place
      const runs = options.run.length === 0 ? [] : await resolveRuns(session, options.run)
      if (engine === undefined && runs.length === 0) {
        await limitTo(session, scope)
        return exportQuery(session, exportedSumsSql(by, period), out, format)
      }
      const quarters = await fillQuarters(session, engine ?? storeEngine, scope, runs)
      return exportQuery(session, exportedSumsSql(by, period, quarters), out, format)
    })
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ what: 'sums', by, rows, out, format })}\n`
        : `${rows.toLocaleString('en-US')} sums by ${by.join(' and ')} in ${out}\n${nextLine(['report', 'usage', ...storeWords(options.db)], 'makes a page of them')}`,
    )
  } finally {
    await place.close()
  }
}

/** `assay export quarters --engine`: what closes a month of usage in ClickHouse. @throws UserError for runs, which a store alone has */
export async function exportQuartersAction(options: Options): Promise<void> {
  const { out } = options
  const format = formatOf(options)
  const scope = accountScopeOf(options.account, options.key, keyNamesOf(options.keyNames))
  const { store, engine, close } = await openUsage(options.db, options, options.run)
  try {
    const rows = await inSession(store, {}, async (session) => {
      const table = await fillQuarters(session, engine ?? storeEngine, scope, [])
      return exportQuery(session, tableOfQuartersSql(table), out, format)
    })
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ what: 'quarters', rows, out, format })}\n`
        : `${counted(rows, 'row')} of quarters in ${out}\n${nextLine(['usage', '--quarters', out], 'prints what they sum up')}`,
    )
  } finally {
    await close()
  }
}

function dimensionsOf(text: string): readonly SumDimension[] {
  const names = text.split(',').map((name) => name.trim())
  const isKnown = (name: string) =>
    isTagDimension(name) || sumDimensions.some((each) => each === name)
  if (names.every(isKnown) && new Set(names).size === names.length)
    return names as readonly SumDimension[]
  throw userError.usage(
    `--by ${text}: expected different ones of ${sumDimensions.join(', ')} and tag:NAME, such as day,model.`,
  )
}

/** @throws UserError for a time within a quarter of an hour, which no sum can be cut at */
function quarterStart(text: string, timezone: string): number {
  const us = parseMoment(text, timezone)
  if (us % quarterUs === 0) return us
  throw userError.usage(`"${text}": expected a full quarter of an hour, such as 09:15.`)
}

import { loadContract } from '../../contract/load.ts'
import { nextMonth } from '../../measure/usage/calendar.ts'
import { parseMoment } from '../../measure/usage/zone.ts'
import { readNumber } from '../../money/rational.ts'
import { columnsOf, focusColumns } from '../../report/focus/columns.ts'
import { focusCsv } from '../../report/focus/csv.ts'
import { readFocus } from '../../report/focus/export-focus.ts'
import { readTokenPrices } from '../../report/focus/token-prices.ts'
import { exportRows } from '../../store/files/export.ts'
import { writeOutput } from '../../store/files/output.ts'
import { inStore } from '../../store/session/in-store.ts'
import { counted } from '../../user/grouped.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/export.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine, optionWords, storeWords } from '../terminal/next.ts'
import { keyNamesOf } from './usage-scope.ts'

const monthPattern = /^\d{4}-\d\d-01$/

/** One account, one month, one file. @throws UserError for anything else */
export async function exportFocusAction(options: Options): Promise<void> {
  const { account, from, to, product, creditPrice, out, db } = options
  const missing = Object.entries({ account, from, to, product, 'credit-price': creditPrice })
    .filter(([, value]) => value === undefined || value === '')
    .map(([name]) => `--${name}`)
  if (missing.length > 0) {
    throw userError.usage(
      `export focus: ${missing.join(', ')} missing. Expected --account acct-204 --from 2026-11-01 --to 2026-12-01 --product NAME --credit-price 0.0125.`,
    )
  }
  if (options.key.length > 0) {
    throw userError.usage(
      'export focus: --key is not possible: a file holds all charges of the account.',
    )
  }
  const [fromUs, toUs] = [parseMoment(from!, 'UTC'), parseMoment(to!, 'UTC')]
  const isMonth = monthPattern.test(from!) && to === nextMonth(from!)
  if (!isMonth) {
    throw userError.usage(
      `--from ${from} --to ${to}: a file holds one billing period. Expected the first days of a month and of the next.`,
    )
  }
  const price = /^\d+(\.\d+)?$/.test(creditPrice!) ? readNumber(creditPrice!) : null
  if (price === null)
    throw userError.usage(`--credit-price ${creditPrice}: expected a decimal such as 0.0125.`)
  if (!/^[A-Z]{3}$/.test(options.currency)) {
    throw userError.usage(`--currency ${options.currency}: expected an ISO 4217 code, such as USD.`)
  }
  const format = /\.(csv|parquet)$/.exec(out)?.[1]
  if (format === undefined)
    throw userError.usage(`${out}: expected a name that ends with .csv or .parquet.`)
  const contract = loadContract(options.contract)
  return inStore(db, async (store) => {
    const { rows, unknown, unknownRequests } = await readFocus(store, {
      of: {
        account: account!,
        label: options.label ?? account!,
        product: product!,
        serviceName: product!,
        currency: options.currency,
        creditPrice: price,
        invoice: options.invoice ?? null,
        creditCurrency: options.focusCurrency,
        periodStart: from!,
        periodEnd: to!,
      },
      fromUs,
      toUs,
      bucket: options.bucket,
      keyNames: keyNamesOf(options.keyNames),
      contract,
      prices: readTokenPrices(contract),
      priceId: contract.name,
      view: options.focusView,
    })
    const columns = columnsOf(options.focus)
    const unknownText = `${counted(unknownRequests, 'request')} ${unknownRequests === 1 ? 'has an unknown cost' : 'have unknown costs'}`
    if (options.strict && unknownRequests > 0) {
      process.stderr.write(`${unknownText}, so --strict writes nothing.\n`)
      process.exitCode = exit.invalid
      return
    }
    if (format === 'csv') writeOutput(out, focusCsv(rows, columns))
    else {
      const types = Object.fromEntries(
        [...columns].map(
          ([name, of]) =>
            [name, focusColumns[of] === 'number' ? 'DECIMAL(38, 18)' : 'VARCHAR'] as const,
        ),
      )
      const cells = rows.map((row) =>
        Object.fromEntries(
          [...columns].map(([name, of]) => [name, row[of] === '' ? null : row[of]]),
        ),
      )
      await exportRows(store, cells, types, out, 'parquet')
    }
    if (unknown.length > 0) {
      const file = out.replace(/\.(csv|parquet)$/, '.unknown.csv')
      const lines = unknown.map((each) =>
        [
          new Date(each.start_us / 1000).toISOString(),
          each.key_fp ?? '',
          JSON.stringify(each.model ?? ''),
          each.requests,
        ].join(),
      )
      writeOutput(file, `start,key,model,requests\n${lines.map((line) => `${line}\n`).join('')}`)
      process.stderr.write(`${unknownText}; they are not in the file, but in ${file}.\n`)
    }
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ what: 'focus', rows: rows.length, unknownRequests, out, version: options.focus })}\n`
        : `${counted(rows.length, 'charge')} of ${account} in ${out}\n${nextLine(['usage', ...optionWords('--account', account), ...storeWords(options.db)], 'prints the usage behind them')}`,
    )
  })
}

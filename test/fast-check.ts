/**
 * fast-check, as every test imports it (`vitest.config.ts`): all that a failing property prints is at most 40 lines of 160
 * letters. They are its seed, its smallest case, folded, what it met there, and the line of the test that found it.
 */
import fc from '../node_modules/fast-check/lib/fast-check.js'

export * from '../node_modules/fast-check/lib/fast-check.js'
export default fc

const rowsOf = /.{1,160}/gu
/** Rows for the report of fast-check, for the error, and for each of its values. The runner adds ten of its own. */
const most = { report: 18, error: 4, value: 3 }

/** The first rows of a text whose lines are folded, and how many letters are left out. */
export function folded(text: string, mostRows: number): string {
  const rows = text.split('\n').flatMap((line) => line.match(rowsOf) ?? [''])
  if (rows.length <= mostRows) return rows.join('\n')
  const kept = rows.slice(0, mostRows - 1)
  const left = text.length - kept.join('').length
  return [...kept, `… ${left} more letters`].join('\n')
}

/** What an assertion compared, which says more than its message. */
function comparedIn(error: object): readonly string[] {
  if (!('actual' in error && 'expected' in error)) return []
  const value = (name: string, it: unknown) => folded(`${name}: ${fc.stringify(it)}`, most.value)
  return [value('expected', error.expected), value('received', error.actual)]
}

/** The lines of a stack that are ours. */
const framesOf = (stack: string | undefined) =>
  (stack ?? '')
    .split('\n')
    .filter(
      (line) => /^ +at .*[\w.]+\.ts:\d+/.test(line) && !/node_modules|fast-check\.ts/.test(line),
    )

/**
 * The failure as one error without a cause, since a runner prints the whole difference of a cause's values. A long path of
 * shrinking is left out: it has a number for each step, and the seed finds the case.
 */
function failureOf(details: fc.RunDetails<unknown>): Error {
  const { errorInstance: cause } = details
  const report = (fc.defaultReportMessage(details) ?? '')
    .replace(/, path: "[^"]{400,}"/, '')
    .replace(/\n+Hint: .*$/s, '')
  const lines = [folded(report, most.report)]
  if (cause instanceof Error) {
    lines.push(folded(`${cause.name}: ${cause.message}`, most.error), ...comparedIn(cause))
  }
  const failure = new Error(lines.join('\n'))
  const [place] = [
    ...framesOf(cause instanceof Error ? cause.stack : ''),
    ...framesOf(failure.stack?.slice(failure.message.length)),
  ]
  failure.stack = [`Error: ${failure.message}`, ...(place === undefined ? [] : [place])].join('\n')
  return failure
}

fc.configureGlobal({
  reporter(details: fc.RunDetails<unknown>): void {
    if (details.failed) throw failureOf(details)
  },
})

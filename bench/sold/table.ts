import { drawsOf } from '../../src/audit/evidence/sold/chance.ts'
import { askedOf } from '../../test/asked.ts'

const { values } = askedOf(
  'npx node bench/sold-rates.ts [--audits 1000] [--only SOLD-05,SOLD-06] [--rows "on 25 %"]',
  {
    audits: { type: 'string', default: '1000' },
    only: { type: 'string', default: 'SOLD' },
    rows: { type: 'string', default: '' },
  },
)
export const audits = Number(values.audits)
const only = values.only.split(',')
/** Whether a line of this name was asked for. */
export const isWanted = (name: string) => name.includes(values.rows)
/** Whether the table of this title was asked for; rows are of the last title. */
let isAsked = true
export type Draw = () => number
type Verdict = 'pass' | 'fail' | 'inconclusive'

export const print = (line: string) => process.stdout.write(`${line}\n`)
export const normal = (draw: Draw) =>
  Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw())
const shownBy: Readonly<Record<string, Verdict>> = { pass: 'pass', fail: 'fail' }

/** What fails of a provider in the design, in percent: at most of an honest one, at least of another; null where nothing is claimed. */
export type Bound = { readonly most: number } | { readonly least: number } | null
/** Points by which a share may be on the wrong side: draws differ. */
const tolerated = { most: 1, least: 5 } as const
const missed: string[] = []

export function row(
  name: string,
  audit: (draw: Draw) => { readonly is: string },
  bound: Bound,
): void {
  if (!isAsked || !isWanted(name)) return
  const counts: Record<Verdict, number> = { pass: 0, fail: 0, inconclusive: 0 }
  for (let at = 0; at < audits; at++)
    counts[shownBy[audit(drawsOf(`${name} ${at}`)).is] ?? 'inconclusive']++
  const shares = Object.values(counts).map((count) => ((100 * count) / audits).toFixed(1))
  const failed = (100 * counts.fail) / audits
  const isMissed =
    bound !== null &&
    ('most' in bound
      ? failed > bound.most + tolerated.most
      : failed < bound.least - tolerated.least)
  if (isMissed) missed.push(`${name}: ${failed.toFixed(1)} % fail`)
  const claimed =
    bound === null ? '' : 'most' in bound ? `at most ${bound.most}` : `at least ${bound.least}`
  print(`| ${name} | ${shares.join(' | ')} | ${claimed}${isMissed ? ', **missed**' : ''} |`)
}

const verdicts = ['pass %', 'fail %', 'inconclusive %', 'fail % of the design']

/** Begins a table. @returns whether it was asked for */
export function head(title: string, columns: readonly string[] = verdicts): boolean {
  isAsked = only.some((rule) => title.startsWith(rule))
  if (!isAsked) return false
  print(
    `\n${title}\n\n| ${['provider', ...columns].join(' | ')} |\n|${'---|'.repeat(columns.length + 1)}`,
  )
  return true
}

/** Says whether all rows are as in the design; otherwise the command ends with 1. */
export function ended(): void {
  print(
    missed.length === 0
      ? '\nEvery provider is judged as in the design, within the tolerances.'
      : `\nMissed: ${missed.join('; ')}`,
  )
  process.exitCode = missed.length === 0 ? 0 : 1
}

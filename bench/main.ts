import type { BenchOptions, BenchResult } from './result.ts'

/**
 * `npm run bench [-- chat|streams|lag|rows|truth|start …] [--quick] [--rounds=N] [--json]`
 *
 * Each part measures beside its peers in the same run, and prints medians with their ranges. With
 * `--json` the last line is `{"ratios": {"wrk": …, "autocannon": …, "undici": …}}`.
 */
type Part = (options: BenchOptions) => Promise<BenchResult>

/** Each is a file of its name that exports a function of its name. */
const parts = ['chat', 'streams', 'lag', 'rows', 'truth', 'start']

const words = process.argv.slice(2)
const rounds = Number(words.find((word) => word.startsWith('--rounds='))?.slice(9) ?? 0)
const options: BenchOptions = {
  quick: words.includes('--quick'),
  ...(rounds > 0 ? { rounds } : {}),
}
const json = words.includes('--json')
const asked = words.filter((word) => !word.startsWith('--'))
const unknown = asked.filter((name) => !parts.includes(name))
if (unknown.length > 0) {
  process.stderr.write(
    `There is no part ${unknown.join(', ')}; expected one of ${parts.join(', ')}.\n`,
  )
  process.exit(2)
}

/** What is being measured; whoever dies in the middle of it says so. */
let measuring: string | null = null
process.on('exit', (code) => {
  if (measuring !== null) {
    process.stderr.write(`bench: ended in the middle of ${measuring}, with code ${code}\n`)
  }
})
for (const [signal, code] of [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, () => {
    process.stderr.write(`bench: stopped by ${signal}\n`)
    process.exit(code)
  })
}

const results: BenchResult[] = []
for (const name of asked.length > 0 ? asked : parts) {
  process.stderr.write(`${name} …\n`)
  measuring = name
  const module = (await import(`./${name}.ts`)) as Readonly<Record<string, Part>>
  const result = await module[name]!(options)
  results.push(result)
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : tableOf(result))
}
measuring = null
const ratios = Object.assign({}, ...results.map((result) => result.ratios))
if (json) process.stdout.write(`${JSON.stringify({ ratios })}\n`)

function tableOf(result: BenchResult): string {
  const rows = result.figures.map((figure) => [
    figure.name,
    number(figure.median),
    `${number(figure.min)} to ${number(figure.max)}`,
    figure.unit,
    figure.goal === '' ? '' : `${figure.goal}: ${figure.met ? 'met' : 'MISSED'}`,
  ])
  const head = ['', 'median', 'range', 'unit', 'goal']
  const all = [head, ...rows]
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]!.length)))
  const lines = all.map((row) =>
    row
      .map((cell, at) =>
        at === 1 || at === 2 ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!),
      )
      .join('  ')
      .trimEnd(),
  )
  const peers = Object.entries(result.ratios).map(([peer, ratio]) => `${peer} ${ratio.toFixed(2)}`)
  return [
    `\n${result.part}`,
    ...(peers.length > 0 ? [`ours / theirs: ${peers.join(', ')}`] : []),
    ...lines,
    ...result.notes.map((note) => `note: ${note}`),
    '',
  ].join('\n')
}

function number(value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * The three persons who decide, each with one question, and the seconds from the first command to the answer. The files of the
 * bill are those that the guide shows; the customer's log has a row an hour of two accounts.
 */
interface Ended {
  readonly stdout: string
}

interface Person {
  readonly who: string
  /** The commands, the last of which gives the answer. */
  readonly asks: readonly (readonly string[])[]
  /** What is true of the output of the last command, or of a file that it wrote. */
  readonly answer: (stdout: string, folder: string) => string | null
}

const guide = resolve(import.meta.dirname, '../../docs/guides/last-months-bill.md')

/** Writes the files of the guide on a bill into a folder, as a reader copies them, and the log and settings of a customer. */
function writeFiles(folder: string): void {
  const files = readFileSync(guide, 'utf8').matchAll(/^```\w+ \[([\w.-]+)\]\n([\s\S]*?)^```/gm)
  for (const [, name, text] of files) writeFileSync(join(folder, name!), text!)
  const rows = Array.from({ length: 600 }, (_, hour) => {
    const time = new Date(Date.UTC(2026, 10, 1, hour)).toISOString()
    return `r${hour},${time},m,${hour % 2 === 0 ? 'acct-1' : 'acct-2'},2`
  })
  writeFileSync(join(folder, 'log.csv'), ['id,time,model,account,credits', ...rows, ''].join('\n'))
  writeFileSync(
    join(folder, 'log-map.yaml'),
    'source: log\nfields: { id: id, time: time, model: model, account: account, credits: credits }\n',
  )
  writeFileSync(
    join(folder, 'page.yaml'),
    "product: Example\ntimezone: UTC\nshows: [credits, models, requests]\norigins: []\ntokens: { algorithm: HS256, secretEnv: USAGE_SECRET }\naccounts: { acct-1: { label: One, grants: [{ name: Pack, credits: 1000, from: '2026-11-01', expires: '2026-12-31' }] } }\n",
  )
}

const personsOf = (url: string): readonly Person[] => [
  {
    who: 'before a launch: which rate is safe?',
    asks: [['bench', url, '--for', '100s', '--max-rate', '40/s', '--db', 'launch.duckdb']],
    answer: (stdout) => /^Safe rate: [\d.]+\/s/m.exec(stdout)?.[0] ?? null,
  },
  {
    who: 'about a bill: is it right?',
    asks: [
      [
        ...['usage', 'reconcile', '--bill', 'bill.csv', '--log', 'spend.jsonl'],
        ...['--contract', 'gateway.yaml'],
      ],
    ],
    answer: (stdout) => /^ +price +0\.00468 USD/m.exec(stdout)?.[0].trim() ?? null,
  },
  {
    who: 'for customers: what did one use?',
    asks: [
      ['import', 'log.csv', '--map', 'log-map.yaml', '--db', 'usage.duckdb'],
      [
        ...['report', 'usage', '--for', 'customer', '--account', 'acct-1', '--db', 'usage.duckdb'],
        ...['--settings', 'page.yaml', '--out', 'customer.html'],
      ],
    ],
    answer: (_, folder) => {
      const page = readFileSync(join(folder, 'customer.html'), 'utf8')
      return page.includes('600') && !page.includes('acct-2') ? '600 credits of acct-1' : null
    },
  },
]

/** @returns for each person the answer (null if there is none) and the seconds to it */
export function answersOf(
  url: string,
  folder: string,
  assay: (...words: readonly string[]) => Ended,
): readonly { readonly who: string; readonly answer: string | null; readonly seconds: number }[] {
  writeFiles(folder)
  return personsOf(url).map(({ who, asks, answer }) => {
    const beganMs = performance.now()
    const outputs = asks.map((words) => assay(...words).stdout)
    const seconds = (performance.now() - beganMs) / 1000
    return { who, answer: answer(outputs.at(-1)!, folder), seconds }
  })
}

import { writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { loadContract } from '../contract/load.ts'
import { compareRuns } from '../report/compare/compare.ts'
import { markdownComparison, terminalComparison } from '../report/compare/formats.ts'
import { type GateResult, judgeGate, parseGate } from '../report/compare/gate.ts'
import { renderComparison } from '../report/compare-page.ts'
import { jsonText } from '../report/summary/printable.ts'
import { resolveRun } from '../report/summary/summarise.ts'
import { openExistingStore, type Store } from '../store/open.ts'
import { exit, UsageError } from './exit.ts'

interface Options {
  readonly db: string
  readonly contract?: string
  readonly dbB?: string
  readonly all?: boolean
  readonly format: 'terminal' | 'md' | 'json' | 'html'
  readonly out?: string
  readonly failOn: readonly string[]
  readonly seed: string
  readonly json?: boolean
}

/** `assay compare <a> <b>`: what differs between two runs, beyond chance. */
export function compareCommand(): Command {
  return new Command('compare')
    .description('Compare two runs: latency, throughput, errors and credits, with intervals.')
    .argument('<a>', 'the run to compare with: its id, the beginning of one, or latest')
    .argument('<b>', 'the run that is compared')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--all', 'every figure of every step, not only what is beyond chance')
    .option('--db-b <file>', 'the store of b, where it is another')
    .addOption(
      new Option('--format <format>', 'how')
        .choices(['terminal', 'md', 'json', 'html'])
        .default('terminal'),
    )
    .option('--out <file>', 'html: where to write the page', 'assay-compare.html')
    .option('--fail-on <condition...>', 'exit 3 when it holds: "p95 > +10%", "errors > +1%"', [])
    .option('--seed <number>', 'of the bootstrap', '1')
    .option('--contract <file>', 'the promises, as YAML; those of the specification unless given')
    .option('--json', 'the same as --format json')
    .action(async (a: string, b: string, options: Options) => {
      const gates = options.failOn.map(parseGate)
      const seed = Number(options.seed)
      if (!Number.isSafeInteger(seed)) {
        throw new UsageError(`--seed: expected a whole number, came ${options.seed}`)
      }
      const opened: Store[] = []
      try {
        const storeA = await openExistingStore(options.db)
        opened.push(storeA)
        const other = options.dbB !== undefined && options.dbB !== options.db
        const storeB = other ? await openExistingStore(options.dbB!) : storeA
        if (other) opened.push(storeB)
        const comparison = await compareRuns(
          { store: storeA, runId: await resolveRun(storeA, a) },
          { store: storeB, runId: await resolveRun(storeB, b) },
          loadContract(options.contract),
          seed,
        )
        const results = gates.map((gate) => judgeGate(comparison, gate))
        if (options.format === 'html') {
          const { html } = await renderComparison(storeA, comparison, results)
          const out = options.out ?? 'assay-compare.html'
          writeFileSync(out, html)
          process.stdout.write(`${out}\n`)
        } else process.stdout.write(formatted(options, comparison, results))
        if (results.some((result) => result.result !== 'held')) process.exitCode = exit.failed
      } finally {
        for (const store of opened) store.close()
      }
    })
}

function formatted(
  options: Options,
  comparison: Parameters<typeof terminalComparison>[0],
  gates: readonly GateResult[],
): string {
  switch (options.json ? 'json' : options.format) {
    case 'html':
    case 'terminal':
      return terminalComparison(comparison, gates, options.all)
    case 'md':
      return markdownComparison(comparison, gates)
    case 'json':
      return `${jsonText({ ...comparison, gates })}\n`
  }
}

/**
 * How long the audit of many attempts takes, and how much memory: `node bench/audit.ts [attempts]`.
 *
 * Writes histories with credits and limits headers, aborts and rejections, as a run would have left
 * them, and audits each by all rules in a process of its own, so that its peak of memory is the
 * audit's. The last line is what ten times the rows cost.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { audit } from '../src/audit/audit.ts'
import { defaultContract } from '../src/contract/default.ts'
import { openStore } from '../test/store/opened.ts'
import { writeAuditHistory } from './audit-history.ts'

interface Measured {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakMiB: number
  /** Seconds until each rule was decided, by its id; the first of a kind loads for all of them. */
  readonly rules: Readonly<Record<string, number>>
  readonly failed: readonly string[]
  readonly passed: number
}

const [mode = '1000000', path] = process.argv.slice(2)
if (mode === 'audit-only') {
  process.stdout.write(`${JSON.stringify(await auditOnly(path!))}\n`)
} else {
  const largest = Number(mode)
  const small = await measure(largest / 10)
  const large = await measure(largest)
  process.stdout.write('attempts     seconds   CPU s   peak MiB   passed   failed\n')
  for (const [size, each] of [[largest / 10, small] as const, [largest, large] as const]) {
    process.stdout.write(
      `${String(size).padEnd(12)}${each.seconds.toFixed(1).padStart(8)}${each.cpuSeconds.toFixed(1).padStart(8)}${each.peakMiB.toFixed(0).padStart(11)}${String(each.passed).padStart(9)}   ${each.failed.join(' ') || 'none'}\n`,
    )
  }
  process.stdout.write(
    `ten times the rows cost ${(large.seconds / small.seconds).toFixed(1)} times the time\n\n`,
  )
  process.stdout.write('seconds by family of rules:\n')
  const families = Map.groupBy(Object.entries(large.rules), ([rule]) => rule.replace(/-.*/, ''))
  for (const [family, rules] of families) {
    const sum = rules.reduce((total, [, seconds]) => total + seconds, 0)
    const slowest = [...rules].sort(([, a], [, b]) => b - a).slice(0, 3)
    const named = slowest.map(([rule, seconds]) => `${rule} ${seconds.toFixed(2)}`).join(', ')
    process.stdout.write(`  ${family.padEnd(6)}${sum.toFixed(2).padStart(6)}   ${named}\n`)
  }
}

/** The audit of a file, in this process. */
async function auditOnly(file: string): Promise<Measured> {
  const store = await openStore(file)
  const rules: Record<string, number> = {}
  const began = performance.now()
  let last = began
  const { findings } = await audit(store, {
    contract: defaultContract,
    auditId: 'bench',
    auditedAt: new Date(0),
    onFinding({ rule }) {
      const now = performance.now()
      rules[rule] = (now - last) / 1000
      last = now
    },
  })
  const seconds = (performance.now() - began) / 1000
  store.close()
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  const decided = (as: string) => findings.filter(({ verdict }) => verdict.verdict === as)
  return {
    seconds,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakMiB: maxRSS / 1024,
    rules,
    failed: decided('fail').map(({ rule }) => rule),
    passed: decided('pass').length,
  }
}

/** Writes a history of so many attempts and audits it in a process of its own. */
async function measure(attempts: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const file = join(folder, 'bench.duckdb')
    const store = await openStore(file)
    await writeAuditHistory(store, attempts)
    store.close()
    const made = spawnSync(process.execPath, [import.meta.filename, 'audit-only', file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return JSON.parse(made.stdout)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

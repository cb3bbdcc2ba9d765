import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { failuresOf, reproductions } from '../../src/audit/format/reproduce.ts'
import { terminalText } from '../../src/audit/format/terminal.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { writeEvidence } from '../../src/report/vendor/write-evidence.ts'
import { faults } from '../../src/service/faults/list.ts'
import { onPage, printedIn, shellIn } from '../cli/printed-commands.ts'
import { openStore } from '../store/opened.ts'
import { type ActName, acts, actsOf } from './acts.ts'
import type { Stage } from './stage.ts'
import { whilePlayed } from './verdicts.ts'

/**
 * Each rule that fails prints a command that sends its request again. A folder of evidence is moved to where no store is, judged
 * there by the real command, and the printed line is run by a shell while the service still runs. All rules play at night, one of each
 * family always.
 */
const place = mkdtempSync(join(tmpdir(), 'assay-replays-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))
const shell = shellIn(place)

const byRule = Map.groupBy(faults, ({ rule }) => rule)
const byFamily = Map.groupBy(byRule.keys(), (rule) => rule.replace(/-\d+$/, ''))
const rules =
  process.env.NIGHTLY === undefined
    ? [...byFamily.values()].map(([first]) => first!)
    : [...byRule.keys()]

/** Exit codes of curl for answers that a fault cuts, leaves empty, or breaks (curl(1)): partial, empty, reset, encoding. */
const brokenAnswers = [18, 52, 56, 61]

/** The line that is printed for a rule, and where it is run; null if the rule did not fail in the act. */
async function printedFor(
  rule: string,
  act: ActName,
  stage: Stage,
): Promise<{ readonly line: string; readonly cwd: string } | null> {
  const { contract } = acts[act]
  const here = join(place, `${rule}-${act}`)
  mkdirSync(here)
  const db = join(here, 'run.duckdb')
  const store = await openStore(db)
  await stage.record(store)
  if (contract !== defaultContract) {
    // A contract of a test is no file that a folder could hold.
    const runIds = [stage.runId]
    const report = await audit(store, { contract, runIds, rules: [rule] })
    const text = terminalText(report, await reproductions(store, failuresOf(report.findings)))
    store.close()
    const [printed] = printedIn(text)
    return printed === undefined ? null : { line: printed[1], cwd: here }
  }
  store.close()
  await writeEvidence({
    ...{ folder: join(here, 'evidence'), runs: { db, runIds: [stage.runId], otherIds: [] } },
    ...{ contract: 'svc', profile: null, log: null, choices: {}, isAnonymous: false },
    nowMs: Date.now(),
  })
  const there = join(here, 'there')
  mkdirSync(there)
  renameSync(join(here, 'evidence'), join(there, 'evidence'))
  const checked = await shell(`assay audit --evidence evidence --rule ${rule}`, there)
  const [printed] = printedIn(checked.stdout)
  if (printed === undefined) return null
  expect(printed[0]).toBe(rule)
  expect(onPage(join(there, 'evidence/findings.html')).length).toBeGreaterThan(0)
  expect(readdirSync(there)).toEqual(['evidence'])
  return { line: printed[1], cwd: there }
}

describe('the line that a failed rule prints is a command of a shell that reaches the service', () => {
  test.each(rules.map((rule) => ({ rule, fault: byRule.get(rule)![0]!.name })))(
    '$rule: $fault',
    { tags: 'whole', timeout: 600_000 },
    async ({ rule, fault }) => {
      let replayed = 0
      for (const act of actsOf(rule)) {
        await whilePlayed(act, { faults: [fault] }, async (stage) => {
          const printed = await printedFor(rule, act, stage)
          if (printed === null) return
          const { apiKey } = stage.service.keys.at(-1)!
          const { line, cwd } = printed
          const { code, stdout } = await shell(line, cwd, { ASSAY_API_KEY: apiKey })
          if (process.env.ASSAY_TABLE !== undefined) {
            process.stderr.write(`${[rule, act, code, stdout.split('\r\n')[0]].join('\t')}\n`)
          }
          expect([line, [0, ...brokenAnswers].includes(code)]).toEqual([line, true])
          // An answer came: of HTTP, unless the fault is that none does.
          if (code !== 52 && code !== 56) expect(stdout).toMatch(/^HTTP\/1\.1 \d{3} /)
          replayed++
        })
        if (replayed > 0) return
      }
      expect(replayed).toBeGreaterThan(0)
    },
  )
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { gatewayContract } from '../test/audit/log-alone/litellm-rows.ts'
import { rssMiB } from './process-memory.ts'

/**
 * A past log is audited, then reconciled with a bill: time and memory of the commands, and the slope over three sizes.
 *
 *     npx node bench/past-log.ts --rows 5000000
 */
const { values } = parseArgs({
  options: { rows: { type: 'string', default: '5000000' }, only: { type: 'string' } },
})
const largest = Number(values.rows)
const sizes = values.only === undefined ? [largest / 25, largest / 5, largest] : [largest]

/** Prices in tenths of a microdollar: this arithmetic is not that of the product. */
const models = [
  { id: 'large', input: 40, cached: 4, output: 200 },
  { id: 'small', input: 5, cached: 5, output: 20 },
]

/** Writes a log as LiteLLM has it, of 30 days, and its bill. Of each 10,000 rows, one has a cost that is 10 % too high. */
async function write(rows: number, log: string, bill: string): Promise<void> {
  const out = [createWriteStream(log), createWriteStream(bill)] as const
  out[1].write('request_id,startTime,model,spend,prompt_tokens,completion_tokens,cached_tokens\n')
  const [first, gapMs] = [Date.UTC(2026, 9, 1), (30 * 86_400_000) / rows]
  for (let nth = 0; nth < rows; nth++) {
    const model = models[nth % 2]!
    const [input, output] = [100 + (nth % 1900), 1 + (nth % 400)]
    const cached = model.id === 'large' && nth % 3 === 0 ? 50 : 0
    const right = (input - cached) * model.input + cached * model.cached + output * model.output
    const spend = (tenths: number) => (tenths / 1e7).toFixed(7)
    const at = new Date(Math.floor(first + nth * gapMs)).toISOString()
    const end = new Date(Math.floor(first + nth * gapMs) + 800).toISOString()
    const lines = [
      `{"request_id":"chatcmpl-${nth}","call_type":"acompletion","api_key":"k","model":"${model.id}","spend":${spend(right)},"startTime":"${at}","endTime":"${end}","prompt_tokens":${input},"completion_tokens":${output},"metadata":{"usage_object":{"prompt_tokens_details":{"cached_tokens":${cached}}}}}\n`,
      `chatcmpl-${nth},${at},${model.id},${spend(nth % 10_000 === 7 ? Math.round(right * 1.1) : right)},${input},${output},${cached}\n`,
    ]
    for (const [which, line] of lines.entries()) {
      const file = out[which]!
      if (!file.write(line)) await once(file, 'drain')
    }
  }
  for (const file of out) await finished(file.end())
}

interface Measured {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakMiB: number
}

/** One command in a process of its own. @param expected its exit code */
async function measured(args: readonly string[], expected: number): Promise<Measured> {
  const begun = performance.now()
  const child = spawn(process.execPath, ['src/cli/assay.js', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let [peakMiB, cpuSeconds] = [0, 0]
  const looks = setInterval(() => {
    peakMiB = Math.max(peakMiB, rssMiB(child.pid!) ?? 0)
    cpuSeconds = Math.max(cpuSeconds, processorSeconds(child.pid!))
  }, 100)
  const [code] = await once(child, 'exit')
  clearInterval(looks)
  if (code !== expected) throw new Error(`${args.join(' ')}: exit code ${code}, not ${expected}`)
  return { seconds: (performance.now() - begun) / 1000, cpuSeconds, peakMiB }
}

/** What the process took of the processor, in ticks of a hundredth of a second (proc(5)). */
function processorSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}

const folder = mkdtempSync(join(tmpdir(), 'assay-past-log-'))
const at = (name: string) => join(folder, name)
try {
  writeFileSync(at('contract.yaml'), gatewayContract)
  const seconds: Record<string, number[]> = {}
  for (const rows of sizes) {
    await write(rows, at('log.jsonl'), at('bill.csv'))
    const given = ['--contract', at('contract.yaml'), '--log', at('log.jsonl')]
    const commands = {
      audit: { args: ['audit', '--db', at('none.duckdb'), ...given], exit: 0 },
      reconcile: { args: ['usage', 'reconcile', '--bill', at('bill.csv'), ...given], exit: 3 },
    }
    for (const [name, { args, exit }] of Object.entries(commands)) {
      const took = await measured(args, exit)
      seconds[name] = [...(seconds[name] ?? []), took.cpuSeconds]
      console.log(
        `${rows} rows  ${name.padEnd(9)}  ${took.seconds.toFixed(1)} s  ${took.cpuSeconds.toFixed(1)} s of processor  ${took.peakMiB.toFixed(0)} MiB at most`,
      )
    }
  }
  for (const [name, took] of Object.entries(seconds)) {
    if (took.length < 3) continue
    const [, middle, last] = took
    const slope = Math.log(last! / middle!) / Math.log(5)
    console.log(
      `${name}: seconds of processor grow with the ${slope.toFixed(2)}th power of the rows`,
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}

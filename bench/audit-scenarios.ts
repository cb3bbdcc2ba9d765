/**
 * The scenarios for auditing, each against a service of its own by the command line:
 * `node bench/audit-scenarios.ts [--scale n] [--fault name] [name…]`.
 *
 * Each runs on an honest service, where nothing may fail, and on one with a fault, which must be found: its
 * own, or the one named.
 * Prints what it said that it would cost at most, and what the service took. With a scale the service's
 * time passes so many times as fast, and the scenario with it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

interface AuditScenario {
  readonly name: string
  /** Environment variable of each key, and the balance of its account. */
  readonly accounts: Readonly<Record<string, number>>
  readonly fault: string
  /** The rule that the fault breaks. */
  readonly rule: string
}

export const auditScenarios: readonly AuditScenario[] = [
  {
    name: 'audit-billing',
    accounts: { ASSAY_API_KEY: 1_500 },
    fault: 'double-charge=0.1',
    rule: 'BILL-10',
  },
  {
    name: 'audit-errors',
    accounts: { ASSAY_API_KEY: 1_500 },
    fault: 'n-ignored',
    rule: 'CHAT-04',
  },
  {
    name: 'audit-streams',
    accounts: { ASSAY_API_KEY: 1_500 },
    fault: 'done-missing',
    rule: 'SSE-04',
  },
  {
    name: 'audit-exhaustion',
    accounts: { ASSAY_KEY_6: 6, ASSAY_KEY_3: 3, ASSAY_KEY_16: 16 },
    fault: 'check-then-act',
    rule: 'BILL-15',
  },
  {
    name: 'bands',
    accounts: { ASSAY_KEY_103: 103, ASSAY_KEY_1003: 1_003, ASSAY_KEY_10003: 10_003 },
    fault: 'band-edge-off-by-one',
    rule: 'RATE-02',
  },
  {
    name: 'audit-limits',
    accounts: { ASSAY_API_KEY: 100, ASSAY_API_KEY_2: 100 },
    fault: 'limit-times-replicas',
    rule: 'RATE-03',
  },
]

export interface Outcome {
  /** `max_credits` of the scenario. */
  readonly mostCredits: number
  /** What the service took, by its own books. */
  readonly tookCredits: number
  readonly runCode: number | null
  readonly auditCode: number | null
  readonly failed: readonly string[]
  readonly passed: number
}

/** Serves, runs and audits, each as a process. */
export async function tryScenario(
  { name, accounts }: AuditScenario,
  faults: readonly string[],
  scale: number,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-scenario-'))
  const service = spawn(
    process.execPath,
    [
      join(root, 'src/cli/main.ts'),
      ...['serve', '--json', '--operator', '--port', '0', '--seed', '5'],
      ...['--time-scale', String(scale)],
      ...faults.flatMap((fault) => ['--fault', fault]),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  try {
    const [line] = (await once(service.stdout, 'data')) as [Buffer]
    const { baseUrl, operatorKey } = JSON.parse(line.toString()) as {
      readonly baseUrl: string
      readonly operatorKey: string
    }
    const asOperator = { authorization: `Bearer ${operatorKey}` }
    const opened: number[] = []
    const env: Record<string, string> = {}
    for (const [variable, balance] of Object.entries(accounts)) {
      const { account } = await post('accounts', { name: variable, balance })
      opened.push(Number(account))
      env[variable] = String((await post(`accounts/${account}/keys`, { name: 'k' })).api_key)
    }
    const text = readFileSync(join(root, 'scenarios', `${name}.yaml`), 'utf8')
    writeFileSync(join(folder, 'scenario.yaml'), scale === 1 ? text : scaled(text, scale))
    const ran = await assay(['run', 'scenario.yaml', '--base-url', baseUrl])
    const audited = await assay(['audit', '--format', 'json'])
    if (!audited.stdout.startsWith('{')) throw new Error(ran.stderr + audited.stderr)
    const { findings } = JSON.parse(audited.stdout) as {
      readonly findings: readonly { rule: string; severity: string; verdict: { verdict: string } }[]
    }
    const { accounts: after } = (await (
      await fetch(`${baseUrl}/operator/accounts`, { headers: asOperator })
    ).json()) as {
      readonly accounts: readonly { account: number; balance: number }[]
    }
    const left = after
      .filter(({ account }) => opened.includes(account))
      .reduce((sum, { balance }) => sum + balance, 0)
    const said = (as: string) => findings.filter(({ verdict }) => verdict.verdict === as)
    return {
      mostCredits: Number(/^max_credits: (\d+)/m.exec(text)?.[1]),
      tookCredits: Object.values(accounts).reduce((sum, balance) => sum + balance, 0) - left,
      runCode: ran.code,
      auditCode: audited.code,
      failed: said('fail')
        .filter(({ severity }) => severity !== 'advice')
        .map(({ rule }) => rule),
      passed: said('pass').length,
    }

    async function post(path: string, body: object): Promise<Record<string, unknown>> {
      const answer = await fetch(`${baseUrl}/operator/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...asOperator },
        body: JSON.stringify(body),
      })
      return (await answer.json()) as Record<string, unknown>
    }

    async function assay(args: readonly string[]) {
      const child = spawn(
        process.execPath,
        [
          join(root, 'src/cli/main.ts'),
          ...args,
          ...(args[0] === 'run' ? ['--time-scale', String(scale)] : []),
        ],
        { cwd: folder, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (bytes: Buffer) => {
        stdout += bytes.toString()
      })
      child.stderr.on('data', (bytes: Buffer) => {
        stderr += bytes.toString()
      })
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, stdout, stderr }
    }
  } finally {
    service.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same scenario in a faster time: durations shorter, rates higher. */
export function scaled(text: string, scale: number): string {
  const ms: Record<string, number> = { ms: 1, s: 1_000, min: 60_000 }
  return text
    .replace(
      /\b(think|duration|over): (\d+)(ms|s|min)\b/g,
      (_, field, amount, unit) => `${field}: ${(Number(amount) * ms[unit]!) / scale}ms`,
    )
    .replace(
      /\brate: ([\d.]+)\/(s|min)\b/g,
      (_, amount, unit) => `rate: ${(Number(amount) * scale * 1_000) / ms[unit]!}/s`,
    )
}

if (import.meta.main) {
  const args = process.argv.slice(2)
  const at = args.indexOf('--scale')
  const scale = at < 0 ? 1 : Number(args.splice(at, 2)[1])
  const faultAt = args.indexOf('--fault')
  const named = faultAt < 0 ? null : args.splice(faultAt, 2)[1]!
  const wanted = auditScenarios.filter(({ name }) => args.length === 0 || args.includes(name))
  process.stdout.write(
    'scenario        fault                    price   took   exit   passed   failed\n',
  )
  for (const scenario of wanted) {
    for (const faults of [[], [named ?? scenario.fault]]) {
      const { mostCredits, tookCredits, auditCode, passed, failed } = await tryScenario(
        scenario,
        faults,
        scale,
      )
      process.stdout.write(
        `${scenario.name.padEnd(16)}${(faults[0] ?? 'none').padEnd(22)}${String(mostCredits).padStart(8)}${String(tookCredits).padStart(7)}${String(auditCode).padStart(7)}${String(passed).padStart(9)}   ${failed.join(' ') || 'none'}\n`,
      )
    }
  }
}
